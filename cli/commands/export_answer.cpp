#include "cli/commands/export_answer.hpp"

#include <fmt/format.h>

#include "planner/export/export_json.hpp"

namespace smplan::cli {

Result<Answer> export_answer(const ExportJob& job, const std::string& target, const Context& context) {
  if (context.format == Format::Csv || context.format == Format::Markdown) {
    return fail("bad-format", "--format", "an export is neither CSV nor Markdown",
                "leave --format out for the files themselves, or use json for all of them in one document");
  }
  const Result<Export> exported = export_plan(job, target);
  if (!exported) return tl::unexpected<Diagnostics>(exported.error());
  Answer answer;
  if (context.format == Format::Json) {
    answer.text = to_json(*exported);
    return answer;
  }
  answer.text = exported->files.front().content;
  for (const ExportFile& file : exported->files) answer.files.push_back({file.path, file.content});
  for (const Placeholder& p : exported->placeholders)
    answer.notes.push_back(fmt::format("replace {}: {}", p.text, p.meaning));
  answer.notes.insert(answer.notes.end(), exported->notes.begin(), exported->notes.end());
  answer.notes.push_back(
      fmt::format("{} files with --output FOLDER; standard output has only the first", answer.files.size()));
  return answer;
}

Result<Answer> export_best(const PlanSet& set, const std::string& target, const Context& context) {
  const Result<TrainingPlan> plan = training_plan_of(set, 1, context.catalog);
  if (!plan) return tl::unexpected<Diagnostics>(plan.error());
  return export_answer({*plan, ExportOptions{}, context.catalog}, target, context);
}

}  // namespace smplan::cli
