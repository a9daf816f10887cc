#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/search/search_space.hpp"

namespace smplan {

/// Bubble of the best schedule (bubble_floor). Precondition: there is one.
double least_bubble(const Split& split, const SplitOptions& options);

/// A split that keeps the rules, with the choices that it leaves and what no candidate of it undercuts.
struct OpenSplit {
  Split split;
  SplitOptions options;
  std::uint64_t choices = 0;          ///< candidates for each saving and collective library
  std::uint64_t partial_choices = 0;  ///< the same where a saving recomputes some layers
  Flops work;                         ///< matrix products of one device and step, bubble included, at the least
  Seconds host;                       ///< launches that nothing hides, at the least

  /// No candidate of the split takes less on devices with this rate.
  [[nodiscard]] Seconds floor(FlopsPerSecond rate, double stretch) const;
};

/// All splits of one number of accelerators under one stack, least work first.
struct SplitList {
  std::int64_t gpus = 0;
  double stretch = 1;  ///< of every step on so many devices: waiting for the slowest rank
  std::vector<OpenSplit> open;
  Seconds host;                                               ///< the least of all splits
  std::array<std::uint64_t, kRejectionReasonCount> closed{};  ///< splits that break a rule
  /// What splits with one tensor degree add up to.
  struct Tensor {
    std::int32_t degree = 1;
    std::uint64_t splits = 0;
    std::uint64_t choices = 0;
    std::uint64_t partial_choices = 0;
  };
  std::vector<Tensor> tensors;

  /// No candidate takes less on devices with this rate. Precondition: a split is open.
  [[nodiscard]] Seconds floor(FlopsPerSecond rate) const;
};
SplitList list_splits(const PlanRequest& request, const Workload& workload, std::int64_t gpus, const Stack& stack,
                      std::span<const std::int32_t> micro_batches);

}  // namespace smplan
