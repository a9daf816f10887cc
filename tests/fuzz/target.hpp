#pragma once

#include <span>
#include <string_view>

namespace smplan::fuzz {

/// One reader of what users and files say. `run` takes any bytes; it returns, or aborts at a broken promise.
struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};

std::span<const Target> base_targets();
std::span<const Target> catalog_targets();
std::span<const Target> plan_file_targets();
std::span<const Target> planner_targets();
std::span<const Target> preflight_targets();

/// nullptr if there is none of that name.
const Target* find_target(std::string_view name);

/// Ends the process with a message if a promise is broken.
void require(bool kept, std::string_view promise);

}  // namespace smplan::fuzz
