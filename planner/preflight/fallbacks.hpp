#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/answer/plan.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/lock.hpp"

namespace smplan {

/// Types that can take the place of a plan's: with as many accelerators in all, so that its files hold as they are.
struct Fallbacks {
  std::vector<Plan> plans;  ///< of the same strategy there, cheapest first
  /// Other types in the market of the plan, and why they cannot; first those that only its goals leave out.
  std::vector<std::pair<std::string, std::string>> refused;
};

/// Predicts the plan on every other type that its region and market have a price of; those that keep what the plan had
/// to keep (deadline, money, memory, the longest run of a job), and whose job has the same image and settings, are
/// taken. Fails where the plan itself is of a
/// market that has no such lists.
Result<Fallbacks> fallbacks_of(const Lock& lock, const Catalog& catalog,
                               const std::optional<std::string>& environment_region);

/// As the export wants them: at most `n`, the cheapest first.
std::vector<InstanceChoice> choices_of(const Fallbacks& fallbacks, std::size_t n);

}  // namespace smplan
