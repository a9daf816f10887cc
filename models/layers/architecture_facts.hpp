#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogs/architecture.hpp"

namespace smplan {

/// Sizes of a model by the names that plan files and Python give them, in the order of the file.
std::vector<std::pair<std::string_view, std::int64_t>> architecture_facts(const Architecture& architecture);

}  // namespace smplan
