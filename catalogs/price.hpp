#pragma once

#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// How the capacity is bought.
enum class Market {
  OnDemand,
  Spot,           ///< managed spot training; EC2 spot is the proxy where SageMaker publishes none
  CapacityBlock,  ///< capacity blocks and flexible training plans
  SavingsPlan,    ///< on-demand capacity under a SageMaker Savings Plan of one or three years
};
std::string_view to_string(Market market);
/// `training-plan` is another name of `capacity-block`.
std::optional<Market> market_from(std::string_view name);
/// Every market's name, for messages.
std::vector<std::string> market_names();

/// How the figure came to be.
enum class PriceBasis {
  Measured,  ///< read from a SageMaker price list or bill
  Derived,   ///< EC2 price times an observed SageMaker ratio, or a neighbouring fact
};
std::string_view to_string(PriceBasis basis);

struct Price {
  std::string instance;
  std::string region;
  Market market = Market::OnDemand;
  UsdPerSecond rate;  ///< one instance
  PriceBasis basis = PriceBasis::Measured;
  std::string formula;  ///< for Derived: what was multiplied with what
  Provenance provenance;
  /// Cheapest and dearest zone where several were seen; zero where none or one was.
  UsdPerSecond low{}, high{};
  friend bool operator==(const Price&, const Price&) = default;
};

Price read_price(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
