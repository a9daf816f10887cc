#include <array>
#include <string>

#include "planner/analysis/compare.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/report_checks.hpp"
#include "planner/report/report.hpp"
#include "planner/report/timeline_json.hpp"
#include "planner/trace/chrome_trace.hpp"
#include "tests/fuzz/planning.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {
namespace {

/// Longer pipelines take the same code more often.
constexpr std::int64_t kMaxPasses = 2000;

void export_to_all(const TrainingPlan& plan) {
  const ExportJob job{plan, {}, shipped_catalog()};
  for (const ExportTarget& target : export_targets()) {
    const Result<Export> written = export_plan(job, target.name);
    if (!written) {
      require(!written.error().empty(), "a refusal says why");
      continue;
    }
    for (const ExportFile& file : written->files) {
      const bool inside = !file.path.empty() && file.path.front() != '/' && file.path.find("..") == std::string::npos;
      require(inside, "an export stays in its folder: " + file.path);
      require(!file.path.ends_with(".json") || parse_json(file.content, file.path).has_value(),
              "an exported JSON file is JSON: " + file.path);
    }
  }
}

void play(const TrainingPlan& plan) {
  const Result<SimulatedJob> job = simulated_job(plan, shipped_catalog());
  if (!job) return;
  const Strategy& s = plan.strategy;
  if (std::int64_t{s.pipeline_parallel} * s.virtual_pipeline > kMaxPasses / plan.gradient_accumulation) return;
  const Result<Timeline> timeline = simulate_step(*job);
  if (!timeline) return;
  require(parse_json(chrome_trace(*timeline, plan.model.name), "trace.json").has_value(), "a trace is JSON");
  require(parse_json(timeline_json(*timeline), "timeline.json").has_value(), "a timeline is JSON");
}

void plan_file(std::string_view bytes) {
  const Result<JsonValue> document = parse_json(bytes, "plan.json");
  if (!document) return;
  const Result<Json> first = ranked_plan(*document, 1);
  const Result<Json> second = ranked_plan(*document, 2);
  if (first && second) static_cast<void>(compare(*first, *second));
  const Result<TrainingPlan> plan = read_training_plan(*document, 1, shipped_catalog());
  if (!plan) {
    require(!plan.error().empty(), "a refusal says why");
    return;
  }
  export_to_all(*plan);
  play(*plan);
  Result<ReportData> page = report_data(std::string(bytes), "plan.json", shipped_catalog());
  if (page && add_checks(*page, shipped_catalog())) require(!report_html(*page).empty(), "a page of what was read");
}

constexpr std::array<Target, 1> kTargets{{{"plan_file", plan_file}}};

}  // namespace

std::span<const Target> plan_file_targets() { return kTargets; }

}  // namespace smplan::fuzz
