#pragma once

#include <algorithm>
#include <compare>
#include <vector>

#include "planner/answer/plan.hpp"

namespace smplan {

/// What a plan is ranked by, before ties. Smaller is better.
struct Score {
  bool over_limit = false;  ///< longer than the request's horizon
  double value = 0;         ///< dollars, seconds, or their product; seconds over the limit
  double second = 0;        ///< the tie-breaker: seconds for cost, dollars otherwise
  friend auto operator<=>(const Score&, const Score&) = default;
};

Score score(const PlanRequest& request, Seconds time_to_train, Usd total);

/// A plan may be this factor behind the best and still come first for being simpler: less than any prediction errs by,
/// and less than an engineer's day.
inline constexpr double kSimplerMayCost = 1.02;

/// Whether `mine` is close enough to the best for its plan to be preferred where it is simpler.
bool hardly_behind(const Score& mine, const Score& best);

/// What makes a plan hard to launch, debug and change. Less is simpler: first the dimensions in use, those whose degree
/// is no power of two twice; then the product of the degrees.
struct Complexity {
  std::int32_t dimensions = 0;
  std::int64_t degrees = 1;
  friend auto operator<=>(const Complexity&, const Complexity&) = default;
};
Complexity complexity(const Strategy& strategy);

/// Candidates of which no other is both simpler and faster, or one of these and alike in the other; fastest first.
/// `Timed` has `strategy` and `step.time()`.
template <typename Timed>
class SimplicityFront {
 public:
  /// Whether a candidate with this strategy that takes `time` or more has a place: nothing on the front beats it, and
  /// it is not too slow to be preferred.
  [[nodiscard]] bool admits(const Strategy& strategy, Seconds time) const {
    if (items_.empty()) return true;
    if (time > items_.front().step.time() * kSimplerMayCost) return false;
    const Complexity mine = complexity(strategy);
    return std::none_of(items_.begin(), items_.end(), [&](const Timed& other) {
      return other.step.time() < time && complexity(other.strategy) <= mine;
    });
  }
  void add(const Timed& candidate, bool (*before)(const Timed&, const Timed&)) {
    if (!admits(candidate.strategy, candidate.step.time())) return;
    const Complexity mine = complexity(candidate.strategy);
    const bool beaten = std::any_of(items_.begin(), items_.end(), [&](const Timed& other) {
      return !before(candidate, other) && complexity(other.strategy) <= mine;
    });
    if (beaten) return;
    std::erase_if(items_,
                  [&](const Timed& other) { return before(candidate, other) && mine <= complexity(other.strategy); });
    items_.insert(std::upper_bound(items_.begin(), items_.end(), candidate, before), candidate);
    const Seconds most = items_.front().step.time() * kSimplerMayCost;
    std::erase_if(items_, [&](const Timed& other) { return other.step.time() > most; });
  }
  [[nodiscard]] const std::vector<Timed>& items() const { return items_; }

 private:
  std::vector<Timed> items_;
};

/// How many plans of one instance type and count the list may show: two where there are many groups,
/// more where the request leaves few, so that a list of `top` can be filled.
int variants_per_group(const PlanRequest& request);

}  // namespace smplan
