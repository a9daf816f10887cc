#pragma once

#include <vector>

#include "catalogs/setting_combinations.hpp"
#include "planner/preflight/node.hpp"

namespace smplan {

/// A combination that a library refuses, and the first of its settings that is there.
struct BrokenCombination {
  const SettingCombination* row;
  const Node* at;
};

/// Of an object that stands in no file of its own, such as a launcher's options.
std::vector<BrokenCombination> broken_combinations(const FrameworkCombinations& known, const Node& settings);

}  // namespace smplan
