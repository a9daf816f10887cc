
#include "base/csv_reader.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "planner/validation/advice.hpp"
#include "planner/validation/report.hpp"

namespace smplan {
namespace {
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
                    {"under_by_5_percent", s.under},
                    {"interval_coverage", s.coverage}});
  }
  return list;
}

/// What only times have: an order.
Json time_summaries_json(const std::vector<ErrorSummary>& summaries) {
  Json list = summaries_json(summaries);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const ErrorSummary& s = summaries[i];
    list[i].update({{"comparable_groups", s.ranked_groups},
                    {"kendall_tau", s.kendall_tau},
                    {"mean_group_tau", s.mean_tau},
                    {"top1_regret", s.top1_regret},
                    {"top3_regret", s.top3_regret}});
  }
  return list;
}

Json verdicts_json(const std::vector<VerdictSummary>& summaries) {
  Json list = Json::array();
  for (const VerdictSummary& s : summaries) {
    list.push_back({{"name", s.name},
                    {"ran_out", s.ran_out},
                    {"recognised", s.recognised},
                    {"ran", s.ran},
                    {"false_alarms", s.false_alarms}});
  }
  return list;
}

Json run_json(const ComparedRun& c) {
  const RunPrediction& p = c.prediction;
  Json row = {{"id", p.id},
              {"line", c.run.line},
              {"source", c.run.source},
              {"model", c.run.model.name},
              {"status", to_string(p.status)},
              {"message", p.message}};
  if (p.status != RunStatus::Ok) return row;
  row["stack"] = p.stack;
  row["accelerator"] = p.accelerator;
  row["dtype"] = to_string(p.precision);
  row["predicted_step_time_s"] = p.step.time().value();
  row["predicted_step_time_interval_s"] = {p.step.p10.value(), p.step.p90.value()};
  row["predicted_tokens_per_s_per_gpu"] = p.step.tokens_per_s_per_gpu;
  row["predicted_peak_mem_gib"] = in_gib(p.peak);
  row["predicted_peak_mem_interval_gib"] = {in_gib(p.peak_interval.p10), in_gib(p.peak_interval.p90)};
  // Of measured systems the host's memory is seldom known.
  row["fits"] = p.memory.fits_device();
  row["out_of_memory_probability"] = p.out_of_memory_probability;
  row["verdict"] = to_string(verdict_of(p.out_of_memory_probability));
  if (c.ran_out()) row["ran_out"] = *c.ran_out();
  row["wanted_mem_gib"] = in_gib(p.memory.wanted);
  row["mem_limit_gib"] = in_gib(p.memory.limit);
  Json& parts = row["memory_components_gib"] = Json::object();
  for (const MemoryPart& part : memory_parts()) {
    parts[std::string(part.key)] = in_gib(p.memory.components.*part.bytes);
  }
  if (c.measured_time) row["measured_step_time_s"] = c.measured_time->value();
  if (c.has_memory_error()) {
    row["measured_peak_mem_gib"] = *c.run.peak_mem_gib_per_gpu;
    row["mem_kind"] = to_string(c.run.memory_kind);
  }
  const std::vector<PartComparison> timed = compare_parts(c);
  for (const PartComparison& part : timed) {
    row["measured_parts_s"].push_back({{"name", part.name},
                                       {"measured", part.measured.value()},
                                       {"predicted", part.predicted ? Json(part.predicted->value()) : Json(nullptr)}});
  }
  const std::vector<std::string> advice = run_advice(c);
  if (!timed.empty()) row["advice"] = advice;
  Json& components = row["step_components_s"] = Json::object();
  for (const StepPart& part : step_parts()) {
    components[std::string(part.key)] = (p.step.components.*part.time).value();
  }
  return row;
}

}  // namespace

std::string report_csv(const std::vector<ComparedRun>& runs) {
  std::string out =
      "id,status,message,predicted_step_time_s,predicted_tokens_per_s_per_gpu,"
      "predicted_tokens_per_s_per_gpu_p10,predicted_tokens_per_s_per_gpu_p90,predicted_peak_mem_gib,"
      "predicted_peak_mem_gib_p10,predicted_peak_mem_gib_p90,out_of_memory_probability,fits,verdict,wanted_mem_gib,"
      "mem_limit_gib\n";
  for (const ComparedRun& c : runs) {
    const RunPrediction& p = c.prediction;
    out += csv_field(printable(p.id)) + "," + std::string(to_string(p.status)) + "," + csv_field(printable(p.message));
    if (p.status == RunStatus::Ok) {
      const double rate = p.step.tokens_per_s_per_gpu;
      // The slow end of the time is the low end of the rate.
      const double low = rate * (p.step.time() / p.step.p90);
      const double high = rate * (p.step.time() / p.step.p10);
      out += "," + format_shortest(p.step.time().value()) + "," + format_shortest(rate) + "," + format_shortest(low) +
             "," + format_shortest(high) + "," + format_shortest(in_gib(p.peak)) + "," +
             format_shortest(in_gib(p.peak_interval.p10)) + "," + format_shortest(in_gib(p.peak_interval.p90)) + "," +
             format_shortest(p.out_of_memory_probability) + "," + (p.memory.fits_device() ? "1" : "0") + "," +
             std::string(to_string(verdict_of(p.out_of_memory_probability))) + "," +
             format_shortest(in_gib(p.memory.wanted)) + "," + format_shortest(in_gib(p.memory.limit));
    } else {
      out += ",,,,,,,,,,,,";
    }
    out += "\n";
  }
  return out;
}

std::string report_json(const std::vector<ComparedRun>& runs, std::size_t worst) {
  Json time = Json::object();
  for (const GroupBy by : {GroupBy::All, GroupBy::Source, GroupBy::Model, GroupBy::Accelerator, GroupBy::Stack,
                           GroupBy::Parallelism, GroupBy::Precision}) {
    time[std::string(to_string(by))] = time_summaries_json(summarise_time(runs, by));
  }
  const RunCounts counts = count_runs(runs);
  Json refused = Json::array();
  for (const Refusal& r : refusals(runs)) {
    refused.push_back({{"status", to_string(r.status)}, {"rows", r.rows}, {"message", r.message}, {"first", r.first}});
  }
  Json worst_ids = Json::array();
  for (const std::size_t i : worst_runs(runs, worst)) worst_ids.push_back(runs[i].run.id);
  Json rows = Json::array();
  for (const ComparedRun& c : runs) rows.push_back(run_json(c));
  const Json report = {{"schema_version", 1},
                       {"counts",
                        {{"rows", counts.rows},
                         {"predicted", counts.predicted},
                         {"timed", counts.timed},
                         {"with_memory", counts.with_memory},
                         {"unsupported", counts.unsupported},
                         {"invalid", counts.invalid}}},
                       {"step_time", time},
                       {"peak_memory", summaries_json(summarise_memory(runs))},
                       {"out_of_memory", verdicts_json(summarise_verdicts(runs))},
                       {"refused", refused},
                       {"worst", worst_ids},
                       {"runs", rows}};
  return report.dump(2) + "\n";
}

}  // namespace smplan
