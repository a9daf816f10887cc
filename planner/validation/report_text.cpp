#include <nlohmann/json.hpp>

#include "base/csv_reader.hpp"
#include "base/units.hpp"
#include "planner/validation/report.hpp"

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;

Json summaries_json(const std::vector<ErrorSummary>& summaries) {
  Json list = Json::array();
  for (const ErrorSummary& s : summaries) {
    list.push_back({{"name", s.name},
                    {"n", s.n},
                    {"mape", s.mape},
                    {"median", s.median},
                    {"p90", s.p90},
                    {"max", s.max},
                    {"bias", s.bias},
                    {"interval_coverage", s.coverage},
                    {"comparable_groups", s.ranked_groups},
                    {"kendall_tau", s.kendall_tau},
                    {"top1_regret", s.top1_regret}});
  }
  return list;
}

Json prediction_json(const ComparedRun& c) {
  const RunPrediction& p = c.prediction;
  Json row = {{"id", p.id}, {"status", to_string(p.status)}, {"message", p.message}};
  if (p.status != RunStatus::Ok) return row;
  row["stack"] = p.stack;
  row["accelerator"] = p.accelerator;
  row["predicted_step_time_s"] = p.step.time().value();
  row["predicted_tokens_per_s_per_gpu"] = p.step.tokens_per_s_per_gpu;
  row["predicted_peak_mem_gib"] = in_gib(p.peak);
  row["fits"] = p.memory.fits();
  if (c.measured_time) row["measured_step_time_s"] = c.measured_time->value();
  const StepComponents& s = p.step.components;
  row["step_components_s"] = {{"compute", s.compute.value()},
                              {"attention", s.attention.value()},
                              {"elementwise", s.elementwise.value()},
                              {"recompute", s.recompute.value()},
                              {"host", s.host.value()},
                              {"tensor_comm", s.tensor_comm.value()},
                              {"context_comm", s.context_comm.value()},
                              {"expert_comm", s.expert_comm.value()},
                              {"pipeline_comm", s.pipeline_comm.value()},
                              {"pipeline_bubble", s.pipeline_bubble.value()},
                              {"data_comm", s.data_comm.value()},
                              {"optimizer", s.optimizer.value()},
                              {"offload", s.offload.value()},
                              {"straggler", s.straggler.value()}};
  return row;
}

}  // namespace

std::string report_csv(const std::vector<ComparedRun>& runs) {
  std::string out =
      "id,status,message,predicted_step_time_s,predicted_tokens_per_s_per_gpu,"
      "predicted_tokens_per_s_per_gpu_p10,predicted_tokens_per_s_per_gpu_p90,predicted_peak_mem_gib,fits\n";
  for (const ComparedRun& c : runs) {
    const RunPrediction& p = c.prediction;
    out += csv_field(p.id) + "," + std::string(to_string(p.status)) + "," + csv_field(p.message);
    if (p.status == RunStatus::Ok) {
      const double rate = p.step.tokens_per_s_per_gpu;
      // The slow end of the time is the low end of the rate.
      const double low = rate * (p.step.time() / p.step.p90);
      const double high = rate * (p.step.time() / p.step.p10);
      out += "," + format_shortest(p.step.time().value()) + "," + format_shortest(rate) + "," + format_shortest(low) +
             "," + format_shortest(high) + "," + format_shortest(in_gib(p.peak)) + "," + (p.memory.fits() ? "1" : "0");
    } else {
      out += ",,,,,,";
    }
    out += "\n";
  }
  return out;
}

std::string report_json(const std::vector<ComparedRun>& runs) {
  Json time = Json::object();
  for (const GroupBy by : {GroupBy::All, GroupBy::Source, GroupBy::Model, GroupBy::Accelerator, GroupBy::Stack,
                           GroupBy::Parallelism, GroupBy::Precision}) {
    time[std::string(to_string(by))] = summaries_json(summarise_time(runs, by));
  }
  Json rows = Json::array();
  for (const ComparedRun& c : runs) rows.push_back(prediction_json(c));
  const Json report = {{"schema_version", 1},
                       {"step_time", time},
                       {"peak_memory", summaries_json(summarise_memory(runs))},
                       {"runs", rows}};
  return report.dump(2) + "\n";
}

}  // namespace smplan
