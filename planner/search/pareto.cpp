#include "planner/search/pareto.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace smplan {

std::vector<std::size_t> pareto_front(std::span<const TimeCost> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (points[a].cost != points[b].cost) return points[a].cost < points[b].cost;
    if (points[a].time != points[b].time) return points[a].time < points[b].time;
    return a < b;
  });
  std::vector<std::size_t> front;
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (points[i].time >= fastest) continue;
    fastest = points[i].time;
    front.push_back(i);
  }
  return front;
}

bool is_dominated(const TimeCost& point, std::span<const TimeCost> front) {
  // The fastest of those that cost no more is the last of them: time falls along the front.
  const auto dearer = std::upper_bound(front.begin(), front.end(), point.cost,
                                       [](double cost, const TimeCost& p) { return cost < p.cost; });
  if (dearer == front.begin()) return false;
  const TimeCost& rival = *(dearer - 1);
  return rival.time < point.time || (rival.time == point.time && rival.cost < point.cost);
}

}  // namespace smplan
