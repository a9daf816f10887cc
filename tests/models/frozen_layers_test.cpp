// Full training of part of a model: what is trained, kept, computed and sent of it, and what of the frozen rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "models/layers/activations.hpp"
#include "models/layers/flops.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/memory/memory.hpp"
#include "models/memory/model_states.hpp"
#include "models/run/checkpoint_time.hpp"
#include "models/step/stage.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using ::testing::HasSubstr;
using testing::step_case;
using testing::StepCase;

// --- words ---

TEST(TrainedLayersWords, AreReadAndWritten) {
  const auto again = [](std::string_view text) {
    const auto trained = trained_layers_from(text);
    return trained ? to_string(*trained) : std::string("none");
  };
  for (const char* text : {"last:8", "first:8", "16-23", "head", "embedding", "last:8+embedding+head"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("8"), "last:8");
  EXPECT_EQ(again("0-3"), "first:4");
  EXPECT_EQ(again("head+last:2"), "last:2+head");
  for (const char* text : {"", "0", "last:", "last:0", "last:-1", "first:2-3", "3-2", "middle:4", "4x", "last:4+last:4",
                           "head+head", "last:4+", "+head", "99999999999999999999", "all", "tail"}) {
    EXPECT_EQ(again(text), "none") << text;
  }
}

TEST(TrainedLayersWords, AreSaidInSentences) {
  const auto words = [](std::string_view text) { return trained_words(*trained_layers_from(text)); };
  EXPECT_EQ(words("last:8"), "the last 8 blocks");
  EXPECT_EQ(words("first:1+head"), "the first 1 block and the head");
  EXPECT_EQ(words("2-3+embedding"), "blocks 2 to 3 and the embedding");
}

TEST(TrainedLayersCheck, NamesWhatTheModelLacks) {
  Workload w = step_case("llama-3-8b", "ml.p4d.24xlarge", 1, "ddp").workload;
  const auto fault = [&](std::string_view text) {
    w.trained_layers = trained_layers_from(text);
    return to_string(check(w));
  };
  EXPECT_EQ(fault("last:32"), "");
  EXPECT_EQ(fault("head"), "");
  EXPECT_THAT(fault("last:33"), HasSubstr("llama-3-8b has 32 blocks"));
  EXPECT_THAT(fault("30-40"), HasSubstr("range from 0 to 31"));
  w.finetune = FineTune::Lora;
  EXPECT_THAT(fault("last:2"), HasSubstr("adapters"));
  w = step_case("t5-3b", "ml.p4d.24xlarge", 1, "ddp").workload;
  EXPECT_THAT(fault("last:2"), HasSubstr("two rows of blocks"));
}

// --- against PyTorch ---

struct Counted {
  Workload workload;
  double tokens = 0;
  double parameters = 0, flops = 0, kept_bytes = 0;
};

/// Of scripts/fit/counted/frozen_layers.py.
std::vector<std::pair<std::string, Counted>> counted() {
  Diagnostics out;
  const Result<JsonValue> file = read_json_file(SMPLAN_TEST_DATA "/data/frozen_layers.json");
  EXPECT_TRUE(file) << to_string(file.error());
  const JsonValue sizes = *file->find("sizes");
  const auto size = [&](const char* key) { return sizes.find(key)->as_integer(out); };
  Workload w;
  Architecture& a = w.architecture;
  a.name = "small-llama";
  a.n_layers = size("num_hidden_layers");
  a.hidden = size("hidden_size");
  a.n_heads = size("num_attention_heads");
  a.n_kv_heads = size("num_key_value_heads");
  a.head_dim = a.hidden / a.n_heads;
  a.ffn_hidden = size("intermediate_size");
  a.vocab = size("vocab_size");
  a.tied_embeddings = false;
  w.precision = Precision::Fp32;
  w.seq_len = file->find("tokens")->as_integer(out);
  w.global_batch = file->find("batch")->as_integer(out);
  std::vector<std::pair<std::string, Counted>> rows;
  for (const JsonValue& row : file->find("rows")->as_array(out)) {
    const auto number = [&](const char* key) { return static_cast<double>(row.find(key)->as_integer(out)); };
    const std::string trained = row.find("trained_layers")->as_text(out);
    if (trained != "all") w.trained_layers = trained_layers_from(trained);
    rows.push_back(
        {trained, {w, w.tokens_per_step(), number("trained_parameters"), number("flops"), number("kept_bytes")}});
  }
  EXPECT_TRUE(out.empty());
  return rows;
}

TEST(FrozenLayers, TrainedParametersAreTorchs) {
  for (const auto& [trained, row] : counted()) {
    EXPECT_EQ(static_cast<double>(trained_parameters(row.workload)), row.parameters) << trained;
    EXPECT_TRUE(check(row.workload).empty()) << trained;
  }
}

TEST(FrozenLayers, FlopsAreTorchs) {
  for (const auto& [trained, row] : counted()) {
    const StepFlops flops = step_flops(row.workload, Recompute::None, AttentionCounting::FullSquare);
    EXPECT_DOUBLE_EQ(flops.hardware.value(), row.flops) << trained;
    EXPECT_LE(flops.model, flops.hardware);
  }
}

/// Of all blocks, as PyTorch runs Llama: kernels apart, and flash attention.
double kept(const Workload& w) {
  Stack stack;
  stack.plain_layers = stack.transformers_layers = true;
  stack.fused_kernels = false;
  const Strategy s;
  const ActivationOptions options = activation_options(w, s, stack);
  double bytes = -unread_by_first(w, s, options);
  for (const LayerRun& run : layer_stack(w)) {
    bytes += static_cast<double>(run.count) * token_activations(w, run.spec, s, options).saved;
  }
  return bytes;
}

TEST(FrozenLayers, KeptBytesAreTorchs) {
  for (const auto& [trained, row] : counted()) {
    // One number a token and norm, the root of its mean, is too little for the model to count.
    double roots = 0;
    for (const LayerRun& run : layer_stack(row.workload)) {
      if (run.spec.has_backward()) roots += 2.0 * static_cast<double>(run.count);
    }
    const bool below_frozen =
        row.workload.trained_layers && row.workload.trained_layers->blocks > 0 && !row.workload.trains_embedding();
    if (below_frozen) roots -= 1;
    EXPECT_DOUBLE_EQ(row.tokens * (kept(row.workload) + 4 * roots), row.kept_bytes) << trained;
  }
}

// --- roles ---

std::string roles(const Workload& w) {
  std::string text;
  for (const LayerRun& run : layer_stack(w)) {
    const char* role = run.spec.role == LayerRole::Trained ? "t" : run.spec.role == LayerRole::Crossed ? "c" : "u";
    text += fmt::format("{}{} ", role, run.count);
  }
  return text;
}

Workload part_of(std::string_view model, std::string_view trained) {
  Workload w = step_case(std::string(model).c_str(), "ml.p4d.24xlarge", 1, "ddp").workload;
  w.trained_layers = trained_layers_from(trained);
  return w;
}

TEST(FrozenLayers, BackwardEndsBelowTheFirstTrainedOne) {
  EXPECT_EQ(roles(part_of("llama-3-8b", "last:8")), "u24 t8 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "first:8")), "t8 c24 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "8-15")), "u8 t8 c16 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "last:8+embedding")), "c24 t8 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "head")), "u32 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "embedding")), "c32 ");
  EXPECT_EQ(roles(part_of("llama-3-8b", "last:32")), "t32 ");
  EXPECT_EQ(roles(part_of("gpt2", "head")), "c12 ") << "its head is the embedding";
}

TEST(FrozenLayers, StagesHoldTheirOwnRoles) {
  const Workload w = part_of("llama-3-8b", "last:12");
  const LayerStack stack = layer_stack(w);
  // Four stages of eight: none, none, four, eight trained.
  const double trained[] = {0, 0, 4, 8};
  for (std::int32_t stage = 0; stage < 4; ++stage) {
    const PerKind<double> here = stage_layers(stack, stage, 4);
    EXPECT_EQ(here[0], 8 - trained[stage]) << stage;
    EXPECT_EQ(here[1], trained[stage]) << stage;
  }
}

TEST(FrozenLayers, AlternatingKindsAreDividedWithinTheirRole) {
  const Workload w = part_of("gemma-2-9b", "last:10");
  const LayerStack stack = layer_stack(w);
  ASSERT_TRUE(stack.interleaved);
  double trained = 0;
  double all = 0;
  for (std::int32_t stage = 0; stage < 3; ++stage) {
    const PerKind<double> here = stage_layers(stack, stage, 3);
    for (int i = 0; i < stack.n_runs; ++i) {
      const double n = here[static_cast<std::size_t>(i)];
      all += n;
      if (stack.runs[static_cast<std::size_t>(i)].spec.role == LayerRole::Trained) {
        EXPECT_TRUE(stage == 2 || n == 0) << "the last 14 layers hold all ten";
        trained += n;
      }
    }
  }
  EXPECT_DOUBLE_EQ(trained, 10);
  EXPECT_DOUBLE_EQ(all, 42);
}

TEST(FrozenLayers, ATrainedModelIsTheSameWithAndWithoutWords) {
  // All blocks and both ends: only the last norm is frozen, and no formula sees it.
  StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, "fsdp");
  const StepEstimate whole = estimate_step(c.workload, c.strategy, c.cluster, c.stack);
  const MemoryEstimate memory = estimate_memory(c.workload, c.strategy, c.cluster, c.stack);
  c.workload.trained_layers = trained_layers_from("last:32+embedding+head");
  const StepEstimate named = estimate_step(c.workload, c.strategy, c.cluster, c.stack);
  const MemoryEstimate named_memory = estimate_memory(c.workload, c.strategy, c.cluster, c.stack);
  EXPECT_DOUBLE_EQ(named.time().value(), whole.time().value());
  EXPECT_DOUBLE_EQ(named.mfu, whole.mfu);
  EXPECT_NEAR(named_memory.wanted.value(), memory.wanted.value(), 1);
}

// --- states ---

TEST(FrozenLayers, StatesAreThoseOfTheTrainedPart) {
  StageParameters p;
  p.dense = 8e9;
  p.root = 1e9;
  p.unit = 2.5e8;
  p.part_frozen = true;
  p.trained_dense = 2e9;
  p.trained_unit = p.unit;
  Workload w;
  w.trained_layers = trained_layers_from("last:8");
  Strategy s;
  s.data_parallel = s.shard_degree = 8;
  const auto states = [&](Sharding sharding, const Stack& stack) {
    s.sharding = sharding;
    return model_states(p, w, s, stack);
  };
  Stack torch;  // fp32 weights under autocast
  torch.weight_bytes = torch.gradient_bytes = 4;
  torch.master_bytes = 0;
  const ModelStates replicated = states(Sharding::None, torch);
  EXPECT_DOUBLE_EQ(replicated.weights, 2 * 7e9 + 4 * 2e9) << "what is frozen has 16 bits";
  EXPECT_DOUBLE_EQ(replicated.gradients, 4 * 2e9);
  EXPECT_DOUBLE_EQ(replicated.optimizer, 8 * 2e9);
  const ModelStates sharded = states(Sharding::FsdpFull, torch);
  EXPECT_DOUBLE_EQ(sharded.weights, replicated.weights / 8);
  EXPECT_DOUBLE_EQ(sharded.gradients, replicated.gradients / 8);
  Stack deepspeed;  // 16-bit weights with fp32 masters
  deepspeed.weight_bytes = deepspeed.gradient_bytes = 2;
  deepspeed.master_bytes = 4;
  deepspeed.deepspeed_engine = true;
  const ModelStates first = states(Sharding::Zero1, deepspeed);
  EXPECT_DOUBLE_EQ(first.weights, 2 * 9e9);
  EXPECT_DOUBLE_EQ(first.gradients, 2 * 2e9);
  EXPECT_DOUBLE_EQ(first.optimizer, 12 * 2e9 / 8);
  const ModelStates third = states(Sharding::Zero3, deepspeed);
  EXPECT_DOUBLE_EQ(third.weights, 2 * 9e9 / 8);
  w.precision = Precision::Fp32;
  EXPECT_DOUBLE_EQ(states(Sharding::None, torch).weights, 4 * 9e9);
}

TEST(FrozenLayers, CheckpointsHoldTheModelAndTheStatesOfItsPart) {
  const StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 1, "megatron");
  const SaveFormat format = save_format(c.workload, c.stack);
  Workload w = c.workload;
  w.trained_layers = trained_layers_from("last:8");
  const auto trained = static_cast<double>(trained_parameters(w));
  const auto all = static_cast<double>(count_parameters(w.architecture).total());
  EXPECT_DOUBLE_EQ(checkpoint_size(w, format).value(), format.bytes_per_parameter * trained + 2 * (all - trained));
}

// --- memory and time ---

TEST(FrozenLayers, LessIsKeptTheFewerBlocksAreTrained) {
  for (const char* stack : {"ddp", "fsdp", "deepspeed", "megatron"}) {
    StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, stack);
    c.strategy.recompute = Recompute::None;
    double memory = 1e300;
    double time = 1e300;
    double flops = 1e300;
    for (const char* trained : {"", "last:24", "last:16", "last:8", "last:1"}) {
      c.workload.trained_layers = trained_layers_from(trained);
      const MemoryEstimate m = estimate_memory(c.workload, c.strategy, c.cluster, c.stack);
      EXPECT_LT(m.wanted.value(), memory) << stack << ' ' << trained;
      EXPECT_LT(c.time().value(), time) << stack << ' ' << trained;
      const double needed = step_flops(c.workload, Recompute::None, AttentionCounting::CausalHalf).model.value();
      EXPECT_LT(needed, flops);
      memory = m.wanted.value();
      time = c.time().value();
      flops = needed;
    }
  }
}

TEST(FrozenLayers, FirstBlocksCostMoreThanLastOnes) {
  StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, "fsdp");
  c.strategy.recompute = Recompute::Full;
  c.workload.trained_layers = trained_layers_from("last:8");
  const Seconds last = c.time();
  const double kept = estimate_memory(c.workload, c.strategy, c.cluster, c.stack).components.activations.value();
  c.workload.trained_layers = trained_layers_from("first:8");
  EXPECT_GT(c.time().value(), 1.3 * last.value()) << "gradients come down through all blocks, which run again";
  EXPECT_GT(estimate_memory(c.workload, c.strategy, c.cluster, c.stack).components.activations.value(), kept);
}

TEST(FrozenLayers, BlocksBelowHaveAForwardPassAlone) {
  StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, "fsdp");
  c.workload.trained_layers = trained_layers_from("last:8");
  const LayerTable table = layer_table(c.workload, c.strategy, c.cluster, c.stack);
  ASSERT_EQ(table.stack.n_runs, 2);
  const LayerCosts& below = table.layers[0];
  const LayerCosts& trained = table.layers[1];
  EXPECT_EQ(below.forward.gemm, trained.forward.gemm);
  EXPECT_EQ(below.backward.compute() + below.backward.host, Seconds());
  EXPECT_EQ(below.backward.tensor_comm + below.weight_gradient, Seconds());
  c.workload.trained_layers = trained_layers_from("first:8");
  const LayerTable crossed = layer_table(c.workload, c.strategy, c.cluster, c.stack);
  EXPECT_EQ(crossed.layers[1].weight_gradient, Seconds());
  EXPECT_DOUBLE_EQ(crossed.layers[1].backward.gemm.value(), (trained.backward.gemm - trained.weight_gradient).value());
  EXPECT_EQ(crossed.layers[1].backward.attention, trained.backward.attention);
}

TEST(FrozenLayers, OnlyGradientsOfTheTrainedPartAreSent) {
  StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, "ddp");
  c.strategy.sharding = Sharding::None;
  c.stack.profile.data_overlap = 0;
  c.stack.profile.overlap_contention = 0;
  const Groups groups = group_shapes(c.strategy, c.cluster);
  const auto reduced = [&](std::string_view trained) {
    c.workload.trained_layers = trained_layers_from(trained);
    const LayerTable table = layer_table(c.workload, c.strategy, c.cluster, c.stack);
    return StageModel(table, c.workload, c.strategy, groups, c.cluster, c.stack).tail(0, {}).data_comm.value();
  };
  // Within a bandwidth that grows with the message.
  EXPECT_NEAR(reduced("last:8") / reduced("last:16"), 0.5, 0.05);
  EXPECT_LT(reduced("last:8"), reduced("last:8+head"));
}

TEST(FrozenLayers, TheBusiestStageSetsThePace) {
  StepCase c = step_case("llama-3-8b", "ml.p4d.24xlarge", 2, "megatron");
  c.strategy.pipeline_parallel = 4;
  c.strategy.data_parallel = static_cast<std::int32_t>(c.cluster.gpus() / 4);
  c.strategy.shard_degree = c.strategy.data_parallel;
  c.workload.global_batch = 32 * c.strategy.data_parallel;
  const double whole = c.time().value();
  c.workload.trained_layers = trained_layers_from("last:8+head");
  // The last stage trains all that it has: only the fill and drain of the others get shorter.
  EXPECT_LT(c.time().value(), whole);
  EXPECT_GT(c.time().value(), 0.8 * whole);
  const MemoryEstimate m = estimate_memory(c.workload, c.strategy, c.cluster, c.stack);
  EXPECT_EQ(m.worst_stage, 3) << "the others hold weights alone";
}

}  // namespace
}  // namespace smplan
