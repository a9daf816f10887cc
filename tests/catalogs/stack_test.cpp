#include "catalogs/stack.hpp"

#include "fixture.hpp"

namespace smplan {
namespace {

using test::has_code;
using test::json;
using test::shipped;

const Stack& stack(std::string_view name) {
  const Stack* found = shipped().find_stack(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(Stacks, AreFoundUnderTheNamesOfMeasuredRuns) {
  struct Case {
    const char* name;
    const char* id;
  };
  for (const Case& c :
       {Case{"NeMo", "megatron"}, Case{"NeMo 2.0", "megatron"}, Case{"Megatron-Bridge", "megatron"},
        Case{"Megatron-LM", "megatron"}, Case{"Megatron-DeepSpeed", "megatron-deepspeed"},
        Case{"PyTorch-FSDP2", "fsdp"}, Case{"HF-Trainer + DeepSpeed", "deepspeed"}, Case{"PyTorch-DDP", "ddp"},
        Case{"SMP-v2", "smp-v2"}, Case{"smp", "smp-v2"}, Case{"MiCS", "smp-v1"}, Case{"NeuronX Distributed", "neuron"},
        Case{"HF-Trainer", "hf-trainer"}, Case{"MaxText", "maxtext"}, Case{"torchtitan", "torchtitan"},
        Case{"llm-foundry", "llm-foundry"}, Case{"horovod", "horovod"}}) {
    EXPECT_EQ(stack(c.name).id, c.id) << c.name;
  }
}

TEST(Stacks, PlannedByDefaultAreFew) {
  std::vector<std::string> planned;
  for (const Stack& s : shipped().stacks()) {
    if (s.supported_for_planning) planned.push_back(s.id);
  }
  EXPECT_EQ(planned, (std::vector<std::string>{"megatron", "fsdp", "deepspeed", "ddp", "neuron"}));
}

TEST(Stacks, HoldTheBytesPerParameterOfTheirRecipe) {
  // Weights, gradients and master weights, without the 8 bytes of Adam's moments.
  EXPECT_DOUBLE_EQ(stack("megatron").weight_bytes + stack("megatron").gradient_bytes + stack("megatron").master_bytes,
                   10);  // 18 with Adam: Megatron-LM bf16 with fp32 main gradients
  EXPECT_DOUBLE_EQ(stack("ddp").weight_bytes + stack("ddp").gradient_bytes + stack("ddp").master_bytes,
                   8);  // 16 with Adam: autocast over fp32 weights
  EXPECT_DOUBLE_EQ(stack("fsdp").weight_bytes + stack("fsdp").gradient_bytes + stack("fsdp").master_bytes, 8);
  EXPECT_DOUBLE_EQ(stack("megatron-deepspeed").weight_bytes + stack("megatron-deepspeed").gradient_bytes +
                       stack("megatron-deepspeed").master_bytes,
                   8);  // 16 with Adam: ZeRO paper, fp16 gradients
}

TEST(Stacks, ExpressWhatTheirDocumentsSay) {
  EXPECT_TRUE(stack("megatron").pipeline_parallel);
  EXPECT_TRUE(stack("megatron").context_parallel);
  EXPECT_EQ(stack("megatron").shardings.front(), Sharding::Zero1);
  EXPECT_FALSE(stack("smp-v2").pipeline_parallel);
  EXPECT_TRUE(stack("smp-v2").tensor_parallel);
  EXPECT_FALSE(stack("fsdp").tensor_parallel);
  EXPECT_EQ(stack("fsdp").shardings.front(), Sharding::FsdpFull);
  EXPECT_EQ(stack("neuron").vendors, std::vector{Vendor::Aws});
  EXPECT_EQ(stack("ddp").shardings.front(), Sharding::None);
}

TEST(Stacks, OfTrainiumAndNvidiaDoNotMix) {
  for (const Stack& s : shipped().stacks()) {
    EXPECT_NE(s.is_built_for(Vendor::Aws), s.is_built_for(Vendor::Nvidia)) << s.id;
  }
}

TEST(Stacks, RunOnTheirVendorsDevicesUnlessThoseAreKnownToBeOlderThanTheirKernels) {
  const auto device = [](Vendor vendor, const char* capability) {
    Accelerator a;
    a.vendor = vendor;
    a.compute_capability = capability;
    return a;
  };
  const Stack& megatron = stack("megatron");  // Transformer Engine, from 8.0 on
  EXPECT_TRUE(megatron.runs_on(device(Vendor::Nvidia, "8.0")));
  EXPECT_FALSE(megatron.runs_on(device(Vendor::Nvidia, "7.5")));
  EXPECT_TRUE(megatron.runs_on(device(Vendor::Nvidia, ""))) << "nobody has published it yet";
  EXPECT_TRUE(megatron.runs_on(device(Vendor::Amd, "")));
  EXPECT_FALSE(megatron.runs_on(device(Vendor::Aws, "")));
  EXPECT_TRUE(stack("neuron").runs_on(device(Vendor::Aws, "")));
  EXPECT_FALSE(stack("neuron").runs_on(device(Vendor::Nvidia, "")));
}

TEST(Stacks, SayHowTheirJobsAreWritten) {
  EXPECT_EQ(stack("megatron").hyperpod_recipe, RecipeFamily::Nemo);
  EXPECT_EQ(stack("hyperpod-adapter").hyperpod_recipe, RecipeFamily::Adapter);
  EXPECT_EQ(stack("fsdp").hyperpod_recipe, RecipeFamily::None);
  EXPECT_EQ(stack("smp-v1").smp_version, 1);
  EXPECT_EQ(stack("smp-v2").smp_version, 2);
  EXPECT_EQ(stack("fsdp").smp_version, 0);
  EXPECT_TRUE(stack("megatron").one_hardware_queue);
  EXPECT_FALSE(stack("torchtitan").one_hardware_queue);
  EXPECT_EQ(stack("hf-trainer").packages, (std::vector<std::string>{"transformers", "accelerate"}));
  EXPECT_TRUE(stack("litgpt").own_adapters);
  EXPECT_FALSE(stack("hf-trainer").own_adapters);
  for (const char* name : {"megatron", "torchtitan", "neuron"}) EXPECT_TRUE(stack(name).split_in_own_file) << name;
  EXPECT_FALSE(stack("smp-v2").split_in_own_file) << "its degrees stand in the job's distribution";
}

TEST(StackEnumerations, ReadBack) {
  for (const Sharding s : {Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3, Sharding::FsdpFull,
                           Sharding::FsdpGradOp, Sharding::FsdpHybrid}) {
    EXPECT_EQ(sharding_from(to_string(s)), s);
  }
  for (const Recompute r : {Recompute::None, Recompute::Selective, Recompute::Full}) {
    EXPECT_EQ(recompute_from(to_string(r)), r);
  }
  for (const Schedule s : {Schedule::GPipe, Schedule::OneFOneB, Schedule::Interleaved, Schedule::ZeroBubble}) {
    EXPECT_EQ(schedule_from(to_string(s)), s);
  }
  for (const Collectives c : {Collectives::Nccl, Collectives::Smddp}) EXPECT_EQ(collectives_from(to_string(c)), c);
  EXPECT_FALSE(sharding_from("zero4").has_value());
}

constexpr const char* kGood = R"({"id": "mine", "name": "Mine", "tensor_parallel": true, "sequence_parallel": false,
  "pipeline_parallel": true, "context_parallel": false, "expert_parallel": false, "shardings": ["zero1"],
  "recomputes": ["none"], "schedules": ["1f1b"], "collectives": ["nccl"], "offloads": ["none"], "precisions": ["bf16"],
  "vendors": ["nvidia", "amd"], "weight_bytes": 2, "gradient_bytes": 4, "gradient_reduce_bytes": 2, "master_bytes": 4, "logits_bytes": 4,
  "profile": {"gemm_slowdown": 1.25, "host_time_step_us": 1000, "source": "test", "as_of": "2026"},
  "source": "test", "as_of": "2026"})";

TEST(ReadStack, ReadsDimensionsLedgerAndProfile) {
  Diagnostics out;
  const Stack s = read_stack(json(kGood), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_TRUE(s.tensor_parallel);
  EXPECT_EQ(s.shardings, std::vector<Sharding>{Sharding::Zero1});
  EXPECT_EQ(s.vendors, (std::vector{Vendor::Nvidia, Vendor::Amd}));
  EXPECT_DOUBLE_EQ(s.profile.gemm_slowdown, 1.25);
  EXPECT_DOUBLE_EQ(s.profile.host_time_step.value(), 1e-3);
}

TEST(ReadStack, AFusedOrASharedLossHasALedgerOfItsOwnWhereOneIsGiven) {
  Diagnostics out;
  EXPECT_EQ(read_stack(json(kGood), out).fused_logits_bytes, 4.0);
  EXPECT_EQ(read_stack(json(kGood), out).parallel_logits_bytes, 4.0);
  std::string text = kGood;
  text.replace(text.find("\"logits_bytes\": 4"), 17,
               "\"logits_bytes\": 4, \"fused_logits_bytes\": 10, \"parallel_logits_bytes\": 16");
  EXPECT_EQ(read_stack(json(text), out).fused_logits_bytes, 10.0);
  EXPECT_EQ(read_stack(json(text), out).parallel_logits_bytes, 16.0);
  EXPECT_TRUE(out.empty()) << to_string(out);
}

TEST(ReadStack, PadsAVocabularyToAMillionAtMost) {
  std::string text = kGood;
  text.replace(text.find("\"weight_bytes\": 2"), 17, "\"weight_bytes\": 2, \"vocab_multiple\": 1048576");
  Diagnostics out;
  EXPECT_EQ(read_stack(json(text), out).vocab_multiple, 1048576);
  EXPECT_TRUE(out.empty()) << to_string(out);
}

TEST(ReadStack, RefusesWhatCannotBe) {
  struct Case {
    const char* from;
    const char* to;
  };
  for (const Case& c :
       {Case{"[\"zero1\"]", "[\"zero7\"]"}, Case{"[\"zero1\"]", "[]"}, Case{"[\"1f1b\"]", "[]"},
        Case{"[\"bf16\"]", "[\"bf61\"]"}, Case{"[\"bf16\"]", "[16]"}, Case{"[\"nvidia\", \"amd\"]", "[]"},
        Case{"\"amd\"", "\"intel\""}, Case{"\"offloads\": [\"none\"]", "\"offloads\": [\"attic\"]"},
        Case{"\"weight_bytes\": 2", "\"weight_bytes\": -2"},
        Case{"\"weight_bytes\": 2", "\"weight_bytes\": 2, \"vocab_multiple\": 0"},
        Case{"\"weight_bytes\": 2", "\"weight_bytes\": 2, \"vocab_multiple\": 1048577"},
        Case{"\"weight_bytes\": 2", "\"weight_bytes\": 2, \"usual_lora_rank\": -1"},
        Case{"\"tensor_parallel\": true", "\"tensor_parallel\": 1"}, Case{"\"tensor_parallel\": true,", ""},
        Case{"\"gemm_slowdown\": 1.25", "\"gemm_speedup\": 1.25"}}) {
    std::string text = kGood;
    const auto at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    Diagnostics out;
    read_stack(json(text.replace(at, std::string_view(c.from).size(), c.to)), out);
    EXPECT_FALSE(out.empty()) << c.to;
  }
}

}  // namespace
}  // namespace smplan
