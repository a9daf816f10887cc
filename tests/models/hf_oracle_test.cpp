#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "catalogs/hf_config.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;

/// Of tests/oracles/hf_configs.py: what transformers' own classes make of configurations.
std::vector<JsonValue> oracle(std::string_view list) {
  Diagnostics out;
  const Result<JsonValue> file = read_json_file(SMPLAN_TEST_DATA "/data/hf_oracle.json");
  EXPECT_TRUE(file) << to_string(file.error());
  return file->find(list)->as_array(out);
}

std::int64_t number(const JsonValue& row, std::string_view key) {
  Diagnostics out;
  return row.find(key)->as_integer(out);
}

std::string text(const JsonValue& row, std::string_view key) {
  Diagnostics out;
  return row.find(key)->as_text(out);
}

/// Experts' score corrections of DeepSeek-V3 and its kin: buffers in transformers, trained numbers here. gpt-oss's
/// router biases and Gemma 4's factors of experts are parameters in both.
std::int64_t buffers(const Architecture& a) {
  if (!a.moe.router_bias || a.moe.expert_bias || a.value_norm) return 0;
  std::int64_t layers = 0;
  for (const LayerRun& run : layer_stack(a).runs) layers += run.spec.moe ? run.count : 0;
  return layers * a.moe.n_experts;
}

/// Norms that have no weights (OLMo's), or biases (Persimmon's of queries and keys), and are counted like others.
std::int64_t norm_allowance(const Architecture& a) {
  if (a.family == "olmo") return (2 * a.n_layers + 1) * a.hidden;
  return a.family == "persimmon" && a.qk_norm ? -2 * a.n_layers * a.head_dim : 0;
}

std::int64_t windowed_layers(const Architecture& a) {
  std::int64_t layers = 0;
  for (const LayerRun& run : layer_stack(a).runs) layers += run.spec.window > 0 ? run.count : 0;
  return layers;
}

TEST(HfOracle, ParametersAndWindowsAreTheClasses) {
  int read = 0;
  for (const JsonValue& row : oracle("cases")) {
    SCOPED_TRACE(text(row, "of"));
    const Result<Architecture> a = read_hf_config(*row.find("config"));
    if (!a) {
      // Refused, and said why: what Architecture cannot say.
      EXPECT_THAT(to_string(a.error()), testing::AnyOf(HasSubstr("not modelled"), HasSubstr("missing"))) << "";
      continue;
    }
    ++read;
    EXPECT_EQ(count_parameters(*a).total() - buffers(*a) - norm_allowance(*a), number(row, "parameters"));
    if (row.find("windowed")) EXPECT_EQ(windowed_layers(*a), number(row, "windowed"));
  }
  EXPECT_GT(read, 200);
}

TEST(HfOracle, AdaptersAreThosePeftFinds) {
  int read = 0;
  for (const JsonValue& row : oracle("cases")) {
    SCOPED_TRACE(text(row, "of"));
    const Result<Architecture> a = read_hf_config(*row.find("config"));
    if (!a || !peft_targets_of(*a)) continue;
    const JsonValue adapters = *row.find("adapters");
    const auto expect = [&](LoraTargets targets, std::string_view key) {
      EXPECT_EQ(lora_parameters(*a, {.rank = 8, .targets = targets, .layers = peft_adapted_layers(*a)}),
                number(adapters, key))
          << key;
    };
    expect(LoraTargets::Linear, "linear");
    expect(LoraTargets::Attention, "attention");
    expect(LoraTargets::QueryValue, "query_value");
    ++read;
  }
  EXPECT_GT(read, 200);
}

TEST(HfOracle, PartsBesideTheTextAreLeftOutAndSaid) {
  for (const JsonValue& row : oracle("composites")) {
    SCOPED_TRACE(text(row, "of"));
    const Result<Architecture> a = read_hf_config(*row.find("config"));
    ASSERT_TRUE(a) << to_string(a.error());
    EXPECT_EQ(count_parameters(*a).total() - buffers(*a), number(row, "parameters"));
    EXPECT_THAT(a->left_out, HasSubstr("its vision tower"));
    if (a->left_out.find("not counted") != std::string::npos) continue;
    EXPECT_THAT(a->left_out, HasSubstr(format_count(static_cast<double>(number(row, "beside"))) + " parameters"));
  }
}

TEST(HfOracle, AFileSavedAgainSaysTheSame) {
  for (const JsonValue& row : oracle("resaved")) {
    SCOPED_TRACE(text(row, "name"));
    const auto published = read_hf_config_file(SMPLAN_TEST_DATA "/data/hf/" + text(row, "name") + ".json");
    ASSERT_TRUE(published) << to_string(published.error());
    const Result<Architecture> before = read_hf_config(*published);
    Result<Architecture> after = read_hf_config(*row.find("config"));
    ASSERT_TRUE(before) << to_string(before.error());
    ASSERT_TRUE(after) << to_string(after.error());
    after->name = before->name;
    after->left_out = before->left_out;
    // transformers 5 ties the head of every T5 and writes so.
    if (before->kind == ModelKind::EncoderDecoder) after->tied_embeddings = before->tied_embeddings;
    EXPECT_EQ(count_parameters(*after).total(), count_parameters(*before).total());
    EXPECT_EQ(windowed_layers(*after), windowed_layers(*before));
    EXPECT_EQ(after->n_kv_heads, before->n_kv_heads);
  }
}

}  // namespace
}  // namespace smplan
