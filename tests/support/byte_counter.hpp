#pragma once

#include <gtest/gtest.h>

#include "models/layers/layer_costs.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan::testing {

/// A device that computes in no time and moves one byte a second without delay: device times are bytes, which can be
/// counted by hand.
inline StepCase byte_counter() {
  StepCase c = step_case("llama-2-7b", "ml.p4d.24xlarge", 2, "megatron");
  c.cluster.accelerator.peak.fill(FlopsPerSecond(1e40));
  c.cluster.accelerator.memory_bandwidth = BytesPerSecond(1);
  AcceleratorProfile& p = c.cluster.accelerator_profile;
  p.memory_efficiency = p.sustained_fraction = p.sustained_attention = 1;
  p.kernel_floor = p.gemm_floor = Seconds();
  p.gemm_efficiency.fill(1);
  p.flash2.forward_efficiency.fill(1);
  p.flash2.backward_efficiency.fill(1);
  c.stack.profile = StackProfile{};
  c.stack.attention_kernel = AttentionKernel::Flash2;
  c.stack.gradient_bytes = 4;
  c.stack.logits_bytes = 6;
  c.stack.vocab_multiple = 1;
  Architecture& a = c.workload.architecture;
  a = Architecture{};
  a.n_layers = 4;
  a.hidden = 64;
  a.n_heads = 8;
  a.n_kv_heads = 2;
  a.head_dim = 8;
  a.ffn_hidden = 160;
  a.vocab = 1000;
  c.workload.seq_len = 128;
  c.strategy = Strategy{};
  c.strategy.micro_batch = 2;  // 256 tokens
  return c;
}

inline StepCase expert_counter() {
  StepCase c = byte_counter();
  c.workload.architecture.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 32};
  return c;
}

inline LayerCosts costs_of(const StepCase& c, LayerSpec spec = {.ffn_hidden = 160}) {
  return layer_costs(c.workload, spec, c.strategy, group_shapes(c.strategy, c.cluster), c.cluster, c.stack);
}

inline EdgeCosts edges_of(const StepCase& c) {
  return edge_costs(c.workload, c.strategy, group_shapes(c.strategy, c.cluster), c.cluster, c.stack);
}

/// Operands and result of m x k times k x n in 16 bits.
inline double product(double m, double n, double k) { return 2 * (m * k + k * n + m * n); }

inline Seconds collective(const StepCase& c, CollectiveKind kind, double bytes, const GroupShape& group) {
  return collective_time(kind, Bytes(bytes), group, c.cluster, c.strategy.collectives).time;
}

inline constexpr double kDenseWeights = 64 * 96 + 64 * 64 + 64 * 320 + 160 * 64;
inline constexpr double kRelative = 1e-12;

}  // namespace smplan::testing

#define EXPECT_BYTES(time, bytes) EXPECT_NEAR((time).value(), bytes, smplan::testing::kRelative*(bytes))
