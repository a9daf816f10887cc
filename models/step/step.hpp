#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/flops.hpp"
#include "models/layers/layer_costs.hpp"
#include "models/machine/cluster.hpp"
#include "models/memory/memory.hpp"

namespace smplan {

/// Where the seconds of one optimizer step go. Parts sum to total(); names are those of the JSON.
/// Compute parts are the busiest pipeline rank's; communication parts are what compute does not hide.
struct StepComponents {
  Seconds compute;      ///< matrix products
  Seconds attention;    ///< attention core
  Seconds elementwise;  ///< norms, activations, rotary, loss: memory-bound kernels
  Seconds recompute;    ///< forwards done again in the backward pass
  Seconds host;         ///< device idle while the host launches
  Seconds tensor_comm;
  Seconds context_comm;
  Seconds expert_comm;
  Seconds pipeline_comm;
  Seconds pipeline_bubble;
  Seconds data_comm;  ///< gradient reduction, parameter gathering
  Seconds optimizer;
  Seconds offload;    ///< host and NVMe transfers that compute does not hide
  Seconds straggler;  ///< waiting for the slowest rank
  Seconds reference;  ///< passes without gradients: of a reference, a teacher, or of the trained model itself
  Seconds input;      ///< waiting for data that comes slower than the devices take it: wait_for_input()
  [[nodiscard]] Seconds total() const {
    return compute + attention + elementwise + recompute + host + tensor_comm + context_comm + expert_comm +
           pipeline_comm + pipeline_bubble + data_comm + optimizer + offload + reference + straggler + input;
  }
  friend bool operator==(const StepComponents&, const StepComponents&) = default;
};

/// One component: its key in files, its name in sentences. The table is the only list of them.
struct StepPart {
  std::string_view key;
  std::string_view words;
  Seconds StepComponents::*time;
};
std::span<const StepPart> step_parts();
/// The parts of one step, longest first; equal ones in the table's order.
std::vector<StepPart> longest_parts(const StepComponents& components);

inline constexpr double kZ90 = 1.2815515655446004;  ///< of the standard normal's 90th percentile

struct StepEstimate {
  StepComponents components;
  Seconds p10;  ///< by the stack's residual alone; planner/answer/uncertainty.hpp widens it for what was never measured
  Seconds p90;
  double tokens_per_s = 0;
  double tokens_per_s_per_gpu = 0;
  FlopsPerSecond model_flops_per_gpu;
  double mfu = 0;  ///< causal attention counted whole (the 6N + 12Lhs convention)
  double hfu = 0;
  [[nodiscard]] Seconds time() const { return components.total(); }
};

/// What a step is put together from: costs per layer kind (in the order of layer_stack()) and of the
/// model's two ends. Independent of data and pipeline parallelism, sharding, schedule and recompute
/// but for the placement of the groups, so a search computes it once for many strategies.
struct LayerTable {
  LayerStack stack;
  PerKind<LayerCosts> layers{};
  EdgeCosts edge;
};
LayerTable layer_table(const Workload& workload, const Strategy& strategy, const Cluster& cluster, const Stack& stack);

/// One optimizer step from its parts.
StepEstimate combine_step(const LayerTable& table, const Workload& workload, const Strategy& strategy,
                          const Cluster& cluster, const Stack& stack);
/// The same where group_shapes(strategy, cluster) are at hand.
StepEstimate combine_step(const LayerTable& table, const Workload& workload, const Strategy& strategy,
                          const Groups& groups, const Cluster& cluster, const Stack& stack);

/// One optimizer step. Preconditions: check(strategy, workload, stack) is empty and
/// strategy.gpus() == cluster.gpus().
StepEstimate estimate_step(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                           const Stack& stack);

/// The component that costs most besides matrix products, in words for people.
std::string_view bottleneck(const StepEstimate& estimate);

/// Makes the step as long as its data takes to come, `least`; nothing where it is as long already. Its rates and its
/// interval follow.
void wait_for_input(StepEstimate& estimate, Seconds least);

}  // namespace smplan
