#pragma once

#include <string_view>

#include "planner/preflight/node.hpp"

namespace smplan {

/// What a HyperPod recipe says that it trains with; empty where it does not.
std::string_view recipe_model_type(const Node& root);

/// Whose schema a recipe has, as the table of recipes names it: `adapter`, `llmft`, `verl`, `mtrl`, `mtrl-nova`,
/// `nova`, or `other` of trainers whose schema nobody publishes, or that have one elsewhere (NeMo, Neuron).
std::string_view recipe_schema(const Node& root);

}  // namespace smplan
