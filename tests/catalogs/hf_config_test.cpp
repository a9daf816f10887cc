#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/embedded_file.hpp"
#include "catalogs/architecture.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::map<std::string, Architecture> shipped() {
  std::map<std::string, Architecture> all;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    if (file.name != "models.json") continue;
    Diagnostics out;
    const auto json = parse_json(file.content, file.name);
    for (const JsonValue& model : json->find("models")->as_array(out)) {
      Architecture a = read_model_preset(model, out).architecture;
      all.emplace(a.name, std::move(a));
    }
  }
  return all;
}

Result<Architecture> read(std::string_view text) {
  const auto json = parse_json(text, "config.json");
  EXPECT_TRUE(json.has_value());
  return read_hf_config(*json);
}

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SMPLAN_TEST_DATA "/data/hf")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class HfConfigOf : public testing::TestWithParam<std::string> {};

// A released config and the preset of the same name must describe the same model, width by width.
TEST_P(HfConfigOf, GivesThePreset) {
  const auto presets = shipped();
  const auto preset = presets.find(GetParam());
  ASSERT_NE(preset, presets.end());
  const auto json = read_json_file(std::string(SMPLAN_TEST_DATA "/data/hf/") + GetParam() + ".json");
  ASSERT_TRUE(json.has_value()) << to_string(json.error());
  auto read = read_hf_config(*json);
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  Architecture expected = preset->second;
  expected.name = read->name;
  expected.family = read->family;
  expected.extra_parameters_note = read->extra_parameters_note;
  EXPECT_EQ(read->extra_parameters != 0, !read->extra_parameters_note.empty()) << "what is counted apart is said";
  EXPECT_EQ(read->n_layers, expected.n_layers);
  EXPECT_EQ(read->n_kv_heads, expected.n_kv_heads);
  EXPECT_EQ(read->head_dim, expected.head_dim);
  EXPECT_EQ(read->max_positions, expected.max_positions);
  EXPECT_EQ(read->sliding_window, expected.sliding_window);
  EXPECT_EQ(read->sliding_window_stride, expected.sliding_window_stride);
  EXPECT_EQ(read->extra_parameters, expected.extra_parameters);
  EXPECT_TRUE(read->moe == expected.moe);
  EXPECT_TRUE(read->latent == expected.latent);
  // MoE layers everywhere leave the dense width without a use.
  if (expected.is_moe() && expected.moe.layer_stride == 1 && expected.moe.n_leading_dense_layers == 0) {
    expected.ffn_hidden = read->ffn_hidden;
  }
  EXPECT_TRUE(*read == expected);
}

INSTANTIATE_TEST_SUITE_P(Released, HfConfigOf, testing::ValuesIn(fixtures()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(HfConfig, UnknownTypeNamesTheKnownOnesAndTheKeysOfAnArchitectureFile) {
  const auto read_result = read(R"({"model_type": "mamba2", "hidden_size": 64})");
  ASSERT_FALSE(read_result.has_value());
  ASSERT_THAT(read_result.error(), SizeIs(1));
  const Diagnostic& fault = read_result.error().front();
  EXPECT_EQ(fault.code, "unknown-model-type");
  EXPECT_THAT(fault.message, HasSubstr("'mamba2'"));
  EXPECT_THAT(fault.message, HasSubstr("deepseek_v3, falcon"));
  for (const char* key : {"--arch", "n_layers", "hidden", "n_heads", "ffn_hidden", "vocab"}) {
    EXPECT_THAT(fault.hint, HasSubstr(key));
  }
}

TEST(HfConfig, LayersOfAHybridMayBeWords) {
  const std::string rest = R"("model_type": "nemotron_h", "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 4, "head_dim": 16, "intermediate_size": 128, "vocab_size": 100, "mamba_num_heads": 8,
    "mamba_head_dim": 16, "ssm_state_size": 16, "n_groups": 2)";
  const auto words = read("{" + rest + R"(, "layers_block_type": ["mamba", "mlp", "attention", "mlp"]})");
  ASSERT_TRUE(words.has_value()) << to_string(words.error());
  EXPECT_EQ(words->layer_pattern, "M-*-");
  const auto unknown = read("{" + rest + R"(, "layers_block_type": ["mamba", "conv", "attention", "mlp"]})");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(to_string(unknown.error()), HasSubstr("other kinds than mamba"));
  const auto silent = read("{" + rest + "}");
  ASSERT_FALSE(silent.has_value());
  EXPECT_THAT(to_string(silent.error()), HasSubstr("which layer is what is not stated"));
}

TEST(HfConfig, AttentionMustComeAtEveryNthLayer) {
  const auto with = [](const std::string& types) {
    return read(R"({"model_type": "qwen3_5", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
      "intermediate_size": 128, "vocab_size": 100, "full_attention_interval": 2, "layer_types": [)" +
                types + "]}");
  };
  const std::string linear = R"("linear_attention")";
  const std::string full = R"("full_attention")";
  EXPECT_TRUE(with(linear + "," + full + "," + linear + "," + full).has_value());
  EXPECT_FALSE(with(full + "," + linear + "," + linear + "," + full).has_value());
}

TEST(HfConfig, EveryMissingKeyIsNamed) {
  const auto read_result = read(R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32})");
  ASSERT_FALSE(read_result.has_value());
  ASSERT_THAT(read_result.error(), SizeIs(3));
  const std::string text = to_string(read_result.error());
  for (const char* key : {"num_hidden_layers", "vocab_size", "intermediate_size"}) EXPECT_THAT(text, HasSubstr(key));
}

TEST(HfConfig, WrongKindsAndImpossibleWidthsAreRefused) {
  EXPECT_FALSE(read(R"({"model_type": 7})").has_value());
  EXPECT_FALSE(read(R"({"hidden_size": 7})").has_value());
  EXPECT_FALSE(read(R"([1])").has_value());
  const auto zero = read(R"({"model_type": "llama", "hidden_size": 0, "num_attention_heads": 32, "vocab_size": 10,
    "num_hidden_layers": 2, "intermediate_size": 128})");
  ASSERT_FALSE(zero.has_value());
  EXPECT_THAT(to_string(zero.error()), HasSubstr("hidden must be positive"));
  const auto text = read(R"({"model_type": "llama", "hidden_size": "4096", "num_attention_heads": 32, "vocab_size": 10,
    "num_hidden_layers": 2, "intermediate_size": 128})");
  EXPECT_FALSE(text.has_value());
  const auto huge = read(R"({"model_type": "gpt2", "n_embd": 9000000000000000000, "n_layer": 2, "n_head": 2,
    "vocab_size": 10})");
  ASSERT_FALSE(huge.has_value());
  EXPECT_THAT(to_string(huge.error()), HasSubstr("outside"));
}

TEST(HfConfig, WhatCannotBeSaidIsRefusedNotIgnored) {
  const auto opt_350m = read(R"({"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24, "ffn_dim": 4096,
    "num_attention_heads": 16, "max_position_embeddings": 2048, "vocab_size": 50272, "word_embed_proj_dim": 512,
    "do_layer_norm_before": false})");
  ASSERT_FALSE(opt_350m.has_value());
  EXPECT_THAT(opt_350m.error(), SizeIs(2));
  EXPECT_THAT(to_string(opt_350m.error()), HasSubstr("--arch"));
}

TEST(HfConfig, MistralWithoutAWindowKeyHasTheLibrarysDefault) {
  const std::string base = R"("model_type": "mistral", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 10,
    "num_attention_heads": 4, "intermediate_size": 128)";
  EXPECT_EQ(read("{" + base + "}")->sliding_window, 4096);
  EXPECT_EQ(read("{" + base + R"(, "sliding_window": null})")->sliding_window, 0);
}

TEST(HfConfig, ExpertsAreSharedAndLayersDenseWhereTheConfigSaysSo) {
  std::string text = read_text_file(SMPLAN_TEST_DATA "/data/hf/deepseek-v2-lite.json", 1 << 20).value();
  EXPECT_EQ(read(text)->moe.n_shared_experts, 2);
  EXPECT_EQ(read(text)->moe.n_leading_dense_layers, 1);
  for (const std::string key : {"n_shared_experts", "first_k_dense_replace"}) {
    text.replace(text.find('"' + key + '"'), key.size() + 2, "\"no_" + key + '"');
  }
  const Result<Architecture> plain = read(text);
  ASSERT_TRUE(plain) << to_string(plain.error());
  EXPECT_EQ(plain->moe.n_shared_experts, 0);
  EXPECT_EQ(plain->moe.shared_expert_ffn_hidden, 0);
  EXPECT_EQ(plain->moe.n_leading_dense_layers, 0);
}

TEST(HfConfig, VisionModelWithoutLabelsHasAPooler) {
  const auto vit = read(R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12, "patch_size": 16,
    "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224})");
  ASSERT_TRUE(vit.has_value());
  EXPECT_EQ(vit->extra_parameters, 590592 + 768 + 590592);
}

}  // namespace
}  // namespace smplan
