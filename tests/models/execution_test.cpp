#include "models/job/execution.hpp"
#include "models/machine/collectives.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.hpp"
#include "models/job/dimensions.hpp"
#include "tests/support/layer_modules.hpp"

namespace smplan {
namespace {

/// Figures that are told apart by their values.
Stack framework() {
  Stack s;
  s.id = "framework";
  s.fused_kernels = false;
  s.plain_layers = true;
  s.checkpoint_stops_early = true;
  s.logits_bytes = 6;
  s.parallel_logits_bytes = 7;
  s.fused_logits_bytes = 10;
  s.gradient_bytes = 4;
  s.gradient_reduce_bytes = 4;
  s.vocab_multiple = 128;
  StackProfile& p = s.profile;
  p.elementwise_traffic = 2.4;
  p.compiled_traffic = 0.8;
  p.eager_traffic = 1.6;
  p.compiled_host = 0.5;
  p.host_time_dense_layer = Seconds(1);
  p.host_time_moe_layer = Seconds(8);
  p.graphed_moe_host = 0.25;
  p.fused_routing_host = 0.5;
  p.moe_slowdown = 3;
  p.fused_experts = 0.25;
  p.moe_yearly_gain = 0.3;
  p.tensor_overlap = 0.4;
  p.async_tensor_overlap = 0.6;
  p.context_overlap = 0.5;
  p.expert_overlap = 0.2;
  p.expert_overlap_when_on = 0.7;
  p.allocator_slack = 0.04;
  return s;
}

TEST(Executed, OfNothingIsTheFramework) { EXPECT_EQ(executed(framework(), {}), framework()); }

TEST(Executed, OnceMoreChangesNothing) {
  const Execution e{.compile = Compile::Layers, .fused_routing = Toggle::On};
  const Stack once = executed(framework(), e);
  EXPECT_EQ(executed(once, e), once);
  EXPECT_EQ(once.execution, e);
}

TEST(Executed, CompiledLayersFuseAndLaunchLess) {
  const Stack off = executed(framework(), {.compile = Compile::Off});
  EXPECT_EQ(off.profile.elementwise_traffic, 1.6);
  EXPECT_EQ(off.profile.host_time_dense_layer, Seconds(1));
  EXPECT_FALSE(off.fused_kernels);
  EXPECT_FALSE(compiles_layers(off.execution));
  const Stack layers = executed(framework(), {.compile = Compile::Layers});
  EXPECT_EQ(layers.profile.elementwise_traffic, 0.8);
  EXPECT_EQ(layers.profile.host_time_dense_layer, Seconds(0.5));
  EXPECT_TRUE(layers.fused_kernels);
  EXPECT_FALSE(layers.plain_layers);
  EXPECT_EQ(layers.logits_bytes, 6);
  const Stack all = executed(framework(), {.compile = Compile::LayersAndLoss});
  EXPECT_EQ(all.logits_bytes, 4);
  EXPECT_TRUE(compiles_layers(all.execution));
}

TEST(Executed, LossKernelsKeepWhatTheyCompute) {
  const auto kept = [](LossKernel kernel) { return executed(framework(), {.loss_kernel = kernel}); };
  EXPECT_EQ(kept(LossKernel::Whole).logits_bytes, 12);
  EXPECT_EQ(kept(LossKernel::Whole).parallel_logits_bytes, 7);
  EXPECT_EQ(kept(LossKernel::Fused).logits_bytes, 10);
  EXPECT_EQ(kept(LossKernel::Fused).parallel_logits_bytes, 10);
  EXPECT_EQ(kept(LossKernel::Linear).logits_bytes, 6);
  EXPECT_EQ(kept(LossKernel::InPlace).logits_bytes, 2) << "a 16-bit gradient in the place of each logit";
  EXPECT_EQ(kept(LossKernel::InPlace).parallel_logits_bytes, 2);
  EXPECT_EQ(kept(LossKernel::InPlace).loss_forward_bytes, 2) << "read once";
  EXPECT_EQ(kept(LossKernel::InPlace).loss_backward_bytes, 4) << "read and written";
}

TEST(Executed, SwitchesOfKernelsAndStates) {
  EXPECT_FALSE(executed(framework(), {.flash_attention = Toggle::Off}).flash_attention);
  EXPECT_TRUE(executed(framework(), {.flash_attention = Toggle::On}).flash_attention);
  const Stack liger = executed(framework(), {.liger_kernels = Toggle::On});
  EXPECT_TRUE(liger.liger_kernels && liger.fused_kernels && !liger.plain_layers);
  EXPECT_TRUE(executed(framework(), {.liger_kernels = Toggle::Off}).plain_layers);
  EXPECT_EQ(executed(framework(), {.pure_half = Toggle::On}).gradient_reduce_bytes, 2);
  EXPECT_EQ(executed(framework(), {.half_gradients = Toggle::On}).gradient_bytes, 2);
  EXPECT_EQ(executed(framework(), {.half_gradients = Toggle::Off}).gradient_bytes, 4);
  EXPECT_EQ(executed(framework(), {.vocab_multiple = 1}).vocab_multiple, 1);
  EXPECT_EQ(executed(framework(), {.empty_cache = Toggle::On}).profile.allocator_slack, 0);
  EXPECT_EQ(executed(framework(), {.empty_cache = Toggle::Off}).profile.allocator_slack, 0.04);
  EXPECT_FALSE(executed(framework(), {.reentrant_checkpoint = Toggle::On}).checkpoint_stops_early);
  EXPECT_TRUE(executed(framework(), {.reentrant_checkpoint = Toggle::Off}).checkpoint_stops_early);
  EXPECT_EQ(executed(framework(), {.reduce_bucket = 1000}).reduce_bucket_elements, 1000);
}

TEST(Executed, AttendsWithTheKernelsThatAreNamed) {
  Stack stack = framework();
  stack.attention_kernel = AttentionKernel::Triton;
  const auto kernel = [&](AttentionClass named) {
    return executed(stack, {.attention_kernel = named}).attention_kernel;
  };
  EXPECT_EQ(kernel(AttentionClass::Default), AttentionKernel::Triton);
  EXPECT_EQ(kernel(AttentionClass::Flash2), AttentionKernel::Flash2);
  EXPECT_EQ(kernel(AttentionClass::Vendor), AttentionKernel::Vendor);
}

TEST(Executed, TransfersHideAsTheyAreTold) {
  const auto profile = [](const Execution& e) { return executed(framework(), e).profile; };
  EXPECT_EQ(profile({.tensor_overlap = TensorOverlap::Off}).tensor_overlap, 0);
  EXPECT_EQ(profile({.tensor_overlap = TensorOverlap::Async}).tensor_overlap, 0.6);
  EXPECT_EQ(profile({.context_exchange = ContextExchange::AllToAll}).context_overlap, 0);
  EXPECT_EQ(profile({.context_exchange = ContextExchange::Ring}).context_overlap, 0.5);
  EXPECT_EQ(profile({.expert_overlap = Toggle::On}).expert_overlap, 0.7);
  EXPECT_EQ(profile({.expert_overlap = Toggle::Off}).expert_overlap, 0);
  EXPECT_TRUE(executed(framework(), {.gradient_overlap = Toggle::Off}).synchronous_reduction);
  EXPECT_FALSE(executed(framework(), {.gradient_overlap = Toggle::On}).synchronous_reduction);
  EXPECT_TRUE(executed(framework(), {.moe_dispatcher = MoeDispatcher::DeepEp}).deduplicated_dispatch);
  EXPECT_FALSE(executed(framework(), {.moe_dispatcher = MoeDispatcher::AllToAll}).deduplicated_dispatch);
}

TEST(Executed, ExpertsLaunchLessWhatIsFusedOrCaptured) {
  const auto profile = [](const Execution& e) { return executed(framework(), e).profile; };
  EXPECT_EQ(profile({.fused_routing = Toggle::On}).host_time_moe_layer, Seconds(4));
  EXPECT_EQ(profile({.cuda_graphs = CudaGraphs::Router}).host_time_moe_layer, Seconds(2));
  EXPECT_EQ(profile({.fused_routing = Toggle::On, .cuda_graphs = CudaGraphs::Router}).host_time_moe_layer, Seconds(2))
      << "what is captured holds what is fused";
  EXPECT_EQ(profile({.cuda_graphs = CudaGraphs::Layers}).host_time_moe_layer, Seconds());
  EXPECT_EQ(profile({.cuda_graphs = CudaGraphs::Layers}).moe_slowdown, 3);
  const StackProfile iteration = profile({.cuda_graphs = CudaGraphs::Iteration});
  EXPECT_EQ(iteration.host_time_moe_layer, Seconds());
  EXPECT_EQ(iteration.moe_slowdown, 1.5);
  EXPECT_EQ(iteration.expert_overlap, 0.7);
}

// Between nodes DeepEP sends from the GPU through mlx5 cards.
TEST(DeepEp, ReachesOtherNodesOverInfinibandAndRoceOnly) {
  Cluster c;
  c.gpus_per_node = 8;
  c.nodes = 2;
  c.fabric.domain_size = 8;
  Strategy s;
  s.data_parallel = 16;
  s.expert_parallel = 16;
  s.execution.moe_dispatcher = MoeDispatcher::DeepEp;
  const auto out_of_reach = [&](NetworkKind kind) {
    c.network.kind = kind;
    return dispatches_out_of_reach(s, c);
  };
  EXPECT_TRUE(out_of_reach(NetworkKind::Efa));
  EXPECT_TRUE(out_of_reach(NetworkKind::Ethernet));
  EXPECT_FALSE(out_of_reach(NetworkKind::Infiniband));
  EXPECT_FALSE(out_of_reach(NetworkKind::RoCE));
  s.expert_parallel = 8;
  EXPECT_FALSE(out_of_reach(NetworkKind::Efa)) << "inside an instance";
  s.expert_parallel = 16;
  s.execution.moe_dispatcher = MoeDispatcher::AllToAll;
  EXPECT_FALSE(out_of_reach(NetworkKind::Efa));
}

TEST(Executed, SoftwareOfAnotherMonthIsAsMuchSlower) {
  EXPECT_DOUBLE_EQ(year_of_release(2607), kSoftwareYear);
  EXPECT_DOUBLE_EQ(year_of_release(2602), 2026 + 1.0 / 12);
  EXPECT_EQ(executed(framework(), {.software_release = 2607}).profile.moe_slowdown, 3);
  EXPECT_NEAR(executed(framework(), {.software_release = 2507}).profile.moe_slowdown, 3 * std::exp(0.3), 1e-12);
  EXPECT_NEAR(executed(framework(), {.software_release = 2507}).profile.host_time_moe_layer.value(), 8 * std::exp(0.3),
              1e-12);
}

TEST(Executed, SoftwareOfAnotherMonthHasTheDefaultsOfItsTime) {
  Stack today;
  today.fused_optimizer = today.grouped_attention = true;
  today.fused_optimizer_since = 2508;
  today.grouped_attention_since = 2501;
  today.loops_over_experts_before = 2601;
  const Stack before = executed(today, {.software_release = 2412});
  EXPECT_FALSE(before.fused_optimizer);
  EXPECT_FALSE(before.grouped_attention);
  EXPECT_TRUE(before.loops_over_experts);
  const Stack between = executed(today, {.software_release = 2508});
  EXPECT_TRUE(between.fused_optimizer && between.grouped_attention && between.loops_over_experts);
  EXPECT_FALSE(executed(today, {.software_release = 2601}).loops_over_experts);
  EXPECT_TRUE(executed(today, {.fused_optimizer = Toggle::On, .software_release = 2412}).fused_optimizer) << "as told";
  EXPECT_FALSE(executed(today, {.fused_optimizer = Toggle::Off}).fused_optimizer);
  EXPECT_TRUE(executed(today, {.wide_embeddings = Toggle::On}).casts_beside_four_bits);
  EXPECT_FALSE(executed(today, {.wide_embeddings = Toggle::Off}).casts_beside_four_bits);
  EXPECT_TRUE(executed(today, {.unsharded_gradients = Toggle::On}).whole_gradients);
}

TEST(LayerModulesText, ReadsWhatItWrites) {
  for (int bits = 0; bits < 1 << kLayerModules; ++bits) {
    const LayerModules modules{static_cast<std::uint8_t>(bits)};
    EXPECT_EQ(layer_modules_from(to_string(modules)), modules);
  }
  EXPECT_EQ(to_string(test::modules({LayerModule::Experts, LayerModule::CoreAttention})), "core_attn+moe");
  EXPECT_FALSE(layer_modules_from("mlp+mlp"));
  EXPECT_FALSE(layer_modules_from("mlp+"));
  EXPECT_FALSE(layer_modules_from(""));
}

/// What people and other tools write.
TEST(ExecutionWords, HaveSynonyms) {
  EXPECT_EQ(compile_from("true"), Compile::Layers);
  EXPECT_EQ(compile_from("off"), Compile::Off);
  EXPECT_EQ(loss_kernel_from("liger"), LossKernel::Linear);
  EXPECT_EQ(loss_kernel_from("chunked"), LossKernel::Linear);
  EXPECT_EQ(loss_kernel_from("cut"), LossKernel::Linear);
  EXPECT_EQ(context_exchange_from("p2p"), ContextExchange::Ring);
  EXPECT_EQ(context_exchange_from("a2a"), ContextExchange::AllToAll);
  EXPECT_EQ(context_exchange_from("ulysses"), ContextExchange::AllToAll);
  EXPECT_EQ(moe_dispatcher_from("alltoall"), MoeDispatcher::AllToAll);
  EXPECT_EQ(moe_dispatcher_from("flex"), MoeDispatcher::DeepEp);
  EXPECT_EQ(moe_dispatcher_from("hybridep"), MoeDispatcher::DeepEp);
  EXPECT_EQ(toggle_from("yes"), Toggle::On);
  EXPECT_EQ(toggle_from("0"), Toggle::Off);
  EXPECT_FALSE(toggle_from("maybe"));
}

std::pair<std::vector<Execution>, std::string> offers_of(const std::string& member, const std::string& value) {
  const JsonValue document = parse_json(R"({"offers": {")" + member + R"(": [")" + value + "\"]}}", "stack").value();
  Diagnostics faults;
  ObjectReader reader(document, faults);
  std::vector<Execution> offers = read_offers(reader);
  reader.finish();
  return {std::move(offers), to_string(faults)};
}

// What frameworks differ in stands in the table of dimensions and in the reader of catalogs.
TEST(Offers, AreOfEachMemberThatFrameworksDifferIn) {
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution) continue;
    const std::string value = row.words == nullptr ? "2" : row.words->name(row.words->values[1]);
    const auto [offers, faults] = offers_of(std::string(row.keyword), value);
    if (!row.is_offered) {
      EXPECT_THAT(faults, testing::HasSubstr(std::string(row.keyword))) << "is no offer";
      continue;
    }
    EXPECT_EQ(faults, "") << row.keyword;
    ASSERT_EQ(offers.size(), 1U) << row.keyword;
    Strategy told;
    told.execution = offers.front();
    EXPECT_EQ(row.text(row.get(told)), value);
    EXPECT_THAT(offers_of(std::string(row.keyword), "pigeon").second, testing::HasSubstr("unknown value 'pigeon'"));
    EXPECT_THAT(offers_of(std::string(row.keyword), "default").second, testing::HasSubstr("unknown value"))
        << "says nothing";
  }
}

/// The rules of what goes together, each at its limit.
class ExecutionRules : public testing::Test {
 protected:
  Workload w;
  Strategy s;
  Stack stack;
  void SetUp() override {
    w.architecture.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 64};
    s.expert_parallel = 2;
  }
  [[nodiscard]] bool breaks(std::string_view rule) const { return broken_rule(rule, s, w, stack).has_value(); }
};

TEST_F(ExecutionRules, AFrameworkIsToldWhatItOffers) {
  EXPECT_FALSE(breaks("execution-offered"));
  s.execution.moe_dispatcher = MoeDispatcher::DeepEp;
  EXPECT_THAT(broken_rule("execution-offered", s, w, stack)->message, testing::HasSubstr("--moe-dispatcher deepep"));
  stack.offers = {{.moe_dispatcher = MoeDispatcher::AllToAll}};
  EXPECT_TRUE(breaks("execution-offered")) << "another value";
  stack.offers.push_back({.moe_dispatcher = MoeDispatcher::DeepEp});
  EXPECT_FALSE(breaks("execution-offered"));
  s.execution.flash_attention = Toggle::Off;
  EXPECT_FALSE(breaks("execution-offered")) << "every script has its own way of it";
  s.execution.recompute_modules = test::modules({LayerModule::Norms, LayerModule::DenseMlp});
  stack.offers.push_back({.recompute_modules = test::modules({LayerModule::Norms})});
  EXPECT_TRUE(breaks("execution-offered")) << "one of two modules";
  stack.offers.push_back({.recompute_modules = test::modules({LayerModule::DenseMlp})});
  EXPECT_FALSE(breaks("execution-offered")) << "modules are told together";
}

TEST_F(ExecutionRules, ExpertsAreSwitchedWhereThereAreAny) {
  for (const Execution& e : {Execution{.moe_dispatcher = MoeDispatcher::DeepEp},
                             Execution{.moe_router = MoeRouter::Balanced}, Execution{.expert_overlap = Toggle::Off},
                             Execution{.fused_routing = Toggle::On}, Execution{.cuda_graphs = CudaGraphs::Layers}}) {
    s.execution = e;
    EXPECT_FALSE(breaks("experts-to-switch"));
    Workload dense = w;
    dense.architecture.moe = {};
    EXPECT_TRUE(broken_rule("experts-to-switch", s, dense, stack));
  }
}

TEST_F(ExecutionRules, AnOverlappedExchangeHasItsConditions) {
  s.execution.expert_overlap = Toggle::On;
  EXPECT_FALSE(breaks("expert-overlap-interleaved"));
  s.pipeline_parallel = 2;
  EXPECT_TRUE(breaks("expert-overlap-interleaved"));
  s.virtual_pipeline = 2;
  EXPECT_FALSE(breaks("expert-overlap-interleaved"));
  EXPECT_FALSE(breaks("expert-overlap-of-half-precision"));
  w.precision = Precision::Fp8;
  EXPECT_TRUE(breaks("expert-overlap-of-half-precision"));
  w.precision = Precision::Fp16;
  EXPECT_FALSE(breaks("expert-overlap-of-half-precision"));
  s.expert_parallel = 1;
  EXPECT_TRUE(breaks("expert-overlap-of-half-precision"));
  EXPECT_FALSE(breaks("expert-overlap-without-full-recomputation"));
  s.recompute = Recompute::Full;
  EXPECT_TRUE(breaks("expert-overlap-without-full-recomputation"));
}

TEST_F(ExecutionRules, NoMoreLayersKeepSixteenBitsThanThereAre) {
  w.architecture.n_layers = 4;
  s.execution.half_layers = 4;
  EXPECT_FALSE(breaks("half-layers-of-the-model"));
  s.execution.half_layers = 5;
  EXPECT_TRUE(breaks("half-layers-of-the-model"));
}

TEST_F(ExecutionRules, SixteenBitLayersStandBesideNarrowFormats) {
  s.execution.half_layers = 1;
  w.precision = Precision::Fp8;
  EXPECT_FALSE(breaks("half-layers-beside-narrow-formats"));
  w.precision = Precision::Fp4;
  EXPECT_FALSE(breaks("half-layers-beside-narrow-formats"));
  w.precision = Precision::Bf16;
  EXPECT_TRUE(breaks("half-layers-beside-narrow-formats"));
}

TEST_F(ExecutionRules, ModulesAreOfSelectiveRecomputation) {
  s.execution.recompute_modules = test::modules({LayerModule::Norms});
  EXPECT_TRUE(breaks("modules-with-selective-recomputation"));
  s.recompute = Recompute::Selective;
  EXPECT_FALSE(breaks("modules-with-selective-recomputation"));
}

TEST_F(ExecutionRules, AnUpdateInTheBackwardPassIsOfOneMicroBatchAndByTorch) {
  s.execution.update_in_backward = Toggle::On;
  w.global_batch = 2LL * s.data_parallel * s.micro_batch;
  EXPECT_TRUE(breaks("update-in-backward-of-one-micro-batch"));
  w.global_batch /= 2;
  EXPECT_FALSE(breaks("update-in-backward-of-one-micro-batch"));
  stack.deepspeed_engine = false;
  stack.master_bytes = 4;
  EXPECT_TRUE(breaks("update-in-backward-by-torch")) << "one buffer of gradients";
  stack.master_bytes = 0;
  EXPECT_FALSE(breaks("update-in-backward-by-torch"));
  stack.deepspeed_engine = true;
  EXPECT_TRUE(breaks("update-in-backward-by-torch"));
  s.sharding = Sharding::FsdpFull;
  EXPECT_FALSE(breaks("update-in-backward-by-torch"));
  s.offload.parameters = true;
  EXPECT_TRUE(breaks("update-in-backward-by-torch")) << "the host updates";
}

TEST_F(ExecutionRules, BitsandbytesPagesWhatItUpdatesOnTheDevice) {
  s.execution.paged_optimizer = Toggle::On;
  EXPECT_FALSE(breaks("pages-of-bitsandbytes"));
  w.optimizer = Optimizer::Lion;
  EXPECT_FALSE(breaks("pages-of-bitsandbytes"));
  s.offload.optimizer = true;
  EXPECT_TRUE(breaks("pages-of-bitsandbytes"));
  s.offload.optimizer = false;
  w.optimizer = Optimizer::Muon;
  EXPECT_TRUE(breaks("pages-of-bitsandbytes"));
}

TEST_F(ExecutionRules, OnlyAdaptersHaveABaseOfAnotherFormat) {
  s.execution.base_format = BaseFormat::Fp32;
  EXPECT_TRUE(breaks("base-format-of-adapters"));
  w.finetune = FineTune::Qlora;
  EXPECT_TRUE(breaks("base-format-of-adapters")) << "that has 4 bits";
  w.finetune = FineTune::Lora;
  EXPECT_FALSE(breaks("base-format-of-adapters"));
  EXPECT_TRUE(breaks("execution-offered")) << "nor does every framework hold one";
  stack.offers.push_back({.base_format = BaseFormat::Fp32});
  EXPECT_FALSE(breaks("execution-offered"));
}

TEST_F(ExecutionRules, SixteenBitStatesNeedSixteenBitProducts) {
  s.execution.pure_half = Toggle::On;
  EXPECT_FALSE(breaks("pure-half-format"));
  w.precision = Precision::Fp32;
  EXPECT_TRUE(breaks("pure-half-format"));
}

}  // namespace
}  // namespace smplan
