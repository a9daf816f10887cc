#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "planner/search/search.hpp"

namespace smplan::properties {

/// One exact configuration that the models accept.
struct Configuration {
  PlanRequest request;
  const InstanceType* instance = nullptr;
  std::int32_t count = 0;
  const Stack* stack = nullptr;
  Strategy strategy;
  Plan plan;
};

/// Random configurations over the whole catalog: models, priced instance types, stacks, degrees, sharding, schedules,
/// savings, batch sizes, precisions. The same seed gives the same ones on every machine.
class RandomRequests {
 public:
  RandomRequests(const Catalog& catalog, std::uint64_t seed);

  /// The next configuration that is valid.
  Configuration next();
  /// The same request as a search: its instance type and stack, a few counts, nothing else fixed.
  PlanRequest search_request(const Configuration& configuration);
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

 private:
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  std::int32_t power_up_to(std::int64_t most);
  std::optional<Configuration> attempt();
  Strategy random_strategy(const Configuration& c, const Cluster& cluster);

  const Catalog& catalog_;
  PlanRequest defaults_;
  std::vector<const InstanceType*> instances_;
  std::mt19937_64 engine_;
};

}  // namespace smplan::properties
