#pragma once

#include "cli/command.hpp"
#include "planner/answer/plan.hpp"
#include "planner/export/target.hpp"

namespace smplan::cli {

/// The exported files; --format json has them all in one document, with placeholders and notes.
Result<Answer> export_answer(const Result<Export>& exported, const Context& context);
/// The same of a plan that is written for a target.
Result<Answer> export_answer(const ExportJob& job, const std::string& target, const Context& context);

/// The same for the best plan of a search that the target has words for, with nothing said that the plan does not know.
Result<Answer> export_best(const PlanSet& set, const std::string& target, const Context& context);

}  // namespace smplan::cli
