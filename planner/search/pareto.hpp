#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace smplan {

/// One answer as a point: both smaller is better.
struct TimeCost {
  double time = 0;
  double cost = 0;
};

/// Indices of the points that no other point beats in one measure without losing in the other,
/// cheapest first. Of equal points the first stays.
std::vector<std::size_t> pareto_front(std::span<const TimeCost> points);

/// Whether a point on the front (cheapest first, as pareto_front orders) is at least as good in both
/// measures and better in one. Equal points do not beat each other.
bool is_dominated(const TimeCost& point, std::span<const TimeCost> front);

}  // namespace smplan
