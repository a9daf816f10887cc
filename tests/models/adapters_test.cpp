#include "models/layers/adapters.hpp"

#include <gtest/gtest.h>

#include "models/job/strategy.hpp"
#include "models/layers/activations.hpp"
#include "models/layers/flops.hpp"
#include "models/layers/layers.hpp"
#include "tests/support/shipped_catalog.hpp"

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

/// The small Llama of scripts/fit/adapter_costs.py, with virtual tokens.
Workload counted(const char* method, std::int64_t virtual_tokens, std::int64_t layers = 2) {
  Workload w;
  w.architecture = {.n_layers = layers,
                    .hidden = 768,
                    .n_heads = 24,
                    .n_kv_heads = 8,
                    .head_dim = 32,
                    .ffn_hidden = 2048,
                    .vocab = 512,
                    .tied_embeddings = true};
  w.finetune = FineTune::Lora;
  w.lora.method = adapter_method(method);
  w.lora.virtual_tokens = virtual_tokens;
  w.global_batch = 2;
  weigh_adapters_of(w);
  w.set_lengths({.longest = 32});
  return w;
}

/// Numbers that PEFT 0.21.2 gives (scripts/fit/adapter_costs.py prompts).
TEST(Prompts, TrainWhatPeftTrains) {
  const auto trained = [](const char* method) { return trained_parameters(counted(method, 16)); };
  EXPECT_EQ(trained("prefixtuning"), 16384);
  EXPECT_EQ(trained("prompt_tuning"), 12288);
  EXPECT_EQ(trained("ptuning"), 1784064);
  const Workload encoded = counted("ptuning", 16);
  EXPECT_EQ(saved_lora_parameters(encoded.architecture, encoded.lora), 12288) << "the encoder stays behind";
}

TEST(Prompts, KeepWhatPeftKeepsInEachLayer) {
  const Stack& trainer = *test::shipped_catalog().find_stack("hf-trainer");
  const auto kept = [&](const Workload& w) {
    const Strategy s{.micro_batch = 2};
    LayerSpec spec{.ffn_hidden = w.architecture.ffn_hidden};
    const TokenActivations a = token_activations(w, spec, s, activation_options(w, s, trainer));
    return a.saved * 2 * static_cast<double>(w.seq_len);
  };
  const double frozen = kept(counted("prompt_tuning", 0));
  // Keys and values of the prefix and of the sequence, repeated for all heads, and a mask of 16-bit numbers.
  EXPECT_DOUBLE_EQ(kept(counted("prefixtuning", 16)) - frozen, 235520);
  EXPECT_DOUBLE_EQ(kept(counted("prompt_tuning", 16)), frozen * 48 / 32) << "as so many tokens of the data";
}

TEST(Prompts, AreNoTokensOfTheData) {
  const Workload w = counted("prompt_tuning", 16);
  EXPECT_EQ(w.seq_len, 48);
  EXPECT_EQ(w.data_lengths().longest, 32);
  EXPECT_DOUBLE_EQ(w.tokens_per_step(), 64);
  EXPECT_DOUBLE_EQ(w.computed_tokens_per_step(), 96);
  Workload padded = w;
  padded.set_lengths({.longest = 32, .mean = 20});
  EXPECT_EQ(padded.mean_seq_len, 36);
  EXPECT_EQ(padded.data_lengths().mean, 20);
  const Workload keys = counted("prefixtuning", 16);
  EXPECT_EQ(keys.seq_len, 32) << "attention alone reads them";
  EXPECT_EQ(keys.keys_before_sequence(), 16);
}

TEST(Prompts, CostTheirFlops) {
  const auto flops = [](const Workload& w) {
    return step_flops(w, Recompute::None, AttentionCounting::CausalHalf).model.value();
  };
  // Two products of attention for every key of the prefix, forward and twice backward.
  const double more = flops(counted("prefixtuning", 16)) - flops(counted("prefixtuning", 0));
  EXPECT_DOUBLE_EQ(more, 3.0 * 64 * 2 * 4 * 768 * 16);
  EXPECT_GT(flops(counted("prompt_tuning", 16)), flops(counted("prompt_tuning", 0)) * 48 / 32);
}

TEST(Prompts, OfKeysAreNotRecomputed) {
  const Stack& trainer = *test::shipped_catalog().find_stack("hf-trainer");
  const auto check = [&](const char* method, Recompute recompute) {
    return quick_check(Strategy{.recompute = recompute}, counted(method, 16), trainer);
  };
  EXPECT_EQ(check("prefixtuning", Recompute::Full), Validity::Unsupported);
  EXPECT_EQ(check("prefixtuning", Recompute::None), Validity::Ok);
  EXPECT_EQ(check("prompt_tuning", Recompute::Full), Validity::Ok);
}

TEST(Prompts, AreTrainedWherePeftIs) {
  for (const auto& [stack, expected] : {std::pair("ddp", Validity::Ok), std::pair("litgpt", Validity::Unsupported)}) {
    const Stack& of = *test::shipped_catalog().find_stack(stack);
    const Strategy s{.sharding = Sharding::None};
    EXPECT_EQ(quick_check(s, counted("prompt_tuning", 16), of), expected) << stack;
    Workload several = counted("lora", 0);
    several.lora.count = 2;
    EXPECT_EQ(quick_check(s, several, of), expected) << stack;
  }
}

TEST(Adapters, TrainedAtOnceAreSoManyTimesAsLarge) {
  Workload w;
  w.architecture = narrow();
  w.architecture.n_layers = 3;
  w.finetune = FineTune::Lora;
  const std::int64_t one = trained_parameters(w);
  const std::int64_t touched = active_lora_parameters(w.architecture, w.lora);
  w.lora.count = 8;
  EXPECT_EQ(trained_parameters(w), 8 * one);
  EXPECT_EQ(active_lora_parameters(w.architecture, w.lora), touched) << "a token passes one of them";
}

TEST(Adapters, AreKnownByTheLettersOfTheirNames) {
  EXPECT_EQ(adapter_method("prompt_tuning")->prompt.virtual_tokens, 200);
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
