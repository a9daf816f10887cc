#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalogs/hf_config.hpp"
#include "catalogs/hf_writer.hpp"
#include "fixture.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Presets that no class of transformers 5.24 makes, or none that read_hf_config() knows.
const std::map<std::string, std::string> kUnwritable{
    {"qwen-1.8b", "its own code leaves logits in 16 bits, Qwen2's does not"},
    {"qwen-7b", "as qwen-1.8b"},
    {"qwen-14b", "as qwen-1.8b"},
    {"qwen-72b", "as qwen-1.8b"},
    {"flan-t5-small", "transformers 5 ties the head of T5 whatever its file says"},
    {"flan-t5-base", "as flan-t5-small"},
    {"flan-t5-large", "as flan-t5-small"},
    {"flan-t5-xl", "as flan-t5-small"},
    {"flan-t5-xxl", "as flan-t5-small"},
    {"mt5-small", "transformers 5 ties the head of mT5 whatever its file says"},
    {"mt5-base", "as mt5-small"},
    {"mt5-large", "as mt5-small"},
    {"mt5-xl", "as mt5-small"},
    {"mt5-xxl", "as mt5-small"},
    {"nemotron-3-super-120b-a12b", "blocks for further tokens: transformers builds none"},
    {"nemotron-3-ultra-550b-a55b", "as nemotron-3-super-120b-a12b"},
    {"grok-1", "four norms a layer beside experts: transformers has no such class"},
    {"baichuan2-13b", "ALiBi under RMSNorm and a gated MLP: in its own code alone"},
    {"deepseek-moe-16b", "shared experts without gate, bias or latent attention: in its own code alone"},
};

JsonValue parsed(const Architecture& a) {
  const auto text = hf_config_text(a);
  EXPECT_TRUE(text.has_value()) << a.name;
  return test::json(text.value_or("{}"));
}

std::string type_of(const Architecture& a) {
  Diagnostics out;
  const auto type = parsed(a).find("model_type");
  return type ? type->as_string(out) : "";
}

Architecture read_back(const Architecture& a) {
  const auto read = read_hf_config(parsed(a));
  EXPECT_TRUE(read.has_value()) << (read ? "" : to_string(read.error()));
  return read.value_or(Architecture{});
}

/// Expects every member equal, but for names, notes and what is unknown or without a use in `asked`.
void expect_reads_back(const Architecture& asked) {
  SCOPED_TRACE(asked.name);
  const Architecture read = read_back(asked);
  Architecture expected = asked;
  expected.name = read.name;
  expected.family = read.family;
  expected.transformers_type = read.transformers_type;
  expected.extra_parameters_note = read.extra_parameters_note;
  expected.plain_attention = read.plain_attention;
  EXPECT_THAT(read.left_out, IsEmpty());
  if (!asked.has_dense_mlp()) expected.ffn_hidden = read.ffn_hidden;
  if (asked.max_positions == 0) expected.max_positions = read.max_positions;
  if (asked.rotary_base == 0) expected.rotary_base = read.rotary_base;
  EXPECT_EQ(read.n_kv_heads, expected.n_kv_heads);
  EXPECT_EQ(read.head_dim, expected.head_dim);
  EXPECT_EQ(read.extra_parameters, expected.extra_parameters);
  EXPECT_EQ(read.sliding_window, expected.sliding_window);
  EXPECT_EQ(read.sliding_window_stride, expected.sliding_window_stride);
  EXPECT_TRUE(read == expected);
}

Architecture architecture(std::string_view members) {
  Diagnostics out;
  Architecture a = read_architecture(test::json(members), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  return a;
}

/// Of the widths of somebody's first model, and what is given beside them.
Architecture tiny(const std::string& further = "") {
  return architecture(R"({"n_layers": 2, "hidden": 64, "n_heads": 4, "ffn_hidden": 128, "vocab": 256)" +
                      (further.empty() ? "" : ", " + further) + "}");
}

const std::string kGptBlock =
    R"("gated_mlp": false, "norm": "layernorm", "qkv_bias": true, "attention_output_bias": true, "mlp_bias": true)";
const std::string kEncoder = R"("kind": "encoder", "positions": "learned", "max_positions": 128, "embedding_norm": true,
    "final_norm": false, "tied_embeddings": true, )" +
                             kGptBlock;

TEST(HfWriter, EveryPresetReadsBackOrIsNamedWithItsReason) {
  for (const ModelPreset& preset : test::shipped().models()) {
    const Architecture& a = preset.architecture;
    if (kUnwritable.contains(a.name)) {
      EXPECT_EQ(hf_config_text(a), std::nullopt) << a.name << " can be written: take it off the list";
    } else {
      expect_reads_back(a);
    }
  }
  for (const auto& [name, reason] : kUnwritable) EXPECT_NE(test::shipped().find_model(name), nullptr) << name << reason;
}

TEST(HfWriter, IdsOfTokensLieWithinTheVocabulary) {
  std::vector<Architecture> all{tiny(), architecture(R"({"n_layers": 1, "hidden": 8, "n_heads": 1, "ffn_hidden": 8,
    "vocab": 1})")};
  for (const ModelPreset& preset : test::shipped().models()) all.push_back(preset.architecture);
  for (const Architecture& a : all) {
    if (a.kind == ModelKind::Vision || kUnwritable.contains(a.name)) continue;
    Diagnostics out;
    const JsonValue config = parsed(a);
    for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"}) {
      const auto id = config.find(key);
      if (!id || id->is_null()) continue;
      EXPECT_LT(id->as_integer(out), a.vocab) << a.name << " " << key;
    }
    EXPECT_THAT(out, IsEmpty());
  }
}

TEST(HfWriter, TheTypeOfTheFamilyComesBeforeThePlainest) {
  const std::map<std::string, std::string> types{
      {"llama-2-7b", "llama"},
      {"codellama-7b", "llama"},
      {"llama-4-scout", "llama4_text"},
      {"mistral-7b", "mistral"},
      {"danube2-1.8b", "mistral"},
      {"qwen2.5-7b", "qwen2"},
      {"glm-4-9b", "qwen2"},
      {"seed-oss-36b", "seed_oss"},
      {"gemma-2-9b", "gemma2"},
      {"gemma-3-4b", "gemma3_text"},
      {"phi-3-mini", "phi3"},
      {"phi-2", "phi"},
      {"kimi-k2", "deepseek_v3"},
      {"deepseek-v2", "deepseek_v2"},
      {"olmo-7b", "llama"},
      {"smollm2-135m", "llama"},
      {"smollm3-3b", "smollm3"},
      {"granite-3-2b", "granite"},
      {"roberta-base", "roberta"},
      {"xlm-roberta-base", "xlm-roberta"},
      {"gpt3-175b", "gpt2"},
      {"falcon-40b", "falcon"},
      {"vit-b-16", "vit"},
      {"t5-small", "t5"},
  };
  for (const auto& [name, type] : types) {
    const ModelPreset* preset = test::shipped().find_model(name);
    ASSERT_NE(preset, nullptr) << name;
    EXPECT_EQ(type_of(preset->architecture), type) << name;
  }
}

TEST(HfWriter, ATinyModelIsALlama) {
  EXPECT_EQ(hf_config_text(tiny()), R"({
  "architectures": [
    "LlamaForCausalLM"
  ],
  "model_type": "llama",
  "vocab_size": 256,
  "hidden_size": 64,
  "intermediate_size": 128,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "max_position_embeddings": 4096,
  "tie_word_embeddings": false,
  "num_key_value_heads": 4,
  "head_dim": 16,
  "bos_token_id": 1,
  "eos_token_id": 2,
  "pad_token_id": null,
  "attention_bias": false,
  "mlp_bias": false
}
)");
}

TEST(HfWriter, OddBlocksFindTheClassThatHasThem) {
  const std::map<std::string, std::string> types{
      {R"("tied_embeddings": true, "n_kv_heads": 2, "head_dim": 24, "rotary_base": 54321.5)", "llama"},
      {R"("qkv_bias": true, "attention_output_bias": true, "mlp_bias": true)", "llama"},
      {R"("qkv_bias": true)", "qwen2"},
      {R"("qkv_bias": true, "mlp_bias": true)", "seed_oss"},
      {R"("qk_norm": true)", "qwen3"},
      {R"("sliding_window": 32)", "mistral"},
      {R"("sliding_window": 32, "sliding_window_stride": 2)", "ministral"},
      {R"("sliding_window": 32, "sliding_window_stride": 2, "qkv_bias": true)", "qwen2"},
      {R"("sliding_window": 32, "qk_norm": true)", "exaone4"},
      {R"("norms_per_layer": 4)", "gemma2"},
      {R"("norms_per_layer": 4, "qkv_bias": true)", "glm4"},
      {R"("norms_per_layer": 4, "qk_norm": true, "sliding_window": 32)", "gemma3_text"},
      {R"("gated_mlp": false)", "arcee"},
      {R"("gated_mlp": false, "norm": "layernorm")", "nemotron"},
      {R"("norm": "layernorm", "qkv_bias": true)", "stablelm"},
      {R"("qk_norm": true, "extra_parameters": 192)", "olmo2"},
      {R"("qk_norm": true, "extra_parameters": 192, "sliding_window": 32)", "olmo3"},
      {R"("moe": {"n_experts": 4, "top_k": 2, "expert_ffn_hidden": 48})", "mixtral"},
      {R"("qk_norm": true, "moe": {"n_experts": 4, "top_k": 2, "expert_ffn_hidden": 48, "layer_stride": 2})",
       "qwen3_moe"},
      {R"("moe": {"n_experts": 4, "top_k": 2, "expert_ffn_hidden": 48, "n_shared_experts": 1,
          "shared_expert_ffn_hidden": 80})",
       "granitemoeshared"},
      {R"("norm": "layernorm", "moe": {"n_experts": 4, "top_k": 2, "expert_ffn_hidden": 48})", "phimoe"},
      {R"("head_dim": 24, "latent": {"kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
          "v_head_dim": 16})",
       "youtu"},
      {R"("positions": "learned", "max_positions": 128, "tied_embeddings": true, )" + kGptBlock, "gpt2"},
      {R"("positions": "learned", "max_positions": 128, "n_kv_heads": 1, )" + kGptBlock, "gpt_bigcode"},
      {R"("parallel_block": true, )" + kGptBlock, "gpt_neox"},
      {R"("sliding_window": 32, )" + kGptBlock, "starcoder2"},
      {R"("positions": "alibi", )" + kGptBlock, "falcon"},
      {R"("parallel_block": true, "norm": "layernorm", "gated_mlp": false, "n_kv_heads": 2)", "falcon"},
      {kEncoder, "distilbert"},
      {R"("extra_parameters": 4352, )" + kEncoder, "bert"},
  };
  for (const auto& [members, type] : types) {
    SCOPED_TRACE(members);
    const Architecture a = tiny(members);
    EXPECT_EQ(type_of(a), type);
    expect_reads_back(a);
  }
}

TEST(HfWriter, OneWindowedPatternMayBeWrittenAsAnotherOfAsManyLayers) {
  Architecture a = tiny(R"("sliding_window": 32, "sliding_window_stride": 4)");
  EXPECT_EQ(read_back(a).sliding_window_stride, 0) << "two layers have no fourth";
  a.n_layers = 7;
  EXPECT_EQ(read_back(a).sliding_window_stride, 7) << "one layer of seven sees all";
  a.sliding_window_stride = 1;
  EXPECT_EQ(read_back(a).sliding_window, 0) << "all of them do";
}

TEST(HfWriter, AnImageModelHasItsPatchesAndClasses) {
  for (const std::string classes : {"10", "1000"}) {
    const std::int64_t extra = (3 * 16 * 16 + 2) * 64 + std::stoll(classes) * 65;
    const Architecture a = architecture(R"({"kind": "vision", "n_layers": 2, "hidden": 64, "n_heads": 4,
      "ffn_hidden": 128, "vocab": 0, "positions": "learned", "max_positions": 17, "extra_parameters": )" +
                                        std::to_string(extra) + ", " + kGptBlock + "}");
    expect_reads_back(a);
    const std::string text = hf_config_text(a).value_or("");
    EXPECT_THAT(text, HasSubstr("\"image_size\": 64"));
    EXPECT_THAT(text, HasSubstr("\"patch_size\": 16"));
    EXPECT_THAT(text, HasSubstr("\"LABEL_" + std::to_string(std::stoll(classes) - 1) + "\""));
    Architecture odd = a;
    odd.extra_parameters += 1;
    EXPECT_EQ(hf_config_text(odd), std::nullopt) << "no whole classes";
  }
}

TEST(HfWriter, AnEncoderDecoderHasItsDepthsAndBuckets) {
  Architecture a = tiny(R"("kind": "encoder-decoder", "n_encoder_layers": 3, "positions": "relative-bias",
    "tied_embeddings": true, "extra_parameters": 128, "head_dim": 8)");
  expect_reads_back(a);
  EXPECT_EQ(type_of(a), "t5");
  a.family = "mt5";
  EXPECT_EQ(type_of(a), "mt5");
  a.tied_embeddings = false;
  EXPECT_EQ(hf_config_text(a), std::nullopt);
}

TEST(HfWriter, WhatNoClassHasIsNotWritten) {
  const std::string experts = R"("moe": {"n_experts": 4, "top_k": 2, "expert_ffn_hidden": 48)";
  const std::vector<std::string> unknown{
      R"("half_logits": true)",
      R"("extra_parameters": 1)",
      R"("positions": "none")",
      R"("positions": "alibi")",
      R"("attention_output_gate": true)",
      R"("scaled_rotary": true)",
      R"("multi_token_prediction": {"depth": 1})",
      R"("norms_per_layer": 3)",
      R"("kind": "encoder")",
      R"("norms_per_layer": 4, )" + experts + "}",
      experts + R"(, "n_leading_dense_layers": 1})",
  };
  for (const std::string& members : unknown) EXPECT_EQ(hf_config_text(tiny(members)), std::nullopt) << members;
}

TEST(HfWriter, WhatItsClassRefusesIsNotWritten) {
  EXPECT_EQ(hf_config_text(tiny(R"("head_dim": 15)")), std::nullopt) << "rotary positions turn pairs";
  Architecture uneven = tiny(R"("positions": "learned", "max_positions": 128, )" + kGptBlock);
  ASSERT_TRUE(hf_config_text(uneven).has_value());
  uneven.n_heads = uneven.n_kv_heads = 5;
  uneven.head_dim = 12;
  EXPECT_EQ(hf_config_text(uneven), std::nullopt) << "five heads do not divide 64";
  Architecture impossible = tiny();
  impossible.n_kv_heads = 3;
  EXPECT_EQ(hf_config_text(impossible), std::nullopt);
}

}  // namespace
}  // namespace smplan
