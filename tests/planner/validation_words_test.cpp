// Cells of a table of runs, as people write them.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "planner/validation/run_resolution.hpp"
#include "planner/validation/run_words.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

ResolvedRun resolved(const std::string& columns, const std::string& cells) {
  const auto runs = test::runs_from("id,seq_len,micro_batch," + columns + "\na,4096,1," + cells + "\n");
  Result<ResolvedRun> run = resolve_run(runs[0], shipped_catalog());
  if (!run) throw std::runtime_error(run.error().front().message);
  return *run;
}

bool says(const ResolvedRun& run, const std::string& assumption) {
  return std::find(run.assumptions.begin(), run.assumptions.end(), assumption) != run.assumptions.end();
}

TEST(RunWords, ShardingIsCalledByItsStageByItsStrategyOrByItsProgram) {
  const std::vector<std::pair<std::string, std::optional<Sharding>>> spellings = {
      {"none", Sharding::None},
      {"NO_SHARD", Sharding::None},
      {"DDP", Sharding::None},
      {"0", Sharding::None},
      {"zero1 dp2", Sharding::Zero1},
      {"ZeRO-1", Sharding::Zero1},
      {"distributed optimizer", Sharding::Zero1},
      {"stage 2", Sharding::Zero2},
      {"zero2+offload", Sharding::Zero2},
      {"ZeRO stage-3", Sharding::Zero3},
      {"fsdp", Sharding::FsdpFull},
      {"FSDP2", Sharding::FsdpFull},
      {"FULL_SHARD", Sharding::FsdpFull},
      {"SHARD_GRAD_OP", Sharding::FsdpGradOp},
      {"fsdp-grad-op", Sharding::FsdpGradOp},
      {"FSDP SHARD_GRAD_OP", Sharding::FsdpGradOp},
      {"ShardingStrategy.SHARD_GRAD_OP", Sharding::FsdpGradOp},
      {"hsdp", Sharding::FsdpHybrid},
      {"FSDP (HYBRID_SHARD)", Sharding::FsdpHybrid},
      {"fsdp hsdp", Sharding::FsdpHybrid},
      {"_HYBRID_SHARD_ZERO2", std::nullopt},
      {"DeepSpeed ZeRO-2", Sharding::Zero2},
      {"fully_shard", Sharding::FsdpFull},
      {"use_distributed_optimizer", Sharding::Zero1},
      {"ddp + zero1", Sharding::Zero1},
      {"not sharded", Sharding::None},
      {"no sharding", Sharding::None},
      {"fsdp-hybrid", Sharding::FsdpHybrid},
      {"zero2/3 (see the script)", std::nullopt},
      {"zero4", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [words, sharding] : spellings) EXPECT_EQ(sharding_in(words), sharding) << words;
  EXPECT_EQ(zero_stage_in("HF + DeepSpeed ZeRO-1"), Sharding::Zero1);
  EXPECT_EQ(zero_stage_in("DeepSpeed (zero 2)"), Sharding::Zero2);
  EXPECT_EQ(zero_stage_in("ZeRO"), std::nullopt);
}

TEST(RunWords, RecomputationIsASwitchAKindOrAListOfModules) {
  for (const char* words : {"none", "0", "False", "off", "no recompute", "none (0 layers)",
                            "No activation checkpointing", "without", "AC off", "checkpointing: disabled"}) {
    EXPECT_EQ(recompute_in(words), Recompute::None) << words;
  }
  for (const char* words : {"full", "full (uniform, 1)", "yes", "1", "True", "block", "activation checkpointing",
                            "yes (unsloth)", "uniform(1)", "AC", "granularity full"}) {
    EXPECT_EQ(recompute_in(words), Recompute::Full) << words;
  }
  for (const char* words : {"selective", "selective-op", "Selective (core attn)", "mla_up_proj,mlp", "per-op SAC",
                            "attention", "mode selective"}) {
    EXPECT_EQ(recompute_in(words), Recompute::Selective) << words;
  }
  for (const char* words : {"", "flash", "10 layers"}) EXPECT_EQ(recompute_in(words), std::nullopt) << words;
}

TEST(RunWords, AttentionIsASwitchOrAKernel) {
  for (const char* words : {"FA2", "FlashAttention-3", "flash-attn 2.5", "sdpa", "cuDNN", "xformers", "fa", "2", "TE",
                            "fused attention", "memory-efficient"}) {
    EXPECT_EQ(flash_attention_in(words), true) << words;
  }
  for (const char* words : {"eager", "unfused", "sdpa (math)", "no flash", "flash: off"}) {
    EXPECT_EQ(flash_attention_in(words), false) << words;
  }
  for (const char* words : {"", "maybe", "10", "fab", "ring"}) {
    EXPECT_EQ(flash_attention_in(words), std::nullopt) << words;
  }
}

TEST(RunWords, PipelinesRunByTheNamesOfTheirSchedules) {
  EXPECT_EQ(schedule_in("1F1B"), Schedule::OneFOneB);
  EXPECT_EQ(schedule_in("interleaved 1F1B"), Schedule::Interleaved);
  EXPECT_EQ(schedule_in("Interleaved1F1B"), Schedule::Interleaved);
  EXPECT_EQ(schedule_in("GPipe"), Schedule::GPipe);
  EXPECT_EQ(schedule_in("Zero Bubble (ZB-H1)"), Schedule::ZeroBubble);
  EXPECT_EQ(schedule_in("afap"), std::nullopt);
  const auto schedule = [](const std::string& columns, const std::string& cells) {
    return resolved("model,gpu,n_gpus,framework,tp,pp," + columns, "llama-2-7b,A100-80GB,8,Megatron-LM,2,4," + cells);
  };
  EXPECT_EQ(schedule("schedule", "gpipe").strategy.schedule, Schedule::GPipe);
  EXPECT_EQ(schedule("schedule", "interleaved").strategy.virtual_pipeline, 2);
  EXPECT_EQ(schedule("schedule,vpp", "1f1b,4").strategy.schedule, Schedule::Interleaved);
  EXPECT_TRUE(says(schedule("schedule", "afap"), "schedule 'afap' is not understood"));
}

TEST(RunWords, ExpertsAreCutAsTheRowSaysWhereThatFillsTheRanks) {
  const auto moe = [](const std::string& etp) {
    return resolved("model,gpu,n_gpus,framework,tp,pp,ep,etp", "mixtral-8x7b,H100-80GB,16,megatron,4,1,4," + etp);
  };
  EXPECT_EQ(moe("2").strategy.expert_tensor(), 2);
  EXPECT_EQ(moe("").strategy.expert_tensor(), 1);
  EXPECT_THROW(moe("3"), std::runtime_error) << "16 ranks are no multiple of 12";
}

TEST(RunWords, OptimizersFormatsAndGatesAreReadInAnyCase) {
  EXPECT_EQ(optimizer_in("paged_adamw_8bit"), Optimizer::Adam8bit);
  EXPECT_EQ(optimizer_in("DistributedFusedAdam"), Optimizer::AdamW);
  EXPECT_EQ(optimizer_in("Adafactor"), Optimizer::Adafactor);
  EXPECT_EQ(optimizer_in("Shampoo"), std::nullopt);
  EXPECT_EQ(precision_in("MXFP8"), Precision::Fp8);
  EXPECT_EQ(precision_in("bfloat16"), Precision::Bf16);
  EXPECT_EQ(precision_in("int8"), std::nullopt);
  EXPECT_EQ(precision_in("bf16 + float8"), Precision::Fp8);
  for (const char* words : {"bf16, no fp8", "bf16 (no float8)", "BF16, FP8 off"}) {
    EXPECT_EQ(precision_in(words), Precision::Bf16) << words;
  }
  EXPECT_TRUE(is_gated("SwiGLU"));
  EXPECT_FALSE(is_gated("squared ReLU"));
  EXPECT_TRUE(offload_in("params (CPU)")->parameters);
  EXPECT_TRUE(offload_in("cpu")->optimizer);
  EXPECT_TRUE(offload_in("ZeRO-Offload")->optimizer);
  for (const char* words : {"No", "no offload", "without offloading", "disabled", "False"}) {
    ASSERT_TRUE(offload_in(words)) << words;
    EXPECT_FALSE(offload_in(words)->any()) << words;
  }
  EXPECT_EQ(offload_in("no params, optimizer"), std::nullopt) << "one of the two";
  EXPECT_EQ(offload_in("somewhere"), std::nullopt);
}

TEST(RunWords, TheHostIsNamedBesideAnOptimizerUnlessDenied) {
  const auto offloads = [](const char* optimizer, const char* shard) {
    return resolved("model,gpu,n_gpus,framework,optimizer,shard",
                    std::string("gpt2,H100,8,deepspeed,") + optimizer + "," + shard)
        .strategy.offload.optimizer;
  };
  EXPECT_TRUE(offloads("AdamW (CPU offload)", "zero2"));
  EXPECT_TRUE(offloads("DeepSpeedCPUAdam", "zero2"));
  EXPECT_TRUE(offloads("AdamW", "zero2+offload"));
  EXPECT_FALSE(offloads("AdamW (no CPU offload)", "zero2"));
  EXPECT_FALSE(offloads("AdamW", "\"zero2, no offload\""));
  EXPECT_FALSE(offloads("AdamW offload=False", "zero2"));
}

TEST(RunWords, FiguresOfMemoryAreCalledAsProgramsCallThem) {
  const std::vector<std::pair<MemoryKind, std::vector<const char*>>> spellings = {
      {MemoryKind::Allocated,
       {"max_allocated", "max allocated", "Allocated", "torch.cuda.max_memory_allocated", "active (torchtune)",
        "unknown (torchtune active/allocated)", "peak_active"}},
      {MemoryKind::Reserved, {"max_reserved", "reserved", "torch.cuda.max_memory_reserved()", "max_memory_cached"}},
      {MemoryKind::Device, {"nvidia-smi", "NVML", "nvidia_smi", "pynvml", "device"}},
      {MemoryKind::Unstated, {"", " ", "unknown"}},
  };
  for (const auto& [kind, cells] : spellings) {
    for (const char* words : cells) EXPECT_EQ(memory_kind_in(words), kind) << words;
  }
  for (const char* words : {"max_alocated", "max", "reserved/allocated"}) {
    EXPECT_EQ(memory_kind_in(words), std::nullopt) << words;
  }
}

TEST(RunWords, RatesCountRecomputationWhereTheyAreTheHardwares) {
  for (const char* words : {"hardware", "Hardware FLOPs", "HFU"}) {
    EXPECT_EQ(flops_kind_in(words), FlopsKind::Hardware) << words;
  }
  for (const char* words : {"model", "MFU", "", "unknown"}) EXPECT_EQ(flops_kind_in(words), FlopsKind::Model) << words;
  EXPECT_EQ(flops_kind_in("hardwear"), std::nullopt);
  EXPECT_EQ(flops_kind_in("model or hardware"), std::nullopt);
}

TEST(RunWords, AFigureWhoseKindIsNotUnderstoodSaysSo) {
  const ResolvedRun run =
      resolved("model,gpu,n_gpus,framework,mem_kind,tflops_kind", "llama-2-7b,A100-80GB,8,FSDP,max_alocated,hardwear");
  EXPECT_TRUE(says(run, "mem_kind 'max_alocated' is not understood"));
  EXPECT_TRUE(says(run, "tflops_kind 'hardwear' is not understood"));
  EXPECT_EQ(run.memory_kind, MemoryKind::Unstated);
}

TEST(RunWords, WhatIsNotUnderstoodIsSaidBesideTheDefaultInItsPlace) {
  const ResolvedRun run = resolved("model,gpu,n_gpus,framework,shard,recompute,optimizer,dtype,offload",
                                   "llama-2-7b,A100-80GB,8,FSDP,diagonal,now and then,Shampoo,int8,to the moon");
  for (const char* word : {"shard 'diagonal'", "recompute 'now and then'", "optimizer 'Shampoo'", "dtype 'int8'",
                           "offload 'to the moon'"}) {
    EXPECT_TRUE(says(run, std::string(word) + " is not understood")) << word;
  }
  EXPECT_EQ(run.strategy.sharding, Sharding::FsdpFull);
}

TEST(RunWords, TheHostsPartMayStandBesideOptimizerOrSharding) {
  EXPECT_TRUE(resolved("model,gpu,n_gpus,framework,optimizer", "llama-2-7b,A100-80GB,8,DeepSpeed,DeepSpeedCPUAdam")
                  .strategy.offload.optimizer);
  EXPECT_TRUE(resolved("model,gpu,n_gpus,framework,shard", "llama-2-7b,A100-80GB,8,DeepSpeed,zero2+offload")
                  .strategy.offload.optimizer);
  EXPECT_FALSE(resolved("model,gpu,n_gpus,framework,optimizer,offload",
                        "llama-2-7b,A100-80GB,8,DeepSpeed,AdamW (CPU offload),none")
                   .strategy.offload.any());
}

TEST(RunWords, ALauncherShardsByTheProgramBesideItOrByNeed) {
  const auto run = [](const std::string& model, const std::string& framework) {
    const ResolvedRun r = resolved("model,gpu,n_gpus,framework", model + ",A100-80GB,8," + framework);
    return r.stack.id + " " + std::string(to_string(r.strategy.sharding));
  };
  EXPECT_EQ(run("llama-2-7b", "HF Trainer + FSDP"), "fsdp fsdp-full");
  EXPECT_EQ(run("llama-2-7b", "Axolotl (DeepSpeed ZeRO-2)"), "deepspeed zero2");
  EXPECT_EQ(run("llama-2-7b", "LLaMA-Factory"), "fsdp fsdp-full") << "112 GB of states do not fit";
  EXPECT_EQ(run("tinyllama-1.1b", "LLaMA-Factory"), "hf-trainer none");
  EXPECT_EQ(run("llama-2-7b", "torchtune"), "torchtune fsdp-full");
  EXPECT_EQ(run("tinyllama-1.1b", "torchtune"), "torchtune fsdp-full") << "as its recipes for several devices do";
  EXPECT_EQ(run("llama-2-7b", "PyTorch DDP"), "ddp none") << "says what it does";
}

TEST(RunWords, TheMachineIsItsInstancesWhereNoAcceleratorIsNamed) {
  const ResolvedRun run = resolved("model,instance,n_gpus,framework,network", "llama-2-7b,p5.48xlarge,16,FSDP,efa v2");
  EXPECT_EQ(run.cluster.accelerator.key, "H100-80GB");
  EXPECT_EQ(run.cluster.nodes, 2);
  EXPECT_EQ(run.cluster.network.kind, NetworkKind::Efa);
  EXPECT_EQ(resolved("model,gpu,n_gpus,framework", "llama-2-7b,H100,12,FSDP").cluster.nodes, 2) << "of six each";
}

TEST(RunWords, ARunThatFinishedHadPositionsForItsSequences) {
  const ResolvedRun run = resolved("model,gpu,n_gpus,framework,tp,pp", "GPT-3 175B,A100-80GB,64,Megatron-LM,8,8");
  EXPECT_EQ(run.workload.architecture.max_positions, 4096);
  EXPECT_TRUE(says(run, "the model learns 4096 positions"));
}

TEST(RunWords, NamesOfFilesHaveNoPointsAndMustNameOneModelOnly) {
  const auto model = [](const std::string& name) {
    return resolved("model,gpu,n_gpus,framework", name + ",A100-80GB,8,FSDP").workload.architecture.name;
  };
  EXPECT_EQ(model("llama31_8b"), "llama-3.1-8b");
  EXPECT_EQ(model("Llama3-70B(trunc)"), "llama-3-70b");
  EXPECT_EQ(model("OPT-13B"), "opt-13b");
  const auto runs = test::runs_from("id,model,gpu,n_gpus,seq_len,micro_batch\na,opt_1_3b,A100,1,2048,1\n");
  EXPECT_FALSE(resolve_run(runs[0], shipped_catalog())) << "1.3 or 13 billion";
  const auto plus = test::runs_from("id,model,gpu,n_gpus,seq_len,micro_batch\na,Command R+,A100,1,2048,1\n");
  EXPECT_FALSE(resolve_run(plus[0], shipped_catalog())) << "is not Command R";
}

}  // namespace
}  // namespace smplan
