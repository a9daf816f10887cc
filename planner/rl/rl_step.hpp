#pragma once

#include <span>
#include <string_view>

#include "base/units.hpp"
#include "planner/rl/rl_request.hpp"

namespace smplan {

/// Where the seconds of a step go. Names are those of the JSON.
struct RlParts {
  Seconds generate;
  Seconds score;      ///< a reward model's pass, and what reward functions add
  Seconds log_probs;  ///< a pass of the policy
  Seconds reference;  ///< a pass of the frozen copy
  Seconds critic;     ///< its pass for the values, and its updates
  Seconds update;     ///< of the policy
  Seconds sync;       ///< weights to the engine
  Seconds swap;       ///< states to the host and back, the engine falls asleep and wakes up
  [[nodiscard]] Seconds training() const { return log_probs + reference + critic + update; }
  friend bool operator==(const RlParts&, const RlParts&) = default;
};

struct RlPart {
  std::string_view key;
  std::string_view title;
  Seconds RlParts::*time;
};
/// All of them, in the order of the struct.
std::span<const RlPart> rl_parts();

/// One step: the sum of its parts. Split and one step off policy, generating and all that trains run beside each other,
/// and the longer counts; weights move when both are done.
Seconds rl_step_time(const RlParts& parts, RlPlacement placement);

struct RlInterval {
  Seconds p10;
  Seconds p90;
};

/// P10 and P90 of a step from those of its parts. Parts of one kind err together: all that trains, all that generates.
/// The kinds err apart from each other, so that their deviations add in squares; where the longer of two counts, the
/// longer of their ends does.
///
/// The interval is wide, and no measured step of reinforcement learning stands behind it. What generates reaches 40 to
/// 80 % of the memory bandwidth, its host takes one to thirteen milliseconds an iteration, and lengths vary by 0.3
/// to 1.2 of their mean: all at their better ends are taken for P10, all at their worse for P90, because what is not
/// modelled (sequences taken back, uneven replicas, tools and verifiers that responses wait for) only adds. Training
/// has the interval of its plan. Weights arrive at a tenth to eight tenths of the wires' rate.
RlInterval rl_interval(const RlParts& low, const RlParts& expected, const RlParts& high, RlPlacement placement);

}  // namespace smplan
