#pragma once

#include <stdexcept>
#include <string>

#include "catalogs/catalog.hpp"
#include "models/machine/cluster.hpp"
#include "models/step/step.hpp"

namespace smplan::testing {

inline const Catalog& step_catalog() {
  static const Result<Catalog> catalog = Catalog::shipped();
  if (!catalog) throw std::runtime_error(to_string(catalog.error()));
  return *catalog;
}

/// A workload, a strategy, hardware and software that can be varied one thing at a time.
struct StepCase {
  Workload workload;
  Strategy strategy;
  Cluster cluster;
  Stack stack;

  [[nodiscard]] StepEstimate step() const { return estimate_step(workload, strategy, cluster, stack); }
  [[nodiscard]] Seconds time() const { return step().time(); }
};

inline StepCase step_case(const std::string& model, const std::string& instance, std::int32_t nodes,
                          const std::string& stack) {
  StepCase c;
  const Catalog& catalog = step_catalog();
  c.workload.architecture = catalog.find_model(model)->architecture;
  c.workload.seq_len = 4096;
  c.workload.global_batch = 1024;
  c.cluster = make_cluster(catalog, *catalog.find_instance(instance), nodes).value();
  c.stack = *catalog.find_stack(stack);
  c.strategy.data_parallel = static_cast<std::int32_t>(c.cluster.gpus());
  c.strategy.sharding = c.stack.shardings.front();
  c.strategy.shard_degree = c.strategy.data_parallel;
  return c;
}

}  // namespace smplan::testing
