#include <gtest/gtest.h>

#include <array>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/embedded_file.hpp"
#include "catalogs/catalog.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

std::vector<ModelPreset> read_presets() {
  std::vector<ModelPreset> presets;
  Diagnostics out;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    if (file.name != "models.json") continue;
    const auto json = parse_json(file.content, file.name);
    for (const JsonValue& model : json->find("models")->as_array(out)) presets.push_back(read_model_preset(model, out));
  }
  return presets;
}

const ModelPreset& preset(const std::string& name) {
  static const std::vector<ModelPreset> presets = read_presets();
  for (const ModelPreset& p : presets) {
    if (p.architecture.name == name) return p;
  }
  ADD_FAILURE() << "no preset " << name;
  std::abort();
}

const Architecture& arch(const std::string& name) { return preset(name).architecture; }

// The counts are the publishers' own (safetensors totals, papers), not ours: to the last parameter, or within
// half of the last printed digit where only a rounded figure exists.
TEST(Parameters, EveryPresetHasItsPublishedCount) {
  int exact = 0;
  for (const ModelPreset& p : read_presets()) {
    const std::int64_t counted = count_parameters(p.architecture).total();
    EXPECT_LE(std::abs(counted - p.published_parameters), p.published_rounding)
        << p.architecture.name << ' ' << counted;
    exact += p.published_rounding == 0 ? 1 : 0;
  }
  EXPECT_GE(exact, 100);
}

Architecture deep_and_narrow() {
  Architecture a;
  a.n_layers = 10'000;
  a.hidden = 1 << 16;
  a.n_heads = a.n_kv_heads = a.head_dim = a.ffn_hidden = a.vocab = 1;
  return a;
}

/// Models that grow in one width, each into another part of the count.
const std::vector<void (*)(Architecture&, std::int64_t)>& growths() {
  static const std::vector<void (*)(Architecture&, std::int64_t)> all = {
      [](Architecture& a, std::int64_t n) { a.n_heads = a.n_kv_heads = n; },
      [](Architecture& a, std::int64_t n) { a.head_dim = n; },
      [](Architecture& a, std::int64_t n) { a.ffn_hidden = n; },
      [](Architecture& a, std::int64_t n) {
        a.kind = ModelKind::EncoderDecoder;
        a.n_layers = 1;
        a.n_encoder_layers = 10'000;
        a.ffn_hidden = n;
      },
      [](Architecture& a, std::int64_t n) {
        a.n_layers = 1;
        a.hidden = a.vocab = 1 << 24;
        a.max_positions = 256 * n;
        a.positions = PositionEncoding::Learned;
      },
      [](Architecture& a, std::int64_t n) {
        a.n_layers = 100;
        a.hidden = 1 << 22;
        a.n_heads = a.n_kv_heads = a.head_dim = 1 << 11;
        a.ffn_hidden = n;
      },
      [](Architecture& a, std::int64_t n) {
        a.latent = {0, 1, 1, 1, n};
      },
      [](Architecture& a, std::int64_t n) {
        a.latent = {0, 1, n, 1, 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.latent = {0, 1, 1, n, 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.latent = {n, 1, 1, 1, 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.latent = {0, n, 1, 1, 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.hidden = 1;
        a.latent = {0, n, 64, 1, 1};
        a.n_heads = a.n_kv_heads = 1 << 12;
      },
      [](Architecture& a, std::int64_t n) {
        a.attention_stride = 2;
        a.state = {.n_heads = n, .head_dim = 1, .n_groups = 1, .state_dim = 1, .conv_kernel = 1, .chunk = 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.attention_stride = 2;
        a.state = {.n_heads = 1, .head_dim = n, .n_groups = 1, .state_dim = 1, .conv_kernel = 1, .chunk = 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.attention_stride = 2;
        a.state = {.n_heads = 1, .head_dim = 1, .n_groups = 1, .state_dim = n, .conv_kernel = 1, .chunk = 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.attention_stride = 2;
        a.hidden = 1;
        a.state = {.n_heads = 1, .head_dim = 1 << 18, .n_groups = 1, .state_dim = 1, .conv_kernel = n, .chunk = 1};
      },
      [](Architecture& a, std::int64_t n) {
        a.moe = {.n_experts = 1'000, .top_k = 1, .expert_ffn_hidden = n};
        a.n_layers = 100;
      },
      [](Architecture& a, std::int64_t n) {
        a.moe = {.n_experts = std::min<std::int64_t>(n, 100'000), .top_k = 1, .expert_ffn_hidden = 64};
      },
      [](Architecture& a, std::int64_t n) {
        a.moe = {
            .n_experts = 1, .top_k = 1, .expert_ffn_hidden = 1, .n_shared_experts = 100, .shared_expert_ffn_hidden = n};
        a.n_layers = 100;
      },
      [](Architecture& a, std::int64_t n) {
        a.moe = {.n_experts = 64, .top_k = 1, .expert_ffn_hidden = 1 << 10, .latent_hidden = n};
      },
  };
  return all;
}

// Counts are 64-bit integers: no model that is accepted comes near their end.
TEST(Parameters, OfEveryAcceptedModelAre1e16AtMost) {
  for (std::size_t i = 0; i < growths().size(); ++i) {
    bool large = false;
    for (std::int64_t n = 1; n <= std::int64_t{1} << 24; n *= 2) {
      Architecture a = deep_and_narrow();
      growths()[i](a, n);
      const std::int64_t count = count_parameters(a).total();
      large = large || count > 10'000'000'000'000'000;
      if (check(a, "here").empty()) EXPECT_LE(count, 10'000'000'000'000'000) << "growth " << i << ' ' << n;
    }
    EXPECT_TRUE(large) << "growth " << i;
  }
}

// The bound is above the count, but not so far that it refuses a model that someone may ask for.
TEST(Parameters, OfModelsOfUsualShapeMayComeToATenthOfThat) {
  for (const ModelPreset& p : read_presets()) {
    Architecture a = p.architecture;
    a.n_layers = 10'000;
    if (!a.layer_pattern.empty()) continue;
    while (a.hidden < 1 << 20 && 20.0 * 4 * static_cast<double>(count_parameters(a).total()) < 1e16) {
      a.hidden *= 2;
      a.n_heads *= 2;
      a.n_kv_heads *= 2;
      a.ffn_hidden *= 2;
      a.moe.expert_ffn_hidden *= 2;
      a.moe.shared_expert_ffn_hidden *= 2;
    }
    EXPECT_EQ(to_string(check(a, "here")).find("1e16"), std::string::npos) << a.name;
  }
}

// Figures typed from the sources a second time, against slips in the data file.
TEST(Parameters, LandmarksAreExact) {
  const auto total = [](const char* name) { return count_parameters(arch(name)).total(); };
  EXPECT_EQ(total("gpt2"), 124'439'808);
  EXPECT_EQ(total("gpt2-xl"), 1'557'611'200);
  EXPECT_EQ(total("llama-2-7b"), 6'738'415'616);
  EXPECT_EQ(total("llama-2-13b"), 13'015'864'320);
  EXPECT_EQ(total("llama-2-70b"), 68'976'648'192);
  EXPECT_EQ(total("llama-3-8b"), 8'030'261'248);
  EXPECT_EQ(total("llama-3.1-405b"), 405'853'388'800);
  EXPECT_EQ(total("mixtral-8x7b"), 46'702'792'704);
  EXPECT_EQ(total("deepseek-v3"), 671'026'419'200);
  EXPECT_EQ(total("qwen3-235b-a22b"), 235'093'634'560);
  EXPECT_EQ(total("gpt-oss-120b"), 116'829'156'672);
  EXPECT_EQ(total("nemotron-3-nano-30b-a3b"), 31'577'940'288);
  EXPECT_EQ(total("bloom-176b"), 176'247'271'424);
  EXPECT_EQ(total("gpt-neox-20b"), 20'554'567'680);
  EXPECT_EQ(total("bert-large"), 335'141'888);
  EXPECT_EQ(total("t5-small"), 60'506'624);
  EXPECT_EQ(total("vit-b-16"), 86'567'656);
}

// Pythia's paper prints the counts without both embeddings (table 1).
TEST(Parameters, PartsAgreeWithPythiasNonEmbeddingCounts) {
  const auto body = [](const char* name) {
    const ParameterCount count = count_parameters(arch(name));
    return count.total() - count.embedding - count.head;
  };
  EXPECT_EQ(body("pythia-70m"), 18'915'328);
  EXPECT_EQ(body("pythia-1.4b"), 1'208'602'624);
  EXPECT_EQ(body("pythia-12b"), 11'327'027'200);
}

TEST(Parameters, LayersSumToTheWholeForEveryPreset) {
  for (const ModelPreset& p : read_presets()) {
    const ParameterCount whole = count_parameters(p.architecture);
    std::int64_t layers = 0;
    for (const LayerRun& run : layer_stack(p.architecture)) {
      layers += run.count / run.sharing * layer_parameters(p.architecture, run.spec).total();
    }
    const std::int64_t stacks = p.architecture.kind == ModelKind::EncoderDecoder ? 2 : 1;
    const bool two_vectors = p.architecture.norm == NormKind::LayerNorm && p.architecture.norm_bias;
    const std::int64_t final_norms =
        p.architecture.final_norm ? stacks * p.architecture.hidden * (two_vectors ? 2 : 1) : 0;
    EXPECT_EQ(layers + final_norms + whole.embedding + whole.head + whole.extra, whole.total() + whole.further_tokens)
        << p.architecture.name;
  }
}

// One block of Nemotron 3 Super for both further tokens: attention, experts, and what joins the embedding.
TEST(Parameters, OfFurtherTokensAreABlockBesideThePublishedCount) {
  const ParameterCount count = count_parameters(arch("nemotron-3-super-120b-a12b"));
  const std::int64_t h = 4096;
  const std::int64_t values = 32 * 128;
  const std::int64_t attention = h * (values + 2 * 2 * 128) + values * h + h;
  const std::int64_t experts = std::int64_t{512} * 2 * 1024 * 2688 + 2 * h * 1024 + 2 * h * 5376 + h * 512 + 512 + h;
  EXPECT_EQ(count.further_tokens, attention + experts + 2 * h * h + 3 * h);
  EXPECT_EQ(count_parameters(arch("nemotron-3-nano-30b-a3b")).further_tokens, 0);
}

struct ActiveCase {
  const char* name;
  double billions;  ///< as published
  double tolerance;
};

class ActiveParameters : public testing::TestWithParam<ActiveCase> {};

TEST_P(ActiveParameters, AreAsPublished) {
  const auto active = static_cast<double>(active_parameters(arch(GetParam().name)));
  EXPECT_NEAR(active / 1e9, GetParam().billions, GetParam().tolerance);
}

// DeepSeek-V3: 37B activated; Mixtral: 13B (12.9) and 39B; Qwen3: 3.3B and 22B; Qwen1.5-MoE: 2.7B; V2: 21B; K2: 32B
// (32.6 in its table, embedding not counted); Llama 4: 17B.
INSTANTIATE_TEST_SUITE_P(Published, ActiveParameters,
                         testing::Values(ActiveCase{"deepseek-v3", 37.5, 0.1}, ActiveCase{"mixtral-8x7b", 12.9, 0.05},
                                         ActiveCase{"mixtral-8x22b", 39.0, 0.2}, ActiveCase{"qwen3-30b-a3b", 3.3, 0.1},
                                         ActiveCase{"qwen3-235b-a22b", 22.0, 0.3},
                                         ActiveCase{"qwen1.5-moe-a2.7b", 2.7, 0.05},
                                         ActiveCase{"deepseek-v2", 21.0, 0.5}, ActiveCase{"llama-4-scout", 17.0, 0.3},
                                         ActiveCase{"llama-4-maverick", 17.0, 0.3}, ActiveCase{"kimi-k2", 32.6, 0.5}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

// Model card: 5.13B and 3.61B, counting the output projection but not the input embedding.
TEST(ActiveParameters, OfGptOssAreAsItsModelCardCounts) {
  const auto without_embedding = [](const char* name) {
    return static_cast<double>(active_parameters(arch(name)) - count_parameters(arch(name)).embedding) / 1e9;
  };
  EXPECT_NEAR(without_embedding("gpt-oss-120b"), 5.13, 0.005);
  EXPECT_NEAR(without_embedding("gpt-oss-20b"), 3.61, 0.005);
}

TEST(ActiveParameters, OfADenseModelAreAll) { EXPECT_EQ(active_parameters(arch("llama-2-7b")), 6'738'415'616); }

// PEFT prints 39,976,960 and 41,943,040 trainable parameters for rank 16 on all seven projections.
TEST(LoraParameters, OfDoraHaveALengthForEachOutputOfTheAdaptedLayers) {
  Lora lora{.rank = 16};
  EXPECT_EQ(lora_parameters(arch("llama-3-8b"), lora), 41'943'040);
  lora.method = adapter_method("dora");
  // Queries, keys, values and output; gate, up and down.
  constexpr std::int64_t kOutputs = 4096 + 1024 + 1024 + 4096 + 14336 + 14336 + 4096;
  EXPECT_EQ(lora_parameters(arch("llama-3-8b"), lora), 41'943'040 + 32 * kOutputs);
  EXPECT_EQ(trained_lora_parameters(arch("llama-3-8b"), lora), lora_parameters(arch("llama-3-8b"), lora));
}

TEST(LoraParameters, MatchWhatPeftPrints) {
  EXPECT_EQ(lora_parameters(arch("llama-2-7b"), {.rank = 16, .targets = LoraTargets::Linear}), 39'976'960);
  EXPECT_EQ(lora_parameters(arch("llama-3-8b"), {.rank = 16, .targets = LoraTargets::Linear}), 41'943'040);
  // 4 projections x 32 layers x 16 x (4096 + 4096)
  EXPECT_EQ(lora_parameters(arch("llama-2-7b"), {.rank = 16, .targets = LoraTargets::Attention}), 16'777'216);
  EXPECT_EQ(lora_parameters(arch("llama-2-7b"), {.rank = 16, .targets = LoraTargets::NonExpert}), 39'976'960);
  EXPECT_EQ(lora_parameters(arch("mixtral-8x7b"), {.rank = 16, .targets = LoraTargets::NonExpert}),
            lora_parameters(arch("mixtral-8x7b"), {.rank = 16, .targets = LoraTargets::Attention}))
      << "its MLPs are all experts";
  EXPECT_EQ(lora_parameters(arch("llama-2-7b"), {.rank = 8, .targets = LoraTargets::QueryValue}), 4'194'304)
      << "as LitGPT prints";
  EXPECT_EQ(lora_parameters(arch("llama-2-13b"), {.rank = 8, .targets = LoraTargets::QueryValue}), 6'553'600)
      << "as LitGPT prints";
}

TEST(LoraParameters, GrowLinearlyWithRankAndCountTheActiveExperts) {
  const Architecture& a = arch("mixtral-8x7b");
  EXPECT_EQ(lora_parameters(a, {.rank = 32, .targets = LoraTargets::Linear}),
            2 * lora_parameters(a, {.rank = 16, .targets = LoraTargets::Linear}));
  const std::int64_t attention = lora_parameters(a, {.rank = 16, .targets = LoraTargets::Attention});
  EXPECT_EQ(active_lora_parameters(a, {.rank = 16, .targets = LoraTargets::Attention}), attention);
  EXPECT_EQ(expert_lora_parameters(a, {.rank = 16, .targets = LoraTargets::Attention}), 0);
  EXPECT_EQ(expert_lora_parameters(a, {.rank = 16, .targets = LoraTargets::Linear}),
            lora_parameters(a, {.rank = 16, .targets = LoraTargets::Linear}) - attention);
  EXPECT_EQ((lora_parameters(a, {.rank = 16, .targets = LoraTargets::Linear}) - attention) / 4,
            active_lora_parameters(a, {.rank = 16, .targets = LoraTargets::Linear}) - attention);
}

// PEFT 0.21.2 on transformers 5.24.0's classes, on the meta device, rank 8 on all linear layers.
TEST(LoraParameters, OfExpertsAreWhatPeftMakesOfTheirTensors) {
  const auto count = [](const char* name) {
    const Architecture& a = arch(name);
    return lora_parameters(a, {.rank = 8, .layers = peft_adapted_layers(a)});
  };
  EXPECT_NEAR(static_cast<double>(count("deepseek-v2-lite")), 179'497'472, 0.03 * 179'497'472);
  EXPECT_EQ(count("gpt-oss-20b"), 3'981'312) << "attention alone";
  EXPECT_EQ(count("mixtral-8x7b"), 179'832'832) << "gate and up as one of twice the rank, routers too";
  EXPECT_EQ(count("qwen3-30b-a3b"), 498'253'824);
  EXPECT_EQ(count("llama-4-scout"), 29'890'560) << "no routed expert";
  EXPECT_EQ(count("qwen1.5-moe-a2.7b"), 7'962'816);
  EXPECT_EQ(peft_adapted_layers(arch("qwen3.6-35b-a3b")).experts, ExpertAdapters::None);
  EXPECT_EQ(peft_adapted_layers(arch("llama-3-8b")), AdaptedLayers{});
}

TEST(LoraParameters, OfModelsWithExpertsAreKnownForEachFamilyOfTheCatalog) {
  // Grok, DBRX, Gemma 4's experts, DeepSeek-MoE and Nemotron-H are adapted by code that PEFT does not count.
  const std::set<std::string> kUnknown{"grok", "dbrx", "gemma", "deepseek-moe", "nemotron-h"};
  const Catalog catalog = *Catalog::shipped();
  for (const ModelPreset& m : catalog.models()) {
    const Architecture& a = m.architecture;
    if (!a.is_moe() || kUnknown.contains(a.family)) continue;
    EXPECT_NE(peft_adapted_layers(a).experts, ExpertAdapters::Separate) << a.name;
  }
}

// PEFT on transformers 5.24.0's own class of the text, on the meta device: rank x (inputs + outputs) of every linear
// layer, of attention's, and of queries and values.
TEST(Lora, OfGemma4CountsWhatEachKindOfLayerHas) {
  const auto counts = [](const char* name) {
    const Architecture& a = arch(name);
    return std::array{lora_parameters(a, {.rank = 8, .targets = LoraTargets::Linear}),
                      lora_parameters(a, {.rank = 8, .targets = LoraTargets::Attention}),
                      lora_parameters(a, {.rank = 8, .targets = LoraTargets::QueryValue})};
  };
  EXPECT_EQ(counts("gemma-4-31b"), (std::array<std::int64_t, 3>{61214720, 22507520, 10956800}));
  EXPECT_EQ(counts("gemma-4-e4b"), (std::array<std::int64_t, 3>{19439616, 4538368, 2269184}));
  EXPECT_EQ(counts("gemma-4-e2b"), (std::array<std::int64_t, 3>{13166592, 2678784, 1339392}));
}

}  // namespace
}  // namespace smplan
