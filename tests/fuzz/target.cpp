#include "tests/fuzz/target.hpp"

#include <cstdio>
#include <cstdlib>

namespace smplan::fuzz {

const Target* find_target(std::string_view name) {
  for (const auto& group :
       {base_targets(), catalog_targets(), plan_file_targets(), planner_targets(), preflight_targets()}) {
    for (const Target& target : group) {
      if (target.name == name) return &target;
    }
  }
  return nullptr;
}

void require(bool kept, std::string_view promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

}  // namespace smplan::fuzz
