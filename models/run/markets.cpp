#include "models/run/markets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace smplan {

std::int32_t purchasable_instances(Market market, std::int32_t instances) {
  constexpr std::int32_t kLargestBlock = 64;
  if (market != Market::CapacityBlock || instances < 1) return instances;
  if (instances > kLargestBlock) return (instances + kLargestBlock - 1) / kLargestBlock * kLargestBlock;
  return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(instances)));
}

Seconds paid_time(Market market, Seconds time, Seconds reclaim) {
  if (market != Market::CapacityBlock || !(time > Seconds())) return time;
  return days(std::ceil((time + reclaim) / days(1)));
}

double price_sigma(const Price& price, double age_years, const Operations& operations) {
  const bool spot = price.market == Market::Spot;
  // Two extremes of a few zones are one standard deviation from their middle each.
  const double seen = price.high > price.low ? std::log(price.high / price.low) / 2 : 0;
  const double zones = seen > 0 ? seen : spot ? operations.spot_price_spread : 0;
  const double drift = spot ? operations.spot_price_spread : operations.price_drift;
  return std::hypot(zones, drift * std::sqrt(std::max(0.0, age_years)));
}

std::string_view market_rule(Market market, bool standing) {
  switch (market) {
    case Market::OnDemand:
      return {};
    case Market::Spot:
      if (standing) return "spot: instances may be taken away at two minutes' notice";
      return "spot: waiting for capacity is not billed, instances may be taken away at two minutes' notice, and "
             "MaxWaitTimeInSeconds must cover the waits";
    case Market::CapacityBlock:
      // A job's ResourceConfig names a training plan and no EC2 reservation. Source: botocore 1.44.8, which extends
      // training plans too.
      return "capacity bought ahead, for SageMaker as a training plan (jobs cannot use EC2 capacity blocks): paid "
             "upfront, "
             "whole days and 1, 2, 4 ... 64 instances whether used or not, the instances go back 30 minutes before "
             "the end, and a run that takes longer extends the plan where an extension is on offer";
    case Market::SavingsPlan:
      // The price list of Machine Learning Savings Plans has rates for Train usage types, none for TrSpt or plans.
      return "savings plan: the hourly commitment runs for one or three years, used or not; it lowers on-demand rates, "
             "not those of spot or training plans";
  }
  return {};
}

}  // namespace smplan
