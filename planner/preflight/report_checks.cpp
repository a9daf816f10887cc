#include "planner/preflight/report_checks.hpp"
#include "planner/answer/plan_file.hpp"

#include "base/json_writer.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/check.hpp"

namespace smplan {
namespace {
constexpr std::string_view kTarget = "create-training-job";

Json checks_of(const TrainingPlan& plan, const Catalog& catalog, const SagemakerLimits& limits) {
  const ExportOptions nothing_said;
  const Result<Export> exported = export_plan({plan, nothing_said, catalog}, kTarget);
  // A plan that no single job can express is still a plan; the page says why there is nothing to check.
  if (!exported) return {{"refused", to_string(exported.error().front())}};
  const ExportFile& request = exported->files.front();
  const Result<Job> job = read_job(request.content, request.path, JobKind::CreateTrainingJob);
  if (!job) return {{"refused", to_string(job.error().front())}};
  CheckOptions options;
  options.request.region = plan.region;
  const Result<Findings> findings = check_job(*job, catalog, limits, options);
  if (!findings) return {{"refused", to_string(findings.error().front())}};
  Json out = json_of(*findings);
  // Why each rule had nothing to judge is for `smplan check`; the page says how many.
  out["summary"]["rules_skipped"] = findings->skipped.size();
  return {{"findings", out["findings"]}, {"summary", out["summary"]}};
}

}  // namespace

Result<void> add_checks(ReportData& data, const Catalog& catalog) {
  const Result<JsonValue> document = parse_json(data.plan_json, "plan");
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  const Result<SagemakerLimits> limits = SagemakerLimits::shipped();
  if (!limits) return tl::unexpected<Diagnostics>(limits.error());
  for (std::size_t i = 0; i < data.plans.size(); ++i) {
    const Result<TrainingPlan> plan = read_training_plan(*document, static_cast<std::int64_t>(i) + 1, catalog);
    if (!plan) return tl::unexpected<Diagnostics>(plan.error());
    data.plans[i].checks = checks_of(*plan, catalog, *limits).dump();
  }
  return {};
}

}  // namespace smplan
