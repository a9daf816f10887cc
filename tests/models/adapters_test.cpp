#include "models/layers/adapters.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

/// Widths that no two of are the same: queries 32, keys 16.
Architecture narrow() {
  Architecture a;
  a.hidden = 48;
  a.n_heads = 4;
  a.n_kv_heads = 2;
  a.head_dim = 8;
  a.ffn_hidden = 100;
  return a;
}

AdapterKeeps keeps(const char* method, const char* layers, std::int64_t rank = 5) {
  return adapter_keeps(*adapter_method(method), narrow(), linear_layers_from(layers), rank);
}

TEST(Adapters, KeepInputsOutputsAndRanksOfWhatTheyAdapt) {
  EXPECT_EQ(keeps("lora", "q_proj").token_bytes, 4 * 48 + 4 * 5);
  EXPECT_EQ(keeps("lora", "").token_bytes, 2 * (4 * 48 + 4 * 5)) << "queries and values, each a copy in fp32";
  EXPECT_EQ(keeps("lora", "o_proj+DOWN_PROJ").token_bytes, 4 * (32 + 100) + 2 * 4 * 5);
  EXPECT_EQ(keeps("lora", "query-value").token_bytes, keeps("lora", "").token_bytes);
  EXPECT_EQ(keeps("lora", "all-linear").token_bytes, 4 * (5 * 48 + 32 + 100) + 7 * 4 * 5);
  EXPECT_EQ(keeps("dora", "v_proj").token_bytes, 4 * 48 + 6 * 16 + 4 * 5);
  EXPECT_EQ(keeps("lora", "q_proj").layer_bytes, 0);
}

TEST(Adapters, KeepChangedWeightsWhateverTheTokens) {
  EXPECT_EQ(keeps("hira", "q_proj+v_proj").layer_bytes, 4 * 48 * (32 + 16));
  EXPECT_EQ(keeps("oft", "q_proj").layer_bytes, 0.5 * 48 * 48);
}

TEST(Adapters, OfDoraMoveWholeWeightsInEveryPassAndOutputsBesides) {
  const AdapterWork work = adapter_work(*adapter_method("dora"), narrow(), linear_layers_from("q_proj+v_proj"));
  EXPECT_DOUBLE_EQ(work.forward_token_bytes, 26 * (32 + 16));
  EXPECT_DOUBLE_EQ(work.forward_layer_bytes, 34.56 * 48 * (32 + 16) + 8.13 * 2 * 48 * 48);
  EXPECT_DOUBLE_EQ(work.backward_token_bytes, 58 * (32 + 16));
  EXPECT_DOUBLE_EQ(work.backward_layer_bytes, 0);
  EXPECT_DOUBLE_EQ(work.read_weights, 48 * (32 + 16));
  EXPECT_DOUBLE_EQ(work.launches, 3);
  for (const char* plain : {"lora", "rslora", "pissa"}) {
    EXPECT_TRUE(adapter_method(plain)->is_lora());
    EXPECT_EQ(adapter_work(*adapter_method(plain), narrow(), linear_layers_from("all")), AdapterWork{});
  }
  EXPECT_FALSE(adapter_method("dora")->is_lora());
}

TEST(Adapters, OfAModelWithoutGatesAdaptNone) {
  Architecture plain = narrow();
  plain.gated_mlp = false;
  const AdapterMethod& dora = *adapter_method("dora");
  EXPECT_DOUBLE_EQ(adapter_work(dora, plain, linear_layers_from("all")).read_weights,
                   adapter_work(dora, narrow(), linear_layers_from("all")).read_weights - 48 * 100);
}

TEST(Adapters, AreWeighedForThePlanThatNamesThem) {
  Workload w;
  w.architecture = narrow();
  weigh_adapters_of(w);
  EXPECT_FALSE(w.lora.work);
  w.lora.method = adapter_method("rslora");
  weigh_adapters_of(w);
  EXPECT_FALSE(w.lora.work) << "another scale moves nothing";
  w.lora.method = adapter_method("dora");
  w.lora.targets = LoraTargets::QueryValue;
  weigh_adapters_of(w);
  EXPECT_EQ(*w.lora.work, adapter_work(*w.lora.method, narrow(), linear_layers_from("query-value")));
  EXPECT_EQ(w.lora.keeps->token_bytes, keeps("dora", "query-value", 16).token_bytes);
}

TEST(Adapters, ThatAddWeightsKeepOneInputForAllItsReaders) {
  EXPECT_EQ(keeps("shira", "q_proj+v_proj").token_bytes, 2 * 48);
  EXPECT_EQ(keeps("shira", "v_proj+o_proj").token_bytes, 2 * (48 + 32));
}

TEST(Adapters, ScaleOutputsAndTheInputsOfAnMlpsLastLayerInIa3) {
  EXPECT_EQ(keeps("ia3", "").token_bytes, 2 * (16 + 16) + 4 * 100);
  EXPECT_EQ(keeps("ia3", "o_proj").token_bytes, 2 * 48);
}

TEST(Adapters, OfNormsAndPromptsAdaptNoLinearLayer) {
  EXPECT_EQ(keeps("ln_tuning", "").token_bytes, 4 * 48);
  EXPECT_EQ(keeps("prompt_tuning", "").token_bytes, 0);
}

TEST(Adapters, AreKnownByTheLettersOfTheirNames) {
  EXPECT_EQ(adapter_method("prompt_tuning")->virtual_tokens, 200);
  EXPECT_EQ(adapter_method("Prompt-Tuning"), adapter_method("prompt_tuning"));
  EXPECT_EQ(adapter_method("distillation"), nullptr);
  EXPECT_EQ(adapter_method(""), nullptr);
  EXPECT_EQ(adapter_methods().size(), 46U);
  EXPECT_EQ(adapter_methods().front().name, "lora");
}

TEST(LinearLayers, AreNamedOneByOneOrTogether) {
  const auto targets = [](const char* text) { return lora_targets_of(linear_layers_from(text).value()); };
  EXPECT_EQ(targets("q_proj"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("v_proj, q_proj"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("query-value"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("q_proj+k_proj"), LoraTargets::Attention);
  EXPECT_EQ(targets("attention"), LoraTargets::Attention);
  EXPECT_EQ(targets("q_proj up_proj"), LoraTargets::Linear);
  EXPECT_EQ(targets("all"), LoraTargets::Linear);
  EXPECT_EQ(linear_layers_from("all"), linear_layers_from("attention+gate_proj+up_proj+down_proj"));
  for (const char* text : {"", "+", "q", "q_proj+head", "none"}) EXPECT_FALSE(linear_layers_from(text)) << text;
}

}  // namespace
}  // namespace smplan
