#include "models/run/warm_pool.hpp"

#include <algorithm>

namespace smplan {

WarmPool weigh_warm_pool(const JobSeries& series, const Operations& o, UsdPerSecond hourly, Market market) {
  WarmPool pool;
  const auto gaps = static_cast<double>(std::max<std::int64_t>(0, series.jobs - 1));
  pool.possible = market != Market::Spot && gaps > 0 && series.gap <= kWarmPoolMost;
  if (!pool.possible) return pool;
  // What is reserved is paid between jobs too, pool or not.
  const UsdPerSecond rate = market == Market::CapacityBlock ? UsdPerSecond() : hourly;
  const Seconds billed = std::max(Seconds(), o.image_pull - o.warm_start);
  pool.kept = rate * series.gap * gaps;
  pool.saved = rate * billed * gaps;
  pool.sooner = (o.provisioning + billed) * gaps;
  return pool;
}

}  // namespace smplan
