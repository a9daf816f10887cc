// How the columns of a measured run become a workload, a strategy and a stack.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/job/execution.hpp"
#include "planner/calibration/run_groups.hpp"
#include "planner/validation/report.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/layer_modules.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;
using testing::Contains;
using testing::HasSubstr;

/// One row of a table with these columns beside its id.
MeasuredRun row(const std::string& columns, const std::string& cells) {
  return test::runs_from("id," + columns + "\na," + cells + "\n").at(0);
}

ResolvedRun resolved(const std::string& columns, const std::string& cells) {
  Result<ResolvedRun> run = resolve_run(row(columns, cells), shipped_catalog());
  if (!run) throw std::runtime_error(to_string(run.error()));
  return std::move(*run);
}

std::string message(const std::string& columns, const std::string& cells) {
  const RunPrediction p = predict_run(row(columns, cells), shipped_catalog());
  return std::string(to_string(p.status)) + ": " + p.message;
}

constexpr const char* kDense = "model,gpu,n_gpus,stack,seq_len,micro_batch,";

TEST(ResolvedRuns, HaveTheStackOfTheirColumn) {
  const auto stack = [](const std::string& columns, const std::string& cells) {
    return stack_of(row("gpu,n_gpus," + columns, cells), shipped_catalog());
  };
  EXPECT_EQ(stack("stack", "H100,8,megatron"), "megatron");
  EXPECT_EQ(stack("stack", "H100,8,Megatron_DeepSpeed"), "megatron-deepspeed");
  EXPECT_EQ(stack("framework", "H100,8,PyTorch FSDP"), "fsdp");
  EXPECT_EQ(stack("stack,framework", "H100,8,fsdp,somebody's trainer"), "fsdp") << "beside it a label";
  EXPECT_EQ(stack("framework", "H100,8,somebody's trainer"), "");
  EXPECT_EQ(stack("tp", "H100,8,2"), "megatron") << "none is stated: what the degrees need";
  EXPECT_EQ(stack("sharding", "H100,8,fsdp-full"), "fsdp");
  EXPECT_EQ(stack("sharding", "H100,8,zero2"), "deepspeed");
  EXPECT_EQ(stack("sharding", "H100,8,none"), "ddp");
  EXPECT_EQ(stack("tp", "Trainium1,8,2"), "neuron");
  EXPECT_THAT(
      message("model,gpu,n_gpus,framework,seq_len,micro_batch", "gpt2,H100,8,own trainer (DeepSpeed),1024,1"),
      AllOf(HasSubstr("unsupported: unknown stack 'own trainer (DeepSpeed)'"), HasSubstr("scripts/runs/normalise")));
}

TEST(ResolvedRuns, TakeOpenFormatsFromTheDevice) {
  const auto precision = [](const std::string& gpu, const std::string& dtype) {
    return resolved(kDense + std::string("dtype"), "gpt2," + gpu + ",8,ddp,1024,1," + dtype).workload.precision;
  };
  EXPECT_EQ(precision("H100", ""), Precision::Bf16);
  EXPECT_EQ(precision("V100", ""), Precision::Fp16);
  EXPECT_EQ(precision("A100", "fp32"), Precision::Tf32) << "what benchmarks mean by it";
  EXPECT_EQ(precision("A100", "fp32-ieee"), Precision::Fp32);
  EXPECT_EQ(precision("V100", "fp32"), Precision::Fp32) << "no TF32 there";
  EXPECT_EQ(precision("Trainium1", "fp32"), Precision::Fp32);
  EXPECT_EQ(precision("H100", "bfloat16"), Precision::Bf16);
  EXPECT_THAT(message(kDense + std::string("dtype"), "gpt2,V100,8,ddp,1024,1,fp8"), HasSubstr("has no fp8 units"));
  const auto pure = [](const std::string& columns, const std::string& cells) {
    return resolved(kDense + columns, "llama-3.1-8b,H100,8,fsdp,1024,1," + cells).strategy.execution.pure_half;
  };
  EXPECT_EQ(pure("dtype", "bf16-true"), Toggle::On);
  EXPECT_EQ(pure("dtype", "bf16-mixed"), Toggle::Default);
  EXPECT_EQ(pure("dtype,pure_half", "bf16-true,off"), Toggle::Off) << "the switch of its own counts";
}

TEST(ResolvedRuns, OfAStageAreFsdpsStrategyWhereItShards) {
  const auto sharding = [](const std::string& stack, const std::string& stage) {
    return to_string(
        resolved(kDense + std::string("sharding,tp,pp"), "gpt2,H100,8," + stack + ",1024,1," + stage + ",1,1")
            .strategy.sharding);
  };
  EXPECT_EQ(sharding("fsdp", "zero3"), "fsdp-full");
  EXPECT_EQ(sharding("fsdp", "zero2"), "fsdp-grad-op");
  EXPECT_EQ(sharding("torchtitan", "ZeRO-3"), "fsdp-full");
  EXPECT_EQ(sharding("deepspeed", "zero3"), "zero3");
  EXPECT_EQ(sharding("deepspeed", ""), "zero2") << "which fits";
  EXPECT_EQ(sharding("fsdp", ""), "fsdp-full") << "the stack's first";
  EXPECT_EQ(sharding("megatron", "none"), "none");
}

TEST(ResolvedRuns, OfOneRankAreNotShardedButByDeepSpeed) {
  const auto sharding = [](const std::string& stack) {
    return resolved("model,gpu,n_gpus,stack,seq_len,micro_batch,sharding", "gpt2,H100,1," + stack + ",1024,1,zero1")
        .strategy.sharding;
  };
  EXPECT_EQ(sharding("megatron"), Sharding::None);
  EXPECT_EQ(sharding("deepspeed"), Sharding::Zero1);
}

TEST(ResolvedRuns, OfHybridShardingKeepOneCopyANode) {
  const auto run = [](const std::string& columns, const std::string& cells) {
    return resolved("model,stack,seq_len,micro_batch,shard," + columns, "gpt2,fsdp,1024,1,HSDP," + cells);
  };
  EXPECT_EQ(run("gpu,n_gpus", "H100,32").strategy.shard_degree, 8);
  EXPECT_EQ(run("gpu,n_gpus", "GB200,32").strategy.shard_degree, 4);
  EXPECT_EQ(run("gpu,n_gpus,shard_degree", "H100,32,16").strategy.shard_degree, 16);
  const ResolvedRun odd = run("gpu,n_gpus,shard_degree", "H100,32,12");
  EXPECT_EQ(odd.strategy.shard_degree, 32);
  EXPECT_THAT(odd.assumptions, Contains("all 32 ranks share one copy, 12 do not divide them"));
}

TEST(ResolvedRuns, ThatShardWeightsOrGradientsUseNoOtherDegreesUnlessStated) {
  const auto told = [](const std::string& cells) {
    return message("model,gpu,n_gpus,stack,seq_len,micro_batch,sharding,dp", "llama-2-7b,H100,8," + cells);
  };
  for (const char* cells : {"megatron-deepspeed,4096,1,zero3,", "megatron,4096,1,fsdp-full,", "maxtext,4096,1,,"}) {
    EXPECT_EQ(told(cells).rfind("ok: ", 0), 0U) << told(cells);
  }
  EXPECT_THAT(told("megatron,4096,1,fsdp-full,"), HasSubstr("tp is 1; pp is 1"));
  EXPECT_THAT(told("megatron,4096,1,zero1,"), HasSubstr("unsupported: tp and pp are not stated"));
  EXPECT_THAT(told("megatron,4096,1,zero1,8"), HasSubstr("ok: ")) << "all are replicas";
}

TEST(ResolvedRuns, FillTheAcceleratorsWithTheirDegrees) {
  const auto run = [](const std::string& cells) {
    return message("model,gpu,n_gpus,stack,seq_len,micro_batch,tp,pp,dp",
                   "llama-2-7b,H100,16,megatron,4096,1," + cells);
  };
  EXPECT_THAT(run("2,2,4"), Not(HasSubstr("dp is")));
  EXPECT_THAT(run("2,2,2"), HasSubstr("dp is 4, so that the degrees fill the accelerators"));
  EXPECT_THAT(run("3,2,"), HasSubstr("invalid: tp x pp x cp = 6 does not divide 16 accelerators"));
}

TEST(ResolvedRuns, OfSeveralChunksAreInterleaved) {
  const auto run = [](const std::string& columns, const std::string& cells) {
    return resolved("model,gpu,n_gpus,stack,seq_len,global_batch,tp,pp," + columns,
                    "llama-2-7b,H100,16,megatron,4096,32,2,4," + cells)
        .strategy;
  };
  EXPECT_EQ(run("schedule", "interleaved").virtual_pipeline, 2) << "torchtitan's default";
  EXPECT_EQ(run("schedule,vpp", "interleaved,4").virtual_pipeline, 4);
  EXPECT_EQ(run("schedule,vpp", "1f1b,4").schedule, Schedule::Interleaved);
  EXPECT_EQ(run("schedule", "GPipe").schedule, Schedule::GPipe);
  EXPECT_EQ(run("schedule", "").schedule, Schedule::OneFOneB);
  const auto moe = [](const std::string& cells) {
    return resolved("model,gpu,n_gpus,stack,seq_len,global_batch,tp,pp,ep,expert_overlap",
                    "qwen3-30b-a3b,H100,16,megatron,4096,64," + cells)
        .strategy.virtual_pipeline;
  };
  EXPECT_EQ(moe("1,2,8,on"), 2) << "the exchange is overlapped in interleaved pipelines only";
  EXPECT_EQ(moe("1,2,8,off"), 1);
}

TEST(ResolvedRuns, OfExpertsAreJudgedByTheRuleBook) {
  const auto told = [](const std::string& columns, const std::string& cells) {
    return message("gpu,n_gpus,stack,seq_len,micro_batch,tp,pp,model," + columns, "H100,8,megatron,512,1,1,1," + cells);
  };
  EXPECT_THAT(told("ep", "mixtral-8x7b,8"), HasSubstr("ok: "));
  EXPECT_EQ(told("ep", "mixtral-8x7b,3"),
            "invalid: 8 experts do not divide by expert parallel 3 (choose a divisor of the experts)");
  EXPECT_THAT(told("ep", "deepseek-v3,64"), HasSubstr("ep 64 does not divide the 8 ranks of a stage"));
  EXPECT_THAT(told("ep", "llama-2-7b,4"), HasSubstr("ep 4 is passed over, the model has no experts"));
  const auto cut = [](const std::string& etp) {
    return resolved("model,gpu,n_gpus,stack,seq_len,micro_batch,tp,pp,ep,etp",
                    "mixtral-8x7b,H100,16,megatron,4096,1,4,1,4," + etp)
        .strategy.expert_tensor();
  };
  EXPECT_EQ(cut("2"), 2);
  EXPECT_EQ(cut(""), 1);
  EXPECT_THROW(cut("3"), std::runtime_error) << "16 ranks are no multiple of 12";
}

// A run is judged by the rule book of plans: arithmetic is refused, what a stack does not offer is said.
TEST(ResolvedRuns, ThatBreakARuleAreRefusedOrSaySo) {
  const auto judged = [](const std::string& cells) {
    return message("gpu,model,stack,micro_batch,n_gpus,tp,pp,cp,seq_len,shard", "H100,llama-2-7b," + cells);
  };
  EXPECT_THAT(judged("megatron,1,24,3,1,1,4096,zero1"), HasSubstr("invalid: 32 attention heads do not divide"));
  EXPECT_THAT(judged("megatron,1,24,1,1,3,4096,zero1"), HasSubstr("invalid: a sequence of 4096 does not divide over"));
  EXPECT_THAT(judged("megatron,1,64,1,64,1,4096,zero1"), HasSubstr("invalid: 32 layers are too few for 64"));
  EXPECT_THAT(judged("deepspeed,1,16,1,2,1,4096,zero3"),
              AllOf(HasSubstr("ok: "), HasSubstr("no plan would have this: zero3 excludes pipeline")));
  EXPECT_THAT(judged("megatron,1,16,1,2,1,4096,zero1"), Not(HasSubstr("no plan would have this")));
}

TEST(ResolvedRuns, RecomputeWhatIsStatedOrTheStacksUsual) {
  const auto run = [](const std::string& columns, const std::string& cells) {
    return resolved(kDense + columns, "llama-2-7b,H100,8,fsdp,4096,1," + cells);
  };
  EXPECT_EQ(run("recompute", "no").strategy.recompute, Recompute::None);
  EXPECT_EQ(run("grad_ckpt", "1").strategy.recompute, Recompute::Full);
  EXPECT_THAT(run("recompute", "").assumptions, Contains("recompute is full"));
  EXPECT_EQ(run("recompute,recompute_layers", "full,3").strategy.recompute_layers, 3);
  EXPECT_EQ(run("recompute,recompute_layers", "full,300").strategy.recompute_layers, 32) << "all there are";
  EXPECT_EQ(run("recompute,recompute_layers", "none,3").strategy.recompute_layers, 0);
  const ResolvedRun named = resolved("model,gpu,n_gpus,stack,seq_len,tp,pp,micro_batch,recompute_modules",
                                     "llama-2-7b,H100,8,megatron,4096,2,1,1,mlp+layernorm");
  EXPECT_EQ(named.strategy.recompute, Recompute::Selective);
  EXPECT_EQ(named.stack.execution.recompute_modules, test::modules({LayerModule::DenseMlp, LayerModule::Norms}));
}

TEST(ResolvedRuns, HavePositionsForTheirSequences) {
  const ResolvedRun run =
      resolved("model,gpu,n_gpus,stack,tp,pp,seq_len,micro_batch", "GPT-3 175B,A100-80GB,64,megatron,8,8,4096,1");
  EXPECT_EQ(run.workload.architecture.max_positions, 4096);
  EXPECT_THAT(run.assumptions, Contains("the model learns 4096 positions"));
}

TEST(ResolvedRuns, WithoutAPipelineTakeTheLargestMicroBatchThatFits) {
  const auto micro_batch = [](const char* stack, const char* gpu, const char* degrees) {
    return resolved("model,gpu,n_gpus,stack,program,dtype,seq_len,global_batch,tp,pp,micro_batch,recompute",
                    std::string("llama-2-7b,") + gpu + ",8," + stack + ",tuned,bf16,4096,256," + degrees + ",full")
        .strategy.micro_batch;
  };
  EXPECT_EQ(micro_batch("megatron", "H100-80GB", "4,1,"), 64) << "of 128 sequences a replica";
  EXPECT_EQ(micro_batch("megatron", "A100-40GB", "4,1,"), 32);
  EXPECT_EQ(micro_batch("megatron", "H100-80GB", "4,1,2"), 2);
  EXPECT_EQ(micro_batch("megatron", "H100-80GB", "2,4,"), 1) << "a pipeline wants many";
  EXPECT_EQ(micro_batch("deepspeed", "H100-80GB", "1,1,"), 1);
}

TEST(ResolvedRuns, OfOneDeviceThatAdamWDoesNotFitMustSayTheirOptimizer) {
  const auto told = [](const std::string& cells) {
    return message("model,gpu,n_gpus,stack,seq_len,micro_batch,method,optimizer", "llama-3.1-8b," + cells);
  };
  EXPECT_EQ(told("RTX4090,1,torchtune,2048,1,full,"),
            "unsupported: the optimizer is not stated, and AdamW's states do not fit the device (state the optimizer)");
  EXPECT_THAT(told("RTX4090,1,torchtune,2048,1,full,AdamW"), HasSubstr("ok: "));
  EXPECT_THAT(told("H200,1,torchtune,2048,1,full,"), HasSubstr("ok: "));
  EXPECT_THAT(told("RTX4090,1,torchtune,2048,1,lora,"), HasSubstr("ok: "));
}

// 12 bytes a parameter of 7B, which one A100 lacks, and 8 in 16 bits.
TEST(ResolvedRuns, KeepStatesInSixteenBitsWhereNoOtherFit) {
  const auto formats = [](const std::string& columns, const std::string& cells) {
    return resolved("model,gpu,n_gpus,seq_len,micro_batch,method,optimizer,recompute," + columns, "llama-2-7b," + cells)
        .strategy.execution.pure_half;
  };
  EXPECT_EQ(formats("stack", "A100-80GB,1,512,1,full,adamw,full,hf-trainer"), Toggle::On);
  EXPECT_EQ(formats("stack", "A100-80GB,8,512,1,full,adamw,full,hf-trainer"), Toggle::On) << "each holds a replica";
  EXPECT_EQ(formats("stack", "A100-80GB,8,512,1,full,adamw,full,fsdp"), Toggle::Default) << "shards fit";
  EXPECT_EQ(formats("stack", "B300,1,512,1,full,adamw,full,hf-trainer"), Toggle::Default);
  EXPECT_EQ(formats("stack", "A100-80GB,1,512,1,full,adamw,full,deepspeed"), Toggle::Default)
      << "its optimizers always keep fp32 masters";
  EXPECT_EQ(formats("stack", "A100-80GB,1,512,1,lora,adamw,full,hf-trainer"), Toggle::Default);
  EXPECT_EQ(formats("stack,pure_half", "A100-80GB,1,512,1,full,adamw,full,hf-trainer,off"), Toggle::Off) << "stated";
}

TEST(ResolvedRuns, OfDeepSpeedTakeTheSecondStageWhereItFits) {
  const auto stage = [](const std::string& model, const std::string& sharding) {
    return resolved("model,gpu,n_gpus,stack,seq_len,micro_batch,sharding",
                    model + ",A100-80GB,16,deepspeed,2048,1," + sharding)
        .strategy.sharding;
  };
  EXPECT_EQ(stage("llama-2-7b", ""), Sharding::Zero2);
  EXPECT_EQ(stage("llama-2-70b", ""), Sharding::Zero3);
  EXPECT_EQ(stage("llama-2-7b", "zero3"), Sharding::Zero3);
}

// What launchers give a rank of several; tuned recipes have told them.
TEST(ResolvedRuns, UpdateOnTheHostWithTheThreadsOfTheirLauncher) {
  const auto threads = [](const std::string& columns, const std::string& cells) {
    return resolved("model,gpu,stack,seq_len,micro_batch,sharding,offload,n_gpus," + columns,
                    "llama-2-7b,A100-80GB,deepspeed,2048,1,zero2," + cells)
        .strategy.execution.host_threads;
  };
  EXPECT_EQ(threads("program", "optimizer,8,"), 1);
  EXPECT_EQ(threads("program", "optimizer,8,tuned"), 0);
  EXPECT_EQ(threads("program", "optimizer,1,"), 0) << "a process alone has all";
  EXPECT_EQ(threads("program", "none,8,"), 0);
  EXPECT_EQ(threads("host_threads", "optimizer,8,4"), 4);
}

TEST(ResolvedRuns, AttendWithTheKernelThatTheirColumnsName) {
  const auto kernel = [](const std::string& columns, const std::string& cells) {
    return resolved(kDense + columns, "llama-2-7b,H100,8,fsdp,4096,1," + cells).strategy.execution.attention_kernel;
  };
  EXPECT_EQ(kernel("flash_attention", "1"), AttentionClass::Default);
  EXPECT_EQ(kernel("flash_attention", "FA3"), AttentionClass::Vendor);
  EXPECT_EQ(kernel("flash_attention", "flash_attention_2"), AttentionClass::Flash2);
  EXPECT_EQ(kernel("flash_attention,attention_kernel", "FA3,flash2"), AttentionClass::Flash2) << "its own column";
}

TEST(ResolvedRuns, TrainWhatMethodFlagOrRankSay) {
  const auto trained = [](const std::string& columns, const std::string& cells) {
    return resolved(kDense + columns, "llama-3.2-1b,A100,1,torchtune,512,1," + cells).workload.finetune;
  };
  EXPECT_EQ(trained("method", ""), FineTune::Full);
  for (const char* full : {"full", "SFT", "full fine-tuning", "pretraining"}) {
    EXPECT_EQ(trained("method", full), FineTune::Full) << full;
  }
  EXPECT_EQ(trained("method", "LoRA"), FineTune::Lora);
  EXPECT_EQ(trained("method", "Q-LoRA"), FineTune::Qlora);
  EXPECT_EQ(trained("method,quant", "lora,nf4"), FineTune::Qlora);
  EXPECT_EQ(trained("method,quant", "lora,bf16"), FineTune::Lora);
  EXPECT_EQ(trained("lora", "1"), FineTune::Lora);
  EXPECT_EQ(trained("lora,quant", "1,4-bit"), FineTune::Qlora);
  EXPECT_EQ(trained("lora,lora_rank", "0,16"), FineTune::Full) << "the flag counts";
  EXPECT_EQ(trained("lora_rank", "16"), FineTune::Lora);
  EXPECT_EQ(trained("lora_targets", "q_proj+v_proj"), FineTune::Lora);
  EXPECT_THAT(message(kDense + std::string("method"), "gpt2,A100,1,torchtune,512,1,distillation"),
              HasSubstr("invalid: method is 'distillation' (expected full, lora, qlora or a method of PEFT"));
}

TEST(ResolvedRuns, OfAdaptersHaveTheirRankTargetsAndFormats) {
  const auto lora = [](const std::string& columns, const std::string& cells) {
    return resolved(kDense + columns, "llama-3.2-3b,L40S,1,hf-trainer,768,4," + cells).workload.lora;
  };
  EXPECT_EQ(lora("method", "lora").rank, 64) << "of the stack's scripts";
  EXPECT_EQ(lora("method,lora_rank", "lora,8").rank, 8);
  EXPECT_EQ(lora("method,lora_rank", "dora,8").rank, 8);
  EXPECT_EQ(lora("method,lora_rank", "oft,8").rank, 1) << "no width of two matrices";
  EXPECT_EQ(lora("method", "lora").targets, LoraTargets::Linear);
  EXPECT_EQ(lora("method", "oft").targets, LoraTargets::QueryValue);
  EXPECT_EQ(lora("method,lora_targets", "lora,attention").targets, LoraTargets::Attention);
  EXPECT_TRUE(lora("method,lora_embeddings", "lora,1").train_embeddings);
  EXPECT_FALSE(lora("method", "lora").keeps) << "LoRA's own formula";
  EXPECT_EQ(lora("method,adapter_dtype,lora_rank,lora_targets", "lora,fp32,32,q_proj+v_proj").keeps,
            (AdapterKeeps{.token_bytes = 2 * (4.0 * 3072 + 4 * 32)}));
  EXPECT_TRUE(lora("method", "dora").keeps);
  EXPECT_EQ(resolved(kDense + std::string("method"), "llama-3.2-3b,L40S,1,hf-trainer,768,4,ptuning").workload.seq_len,
            768 + 20);
}

TEST(MeasuredRuns, MemoryIsWhatTheStackWritesWhereTheKindIsNotStated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,stack,seq_len,micro_batch,global_batch,tp,pp,dp,mem_kind\n"
      "a,llama-2-7b,H100-80GB,8,nanotron,4096,1,32,1,4,2,unknown\n"
      "b,llama-2-7b,H100-80GB,8,nanotron,4096,1,32,1,4,2,max_allocated\n"
      "c,llama-2-7b,H100-80GB,8,nanotron,4096,1,32,1,4,2,torch.cuda.max_memory_reserved\n"
      "d,llama-2-7b,H100-80GB,8,megatron,4096,1,32,1,4,2,\n"
      "e,llama-2-7b,H100-80GB,8,nanotron,4096,1,32,1,4,2,nvidia-smi\n"
      "f,llama-2-7b,H100-80GB,8,megatron,4096,1,32,1,4,2,active\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  const auto prediction = [&](std::size_t i) -> const RunPrediction& { return compared[i].prediction; };
  EXPECT_EQ(prediction(0).peak, prediction(0).memory.first_stage_reserved);
  EXPECT_EQ(prediction(1).peak, prediction(1).memory.first_stage_allocated);
  EXPECT_EQ(prediction(2).peak, prediction(2).memory.first_stage_reserved);
  EXPECT_EQ(prediction(3).peak, prediction(3).memory.peak_device);
  EXPECT_EQ(prediction(4).peak, prediction(4).memory.peak_device) << "which no stack writes";
  EXPECT_EQ(prediction(5).peak, prediction(5).memory.peak_allocated);
}

TEST(MeasuredRuns, SequencesThatAreOnlyALimitHaveNoTimeUnlessTheirMeanIsStated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,stack,seq_len,mean_seq_len,batch,grad_ckpt,packing,step_time_s,peak_mem_gib\n"
      "a,llama-2-7b,A100-80GB,8,fsdp,512,,1,0,0,0.5,18.4\n"
      "b,llama-2-7b,A100-80GB,8,fsdp,512,,1,0,1,0.5,18.4\n"
      "c,llama-2-7b,A100-80GB,8,fsdp,512,256,1,0,0,0.5,18.4\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_FALSE(compared[0].has_time_error());
  EXPECT_TRUE(compared[0].has_memory_error());
  EXPECT_TRUE(compared[1].has_time_error());
  EXPECT_TRUE(compared[2].has_time_error());
  EXPECT_LT(compared[2].prediction.step.time(), compared[1].prediction.step.time());
  EXPECT_EQ(compared[2].prediction.peak, compared[1].prediction.peak) << "the longest decide on memory";
  EXPECT_EQ(*compared[2].measured_time, Seconds(0.5));
}

// A table may count chips of several cores: its rates and its memory are then a chip's.
TEST(MeasuredRuns, FiguresOfChipsAreThoseOfTheirCores) {
  const auto predicted = [](const std::string& columns, const std::string& cells) {
    const auto runs =
        test::runs_from("id,model,stack,dtype,tp,pp,seq_len,micro_batch,gpu,n_gpus,tokens_per_s_per_gpu" + columns +
                        "\na,llama-2-7b,neuron,bf16,8,1,4096,1,Trainium1,64,1000" + cells + "\n");
    return compare_runs(runs, shipped_catalog()).at(0);
  };
  const ComparedRun cores = predicted("", "");
  const ComparedRun chips = predicted(",devices_per_gpu", ",2");
  ASSERT_EQ(chips.prediction.status, RunStatus::Ok) << chips.prediction.message;
  EXPECT_EQ(chips.prediction.step.time(), cores.prediction.step.time());
  EXPECT_DOUBLE_EQ(chips.prediction.step.tokens_per_s_per_gpu, 2 * cores.prediction.step.tokens_per_s_per_gpu);
  EXPECT_EQ(chips.prediction.peak, cores.prediction.peak * 2);
  EXPECT_EQ(*chips.measured_time, *cores.measured_time * 2) << "the rate is a chip's";
}

TEST(MeasuredRuns, ACardIsSlowerThanTheModuleOfItsName) {
  const auto seconds = [](const std::string& gpu) {
    return predict_run(row(kDense + std::string("dp"), "llama-2-7b," + gpu + ",8,fsdp,4096,1,8"), shipped_catalog())
        .step.time()
        .value();
  };
  EXPECT_GT(seconds("H100-80GB-PCIe"), 1.3 * seconds("H100-80GB"));
  EXPECT_GT(seconds("A100-80GB-PCIe"), 1.05 * seconds("A100-80GB"));
  EXPECT_GT(seconds("H800"), seconds("H100")) << "less NVLink";
}

TEST(MeasuredRuns, AFusedCrossEntropyTakesAnotherCopyOfTheLogitsUnderMegatronAndLessElsewhere) {
  const auto peak = [](const std::string& cells) {
    return predict_run(row("model,gpu,n_gpus,seq_len,micro_batch,tp,pp,mem_kind,stack,loss_kernel",
                           "llama-3.2-1b,H100-80GB,8,8192,1,1,1,allocated," + cells),
                       shipped_catalog())
        .peak;
  };
  const double logits = 8192.0 * 128256;
  EXPECT_NEAR((peak("megatron,fused") - peak("megatron,")).value(), 4 * logits, 0.01 * logits);
  EXPECT_LT(peak("fsdp,fused"), peak("fsdp,") - Bytes(4 * logits)) << "16 bits, and their gradient in place";
}

TEST(MeasuredRuns, OneGraphHidesTheHostAndMoreOfTheExchange) {
  const auto components = [](const std::string& graphs) {
    return predict_run(row("model,gpu,n_gpus,stack,dtype,seq_len,micro_batch,global_batch,tp,pp,ep,cuda_graphs",
                           "qwen3-30b-a3b,GB200,8,megatron,fp8,4096,4,512,1,1,8," + graphs),
                       shipped_catalog())
        .step.components;
  };
  const StepComponents graphed = components("iteration");
  const StepComponents launched = components("");
  EXPECT_LT(graphed.host, launched.host);
  EXPECT_LT(graphed.expert_comm, launched.expert_comm);
  EXPECT_LT(graphed.elementwise, launched.elementwise);
  EXPECT_EQ(graphed.attention, launched.attention);
}

}  // namespace
}  // namespace smplan
