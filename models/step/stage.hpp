#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "models/layers/layer_costs.hpp"
#include "models/machine/collectives.hpp"
#include "models/pipeline/schedule.hpp"
#include "models/step/step.hpp"

namespace smplan {

/// Time of one pass over one pipeline stage, one micro-batch, by part: what shows, not what is hidden.
struct PassParts {
  Seconds gemm;
  Seconds attention;
  Seconds elementwise;
  Seconds recompute;
  Seconds host;
  Seconds tensor_comm;
  Seconds context_comm;
  Seconds expert_comm;
  Seconds pipeline_comm;
  Seconds data_comm;  ///< gathers and scatters of sharded parameters, every micro-batch
  Seconds offload;
  [[nodiscard]] Seconds total() const {
    return gemm + attention + elementwise + recompute + host + tensor_comm + context_comm + expert_comm +
           pipeline_comm + data_comm + offload;
  }
  // Defined here because a step is mostly these sums: calls would cost it a fifth of its time.
  PassParts& operator+=(const PassParts& o) {
    gemm += o.gemm;
    attention += o.attention;
    elementwise += o.elementwise;
    recompute += o.recompute;
    host += o.host;
    tensor_comm += o.tensor_comm;
    context_comm += o.context_comm;
    expert_comm += o.expert_comm;
    pipeline_comm += o.pipeline_comm;
    data_comm += o.data_comm;
    offload += o.offload;
    return *this;
  }
  friend PassParts operator*(double n, const PassParts& p) {
    return {.gemm = n * p.gemm,
            .attention = n * p.attention,
            .elementwise = n * p.elementwise,
            .recompute = n * p.recompute,
            .host = n * p.host,
            .tensor_comm = n * p.tensor_comm,
            .context_comm = n * p.context_comm,
            .expert_comm = n * p.expert_comm,
            .pipeline_comm = n * p.pipeline_comm,
            .data_comm = n * p.data_comm,
            .offload = n * p.offload};
  }
};

struct StageCosts {
  PassParts forward;
  PassParts backward;
  Seconds weight_gradient;
};

/// The same as a pipeline's schedule takes it: the backward pass in its two parts.
StageTime stage_time(const StageCosts& costs);

/// One micro-batch, each the longest over the stages: the others wait for it, and what they transfer hides beside it.
struct LongestPasses {
  Seconds forward;
  Seconds backward;  ///< of a zero-bubble schedule without the gradients of the weights
  Seconds weight_gradient;
};

/// What happens once a step, after the last micro-batch of a stage.
struct StepTail {
  Seconds data_comm;
  Seconds optimizer;
  Seconds offload;
  [[nodiscard]] Seconds total() const { return data_comm + optimizer + offload; }
};

/// Part of a communication that compute does not hide: the software overlaps at most `overlap` of
/// it, and never more than the window it runs beside.
inline Seconds exposed(Seconds communication, Seconds window, double overlap) {
  return std::max(communication * (1 - overlap), communication - window);
}

/// What compute loses of each second of a transfer that hides beside it: the stack's `overlap_contention`. Products of
/// Hopper deal their tiles out beforehand to one block for each multiprocessor: where a collective holds some, the last
/// blocks wait for the first, and a product takes twice as long (pytorch/pytorch#143988, of FSDP on H100), so that half
/// is lost. Earlier products launch more blocks than fit and Blackwell's take tiles as they go (cluster launch control,
/// docs.nvidia.com/cutlass).
double contention(const Stack& stack, const Accelerator& accelerator);
/// What data-parallel traffic costs beside a window of compute.
Seconds beside_compute(Seconds communication, Seconds window, const Stack& stack, const Accelerator& accelerator);

/// Puts layers together into pipeline stages. Holds references: lives within one estimate.
class StageModel {
 public:
  StageModel(const LayerTable& table, const Workload& workload, const Strategy& strategy, const Groups& groups,
             const Cluster& cluster, const Stack& stack);

  [[nodiscard]] StageCosts stage(std::int32_t index) const;
  [[nodiscard]] StepTail tail(std::int32_t index, const LongestPasses& longest) const;

 private:
  struct LayerTime {
    PassParts forward;
    PassParts backward;
    Seconds weight_gradient;
  };
  [[nodiscard]] LayerTime layer_time(int run, Recompute recompute) const;
  [[nodiscard]] Seconds launch_time(const PassCosts& costs) const;
  [[nodiscard]] PassParts shown(const PassCosts& costs) const;
  [[nodiscard]] PassParts backward_shown(PassCosts backward, Seconds weight_gradient) const;
  [[nodiscard]] Seconds selective_recompute(const LayerCosts& costs, const PassParts& backward) const;
  void add_sharded_parameter_traffic(int run, Recompute recompute, LayerTime& time) const;
  void add_root_traffic(std::int32_t index, StageCosts& costs) const;
  void add_activation_offload(int run, LayerTime& time) const;
  [[nodiscard]] Seconds boundary_transfer() const;
  [[nodiscard]] Seconds shown_crossing(Seconds transfer) const;

  const LayerTable& table_;
  const Workload& workload_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Stack& stack_;
  const Groups& groups_;
  Seconds crossing_;  ///< of a stage boundary, by one micro-batch: what shows
  PerKind<LayerTime> layers_{};
  /// Of layers that keep everything, where only some are recomputed.
  std::optional<PerKind<LayerTime>> kept_;
};

}  // namespace smplan
