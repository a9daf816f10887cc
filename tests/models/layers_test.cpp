#include "models/layers/layers.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

Architecture decoder(std::int64_t layers) {
  Architecture a;
  a.n_layers = layers;
  a.hidden = 64;
  a.n_heads = a.n_kv_heads = 4;
  a.head_dim = 16;
  a.ffn_hidden = 128;
  a.vocab = 100;
  return a;
}

TEST(LayerStack, OfADenseDecoderIsOneRun) {
  const LayerStack stack = layer_stack(decoder(12));
  ASSERT_EQ(stack.n_runs, 1);
  EXPECT_EQ(stack.runs[0].count, 12);
  EXPECT_EQ(stack.runs[0].spec.ffn_hidden, 128);
  EXPECT_FALSE(stack.interleaved);
}

TEST(LayerStack, CountsTheHeadAsLayersWhereStagesAreCutByWeights) {
  Stack software;
  EXPECT_EQ(layer_stack(decoder(12), software).head_layers, 0);
  software.stages_by_weights = true;
  // A layer has 4 products of 64 by 64 and 3 of 64 by 128, the head one of 64 by 100.
  EXPECT_DOUBLE_EQ(layer_stack(decoder(12), software).head_layers, 100.0 / (4 * 64 + 3 * 128));
}

TEST(LayerStack, PutsDeepSeeksDenseLayersFirst) {
  Architecture a = decoder(61);
  a.moe = {.n_experts = 256, .top_k = 8, .expert_ffn_hidden = 32, .n_leading_dense_layers = 3};
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 2);
  EXPECT_FALSE(stack.runs[0].spec.moe);
  EXPECT_EQ(stack.runs[0].count, 3);
  EXPECT_TRUE(stack.runs[1].spec.moe);
  EXPECT_EQ(stack.runs[1].count, 58);
  EXPECT_EQ(stack.runs[1].spec.ffn_hidden, 0);
  EXPECT_FALSE(stack.interleaved);
}

TEST(LayerStack, OfGemma3HasOneGlobalLayerInSix) {
  Architecture a = decoder(26);
  a.sliding_window = 512;
  a.sliding_window_stride = 6;
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 2);
  EXPECT_EQ(stack.runs[0].spec.window, 512);
  EXPECT_EQ(stack.runs[0].count, 22);
  EXPECT_EQ(stack.runs[1].spec.window, 0);
  EXPECT_EQ(stack.runs[1].count, 4);
  EXPECT_TRUE(stack.interleaved);
}

TEST(LayerStack, OfMistralIsWindowedThroughout) {
  Architecture a = decoder(32);
  a.sliding_window = 4096;
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 1);
  EXPECT_EQ(stack.runs[0].spec.window, 4096);
}

// Maverick: even layers dense, odd ones MoE; the fourth of four is global. Layers 4, 8, ... are MoE and global.
TEST(LayerStack, OfLlama4MaverickMixesExpertsAndWindows) {
  Architecture a = decoder(48);
  a.moe = {.n_experts = 128, .top_k = 1, .expert_ffn_hidden = 32, .layer_stride = 2};
  a.sliding_window = 8192;
  a.sliding_window_stride = 4;
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 3);
  EXPECT_EQ(stack.runs[0].count, 24);
  EXPECT_FALSE(stack.runs[0].spec.moe);
  EXPECT_EQ(stack.runs[1].count, 12);
  EXPECT_TRUE(stack.runs[1].spec.moe);
  EXPECT_EQ(stack.runs[1].spec.window, 8192);
  EXPECT_EQ(stack.runs[2].count, 12);
  EXPECT_TRUE(stack.runs[2].spec.moe);
  EXPECT_EQ(stack.runs[2].spec.window, 0);
  EXPECT_TRUE(stack.interleaved);
}

TEST(LayerStack, OfAnEncoderDecoderRunsTheEncoderFirst) {
  Architecture a = decoder(6);
  a.kind = ModelKind::EncoderDecoder;
  a.n_encoder_layers = 8;
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 2);
  EXPECT_TRUE(stack.runs[0].spec.encoder);
  EXPECT_EQ(stack.runs[0].count, 8);
  EXPECT_TRUE(stack.runs[1].spec.cross_attention);
  EXPECT_EQ(stack.runs[1].count, 6);
  EXPECT_EQ(stack.total(), 14);
}

TEST(LayerStack, CountsEveryLayerWhateverThePattern) {
  for (std::int64_t layers = 1; layers <= 20; ++layers) {
    for (std::int64_t leading = 0; leading < layers; ++leading) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t window_stride = 0; window_stride <= 6; ++window_stride) {
          Architecture a = decoder(layers);
          a.moe = {.n_experts = 4,
                   .top_k = 1,
                   .expert_ffn_hidden = 8,
                   .n_leading_dense_layers = leading,
                   .layer_stride = stride};
          a.sliding_window = window_stride == 0 ? 0 : 16;
          a.sliding_window_stride = window_stride;
          ASSERT_EQ(layer_stack(a).total(), layers);
        }
      }
    }
  }
}

// "4 x 64 x 64 attention, 3 x 64 x 128 MLP, 2 norms of 64."
TEST(LayerParameters, OfASmallLlamaLayerAreCountedByHand) {
  const Architecture a = decoder(2);
  const LayerParameters p = layer_parameters(a, layer_stack(a).runs[0].spec);
  EXPECT_EQ(p.attention, 16'384);
  EXPECT_EQ(p.mlp, 24'576);
  EXPECT_EQ(p.experts, 0);
  EXPECT_EQ(p.norms, 128);
}

TEST(LayerParameters, OfAnMoeLayerSeparateWhatExpertParallelismDivides) {
  Architecture a = decoder(2);
  a.moe = {.n_experts = 8,
           .top_k = 2,
           .expert_ffn_hidden = 32,
           .n_shared_experts = 1,
           .shared_expert_ffn_hidden = 16,
           .shared_expert_gate = true,
           .router_bias = true};
  const LayerSpec spec = layer_stack(a).runs[0].spec;
  const LayerParameters p = layer_parameters(a, spec);
  EXPECT_EQ(p.experts, 8 * 3 * 64 * 32);
  EXPECT_EQ(p.mlp, 3 * 64 * 16 + 64 + 64 * 8 + 8);
  EXPECT_EQ(active_matmul_parameters(a, spec), 16'384 + 2 * 3 * 64 * 32 + 3 * 64 * 16 + 64 + 64 * 8);
}

// DeepSeek-V2, appendix C: Q = qr (h + a (dn + dr)), KV = r (h + a (dn + dv)) + h dr, O = a dv h.
TEST(LayerParameters, OfLatentAttentionFollowTheClosedForm) {
  Architecture a = decoder(1);
  a.latent = {.q_lora_rank = 24, .kv_lora_rank = 20, .qk_nope_head_dim = 16, .qk_rope_head_dim = 8, .v_head_dim = 12};
  const LayerParameters p = layer_parameters(a, layer_stack(a).runs[0].spec);
  EXPECT_EQ(p.attention, 24 * (64 + 4 * 24) + 20 * (64 + 4 * 28) + 64 * 8 + 4 * 12 * 64);
  EXPECT_EQ(p.norms, 2 * 64 + 24 + 20);
  a.latent.q_lora_rank = 0;
  EXPECT_EQ(layer_parameters(a, layer_stack(a).runs[0].spec).attention,
            64 * 4 * 24 + 20 * (64 + 4 * 28) + 64 * 8 + 4 * 12 * 64);
}

Architecture hybrid(const std::string& pattern) {
  Architecture a = decoder(static_cast<std::int64_t>(pattern.size()));
  a.layer_pattern = pattern;
  a.state = {.n_heads = 8, .head_dim = 16, .n_groups = 2, .state_dim = 32, .conv_kernel = 4, .chunk = 64};
  if (pattern.find('E') != std::string::npos) a.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 32};
  return a;
}

TEST(LayerStack, OfAPatternHasOnePartALayer) {
  const LayerStack stack = layer_stack(hybrid("MEM*EM-"));
  ASSERT_EQ(stack.n_runs, 4);
  EXPECT_EQ(stack.total(), 7);
  EXPECT_TRUE(stack.interleaved);
  const auto is = [&](int run, Mixer mixer, bool moe, std::int64_t ffn_hidden, std::int64_t count) {
    const LayerRun& r = stack.runs[static_cast<std::size_t>(run)];
    EXPECT_TRUE(r.spec.mixer == mixer && r.spec.moe == moe && r.spec.ffn_hidden == ffn_hidden) << run;
    EXPECT_EQ(r.count, count) << run;
    EXPECT_EQ(r.spec.parts(), 1) << run;
  };
  is(0, Mixer::State, false, 0, 3);
  is(1, Mixer::None, true, 0, 2);
  is(2, Mixer::Attention, false, 0, 1);
  is(3, Mixer::None, false, 128, 1);
}

TEST(LayerStack, OfQwen3NextAttendsInOneLayerOfFour) {
  Architecture a = hybrid("M");
  a.layer_pattern.clear();
  a.n_layers = 48;
  a.attention_stride = 4;
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 2);
  EXPECT_EQ(stack.runs[0].spec.mixer, Mixer::State);
  EXPECT_EQ(stack.runs[0].count, 36);
  EXPECT_EQ(stack.runs[1].spec.mixer, Mixer::Attention);
  EXPECT_EQ(stack.runs[1].count, 12);
  EXPECT_EQ(stack.runs[1].spec.parts(), 2);
}

TEST(LayerStack, OfGemma4HasHeadsAndMlpsByKind) {
  Architecture a = decoder(10);
  a.n_kv_heads = 2;
  a.sliding_window = 512;
  a.sliding_window_stride = 5;
  a.global = {.head_dim = 2 * a.head_dim, .n_kv_heads = 1, .keys_are_values = true};
  a.shared_key_values = {.n_layers = 4, .ffn_hidden = 2 * a.ffn_hidden};
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 4);
  const auto is = [&](int run, std::int64_t count, std::int64_t window, bool borrows) {
    const LayerRun& r = stack.runs[static_cast<std::size_t>(run)];
    EXPECT_TRUE(r.count == count && r.spec.window == window && r.spec.borrows_keys == borrows) << run;
    EXPECT_EQ(r.spec.ffn_hidden, (borrows ? 2 : 1) * a.ffn_hidden) << run;
    return attention_widths(a, r.spec);
  };
  const AttentionWidths windowed = is(0, 5, 512, false);
  EXPECT_EQ(windowed.made_values(), (a.n_heads + 2 * 2) * a.head_dim);
  EXPECT_EQ(windowed.projections, 2);
  const AttentionWidths whole = is(1, 1, 0, false);
  EXPECT_EQ(whole.made_values(), (a.n_heads + 2 * 1) * 2 * a.head_dim);
  EXPECT_EQ(whole.projections, 1);
  EXPECT_EQ(is(2, 3, 512, true).made_values(), a.n_heads * a.head_dim);
  const AttentionWidths borrowed = is(3, 1, 0, true);
  EXPECT_EQ(borrowed.keys(), 2 * a.head_dim) << "of the layer that made them";
  EXPECT_EQ(borrowed.projections, 0);
}

TEST(LayerStack, EndsWithTheBlocksThatPredictFurtherTokens) {
  Architecture a = hybrid("MEM*");
  a.prediction = {.depth = 2, .shared_block = true};
  const LayerStack stack = layer_stack(a);
  ASSERT_EQ(stack.n_runs, 5);
  EXPECT_EQ(stack.total(), 4) << "not among the model's layers";
  for (const int run : {3, 4}) {
    const LayerRun& r = stack.runs[static_cast<std::size_t>(run)];
    EXPECT_TRUE(r.spec.further_token);
    EXPECT_EQ(r.count, 2);
    EXPECT_EQ(r.sharing, 2);
  }
  EXPECT_EQ(stack.runs[3].spec.mixer, Mixer::Attention);
  EXPECT_TRUE(stack.runs[4].spec.moe);
  a.prediction.shared_block = false;
  EXPECT_EQ(layer_stack(a).runs[3].sharing, 1);
}

}  // namespace
}  // namespace smplan
