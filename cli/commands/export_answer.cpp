#include "cli/commands/export_answer.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/units.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/export/export_json.hpp"

namespace smplan::cli {

Result<Answer> export_answer(const Result<Export>& exported, const Context& context) {
  if (context.format == Format::Csv || context.format == Format::Markdown) {
    return fail("bad-format", "--format", "an export is neither CSV nor Markdown",
                "leave --format out for the files themselves, or use json for all of them in one document");
  }
  if (!exported) return tl::unexpected<Diagnostics>(exported.error());
  Answer answer;
  if (context.format == Format::Json) {
    answer.text = to_json(*exported);
    return answer;
  }
  answer.text = exported->files.front().content;
  answer.verbatim = true;
  answer.is_export = true;
  for (const ExportFile& file : exported->files) answer.files.push_back(file);
  for (const Placeholder& p : exported->placeholders)
    answer.notes.push_back(fmt::format("replace {}: {}", p.text, p.meaning));
  answer.notes.insert(answer.notes.end(), exported->notes.begin(), exported->notes.end());
  answer.notes.push_back(
      fmt::format("{} files with --output FOLDER; standard output has only the first", answer.files.size()));
  return answer;
}

Result<Answer> export_answer(const ExportJob& job, const std::string& target, const Context& context) {
  return export_answer(export_plan(job, target), context);
}

namespace {

/// Which row of the table this is, and why it is not the first.
std::string which_plan(const Plan& plan, std::int64_t rank, const std::optional<Diagnostics>& refusal) {
  const std::string price = plan.price == nullptr ? "price unknown" : format_usd(plan.cost.total());
  return fmt::format("this is plan {}: {} x {}, {} {}, {}, {}{}", rank, plan.instance_count, plan.instance->name,
                     plan.stack->id, to_string(plan.strategy), format_duration(plan.cost.time_to_train()), price,
                     refusal ? "; of the first, " + refusal->front().message : "");
}

}  // namespace

Result<Answer> export_best(const PlanSet& set, const std::string& target, const Context& context) {
  std::optional<Diagnostics> refusal;
  for (std::int64_t rank = 1; rank <= static_cast<std::int64_t>(set.plans.size()); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const TrainingPlan plan = training_plan_of(set.request, set.plans[index - 1], index);
    const std::string lock = plan_lock(set, index);
    Result<Answer> answer = export_answer({plan, ExportOptions{}, context.catalog, lock}, target, context);
    if (answer) answer->notes.insert(answer->notes.begin(), which_plan(set.plans[index - 1], rank, refusal));
    if (answer || answer.error().front().code != "not-expressible") return answer;
    if (!refusal) refusal = answer.error();
  }
  return tl::unexpected<Diagnostics>(*refusal);
}

}  // namespace smplan::cli
