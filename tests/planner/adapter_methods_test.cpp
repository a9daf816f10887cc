#include "planner/validation/adapter_methods.hpp"

#include <string>

#include <gtest/gtest.h>

#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

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

AdapterKeeps keeps(const char* method, const char* targets, std::int64_t rank = 5) {
  return adapter_keeps(*adapter_method(method), narrow(), targets, rank);
}

TEST(AdapterMethods, KeepInputsOutputsAndRanksOfWhatTheyAdapt) {
  EXPECT_EQ(keeps("lora", "q_proj").token_bytes, 4 * 48 + 4 * 5);
  EXPECT_EQ(keeps("lora", "").token_bytes, 2 * (4 * 48 + 4 * 5)) << "queries and values, each a copy in fp32";
  EXPECT_EQ(keeps("lora", "o_proj+DOWN_PROJ").token_bytes, 4 * (32 + 100) + 2 * 4 * 5);
  EXPECT_EQ(keeps("lora", "q,v").token_bytes, keeps("lora", "").token_bytes);
  EXPECT_EQ(keeps("lora", "all-linear").token_bytes, 4 * (5 * 48 + 32 + 100) + 7 * 4 * 5);
  EXPECT_EQ(keeps("dora", "v_proj").token_bytes, 4 * 48 + 6 * 16 + 4 * 5);
  EXPECT_EQ(keeps("lora", "q_proj").layer_bytes, 0);
}

TEST(AdapterMethods, KeepChangedWeightsWhateverTheTokens) {
  EXPECT_EQ(keeps("hira", "q_proj+v_proj").layer_bytes, 4 * 48 * (32 + 16));
  EXPECT_EQ(keeps("oft", "q_proj").layer_bytes, 0.5 * 48 * 48);
}

TEST(AdapterMethods, ThatAddWeightsKeepOneInputForAllItsReaders) {
  EXPECT_EQ(keeps("shira", "q_proj+v_proj").token_bytes, 2 * 48);
  EXPECT_EQ(keeps("shira", "v_proj+o_proj").token_bytes, 2 * (48 + 32));
}

TEST(AdapterMethods, ScaleOutputsAndTheInputsOfAnMlpsLastLayerInIa3) {
  EXPECT_EQ(keeps("ia3", "").token_bytes, 2 * (16 + 16) + 4 * 100);
  EXPECT_EQ(keeps("ia3", "o_proj").token_bytes, 2 * 48);
}

TEST(AdapterMethods, OfNormsAndPromptsAdaptNoLinearLayer) {
  EXPECT_EQ(keeps("ln_tuning", "input_layernorm+norm").token_bytes, 4 * 48);
  EXPECT_EQ(keeps("prompt_tuning", "").token_bytes, 0);
  EXPECT_EQ(adapter_method("prompt_tuning")->virtual_tokens, 200);
  EXPECT_EQ(adapter_method("Prompt-Tuning"), adapter_method("prompt_tuning"));
  EXPECT_EQ(adapter_method("distillation"), nullptr);
  EXPECT_EQ(adapter_method(""), nullptr);
}

TEST(AdapterMethods, InPeftsComparisonHaveAdaptersInFp32AndNoSlack) {
  const auto resolved = [](const char* framework, const char* method) {
    const auto runs = test::runs_from(
        std::string("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,method,lora_targets,lora_rank\n") +
        "a,llama-3.2-3b,L40S,1," + framework + ",bf16,768,4," + method + ",q_proj+v_proj,32\n");
    return resolve_run(runs.at(0), shipped_catalog()).value();
  };
  constexpr const char* kComparison = "PEFT method_comparison";
  const Lora lora = resolved(kComparison, "lora").workload.lora;
  EXPECT_EQ(lora.keeps, (AdapterKeeps{.token_bytes = 2 * (4.0 * 3072 + 4 * 32)}));
  EXPECT_FALSE(resolved("PEFT", "lora").workload.lora.keeps) << "an older one may keep 16 bits";
  EXPECT_EQ(resolved(kComparison, "lora").stack.profile.allocator_slack, 0);
  EXPECT_EQ(resolved(kComparison, "lora").strategy.execution.pure_half, Toggle::Default);
  EXPECT_EQ(resolved(kComparison, "full").strategy.execution.pure_half, Toggle::On);
  EXPECT_EQ(resolved("PEFT", "ptuning").workload.seq_len, 768 + 20);
}

}  // namespace
}  // namespace smplan
