#pragma once

#include "base/units.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/cluster.hpp"
#include "models/machine/collectives.hpp"

namespace smplan {

/// Work of one pass over one layer, one micro-batch, one rank. Communication is the raw time of the
/// collectives; what of it shows is decided when layers are put together (models/step/step.hpp).
struct PassCosts {
  Seconds gemm;
  Seconds attention;
  Seconds elementwise;
  Seconds host;  ///< time the host needs to launch the pass
  Seconds tensor_comm;
  Seconds context_comm;
  Seconds expert_comm;
  [[nodiscard]] Seconds compute() const { return gemm + attention + elementwise; }
  PassCosts& operator+=(const PassCosts& o) {
    gemm += o.gemm;
    attention += o.attention;
    elementwise += o.elementwise;
    host += o.host;
    tensor_comm += o.tensor_comm;
    context_comm += o.context_comm;
    expert_comm += o.expert_comm;
    return *this;
  }
  PassCosts& operator*=(double times) {
    gemm *= times;
    attention *= times;
    elementwise *= times;
    host *= times;
    tensor_comm *= times;
    context_comm *= times;
    expert_comm *= times;
    return *this;
  }
};

struct LayerCosts {
  PassCosts forward;
  PassCosts backward;
  PassCosts selective;      ///< forward of the recomputed modules
  PassCosts unread;         ///< part of forward that makes the layer's output and nothing that backward reads
  Seconds weight_gradient;  ///< part of backward.gemm that zero-bubble schedules may delay
  LayerCosts& operator+=(const LayerCosts& o) {
    forward += o.forward;
    backward += o.backward;
    selective += o.selective;
    unread += o.unread;
    weight_gradient += o.weight_gradient;
    return *this;
  }
  LayerCosts& operator*=(double times) {
    for (PassCosts* pass : {&forward, &backward, &selective, &unread}) *pass *= times;
    weight_gradient *= times;
    return *this;
  }
  friend LayerCosts operator*(double times, LayerCosts costs) { return costs *= times; }
};

/// Costs outside the layers: what the first stage adds (embedding) and the last (final norm, output
/// projection, loss).
struct EdgeCosts {
  PassCosts embedding_forward;
  PassCosts embedding_backward;
  PassCosts head_forward;
  PassCosts head_backward;
};

/// Depends on the strategy only through tensor, context and expert parallelism, sequence_parallel,
/// micro_batch and the groups' placement: the search computes it once per such combination.
LayerCosts layer_costs(const Workload& workload, const LayerSpec& spec, const Strategy& strategy, const Groups& groups,
                       const Cluster& cluster, const Stack& stack);

/// The forward as full recomputation runs it again under the backward pass.
PassCosts replayed(const LayerCosts& costs, const Stack& stack);

EdgeCosts edge_costs(const Workload& workload, const Strategy& strategy, const Groups& groups, const Cluster& cluster,
                     const Stack& stack);

}  // namespace smplan
