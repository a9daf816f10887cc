#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/layers/layers.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;

double relative_error(const Architecture& a, double size) {
  return std::abs(static_cast<double>(count_parameters(a).total()) - size) / size;
}

class SizeGrid : public testing::Test {
 protected:
  /// 20 sizes a decade, ends included, without presets: the made-up shapes themselves.
  template <typename Check>
  void for_each_size(Check&& check_size) {
    for (int step = 0; step <= 140; ++step) {
      const double size = std::min(1e13, 1e6 * std::pow(10.0, step / 20.0));
      const auto a = architecture_of_size(size, {});
      ASSERT_TRUE(a.has_value()) << size;
      check_size(size, *a);
    }
  }
};

TEST_F(SizeGrid, IsHitWithinTwoPercentFromAMillionToTenTrillion) {
  for_each_size([](double size, const Architecture& a) {
    EXPECT_LE(relative_error(a, size), 0.02) << size;
    EXPECT_TRUE(check(a, "here").empty()) << size << to_string(check(a, "here"));
  });
}

TEST_F(SizeGrid, SplitsWell) {
  for_each_size([](double size, const Architecture& a) {
    EXPECT_EQ(a.n_layers % 2, 0) << size;
    EXPECT_EQ(a.n_heads * a.head_dim, a.hidden) << size;
    if (size < 1e9) return;
    EXPECT_EQ(a.n_heads % 8, 0) << size;
    EXPECT_EQ(a.ffn_hidden % 256, 0) << size;
    EXPECT_GE(a.n_layers, 8) << size;
    EXPECT_LE(a.n_layers, 200) << size;
    EXPECT_TRUE(size < 1e11 || a.n_layers % 8 == 0) << size;
    EXPECT_TRUE(size < 3e10 || a.n_kv_heads == 8) << size;
  });
}

TEST_F(SizeGrid, LooksLikeAPublishedTransformer) {
  for_each_size([](double size, const Architecture& a) {
    const double aspect = static_cast<double>(a.hidden) / static_cast<double>(a.n_layers);
    const double ratio = static_cast<double>(a.ffn_hidden) / static_cast<double>(a.hidden);
    EXPECT_GE(aspect, 10) << size;
    EXPECT_LT(aspect, 400) << size;
    EXPECT_GE(ratio, 1.5) << size;
    EXPECT_LE(ratio, 6) << size;
    EXPECT_THAT(a.name, HasSubstr("llama-like-")) << size;
  });
}

struct Made {
  double size;
  std::int64_t layers, hidden, ffn;
};

TEST(ArchitectureOfSize, MakesTheModelsThatItsDepthsComeFrom) {
  for (const Made& made : {
           Made{1e6, 6, 96, 224},             // llama2.c
           Made{1.3e9, 24, 2048, 5120},       // GPT-3 XL
           Made{6.7e9, 32, 4096, 11008},      // Llama-2 7B
           Made{1.3e10, 40, 5120, 13824},     // Llama-2 13B
           Made{7e10, 80, 8192, 28416},       // Llama-3.1 70B has 28672
           Made{1.75e11, 96, 12288, 39936},   // GPT-3 175B
           Made{4.05e11, 120, 16384, 56320},  // Llama-3.1 405B has 126 layers, which divide badly
           Made{1e12, 128, 24576, 88064},     // GPT 1T has 25600
           Made{1e13, 192, 63488, 230400},
           // Between: 6 * 2^(ln 4.65 / ln 124) = 7.5, of which 8 divides best; 128 * 1.5^(log 3) = 155.
           Made{4.65e6, 8, 192, 576},
           Made{3e12, 160, 38912, 133120},
       }) {
    const auto a = architecture_of_size(made.size, {});
    ASSERT_TRUE(a.has_value()) << made.size;
    EXPECT_EQ(a->n_layers, made.layers) << made.size;
    EXPECT_EQ(a->hidden, made.hidden) << made.size;
    EXPECT_EQ(a->ffn_hidden, made.ffn) << made.size;
  }
}

TEST(ArchitectureOfSize, PrefersAPublishedModelOfThatSize) {
  EXPECT_EQ(architecture_of_size(13e9)->name, "llama-2-13b");
  EXPECT_EQ(architecture_of_size(8e9)->name, "llama-3.1-8b");
  EXPECT_EQ(architecture_of_size(70e9)->name, "llama-3.1-70b");
  EXPECT_EQ(architecture_of_size(405e9)->name, "llama-3.1-405b");
}

TEST(ArchitectureOfSize, TakesNoPresetThatIsShapedUnlikeALlama) {
  ModelPreset preset;
  preset.architecture = *architecture_of_size(6.7e9, {});
  preset.architecture.name = "there";
  const auto takes = [&](auto change) {
    ModelPreset changed = preset;
    change(changed.architecture);
    const double size = static_cast<double>(count_parameters(changed.architecture).total());
    return architecture_of_size(size, std::span(&changed, 1))->name == "there";
  };
  EXPECT_TRUE(takes([](Architecture&) {}));
  EXPECT_FALSE(takes([](Architecture& a) { a.kind = ModelKind::Encoder; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.moe = {.n_experts = 2, .top_k = 1, .expert_ffn_hidden = a.ffn_hidden}; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.latent = {.kv_lora_rank = 512}; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.gated_mlp = false; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.norm = NormKind::LayerNorm; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.positions = PositionEncoding::Learned; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.sliding_window = 4096; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.n_heads = a.n_kv_heads = 20; }));
  EXPECT_FALSE(takes([](Architecture& a) { a.n_layers = 31; }));
}

TEST(ArchitectureOfSize, LeavesDepthsThatDivideBadlyToThoseWhoAskForThem) {
  const auto a = architecture_of_size(400e9);
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->n_layers % 8, 0);
}

TEST(ArchitectureOfSize, IsWithinTwoPercentWithPresetsToo) {
  for (const double size : {1e6, 1e9, 7e9, 13e9, 30e9, 34e9, 65e9, 70e9, 175e9, 530e9, 1e12}) {
    EXPECT_LE(relative_error(*architecture_of_size(size), size), 0.02) << size;
  }
}

TEST(ArchitectureOfSize, OutsideItsRangeIsRefused) {
  for (const double size :
       {0.0, -1.0, 9.9e5, 1.1e13, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const auto a = architecture_of_size(size);
    ASSERT_FALSE(a.has_value()) << size;
    EXPECT_EQ(a.error().front().location, "--params");
    EXPECT_THAT(a.error().front().hint, HasSubstr("1M and 10T"));
  }
}

}  // namespace
}  // namespace smplan
