#include "catalogs/architecture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/embedded_file.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Architecture small_llama() {
  Architecture a;
  a.name = "small";
  a.n_layers = 2;
  a.hidden = 64;
  a.n_heads = a.n_kv_heads = 4;
  a.head_dim = 16;
  a.ffn_hidden = 128;
  a.vocab = 1000;
  return a;
}

/// The second of two layers has no window.
void give_global_attention(Architecture& a) {
  a.sliding_window = 8;
  a.sliding_window_stride = 2;
  a.global = {.head_dim = 32, .n_kv_heads = 2, .keys_are_values = true};
}

Architecture read(std::string_view text, Diagnostics& out) {
  const auto json = parse_json(text, "arch.json");
  EXPECT_TRUE(json.has_value());
  return read_architecture(*json, out);
}

std::vector<ModelPreset> shipped_presets() {
  std::vector<ModelPreset> presets;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    if (file.name != "models.json") continue;
    Diagnostics out;
    const auto json = parse_json(file.content, file.name);
    if (!json) ADD_FAILURE() << to_string(json.error());
    for (const JsonValue& model : json->find("models")->as_array(out)) presets.push_back(read_model_preset(model, out));
    EXPECT_THAT(out, IsEmpty()) << to_string(out);
  }
  return presets;
}

TEST(ArchitectureFile, FiveWidthsAreEnoughForALlama) {
  Diagnostics out;
  const Architecture a =
      read(R"({"n_layers": 32, "hidden": 4096, "n_heads": 32, "ffn_hidden": 11008, "vocab": 32000})", out);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_EQ(a.n_kv_heads, 32);
  EXPECT_EQ(a.head_dim, 128);
  EXPECT_TRUE(a.gated_mlp);
  EXPECT_FALSE(a.tied_embeddings);
}

TEST(ArchitectureFile, EveryMissingWidthIsNamedInOnePass) {
  Diagnostics out;
  read(R"({"schema": "smplan.architecture/1", "hidden": 4096})", out);
  ASSERT_THAT(out, SizeIs(4));
  const std::string text = to_string(out);
  for (const char* key : {"n_layers", "n_heads", "ffn_hidden", "vocab"}) EXPECT_THAT(text, HasSubstr(key));
}

TEST(ArchitectureFile, MisspeltKeyIsRefusedWithTheNearest) {
  Diagnostics out;
  read(R"({"n_layers": 2, "hiden": 64, "hidden": 64, "n_heads": 4, "ffn_hidden": 128, "vocab": 10})", out);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_THAT(to_string(out), HasSubstr("hidden"));
}

TEST(ArchitectureFile, UnknownEnumerationsAndSchemasAreRefused) {
  Diagnostics out;
  read(R"({"schema": "smplan.plan/1", "kind": "decodr", "n_layers": 2, "hidden": 64, "n_heads": 4,
          "ffn_hidden": 128, "vocab": 10})",
       out);
  EXPECT_THAT(out, SizeIs(2)) << to_string(out);
}

TEST(ArchitectureFile, MixtureAndLatentWidthsAreRead) {
  Diagnostics out;
  const Architecture a = read(R"({"n_layers": 4, "hidden": 64, "n_heads": 4, "ffn_hidden": 128, "vocab": 10,
    "latent": {"kv_lora_rank": 8, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16},
    "moe": {"n_experts": 8, "top_k": 2, "expert_ffn_hidden": 32, "n_leading_dense_layers": 1}})",
                              out);
  EXPECT_THAT(out, IsEmpty()) << to_string(out);
  EXPECT_TRUE(a.is_moe());
  EXPECT_TRUE(a.has_latent_attention());
  EXPECT_EQ(a.moe.layer_stride, 1);
}

TEST(ArchitectureFile, HybridsAreReadWithTheUsualConvolutionAndChunk) {
  Diagnostics out;
  const Architecture a = read(R"({"n_layers": 4, "hidden": 64, "n_heads": 4, "ffn_hidden": 128, "vocab": 10,
    "layer_pattern": "M-M*",
    "state": {"n_heads": 8, "head_dim": 16, "n_groups": 2, "state_dim": 32},
    "multi_token_prediction": {"depth": 2, "shared_block": true}})",
                              out);
  EXPECT_THAT(out, IsEmpty()) << to_string(out);
  EXPECT_TRUE(a.has_state_mixer());
  EXPECT_EQ(a.state.values(), 128);
  EXPECT_EQ(a.state.keys(), 64);
  EXPECT_EQ(a.state.conv_kernel, 4);
  EXPECT_EQ(a.state.chunk, 256);
  EXPECT_TRUE(a.prediction.shared_block);
  EXPECT_EQ(a.norms_per_layer, 1) << "of the one part that a layer is";
}

struct BadCase {
  const char* name;
  void (*spoil)(Architecture&);
  const char* field;
};

class BadArchitecture : public testing::TestWithParam<BadCase> {};

TEST_P(BadArchitecture, IsRefusedByField) {
  Architecture a = small_llama();
  ASSERT_THAT(check(a, "here"), IsEmpty());
  GetParam().spoil(a);
  const Diagnostics out = check(a, "here");
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(out.front().location, "here");
  EXPECT_THAT(to_string(out), HasSubstr(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Widths, BadArchitecture,
    testing::Values(
        BadCase{"ZeroHidden", [](Architecture& a) { a.hidden = 0; }, "hidden must be positive, is 0"},
        BadCase{"NegativeLayers", [](Architecture& a) { a.n_layers = -3; }, "n_layers must be positive, is -3"},
        BadCase{"SmallestLayers",
                [](Architecture& a) {
                  a.n_layers = INT64_MIN;
                  a.moe.n_experts = 2;
                },
                "n_layers"},
        BadCase{"HeadsNotMultiple", [](Architecture& a) { a.n_kv_heads = 3; }, "n_kv_heads"},
        BadCase{"NoVocabulary", [](Architecture& a) { a.vocab = 0; }, "vocab"},
        BadCase{"EncoderLayersInDecoder", [](Architecture& a) { a.n_encoder_layers = 2; }, "n_encoder_layers"},
        BadCase{"NoEncoder", [](Architecture& a) { a.kind = ModelKind::EncoderDecoder; }, "n_encoder_layers"},
        BadCase{"TopKWithoutExperts", [](Architecture& a) { a.moe.top_k = 2; }, "moe"},
        BadCase{"TopKOverExperts",
                [](Architecture& a) { a.moe = {.n_experts = 4, .top_k = 5, .expert_ffn_hidden = 8}; }, "moe.top_k"},
        BadCase{"AllLayersDense",
                [](Architecture& a) {
                  a.moe = {.n_experts = 4, .top_k = 1, .expert_ffn_hidden = 8, .n_leading_dense_layers = 2};
                },
                "n_leading_dense_layers"},
        BadCase{"HalfLatent", [](Architecture& a) { a.latent.v_head_dim = 8; }, "latent"},
        BadCase{"NoPositionTable", [](Architecture& a) { a.positions = PositionEncoding::Learned; }, "max_positions"},
        BadCase{"MixerInNoLayer",
                [](Architecture& a) {
                  a.state = {
                      .n_heads = 4, .head_dim = 16, .n_groups = 2, .state_dim = 8, .conv_kernel = 4, .chunk = 32};
                },
                "neither layer_pattern nor attention_stride"},
        BadCase{"StrideWithoutMixer", [](Architecture& a) { a.attention_stride = 4; }, "needs the widths"},
        BadCase{"GroupsDoNotDivideHeads",
                [](Architecture& a) {
                  a.attention_stride = 2;
                  a.state = {
                      .n_heads = 4, .head_dim = 16, .n_groups = 3, .state_dim = 8, .conv_kernel = 4, .chunk = 32};
                },
                "state.n_groups"},
        BadCase{"NoStates",
                [](Architecture& a) {
                  a.attention_stride = 2;
                  a.state = {.n_heads = 4, .head_dim = 16, .n_groups = 2, .conv_kernel = 4, .chunk = 32};
                },
                "state.state_dim"},
        BadCase{"NoHeadWidth",
                [](Architecture& a) {
                  a.attention_stride = 2;
                  a.state = {.n_heads = 4, .n_groups = 2, .state_dim = 8, .conv_kernel = 4, .chunk = 32};
                },
                "state.head_dim"},
        BadCase{"NoConvolution",
                [](Architecture& a) {
                  a.attention_stride = 2;
                  a.state = {.n_heads = 4, .head_dim = 16, .n_groups = 2, .state_dim = 8, .chunk = 32};
                },
                "state.conv_kernel"},
        BadCase{"NoChunk",
                [](Architecture& a) {
                  a.attention_stride = 2;
                  a.state = {.n_heads = 4, .head_dim = 16, .n_groups = 2, .state_dim = 8, .conv_kernel = 4};
                },
                "state.chunk"},
        BadCase{"GlobalHeadsWithoutWindows", [](Architecture& a) { a.global.head_dim = 32; }, "sliding_window_stride"},
        BadCase{"GlobalKeysDoNotDivideHeads",
                [](Architecture& a) {
                  give_global_attention(a);
                  a.global.n_kv_heads = 3;
                },
                "global_attention.n_kv_heads (3)"},
        BadCase{"BorrowedKeysOfNobody",
                [](Architecture& a) {
                  give_global_attention(a);
                  a.shared_key_values.n_layers = 1;
                },
                "layers with keys and values of their own"},
        BadCase{"BorrowedKeysBesideExperts",
                [](Architecture& a) {
                  a.moe = {.n_experts = 4, .top_k = 1, .expert_ffn_hidden = 8};
                  a.shared_key_values.n_layers = 1;
                },
                "dense decoders only"},
        BadCase{"EmbeddingsOfNoRows", [](Architecture& a) { a.layer_embeddings.width = 8; }, "layer_embeddings.vocab"},
        BadCase{"PatternTooShort", [](Architecture& a) { a.layer_pattern = "*"; }, "1 letters for 2 layers"},
        BadCase{"UnknownLetter", [](Architecture& a) { a.layer_pattern = "*X"; }, "first as layer 2"},
        BadCase{"ExpertsOnlyInThePattern", [](Architecture& a) { a.layer_pattern = "*E"; }, "need each other"},
        BadCase{"PatternAndStride",
                [](Architecture& a) {
                  a.layer_pattern = "*-";
                  a.sliding_window_stride = 2;
                },
                "contradict"},
        BadCase{"PredictionWithoutMlp",
                [](Architecture& a) {
                  a.layer_pattern = "**";
                  a.prediction.depth = 1;
                },
                "has an MLP"},
        BadCase{"OverflowingLatentExperts",
                [](Architecture& a) {
                  a.moe = {.n_experts = 100'000, .top_k = 1, .expert_ffn_hidden = 1 << 24, .latent_hidden = 1 << 24};
                },
                "1e16"},
        BadCase{"EndlessPrediction", [](Architecture& a) { a.prediction.depth = 65; }, "multi_token_prediction.depth"},
        BadCase{"OverflowingWidths",
                [](Architecture& a) {
                  a.hidden = a.ffn_hidden = a.vocab = 1 << 24;
                  a.n_layers = 10'000;
                },
                "1e16"}),
    [](const testing::TestParamInfo<BadCase>& info) { return std::string(info.param.name); });

/// A number of a model, the least and the most that it may be, and a model in which it counts.
struct Bound {
  const char* field;
  std::int64_t least, most;
  void (*set)(Architecture&, std::int64_t);
  void (*prepare)(Architecture&) = [](Architecture&) {};
};

void give_latent_attention(Architecture& a) {
  a.latent = {.q_lora_rank = 8, .kv_lora_rank = 8, .qk_nope_head_dim = 16, .qk_rope_head_dim = 8, .v_head_dim = 16};
}
void give_states(Architecture& a) {
  a.attention_stride = 2;
  a.state = {.n_heads = 4, .head_dim = 16, .n_groups = 2, .state_dim = 8, .conv_kernel = 4, .chunk = 32};
}
void give_experts(Architecture& a) { a.moe = {.n_experts = 4, .top_k = 2, .expert_ffn_hidden = 8}; }
void give_shared_experts(Architecture& a) {
  give_experts(a);
  a.moe.n_shared_experts = 1;
  a.moe.shared_expert_ffn_hidden = 8;
}

constexpr std::int64_t kWidest = std::int64_t{1} << 24;

const Bound kBounds[] = {
    {"n_layers", 1, 10'000, [](Architecture& a, std::int64_t n) { a.n_layers = n; }},
    {"hidden", 1, kWidest, [](Architecture& a, std::int64_t n) { a.hidden = n; }},
    {"n_heads", 1, kWidest, [](Architecture& a, std::int64_t n) { a.n_heads = n; }},
    {"n_kv_heads", 1, kWidest, [](Architecture& a, std::int64_t n) { a.n_kv_heads = n; }},
    {"head_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.head_dim = n; }},
    {"ffn_hidden", 1, kWidest, [](Architecture& a, std::int64_t n) { a.ffn_hidden = n; }},
    {"vocab", 1, kWidest, [](Architecture& a, std::int64_t n) { a.vocab = n; }},
    {"vocab", 0, kWidest, [](Architecture& a, std::int64_t n) { a.vocab = n; },
     [](Architecture& a) { a.kind = ModelKind::Vision; }},
    {"max_positions", 0, std::int64_t{1} << 32, [](Architecture& a, std::int64_t n) { a.max_positions = n; }},
    {"max_positions", 1, std::int64_t{1} << 32, [](Architecture& a, std::int64_t n) { a.max_positions = n; },
     [](Architecture& a) { a.positions = PositionEncoding::Learned, a.max_positions = 1; }},
    {"norms_per_layer", 0, 16, [](Architecture& a, std::int64_t n) { a.norms_per_layer = n; }},
    {"extra_parameters", 0, std::int64_t{1} << 50, [](Architecture& a, std::int64_t n) { a.extra_parameters = n; }},
    {"sliding_window", 0, std::int64_t{1} << 40, [](Architecture& a, std::int64_t n) { a.sliding_window = n; }},
    {"sliding_window_stride", 0, 10'000, [](Architecture& a, std::int64_t n) { a.sliding_window_stride = n; }},
    {"multi_token_prediction.depth", 0, 64, [](Architecture& a, std::int64_t n) { a.prediction.depth = n; }},
    {"n_encoder_layers", 1, 10'000, [](Architecture& a, std::int64_t n) { a.n_encoder_layers = n; },
     [](Architecture& a) { a.kind = ModelKind::EncoderDecoder, a.n_encoder_layers = 1; }},
    {"latent.kv_lora_rank", 0, kWidest, [](Architecture& a, std::int64_t n) { a.latent.kv_lora_rank = n; },
     give_latent_attention},
    {"latent.q_lora_rank", 0, kWidest, [](Architecture& a, std::int64_t n) { a.latent.q_lora_rank = n; },
     give_latent_attention},
    {"latent.qk_nope_head_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.latent.qk_nope_head_dim = n; },
     give_latent_attention},
    {"latent.qk_rope_head_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.latent.qk_rope_head_dim = n; },
     give_latent_attention},
    {"latent.v_head_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.latent.v_head_dim = n; },
     give_latent_attention},
    {"global_attention.head_dim", 0, kWidest, [](Architecture& a, std::int64_t n) { a.global.head_dim = n; },
     give_global_attention},
    {"shared_key_values.ffn_hidden", 0, kWidest,
     [](Architecture& a, std::int64_t n) { a.shared_key_values.ffn_hidden = n; },
     [](Architecture& a) { a.shared_key_values.n_layers = 1; }},
    {"layer_embeddings.vocab", 1, kWidest, [](Architecture& a, std::int64_t n) { a.layer_embeddings.vocab = n; },
     [](Architecture& a) { a.layer_embeddings = {.width = 4, .vocab = 1}; }},
    {"attention_stride", 0, 10'000, [](Architecture& a, std::int64_t n) { a.attention_stride = n; }, give_states},
    {"state.n_heads", 0, kWidest, [](Architecture& a, std::int64_t n) { a.state.n_heads = n; }, give_states},
    {"state.head_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.state.head_dim = n; }, give_states},
    {"state.n_groups", 1, kWidest, [](Architecture& a, std::int64_t n) { a.state.n_groups = n; }, give_states},
    {"state.state_dim", 1, kWidest, [](Architecture& a, std::int64_t n) { a.state.state_dim = n; }, give_states},
    {"state.conv_kernel", 1, kWidest, [](Architecture& a, std::int64_t n) { a.state.conv_kernel = n; }, give_states},
    {"state.chunk", 1, kWidest, [](Architecture& a, std::int64_t n) { a.state.chunk = n; }, give_states},
    {"moe.n_experts", 0, 100'000, [](Architecture& a, std::int64_t n) { a.moe.n_experts = n; }, give_experts},
    {"moe.top_k", 1, 4, [](Architecture& a, std::int64_t n) { a.moe.top_k = n; }, give_experts},
    {"moe.expert_ffn_hidden", 1, kWidest, [](Architecture& a, std::int64_t n) { a.moe.expert_ffn_hidden = n; },
     give_experts},
    {"moe.latent_hidden", 0, kWidest, [](Architecture& a, std::int64_t n) { a.moe.latent_hidden = n; }, give_experts},
    {"moe.n_shared_experts", 0, 100'000, [](Architecture& a, std::int64_t n) { a.moe.n_shared_experts = n; },
     give_shared_experts},
    {"moe.shared_expert_ffn_hidden", 1, kWidest,
     [](Architecture& a, std::int64_t n) { a.moe.shared_expert_ffn_hidden = n; }, give_shared_experts},
    {"moe.n_leading_dense_layers", 0, 1, [](Architecture& a, std::int64_t n) { a.moe.n_leading_dense_layers = n; },
     give_experts},
    {"moe.layer_stride", 1, 2, [](Architecture& a, std::int64_t n) { a.moe.layer_stride = n; }, give_experts},
};

TEST(Architecture, NumbersAreRefusedJustOutsideTheirBounds) {
  for (const Bound& bound : kBounds) {
    const auto refused = [&bound](std::int64_t n) {
      Architecture a = small_llama();
      bound.prepare(a);
      EXPECT_THAT(check(a, "here"), IsEmpty()) << bound.field;
      bound.set(a, n);
      const std::string text = to_string(check(a, "here"));
      return text.find(std::string(bound.field) + " must be positive") != std::string::npos ||
             text.find(std::string(bound.field) + " must lie between") != std::string::npos;
    };
    EXPECT_FALSE(refused(bound.least)) << bound.field << ' ' << bound.least;
    EXPECT_FALSE(refused(bound.most)) << bound.field << ' ' << bound.most;
    EXPECT_TRUE(refused(bound.least - 1)) << bound.field << ' ' << bound.least - 1;
    EXPECT_TRUE(refused(bound.most + 1)) << bound.field << ' ' << bound.most + 1;
  }
}

TEST(ModelPresets, AreManyWithDistinctNamesAndAliases) {
  const std::vector<ModelPreset> presets = shipped_presets();
  EXPECT_GE(presets.size(), 45U);
  std::set<std::string> names;
  for (const ModelPreset& preset : presets) {
    EXPECT_TRUE(names.insert(preset.architecture.name).second) << preset.architecture.name;
    for (const std::string& alias : preset.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_GT(preset.default_seq_len, 0) << preset.architecture.name;
    EXPECT_FALSE(preset.provenance.source.empty()) << preset.architecture.name;
  }
}

TEST(ModelPresets, CoverTheFamiliesThatPeopleTrain) {
  std::set<std::string> families;
  for (const ModelPreset& preset : shipped_presets()) families.insert(preset.architecture.family);
  for (const char* family : {"gpt",      "llama",  "mistral", "mixtral",  "qwen2", "qwen3",     "qwen3-moe", "deepseek",
                             "gemma",    "falcon", "phi",     "gpt-neox", "bloom", "opt",       "mpt",       "gpt-oss",
                             "nemotron", "bert",   "roberta", "t5",       "vit",   "starcoder2"}) {
    EXPECT_TRUE(families.contains(family)) << family;
  }
}

TEST(ModelPresets, OnlyPapersRound) {
  for (const ModelPreset& preset : shipped_presets()) {
    if (preset.published_rounding == 0) continue;
    EXPECT_LE(preset.published_rounding, preset.published_parameters / 20) << preset.architecture.name;
    const std::string& family = preset.architecture.family;
    const std::set<std::string> rounded{"gpt",        "opt",  "nemotron", "grok",      "nemotron-h",
                                        "qwen3-next", "olmo", "glm4-moe", "minimax-m2"};
    EXPECT_TRUE(rounded.contains(family)) << family;
  }
}

TEST(ModelPreset, WithoutANameIsRefused) {
  Diagnostics out;
  const auto json = parse_json(R"({"architecture": {"n_layers": 2, "hidden": 64, "n_heads": 4, "ffn_hidden": 128,
    "vocab": 10}, "published_parameters": 5, "default_seq_len": 10, "source": "x", "as_of": "2024"})",
                               "models.json");
  read_model_preset(*json, out);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_THAT(out.front().message, HasSubstr("name"));
}

}  // namespace
}  // namespace smplan
