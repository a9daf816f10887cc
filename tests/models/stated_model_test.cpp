// A model as somebody states it: presets, the widths that override them, and what is refused.
#include "models/layers/stated_model.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_catalog.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;
using testing::Contains;
using testing::HasSubstr;

Architecture made(const StatedModel& stated) {
  std::vector<std::string> assumptions;
  const Result<Architecture> a = architecture_of(stated, shipped_catalog(), assumptions);
  EXPECT_TRUE(a) << to_string(a.error());
  return a ? *a : Architecture();
}

std::vector<std::string> told(const StatedModel& stated) {
  std::vector<std::string> assumptions;
  EXPECT_TRUE(architecture_of(stated, shipped_catalog(), assumptions));
  return assumptions;
}

std::string refusal(const StatedModel& stated) {
  std::vector<std::string> assumptions;
  const Result<Architecture> a = architecture_of(stated, shipped_catalog(), assumptions);
  return a ? std::string() : a.error().front().code + ": " + a.error().front().message;
}

TEST(StatedModel, IsThePresetOfItsNameHoweverPeopleWriteIt) {
  for (const char* name : {"Llama 3 8B", "meta-llama/Meta-Llama-3-8B", "Llama3_8B", "unsloth/llama-3-8b-bnb-4bit"}) {
    EXPECT_EQ(made({.name = name}).name, "llama-3-8b") << name;
  }
  EXPECT_THAT(told({.name = "llama-3-8b"}), Contains("widths are those of llama-3-8b"));
  EXPECT_THAT(refusal({.name = "Llama 8B"}), HasSubstr("unsupported: the model 'Llama 8B' is not in the catalog"));
}

TEST(StatedModel, OverridesWidthsOfThePresetThatDoNotMakeAnother) {
  EXPECT_EQ(made({.name = "llama-2-7b", .vocab = 40000}).vocab, 40000);
  EXPECT_EQ(made({.name = "llama-2-7b", .n_layers = 4}).n_layers, 4);
  EXPECT_FALSE(made({.name = "falcon-7b", .tied_embeddings = false}).tied_embeddings);
  EXPECT_EQ(made({.name = "mixtral-8x7b", .top_k = 1}).moe.top_k, 1);
  EXPECT_EQ(made({.name = "mixtral-8x7b", .expert_ffn_hidden = 7168}).moe.expert_ffn_hidden, 7168);
  EXPECT_EQ(made({.name = "mixtral-8x7b", .ffn_hidden = 1}).ffn_hidden, made({.name = "mixtral-8x7b"}).ffn_hidden);
  EXPECT_EQ(made({.name = "deepseek-v3", .n_layers = 4}).moe.n_leading_dense_layers, 1) << "cut for a benchmark";
  EXPECT_EQ(made({.name = "deepseek-v3", .head_dim = 7}).head_dim, made({.name = "deepseek-v3"}).head_dim);
}

TEST(StatedModel, IsItsOwnWidthsWhereTheyContradictThePreset) {
  const Architecture a = made({.name = "llama-2-7b", .n_layers = 32, .hidden = 5120});
  EXPECT_EQ(a.hidden, 5120);
  EXPECT_EQ(a.vocab, 50257) << "GPT-2's, none is stated";
  EXPECT_THAT(refusal({.name = "llama-2-7b", .hidden = 5120}), HasSubstr("n_layers and hidden are not both stated"));
  EXPECT_THAT(refusal({.name = "own", .n_layers = 12, .hidden = 768, .n_experts = 8}), HasSubstr("top_k is not"));
  EXPECT_FALSE(made({.name = "own", .n_layers = 12, .hidden = 768, .n_experts = 1}).is_moe()) << "one expert is none";
}

TEST(StatedModel, WithoutAGateIsOfGpt2sTime) {
  const Architecture old = made({.name = "own", .gated_mlp = false, .n_layers = 12, .hidden = 768});
  EXPECT_EQ(std::tuple(old.norm, old.positions, old.qkv_bias, old.tied_embeddings),
            std::tuple(NormKind::LayerNorm, PositionEncoding::Learned, true, true));
  const Architecture now = made({.name = "own", .gated_mlp = true, .n_layers = 12, .hidden = 768});
  EXPECT_EQ(std::tuple(now.norm, now.positions, now.qkv_bias, now.tied_embeddings),
            std::tuple(NormKind::RmsNorm, PositionEncoding::Rope, false, false));
  EXPECT_EQ(now.ffn_hidden, 2048) << "two thirds of 4 x 768";
  EXPECT_EQ(old.ffn_hidden, 3072);
  EXPECT_THAT(told({.name = "own", .n_layers = 12, .hidden = 768}), Contains("mlp is gelu"));
  EXPECT_THAT(told({.name = "own", .n_layers = 12, .hidden = 768, .ffn_hidden = 2048}), Contains("mlp is swiglu"));
}

TEST(StatedModel, OfAnEncoderAndADecoderHasTwoSides) {
  const auto layers = [](const StatedModel& m) { return std::pair(made(m).n_encoder_layers, made(m).n_layers); };
  EXPECT_EQ(layers({.name = "flan-t5-xl"}), std::pair(24L, 24L));
  EXPECT_EQ(layers({.name = "flan-t5-xl", .n_layers = 6, .n_encoder_layers = 12}), std::pair(12L, 6L));
  StatedModel own{.name = "own", .kind = ModelKind::EncoderDecoder, .n_layers = 6, .hidden = 512};
  EXPECT_EQ(layers(own), std::pair(6L, 6L)) << "as many as the decoder, unless stated";
  EXPECT_EQ(made(own).positions, PositionEncoding::RelativeBias);
  EXPECT_FALSE(made(own).qkv_bias);
}

TEST(StatedModel, HasHeadsOf128ValuesUnlessItsKeysSayOtherwise) {
  const auto heads = [](StatedModel m) {
    m.name = "own";
    m.n_layers = 12;
    const Architecture a = made(m);
    return std::array{a.n_heads, a.n_kv_heads, a.head_dim};
  };
  using Heads = std::array<std::int64_t, 3>;
  EXPECT_EQ(heads({.hidden = 4096}), (Heads{32, 32, 128}));
  EXPECT_EQ(heads({.hidden = 4096, .n_kv_heads = 8}), (Heads{32, 8, 128}));
  EXPECT_EQ(heads({.hidden = 2560, .head_dim = 64}), (Heads{40, 40, 64}));
  EXPECT_EQ(heads({.hidden = 2560, .n_kv_heads = 32}), (Heads{32, 32, 80})) << "20 heads cannot share 32 keys";
}

TEST(StatedModel, OfAPatternHasTheLayersOfThePattern) {
  EXPECT_THAT(refusal({.name = "nemotron-3-nano-30b-a3b", .n_layers = 4}), HasSubstr("the pattern of"));
  EXPECT_EQ(refusal({.name = "nemotron-3-nano-30b-a3b"}), "");
}

TEST(StatedModel, ThatIsNoTransformerIsRefusedThoughItsWidthsAreStated) {
  for (const char* name : {"ResNet-50", "resnet50", "Stable Diffusion 2.1", "SDXL", "3D-UNet", "Mask R-CNN", "DLRM"}) {
    EXPECT_THAT(refusal({.name = name, .n_layers = 50, .hidden = 2048}), HasSubstr("is no transformer of tokens"));
  }
  EXPECT_EQ(refusal({.name = "ditto", .n_layers = 24, .hidden = 1024}), "");
}

TEST(StatedModel, SaysWhereTheSizeIsAnothers) {
  EXPECT_THAT(told({.name = "llama-2-7b", .params_b = 70}), Contains("params_b says 70B, the widths make 6.74B"));
  EXPECT_THAT(told({.name = "own", .params_b = 30, .n_layers = 12, .hidden = 768}),
              Contains(HasSubstr("params_b says 30B")));
  for (const auto& [name, size] :
       std::vector<std::pair<const char*, double>>{{"llama-2-7b", 7}, {"mixtral-8x7b", 46.7}, {"mixtral-8x7b", 12.9}}) {
    EXPECT_THAT(told({.name = name, .params_b = size}), Not(Contains(HasSubstr("params_b says")))) << size;
  }
}

}  // namespace
}  // namespace smplan
