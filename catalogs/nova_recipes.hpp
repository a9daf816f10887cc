#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smplan {

/// Values that AWS's recipes of a Nova model list for a setting.
/// Source: catalogs/data/hyperpod/nova_recipes.json.
struct NovaSetting {
  std::string model;    ///< in a recipe's `run.model_type`: `nova-2-lite`
  std::string setting;  ///< members from the root: `run.replicas`
  std::vector<std::int64_t> values;
};

const std::vector<NovaSetting>& nova_settings();

}  // namespace smplan
