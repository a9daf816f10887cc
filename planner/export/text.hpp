#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/export/target.hpp"

namespace smplan {

class Json;

/// What the exported files rest on: plan, strategy, world-size equation and predictions, a line each.
std::vector<std::string> provenance_lines(const ExportJob& job);

/// The lines, each behind `prefix`; none can end its comment.
std::string commented(const std::vector<std::string>& lines, std::string_view prefix = "# ");

/// `2 x 8 = data 2 x tensor 8 x pipeline 1 x context 1 = 16`.
std::string world_equation(const TrainingPlan& plan);
/// `every linear layer`: what carries adapters.
std::string_view adapted_layers(const TrainingPlan& plan);

/// Leaves out placeholders that no file shows, and adds NOTES.md: `lines` on the plan, what to replace, what to know.
void add_notes(Export& out, std::string_view model, std::string_view summary, const std::vector<std::string>& lines);

/// A value as Python says it, an object as YAML does. Keys keep their order.
std::string python_literal(const Json& value, int indent = 0);
std::string yaml_block(const Json& object, int indent = 0);
/// Tables one level deep: `[name]` and `key = value`.
std::string toml_tables(const Json& document);

}  // namespace smplan
