#include "models/layers/flops.hpp"
#include "tests/support/layer_modules.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace smplan {
namespace {

/// Forward FLOPs of one token in one layer, attention over the sequence included.
Flops layer_forward_flops(const Architecture& a, const LayerSpec& spec, std::int64_t seq_len,
                          AttentionCounting counting) {
  return Flops(2 * static_cast<double>(active_matmul_parameters(a, spec))) +
         attention_core_flops(a, spec, seq_len, counting);
}

using enum AttentionCounting;

/// A GPT as Narayanan et al. 2021 count it: MLP four times the width, output tied to the embedding.
Architecture gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t vocab) {
  Architecture a;
  a.n_layers = layers;
  a.hidden = hidden;
  a.n_heads = a.n_kv_heads = heads;
  a.head_dim = hidden / heads;
  a.ffn_hidden = 4 * hidden;
  a.vocab = vocab;
  a.gated_mlp = false;
  a.tied_embeddings = true;
  a.norm = NormKind::LayerNorm;
  return a;
}

Architecture llama_3_8b() {
  Architecture a;
  a.n_layers = 32;
  a.hidden = 4096;
  a.n_heads = 32;
  a.n_kv_heads = 8;
  a.head_dim = 128;
  a.ffn_hidden = 14336;
  a.vocab = 128256;
  return a;
}

Workload on(const Architecture& a, std::int64_t seq_len, std::int64_t batch) {
  Workload w;
  w.architecture = a;
  w.seq_len = seq_len;
  w.global_batch = batch;
  return w;
}

void expect_near(double value, double expected, double relative) {
  EXPECT_NEAR(value / expected, 1, relative) << value << " vs " << expected;
}

struct Gpt {
  double layers, hidden, heads, vocab, seq, batch;
};
// Rows of table 1 of Narayanan et al. 2021: 18B, 76B, 175B, 530B, 1T.
constexpr Gpt kGpts[] = {{40, 6144, 48, 51200, 2048, 1024},
                         {60, 10240, 80, 51200, 2048, 1792},
                         {96, 12288, 96, 51200, 2048, 1536},
                         {105, 20480, 128, 51200, 2048, 2520},
                         {128, 25600, 160, 51200, 2048, 3072}};

Workload workload(const Gpt& g) {
  const auto i = [](double x) { return static_cast<std::int64_t>(x); };
  return on(gpt(i(g.layers), i(g.hidden), i(g.heads), i(g.vocab)), i(g.seq), i(g.batch));
}

// 72 B s L h^2 (1 + s / 6h + V / 12 h L), and 96 (... V / 16 h L) with full recomputation.
TEST(StepFlops, EqualMegatronsFormula) {
  for (const Gpt& g : kGpts) {
    const StepFlops flops = step_flops(workload(g), Recompute::Full, FullSquare, Toggle::Off);
    const double common = g.batch * g.seq * g.layers * g.hidden * g.hidden;
    expect_near(flops.model.value(), 72 * common * (1 + g.seq / (6 * g.hidden) + g.vocab / (12 * g.hidden * g.layers)),
                1e-12);
    expect_near(flops.hardware.value(),
                96 * common * (1 + g.seq / (6 * g.hidden) + g.vocab / (16 * g.hidden * g.layers)), 1e-12);
  }
}

// llm-foundry: 3 (2 P s + 4 L h s^2) a sequence, P counting norms, biases and positions too: a little more
// than what multiplies.
TEST(StepFlops, ComeWithinHalfAPercentOfLlmFoundrysConvention) {
  Architecture mpt = gpt(32, 4096, 32, 50368);
  mpt.positions = PositionEncoding::Learned;
  mpt.max_positions = 2048;
  mpt.norm_bias = false;
  const double s = 2048;
  const auto p = static_cast<double>(count_parameters(mpt).total());
  const double foundry = 3 * (2 * p * s + 4 * 32.0 * 4096.0 * s * s);
  const double ours = step_flops(on(mpt, 2048, 1), Recompute::None, FullSquare).model.value();
  EXPECT_GT(foundry, ours);
  expect_near(ours, foundry, 0.005);
  const double idle = 2048.0 * 4096.0 + 65.0 * 4096.0;  // position table and norms
  expect_near(ours + 6 * idle * s, foundry, 1e-12);
}

// 6 P_mat = 4.50e10 a token; core 1.29e10 counted whole, 6.44e9 half (s = 8192).
TEST(StepFlops, OfLlama3At8192AreThePublishedParts) {
  const Architecture a = llama_3_8b();
  const LayerSpec spec = layer_stack(a).runs[0].spec;
  const double linears =
      32 * 2 * static_cast<double>(active_matmul_parameters(a, spec)) + head_forward_flops(a).value();
  expect_near(3 * linears, 4.50e10, 0.002);
  expect_near(3 * 32 * attention_core_flops(a, spec, 8192, FullSquare).value(), 1.29e10, 0.002);
  expect_near(3 * 32 * attention_core_flops(a, spec, 8192, CausalHalf).value(), 6.44e9, 0.002);
}

TEST(AttentionCore, CausalHalfIsExactToTheDiagonal) {
  const Architecture a = gpt(1, 64, 4, 100);
  // 1 + 2 + 3 + 4 keys over 4 positions, 4 x 64 FLOPs a key.
  EXPECT_DOUBLE_EQ(attention_core_flops(a, {}, 4, CausalHalf).value(), 4 * 64 * 2.5);
  EXPECT_DOUBLE_EQ(attention_core_flops(a, {}, 4, FullSquare).value(), 4 * 64 * 4.0);
}

TEST(AttentionCore, OfAWindowIsABand) {
  const Architecture a = gpt(1, 64, 4, 100);
  const LayerSpec windowed{.window = 2};
  // 1 + 2 + 2 + 2 keys over 4 positions.
  EXPECT_DOUBLE_EQ(attention_core_flops(a, windowed, 4, CausalHalf).value(), 4 * 64 * 7.0 / 4);
  EXPECT_DOUBLE_EQ(attention_core_flops(a, windowed, 4, FullSquare).value(), 4 * 64 * 2.0);
  const LayerSpec wide{.window = 100};
  EXPECT_EQ(attention_core_flops(a, wide, 4, CausalHalf), attention_core_flops(a, {}, 4, CausalHalf));
}

TEST(AttentionCore, OfAnEncoderIsNeverHalved) {
  const Architecture a = gpt(1, 64, 4, 100);
  const LayerSpec encoder{.encoder = true};
  EXPECT_EQ(attention_core_flops(a, encoder, 128, CausalHalf), attention_core_flops(a, encoder, 128, FullSquare));
}

TEST(AttentionCore, OfADecoderWithCrossAttentionSeesTheWholeEncoderToo) {
  const Architecture a = gpt(1, 64, 4, 100);
  const LayerSpec cross{.cross_attention = true};
  EXPECT_DOUBLE_EQ(attention_core_flops(a, cross, 4, CausalHalf).value(), 4 * 64 * (2.5 + 4));
}

// 2 s a (dn + dr) + 2 s a dv, not absorbed.
TEST(AttentionCore, OfLatentAttentionHasUnequalKeyAndValueWidths) {
  Architecture a = gpt(1, 64, 4, 100);
  a.latent = {.q_lora_rank = 8, .kv_lora_rank = 8, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
  EXPECT_DOUBLE_EQ(attention_core_flops(a, {}, 10, FullSquare).value(), 2 * 10 * 4 * (128 + 64) + 2 * 10 * 4 * 128);
}

TEST(AttentionCore, IsTheSameForGroupedQueries) {
  Architecture a = llama_3_8b();
  const double grouped = attention_core_flops(a, {}, 8192, FullSquare).value();
  a.n_kv_heads = 32;
  EXPECT_DOUBLE_EQ(attention_core_flops(a, {}, 8192, FullSquare).value(), grouped);
}

// Megatron-LM d98e8a6, training/training.py: 7 operations for each element of the state, with the delta rule 8 and the
// convolution of queries, keys and values.
TEST(StateMixer, CountsEveryElementOfTheStateAndTheConvolution) {
  Architecture a = gpt(1, 64, 4, 100);
  // 4 heads of 8 values with 16 keys each: a state of 512 elements. 2 heads of keys: 2 x 32 queries and keys, 32
  // values.
  a.state = {.n_heads = 4, .head_dim = 8, .n_groups = 2, .state_dim = 16, .conv_kernel = 4};
  const LayerSpec state{.mixer = Mixer::State};
  EXPECT_DOUBLE_EQ(attention_core_flops(a, state, 128, CausalHalf).value(), 7 * 512);
  a.state.delta_rule = true;
  EXPECT_DOUBLE_EQ(attention_core_flops(a, state, 128, CausalHalf).value(), 8 * 512 + 2 * 4 * (2 * 32 + 32));
  EXPECT_EQ(attention_core_flops(a, state, 128, FullSquare), attention_core_flops(a, state, 4096, CausalHalf))
      << "a state has no keys to look back at";
}

TEST(StepFlops, CountTopKExpertsOnly) {
  Architecture a = llama_3_8b();
  a.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 14336};
  const double two = layer_forward_flops(a, layer_stack(a).runs[0].spec, 4096, FullSquare).value();
  a.moe.n_experts = 64;
  const double more = layer_forward_flops(a, layer_stack(a).runs[0].spec, 4096, FullSquare).value();
  EXPECT_DOUBLE_EQ(more - two, 2.0 * 4096 * (64 - 8));  // the router alone
  a.moe.top_k = 4;
  EXPECT_GT(layer_forward_flops(a, layer_stack(a).runs[0].spec, 4096, FullSquare).value(), 1.7 * more);
}

// Flash attention recomputes the scores: five products backward where two were forward.
TEST(StepFlops, FlashAttentionAddsHalfACoreForwardToTheHardwareCount) {
  const Workload w = on(llama_3_8b(), 8192, 1);
  const StepFlops flops = step_flops(w, Recompute::None, FullSquare);
  const double core = 32 * 8192 * attention_core_flops(w.architecture, {}, 8192, FullSquare).value();
  expect_near((flops.hardware - flops.model).value(), core / 2, 1e-9);
  // Megatron's selective recomputation runs its forward again all the same.
  expect_near((step_flops(w, Recompute::Selective, FullSquare).hardware - flops.hardware).value(), core, 1e-9);
  expect_near((step_flops(w, Recompute::Selective, FullSquare, Toggle::Off).hardware - flops.model).value(), core,
              1e-9);
}

Strategy recomputing(Recompute recompute) {
  Strategy s;
  s.recompute = recompute;
  return s;
}

TEST(StepFlops, FsdpRecomputesEverySecondProduct) {
  const Workload w = on(llama_3_8b(), 8192, 1);
  const LayerStack layers = layer_stack(w.architecture);
  Strategy s = recomputing(Recompute::Selective);
  s.sharding = Sharding::FsdpFull;
  const Flops again = step_flops(layers, w, s, 1, Stack{}, FullSquare).hardware -
                      step_flops(layers, w, Strategy{}, 1, Stack{}, FullSquare).hardware;
  const double products =
      8192 * 32 * 2.0 * static_cast<double>(active_matmul_parameters(w.architecture, {.ffn_hidden = 14336}));
  expect_near(again.value(), products / 2, 1e-9);
}

TEST(StepFlops, OfSelectedModulesAreTheirProducts) {
  Workload w = on(llama_3_8b(), 8192, 1);
  Stack stack;
  const auto again = [&](std::initializer_list<LayerModule> modules) {
    stack.execution.recompute_modules = test::modules(modules);
    const LayerStack layers = layer_stack(w.architecture);
    return (step_flops(layers, w, recomputing(Recompute::Selective), 1, stack, FullSquare).hardware -
            step_flops(layers, w, Strategy{}, 1, stack, FullSquare).hardware)
               .value() /
           (32 * 8192.0);
  };
  expect_near(again({LayerModule::DenseMlp}), 2.0 * 3 * 4096 * 14336, 1e-9);
  stack.checkpoint_stops_early = true;
  expect_near(again({LayerModule::DenseMlp}), 2.0 * 2 * 4096 * 14336, 1e-9);
  stack.checkpoint_stops_early = false;
  expect_near(again({LayerModule::CoreAttention}), attention_core_flops(w.architecture, {}, 8192, FullSquare).value(),
              1e-9);
  EXPECT_EQ(again({LayerModule::Norms, LayerModule::ExpertActivation, LayerModule::Experts}), 0);
  w.architecture.moe = {
      .n_experts = 8, .top_k = 2, .expert_ffn_hidden = 512, .n_shared_experts = 1, .shared_expert_ffn_hidden = 256};
  expect_near(again({LayerModule::Experts}), 2.0 * 4096 * (3 * (2 * 512 + 256) + 8), 1e-9);
  expect_near(again({LayerModule::SharedExperts}), 2.0 * 4096 * 3 * 256, 1e-9);
  EXPECT_EQ(again({LayerModule::DenseMlp}), 0);
  w.architecture.latent = {
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 8, .qk_rope_head_dim = 4, .v_head_dim = 8};
  expect_near(again({LayerModule::LatentUpProjection}), 2.0 * 32 * (24 * 12 + 16 * 16), 1e-9);
}

TEST(StepFlops, FrozenWeightsSaveAThirdAtMost) {
  Workload w = on(llama_3_8b(), 4096, 8);
  const double full = step_flops(w, Recompute::None, FullSquare).model.value();
  w.finetune = FineTune::Lora;
  w.lora = {.rank = 16, .targets = LoraTargets::Linear};
  const double lora = step_flops(w, Recompute::None, FullSquare).model.value();
  EXPECT_LT(lora, full);
  EXPECT_GT(lora, full * 2 / 3);
  w.finetune = FineTune::Qlora;
  EXPECT_DOUBLE_EQ(step_flops(w, Recompute::None, FullSquare).model.value(), lora);
  w.lora.train_embeddings = true;
  EXPECT_NEAR(step_flops(w, Recompute::None, FullSquare).model.value() - lora, 2.0 * 128256 * 4096 * 8 * 4096, 1e3)
      << "the weight gradient of the head";
}

TEST(StepFlops, OfRecomputationThatStopsEarlyLackTheLastProduct) {
  const Workload w = on(llama_3_8b(), 4096, 1);
  const LayerStack layers = layer_stack(w.architecture);
  Stack stack;
  const auto hardware = [&](Recompute r, double part) {
    return step_flops(layers, w, recomputing(r), part, stack, FullSquare).hardware.value();
  };
  const double through = hardware(Recompute::Full, 0.5);
  const double kept = hardware(Recompute::None, 1);
  EXPECT_DOUBLE_EQ(hardware(Recompute::Full, 1), step_flops(w, Recompute::Full, FullSquare).hardware.value());
  stack.checkpoint_stops_early = true;
  EXPECT_NEAR(through - hardware(Recompute::Full, 0.5), 0.5 * 4096 * 32 * 2.0 * 4096 * 14336, 1e6);
  EXPECT_DOUBLE_EQ(hardware(Recompute::None, 1), kept);
}

TEST(StepFlops, ScaleWithTheBatch) {
  const Workload one = on(llama_3_8b(), 4096, 1);
  const Workload many = on(llama_3_8b(), 4096, 512);
  EXPECT_DOUBLE_EQ(step_flops(many, Recompute::Full, CausalHalf).hardware.value(),
                   512 * step_flops(one, Recompute::Full, CausalHalf).hardware.value());
}

}  // namespace
}  // namespace smplan
