#include "planner/validation/advice.hpp"

#include <cmath>

#include <fmt/format.h>

namespace smplan {
namespace {

/// A part of the step below this is not worth a sentence.
constexpr double kWorthSaying = 0.03;

/// Part of a step in which the program waits for data.
double waiting_share(const ComparedRun& c) { return Seconds(c.run.data_s.value_or(0)) / *c.measured_time; }

std::string time_advice(const ComparedRun& c) {
  const Seconds measured = *c.measured_time;
  const StepEstimate& step = c.prediction.step;
  const double off = measured / step.time() - 1;
  const std::string interval =
      fmt::format("the interval of {} to {}", format_duration(step.p10), format_duration(step.p90));
  const std::string head =
      fmt::format("A step takes {}, {} {} than predicted ({})", format_duration(measured),
                  format_percent(std::abs(off)), off < 0 ? "less" : "more", format_duration(step.time()));
  if (c.time_inside()) return fmt::format("{}: inside {}.", head, interval);
  // What a loader holds up says nothing of the device.
  if (waiting_share(c) >= kWorthSaying) return fmt::format("{}: outside {}.", head, interval);
  return fmt::format("{}: outside {}. smplan calibrate with this file makes later predictions follow it.", head,
                     interval);
}

std::string memory_advice(const ComparedRun& c) {
  const double measured = *c.run.peak_mem_gib_per_gpu;
  return fmt::format("The peak of memory is {:.1f} GiB, predicted {:.1f} ({:.1f} to {:.1f}) of {:.1f}.", measured,
                     in_gib(c.prediction.peak), in_gib(c.prediction.peak_interval.p10),
                     in_gib(c.prediction.peak_interval.p90), in_gib(c.prediction.memory.limit));
}

}  // namespace

std::vector<PartComparison> compare_parts(const ComparedRun& c) {
  std::vector<PartComparison> out;
  if (c.prediction.status != RunStatus::Ok) return out;
  const StepComponents& parts = c.prediction.step.components;
  const MeasuredRun& run = c.run;
  if (run.data_s) out.push_back({"data", Seconds(*run.data_s), std::nullopt});
  if (run.forward_s && run.backward_s) {
    out.push_back({"passes", Seconds(*run.forward_s + *run.backward_s), parts.total() - parts.optimizer});
  }
  if (run.optimizer_s) out.push_back({"update", Seconds(*run.optimizer_s), parts.optimizer});
  return out;
}

std::vector<std::string> run_advice(const ComparedRun& c) {
  std::vector<std::string> out;
  if (c.has_time_error()) out.push_back(time_advice(c));
  if (c.has_memory_error()) out.push_back(memory_advice(c));
  if (c.prediction.status == RunStatus::Ok && c.ran_out().value_or(false)) {
    out.push_back(fmt::format("The run ran out of memory; the chance of that was predicted as {}.",
                              format_percent(c.prediction.out_of_memory_probability)));
  }
  if (!c.has_time_error()) return out;
  const Seconds step = *c.measured_time;
  for (const PartComparison& part : compare_parts(c)) {
    if (part.name == "data") {
      const double share = waiting_share(c);
      if (share < kWorthSaying) continue;
      out.push_back(
          fmt::format("The loader holds up {} of each step, which no plan counts: read with more processes "
                      "(--workers), or make the "
                      "tokens ahead (smplan_data.py).",
                      format_percent(share)));
      continue;
    }
    const double off = (part.measured - *part.predicted) / step;
    if (std::abs(off) < kWorthSaying) continue;
    out.push_back(fmt::format("The {} {} {}, predicted {}: {} of the step {}.", part.name,
                              part.name == "passes" ? "take" : "takes", format_duration(part.measured),
                              format_duration(*part.predicted), format_percent(std::abs(off)),
                              off > 0 ? "more" : "less"));
  }
  return out;
}

}  // namespace smplan
