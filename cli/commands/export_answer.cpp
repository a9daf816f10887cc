#include "cli/commands/export_answer.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "planner/answer/plan_file.hpp"
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

Result<Answer> export_best(const PlanSet& set, const std::string& target, const Context& context) {
  std::optional<Diagnostics> refusal;
  for (std::int64_t rank = 1; rank <= static_cast<std::int64_t>(set.plans.size()); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const TrainingPlan plan = training_plan_of(set.request, set.plans[index - 1], index);
    Result<Answer> answer = export_answer({plan, ExportOptions{}, context.catalog}, target, context);
    if (answer && refusal) {
      answer->notes.insert(answer->notes.begin(),
                           fmt::format("this is plan {}; of the first, {}", rank, refusal->front().message));
    }
    if (answer || answer.error().front().code != "not-expressible") return answer;
    if (!refusal) refusal = answer.error();
  }
  return tl::unexpected<Diagnostics>(*refusal);
}

}  // namespace smplan::cli
