#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/embedded_file.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/hf_config.hpp"
#include "catalogs/model_modules.hpp"

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
  const auto json = parse_hf_config(text, "config.json");
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
  EXPECT_EQ(block_class_of(read->model_type()), block_class_of(expected.model_type()));
  expected.transformers_type = read->transformers_type;
  expected.extra_parameters_note = read->extra_parameters_note;
  expected.left_out = read->left_out;
  EXPECT_EQ(read->extra_parameters != 0, !read->extra_parameters_note.empty()) << "what is counted apart is said";
  if (read->rotary_base == 0) expected.rotary_base = 0;  // most of the files here leave it out
  EXPECT_EQ(read->rotary_base, expected.rotary_base);
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
  EXPECT_THAT(fault.message, HasSubstr("deepseek_v3, distilbert"));
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

const std::string kLlama = R"("model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100,
    "num_attention_heads": 4, "intermediate_size": 128)";

// Python's json writes these words; NVIDIA's published Nemotron files have them.
TEST(HfConfig, PythonsNumbersAreNoSyntaxErrors) {
  const auto plain = read("{" + kLlama + "}");
  for (const char* number : {"NaN", "Infinity", "-Infinity", "[0.0, Infinity]", "{\"a\": NaN}"}) {
    const auto with = read("{" + kLlama + ", \"time_step_limit\": " + number + "}");
    ASSERT_TRUE(with) << number << to_string(with.error());
    EXPECT_EQ(with->hidden, plain->hidden);
  }
  EXPECT_TRUE(read("{" + kLlama + R"(, "note": "NaN, \"Infinity\" and -Infinity"})"));
  const auto width = read(R"({"model_type": "llama", "hidden_size": Infinity, "num_hidden_layers": 2, "vocab_size": 9,
    "num_attention_heads": 4, "intermediate_size": 128})");
  ASSERT_FALSE(width);
  EXPECT_THAT(to_string(width.error()), HasSubstr("/hidden_size"));
  for (const char* wrong : {"NaNs", "--Infinity", "infinity", "1Infinity"}) {
    EXPECT_FALSE(parse_hf_config("{\"a\": " + std::string(wrong) + "}", "config.json")) << wrong;
  }
}

TEST(HfConfig, StrictJsonStaysStrict) { EXPECT_FALSE(parse_json(R"({"a": NaN})", "plan.json")); }

TEST(HfConfig, TheTopOfACompositeDecidesWhatIsTied) {
  const auto with = [](const std::string& top, const std::string& text) {
    return read(R"({"model_type": "llava", "vision_config": {"model_type": "clip_vision_model"}, "text_config": {)" +
                kLlama + text + "}" + top + "}");
  };
  const std::string tied = R"(, "tie_word_embeddings": true)";
  const std::string untied = R"(, "tie_word_embeddings": false)";
  EXPECT_FALSE(with("", "")->tied_embeddings);
  EXPECT_TRUE(with(tied, "")->tied_embeddings);
  EXPECT_TRUE(with("", tied)->tied_embeddings);
  EXPECT_TRUE(with(tied, untied)->tied_embeddings);
  EXPECT_FALSE(with(untied, tied)->tied_embeddings);
}

TEST(HfConfig, AKnownPartOnTextIsReadAndTheRestIsSaid) {
  const auto known = read(R"({"model_type": "stranger", "vision_config": {"model_type": "v"}, "audio_config": {},
    "text_config": {)" + kLlama +
                          "}}");
  ASSERT_TRUE(known) << to_string(known.error());
  EXPECT_THAT(known->left_out, HasSubstr("vision tower"));
  EXPECT_THAT(known->left_out, HasSubstr("audio tower"));
  EXPECT_EQ(read("{" + kLlama + "}")->left_out, "");
  EXPECT_THAT(read("{" + kLlama + R"(, "num_nextn_predict_layers": 2})")->left_out, HasSubstr("2 blocks"));
  EXPECT_FALSE(read(R"({"model_type": "stranger", "text_config": {"model_type": "stranger_text"}})"));
}

TEST(HfConfig, LayerTypesAreObeyed) {
  const auto gemma = [](const std::string& types) {
    return read(R"({"model_type": "gemma2", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 100,
      "num_attention_heads": 4, "intermediate_size": 128, "layer_types": [)" +
                types + "]}");
  };
  const std::string full = R"("full_attention")";
  const std::string window = R"("sliding_attention")";
  const auto list = [](std::initializer_list<std::string> types) {
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ",") + type;
    return text;
  };
  EXPECT_EQ(gemma(list({full, full, full, full}))->sliding_window, 0);
  EXPECT_EQ(gemma(list({window, window, window, window}))->sliding_window_stride, 0);
  EXPECT_EQ(gemma(list({window, window, window, window}))->sliding_window, 4096);
  EXPECT_EQ(gemma(list({window, full, window, full}))->sliding_window_stride, 2);
  EXPECT_EQ(gemma(list({full, window, window, window}))->sliding_window_stride, 4);
  const auto mostly_full = gemma(list({full, full, full, window}));
  ASSERT_FALSE(mostly_full);
  EXPECT_THAT(to_string(mostly_full.error()), HasSubstr("windows on 1 of 4 layers"));
  EXPECT_THAT(to_string(gemma(list({full, full})).error()), HasSubstr("lists 2 layers of 4"));
  EXPECT_THAT(to_string(gemma(list({full, full, full, R"("conv")"})).error()), HasSubstr("type conv"));
}

TEST(HfConfig, TheNumberOfLayersMayBeThatOfAList) {
  const auto hybrid = read(R"({"model_type": "nemotron_h", "hidden_size": 64, "vocab_size": 100,
    "num_attention_heads": 4, "head_dim": 16, "intermediate_size": 128, "mamba_num_heads": 8, "mamba_head_dim": 16,
    "ssm_state_size": 16, "n_groups": 2, "layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"]})");
  ASSERT_TRUE(hybrid) << to_string(hybrid.error());
  EXPECT_EQ(hybrid->n_layers, 4);
  EXPECT_EQ(hybrid->layer_pattern, "M-*-");
}

// `top_k` of older files is how many tokens are sampled from, never a number of experts.
TEST(HfConfig, SamplingIsNoRouting) {
  const auto moe = read("{" + std::string(R"("model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2,
    "vocab_size": 100, "num_attention_heads": 4, "intermediate_size": 128, "num_local_experts": 8, "top_k": 50)") +
                        "}");
  ASSERT_FALSE(moe);
  EXPECT_THAT(to_string(moe.error()), HasSubstr("num_experts_per_tok"));
}

struct Remote {
  const char* preset;
  const char* config;
};

// Families that no class of transformers has: the widths of the published files, against the presets.
TEST(HfConfig, FamiliesOfRemoteCodeAreTheirPresets) {
  const Remote remotes[] = {
      {"internlm2-7b", R"({"model_type": "internlm2", "bias": false, "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 92544,
        "max_position_embeddings": 32768})"},
      {"baichuan2-7b", R"({"model_type": "baichuan", "hidden_size": 4096, "intermediate_size": 11008,
        "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 125696, "max_position_embeddings": 4096,
        "model_max_length": 4096})"},
      {"baichuan2-13b", R"({"model_type": "baichuan", "hidden_size": 5120, "intermediate_size": 13696,
        "num_attention_heads": 40, "num_hidden_layers": 40, "vocab_size": 125696, "model_max_length": 4096})"},
      {"chatglm3-6b", R"({"model_type": "chatglm", "add_bias_linear": false, "add_qkv_bias": true,
        "ffn_hidden_size": 13696, "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true,
        "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 28, "padded_vocab_size": 65024,
        "rmsnorm": true, "seq_length": 8192})"},
      {"deepseek-moe-16b", R"({"model_type": "deepseek", "hidden_size": 2048, "intermediate_size": 10944,
        "first_k_dense_replace": 1, "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 28,
        "num_key_value_heads": 16, "vocab_size": 102400, "max_position_embeddings": 4096})"},
  };
  const auto presets = shipped();
  for (const Remote& remote : remotes) {
    const auto a = read(remote.config);
    ASSERT_TRUE(a) << remote.preset << to_string(a.error());
    Architecture expected = presets.at(remote.preset);
    expected.name = a->name;
    expected.family = a->family;
    EXPECT_EQ(a->model_type(), expected.model_type());
    expected.transformers_type = a->transformers_type;
    expected.rotary_base = a->rotary_base;  // these files leave it out
    EXPECT_TRUE(*a == expected) << remote.preset;
  }
}

}  // namespace
}  // namespace smplan
