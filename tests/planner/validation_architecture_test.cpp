// The model of a measured run: presets, the widths that override them, and what is refused.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "planner/validation/prediction.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

MeasuredRun run_of(const std::string& columns, const std::string& cells) {
  return test::runs_from("id,gpu,n_gpus,framework,seq_len,micro_batch,tp,pp,model," + columns +
                         "\na,H100,8,Megatron-LM,512,1,1,1," + cells + "\n")
      .at(0);
}

ResolvedRun resolved(const std::string& columns, const std::string& cells) {
  Result<ResolvedRun> run = resolve_run(run_of(columns, cells), shipped_catalog());
  if (!run) throw std::runtime_error(to_string(run.error()));
  return std::move(*run);
}

std::string message(const std::string& columns, const std::string& cells) {
  const RunPrediction p = predict_run(run_of(columns, cells), shipped_catalog());
  return std::string(to_string(p.status)) + ": " + p.message;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(MeasuredModels, BothSidesOfAnEncoderDecoderStayWhereNoLayersAreStated) {
  const auto layers = [](const std::string& cells) {
    const Architecture a = resolved("n_layers", cells).workload.architecture;
    return std::pair(a.n_encoder_layers, a.n_layers);
  };
  EXPECT_EQ(layers("flan-t5-xl,"), std::pair(24L, 24L));
  EXPECT_EQ(layers("flan-t5-xl,48"), std::pair(24L, 24L)) << "together";
  EXPECT_EQ(layers("flan-t5-xl,24"), std::pair(24L, 24L)) << "of one side, as its configuration writes them";
  EXPECT_EQ(layers("flan-t5-xl,12"), std::pair(6L, 6L)) << "cut";
  EXPECT_TRUE(contains(message("n_layers", "flan-t5-xl,24"), "n_layers counts one side of encoder and decoder"));
}

TEST(MeasuredModels, AT5ThatIsNoPresetHasTwoSidesToo) {
  const ResolvedRun run = resolved("n_layers,hidden", "my-T5-large,48,1024");
  EXPECT_EQ(run.workload.architecture.kind, ModelKind::EncoderDecoder);
  EXPECT_EQ(run.workload.architecture.n_encoder_layers, 24);
  EXPECT_EQ(resolved("n_layers,hidden", "gpt5,48,1024").workload.architecture.kind, ModelKind::Decoder);
}

TEST(MeasuredModels, StatedExpertsOverrideThoseOfThePreset) {
  const auto moe = [](const std::string& cells) {
    return resolved("top_k,expert_ffn_hidden", "mixtral-8x7b," + cells).workload.architecture.moe;
  };
  EXPECT_EQ(moe(",").top_k, 2);
  EXPECT_EQ(moe("1,").top_k, 1);
  EXPECT_EQ(moe(",").expert_ffn_hidden, 14336);
  EXPECT_EQ(moe("2,7168").expert_ffn_hidden, 7168);
}

TEST(MeasuredModels, OneExpertIsNone) {
  EXPECT_EQ(resolved("n_experts", "llama-2-7b,1").workload.architecture.name, "llama-2-7b");
  EXPECT_FALSE(resolved("n_layers,hidden,n_experts", "own,12,768,1").workload.architecture.is_moe());
}

TEST(MeasuredModels, ExpertsAreCutInEqualParts) {
  EXPECT_TRUE(contains(message("ep", "mixtral-8x7b,8"), "ok: "));
  EXPECT_EQ(message("ep", "mixtral-8x7b,3"),
            "invalid: 8 experts do not divide by expert parallel 3 (choose a divisor of the experts)");
  EXPECT_EQ(message("ep", "mixtral-8x7b,16"),
            "invalid: 8 experts do not divide by expert parallel 16 (choose a divisor of the experts)");
  EXPECT_TRUE(contains(message("ep", "deepseek-v3,64"), "ep 64 does not divide the 8 ranks of a stage"));
  EXPECT_FALSE(contains(message("ep", "deepseek-v3,8"), "does not divide"));
  EXPECT_TRUE(contains(message("ep", "llama-2-7b,4"), "ep 4 is passed over, the model has no experts"));
  EXPECT_EQ(resolved("ep", "llama-2-7b,4").strategy.expert_parallel, 1);
}

// A run is judged by the rule book of plans: arithmetic is refused, what a stack does not offer is said.
TEST(MeasuredModels, ARowThatBreaksARuleIsRefusedOrSaysSo) {
  const auto judged = [](const std::string& cells) {
    const MeasuredRun run =
        test::runs_from("id,gpu,model,framework,micro_batch,n_gpus,tp,pp,cp,seq_len,shard\na,H100,llama-2-7b," + cells)
            .at(0);
    const RunPrediction p = predict_run(run, shipped_catalog());
    return std::string(to_string(p.status)) + ": " + p.message;
  };
  EXPECT_TRUE(
      contains(judged("megatron,1,24,3,1,1,4096,zero1"), "invalid: 32 attention heads do not divide by tensor"));
  EXPECT_TRUE(contains(judged("megatron,1,24,1,1,3,4096,zero1"), "invalid: a sequence of 4096 does not divide over"));
  EXPECT_TRUE(contains(judged("megatron,1,64,1,64,1,4096,zero1"), "invalid: 32 layers are too few for 64"));
  const std::string staged = judged("deepspeed,1,16,1,2,1,4096,zero3");
  EXPECT_TRUE(contains(staged, "ok: ") && contains(staged, "no plan would have this: zero3 excludes pipeline"))
      << staged;
  EXPECT_FALSE(contains(judged("megatron,1,16,1,2,1,4096,zero1"), "no plan would have this"));
}

TEST(MeasuredModels, WhatIsNoTransformerIsRefusedThoughItsWidthsAreStated) {
  for (const char* model : {"ResNet-50", "resnet50", "Stable Diffusion 2.1", "SDXL", "3D-UNet", "Mask R-CNN", "DLRM"}) {
    EXPECT_TRUE(contains(message("n_layers,hidden", std::string(model) + ",50,2048"),
                         "unsupported: the model '" + std::string(model) + "' is no transformer of tokens"))
        << model;
  }
  EXPECT_TRUE(contains(message("n_layers,hidden", "ditto,24,1024"), "ok: "));
}

TEST(MeasuredModels, ASizeThatTheWidthsDoNotMakeIsSaid) {
  EXPECT_TRUE(contains(message("params_b", "llama-2-7b,70"), "params_b says 70B, the widths make 6.74B"));
  EXPECT_TRUE(contains(message("params_b,n_layers,hidden", "own,30,12,768"), "params_b says 30B"));
  for (const char* cells : {"llama-2-7b,7", "llama-2-7b,", "mixtral-8x7b,46.7", "mixtral-8x7b,12.9"}) {
    EXPECT_FALSE(contains(message("params_b", cells), "params_b says")) << cells;
  }
}

TEST(MeasuredModels, NamesAreReadAsPeopleWriteThem) {
  const auto preset = [](const std::string& model) {
    const ModelPreset* found = find_preset(run_of("params_b", model + ","), shipped_catalog());
    return found == nullptr ? std::string("none") : found->architecture.name;
  };
  for (const char* name : {"Llama 3 8B", "meta-llama/Meta-Llama-3-8B", "llama3-8b", "Llama3_8B", "Llama-3-8B-Instruct",
                           "unsloth/llama-3-8b-bnb-4bit"}) {
    EXPECT_EQ(preset(name), "llama-3-8b") << name;
  }
  for (const char* name : {"LLaMA-2 7B", "Llama2 7B (HF)", "meta-llama/Llama-2-7b-chat-hf"}) {
    EXPECT_EQ(preset(name), "llama-2-7b") << name;
  }
  EXPECT_EQ(preset("Llama 8B"), "none") << "of which release";
}

}  // namespace
}  // namespace smplan
