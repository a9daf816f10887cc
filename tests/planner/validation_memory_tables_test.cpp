// Tables of fine-tuning memory: their columns, methods and kinds of memory.
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "planner/validation/report.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

/// Rows of a table of fine-tuning memory: its own names of columns.
ResolvedRun resolved(const std::string& cells) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,batch,shard,grad_ckpt,method,quant,lora_rank,packing,peak_mem_gib,"
      "notes\na,gpt2-xl,A100-40GB," +
      cells + "\n");
  Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
  if (!run) throw std::runtime_error(to_string(run.error()));
  return std::move(*run);
}

TEST(MemoryTables, NameColumnsInTheirOwnWay) {
  const ResolvedRun run = resolved("1,LitGPT,bf16-true,512,4,none,1,lora,,8,,18.4,");
  EXPECT_EQ(run.strategy.micro_batch, 4);
  EXPECT_EQ(run.workload.global_batch, 4);
  EXPECT_EQ(run.strategy.recompute, Recompute::Full);
  EXPECT_EQ(run.workload.finetune, FineTune::Lora);
  EXPECT_EQ(run.workload.lora.rank, 8);
  EXPECT_EQ(run.strategy.execution.pure_half, Toggle::On);
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,").strategy.recompute, Recompute::None);
  const auto runs = test::runs_from("id,model,gpu,n_gpus,seq_len,batch,peak_mem_gib\na,gpt2,A10G,1,512,1,7.5\n");
  EXPECT_EQ(runs[0].peak_mem_gib_per_gpu, 7.5);
}

TEST(MemoryTables, AStatedMethodCountsAndNotTheWordsBesideIt) {
  const auto mode = [](const char* method, const char* quant, const char* notes) {
    return resolved(std::string("1,torchtune,bf16,512,4,none,1,") + method + "," + quant + ",,,18.4," + notes)
        .workload.finetune;
  };
  EXPECT_EQ(mode("full", "", "QLoRA"), FineTune::Full);
  EXPECT_EQ(mode("lora", "", "QLoRA"), FineTune::Lora);
  EXPECT_EQ(mode("lora", "bnb.nf4", ""), FineTune::Qlora);
  EXPECT_EQ(mode("qlora", "", ""), FineTune::Qlora);
  EXPECT_EQ(mode("", "", "QLoRA"), FineTune::Qlora);
  EXPECT_THROW(mode("adapter", "", ""), std::runtime_error);
}

TEST(MemoryTables, EveryWeightIsTrainedByWhateverNameThatHas) {
  for (const char* cell : {"full", "Full", "FULL", "full fine-tuning", "Full-parameter", "SFT", "pretraining", ""}) {
    ASSERT_TRUE(method_in(cell)) << cell;
    EXPECT_EQ(method_in(cell)->kind, "") << cell;
  }
  for (const char* cell : {"lora", "LoRA", "LoRA SFT", "LoRA (r=8)", "bf16 LoRA"}) {
    ASSERT_TRUE(method_in(cell)) << cell;
    EXPECT_EQ(method_in(cell)->kind, "lora") << cell;
  }
  for (const char* cell : {"QLoRA", "Q-LoRA", "LoRA 4-bit", "qlora r=64"}) {
    ASSERT_TRUE(method_in(cell)) << cell;
    EXPECT_EQ(method_in(cell)->kind, "qlora") << cell;
  }
  EXPECT_EQ(method_in("LoRA (r=8)")->rank, 8);
  EXPECT_EQ(method_in("no lora")->kind, "");
  EXPECT_EQ(method_in("DPO"), std::nullopt);
}

TEST(MemoryTables, OnlyWordsOfTheWeightsFormatSayThatTheyHaveFourBits) {
  const auto trained = [](const std::string& lora, const std::string& quant, const std::string& notes,
                          const std::string& model = "gpt2") {
    return trained_part(
        test::runs_from("id,model,lora,quant,notes\na," + model + "," + lora + "," + quant + "," + notes + "\n").at(0));
  };
  for (const char* notes : {"4-bit base", "load_in_4bit=True", "load_in_4bit", "bnb nf4", "Q-LoRA", "int4 weights"}) {
    EXPECT_EQ(trained("1", "", notes), FineTune::Qlora) << notes;
  }
  for (const char* notes : {"no 4-bit", "load_in_4bit=False", "4-bit AdamW", "without QLoRA", "print4", "8-bit"}) {
    EXPECT_EQ(trained("1", "", notes), FineTune::Lora) << notes;
  }
  EXPECT_EQ(trained("0", "", "slower than QLoRA"), FineTune::Full) << "of another row";
  EXPECT_EQ(trained("0", "", "4-bit base"), FineTune::Qlora) << "which nobody trains whole";
  EXPECT_EQ(trained("1", "", "", "unsloth/llama-3-8b-bnb-4bit"), FineTune::Qlora);
  for (const char* quant : {"none", "no", "bf16", "16-bit"})
    EXPECT_EQ(trained("1", quant, ""), FineTune::Lora) << quant;
  for (const char* quant : {"nf4", "bnb.nf4-dq", "int4 (GPTQ)", "4bit", "fp4"}) {
    EXPECT_EQ(trained("1", quant, ""), FineTune::Qlora) << quant;
  }
  const std::string message = predict_run(test::runs_from("id,model,gpu,n_gpus,framework,seq_len,batch,lora,quant\n"
                                                          "a,gpt2,A10G,1,PEFT,512,1,1,int8\n")
                                              .at(0),
                                          shipped_catalog())
                                  .message;
  EXPECT_NE(message.find("quant 'int8' is not understood; frozen weights have 16 bits"), std::string::npos) << message;
}

TEST(MemoryTables, ARankOrAProgramOfAdaptersSaysThatTheyAreTrained) {
  const auto trained = [](const std::string& cells) {
    return trained_part(test::runs_from("id,framework,lora,lora_rank,lora_targets\na," + cells + "\n").at(0));
  };
  EXPECT_EQ(trained("torchtune,,,"), FineTune::Full);
  EXPECT_EQ(trained("torchtune,,16,"), FineTune::Lora);
  EXPECT_EQ(trained("torchtune,,,q_proj+v_proj"), FineTune::Lora);
  EXPECT_EQ(trained("torchtune LoRA,,,"), FineTune::Lora);
  EXPECT_EQ(trained("torchtune LoRA,0,16,"), FineTune::Full) << "the flag counts";
}

TEST(MemoryTables, TrainedEmbeddingsAreReadFromTheMethodOrTheNotes) {
  const auto trains = [](const char* method, const char* notes) {
    const ResolvedRun run = resolved(std::string("1,HF-Trainer,bf16,512,1,none,1,") + method + ",,64,,33.7," + notes);
    EXPECT_EQ(run.workload.finetune, FineTune::Lora) << method;
    return run.workload.lora.train_embeddings;
  };
  EXPECT_TRUE(trains("lora+emb/head trainable", ""));
  EXPECT_TRUE(trains("lora", "LoRA (emb); grad accumulation 8"));
  EXPECT_FALSE(trains("lora", "LoRA; grad accumulation 8"));
}

TEST(MemoryTables, RankIsThatOfTheFrameworksScriptsUnlessStated) {
  EXPECT_EQ(resolved("1,HF-Trainer,bf16,512,1,none,1,lora,,,,33.7,").workload.lora.rank, 64);
  EXPECT_EQ(resolved("1,ddp,bf16,512,1,none,1,lora,,,,33.7,").workload.lora.rank, 16);
}

TEST(MemoryTables, SequencesThatAreOnlyALimitHaveNoTime) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,batch,grad_ckpt,method,packing,step_time_s,peak_mem_gib,notes\n"
      "a,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,,0.5,18.4,samples are shorter\n"
      "b,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,1,0.5,18.4,\n"
      "c,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,0,0.5,18.4,\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_FALSE(compared[0].has_time_error());
  EXPECT_TRUE(compared[0].has_memory_error());
  EXPECT_TRUE(compared[1].has_time_error());
  EXPECT_EQ(compared[2].prediction.status, RunStatus::Unsupported) << "neither figure is of sequences so long";
}

TEST(MemoryTables, FsdpAloneShardsAllThatItCan) {
  const ResolvedRun run = resolved("2,HF-Trainer,bf16,512,4,fsdp,1,lora,,8,,18.4,");
  EXPECT_EQ(run.strategy.sharding, Sharding::FsdpFull);
  EXPECT_EQ(run.stack.id, "fsdp");
  EXPECT_EQ(run.strategy.shard_degree, 2);
}

TEST(MemoryTables, LitGptCheckpointsTheLayersThatItShards) {
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,fsdp,,lora,,8,,18.4,").strategy.recompute, Recompute::Full);
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,none,,lora,,8,,18.4,").strategy.recompute, Recompute::None);
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,fsdp,0,lora,,8,,18.4,").strategy.recompute, Recompute::None);
}

TEST(MemoryTables, BatchOfAStepMayBeInTheNotes) {
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,full,,,,18.4,global_batch 32").workload.global_batch, 32);
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,effective minibatch 128").workload.global_batch, 128);
  EXPECT_EQ(resolved("4,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,global_batch 8").strategy.micro_batch, 4)
      << "a figure of one device, repeated";
}

TEST(MemoryTables, TargetsOfAdaptersAreReadAsTheyAreSpelled) {
  const auto targets = [](const char* stated) {
    const auto runs =
        test::runs_from(std::string("id,model,gpu,n_gpus,framework,seq_len,batch,method,lora_targets,peak_mem_gib\n"
                                    "a,llama-2-7b,A100-40GB,1,PEFT,512,1,lora,") +
                        stated + ",18.4\n");
    return resolve_run(runs.at(0), shipped_catalog())->workload.lora.targets;
  };
  EXPECT_EQ(targets("query+value"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("v_proj+q_proj"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("\"q,v\""), LoraTargets::QueryValue);
  EXPECT_EQ(targets("q_proj+k_proj+v_proj+o_proj"), LoraTargets::Attention);
  EXPECT_EQ(targets("query+key+value+projection+mlp+head"), LoraTargets::Linear);
  EXPECT_EQ(targets("all linear incl. output"), LoraTargets::Linear);
  EXPECT_EQ(targets("gate_proj+o_proj+q_proj"), LoraTargets::Linear);
  EXPECT_EQ(targets(""), LoraTargets::Linear);
}

TEST(MemoryTables, ACountWithTheVocabularyTwiceHasAHeadOfItsOwn) {
  const auto tied = [](const char* params_b) {
    const auto runs =
        test::runs_from(std::string("id,model,params_b,gpu,n_gpus,framework,seq_len,batch\na,falcon-7b,") + params_b +
                        ",A100-40GB,1,LitGPT,512,1\n");
    return resolve_run(runs.at(0), shipped_catalog())->workload.architecture.tied_embeddings;
  };
  EXPECT_TRUE(tied("6.92"));
  EXPECT_FALSE(tied("7.217"));
  EXPECT_TRUE(tied(""));
}

TEST(MemoryTables, WhatTorchtuneCallsActiveIsAllocated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,batch,method,mem_kind\n"
      "a,llama-3.2-3b,A100-80GB,1,torchtune,bf16,4096,2,full,active (torchtune peak memory active)\n"
      "b,llama-3.2-3b,A100-80GB,1,torchtune,bf16,4096,2,full,unknown (torchtune active/allocated)\n");
  for (const ComparedRun& run : compare_runs(runs, shipped_catalog())) {
    EXPECT_EQ(run.prediction.peak, run.prediction.memory.peak_allocated);
  }
}

}  // namespace
}  // namespace smplan
