// What software is told: which ways of a framework a request allows.
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

RequestSpec spec_13b() {
  RequestSpec spec;
  spec.params = "13B";
  return spec;
}

/// The only fault of a spec.
Diagnostic fault_of(const RequestSpec& spec) {
  const auto request = resolve(spec, catalog(), std::nullopt);
  if (request || request.error().size() != 1) throw std::runtime_error("not one fault");
  return request.error().front();
}

std::vector<std::string> ways_of(const PlanRequest& request) {
  std::vector<std::string> out;
  for (const Stack* stack : request.stacks) {
    Strategy told;
    told.execution = stack->execution;
    out.push_back(stack->id + " " + to_string(told));
  }
  return out;
}

// A plan tries what the framework offers; an estimate is of the framework as it is.
TEST(ResolveExecution, PlansTryWhatTheFrameworkOffers) {
  RequestSpec spec = spec_13b();
  spec.stack = "fsdp";
  EXPECT_THAT(ways_of(request_of(spec)), testing::ElementsAre("fsdp compile:layers loss:linear", "fsdp compile:layers",
                                                              "fsdp loss:linear", "fsdp single"));
  spec[Dimension::Compile] = "off,layers";
  spec.fused_loss = "off";
  EXPECT_THAT(ways_of(request_of(spec)), testing::ElementsAre("fsdp compile:layers", "fsdp compile:off"));
  RequestSpec estimated = spec_13b();
  estimated.stack = "fsdp";
  estimated.instances = "ml.p4d.24xlarge";
  estimated.count = "1";
  const auto request = resolve(estimated, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_THAT(ways_of(*request), testing::ElementsAre("fsdp single"));
  estimated[Dimension::Compile] = "layers";
  EXPECT_THAT(ways_of(*resolve(estimated, catalog(), std::nullopt, Purpose::Estimate)),
              testing::ElementsAre("fsdp compile:layers"));
}

TEST(ResolveExecution, WhatAFrameworkCannotBeToldIsRefusedOrLeavesItOut) {
  RequestSpec spec = spec_13b();
  spec.stack = "megatron";
  spec[Dimension::Compile] = "layers";
  EXPECT_THAT(fault_of(spec).message, HasSubstr("does not offer --compile layers"));
  spec.stack = "megatron,fsdp";
  const PlanRequest both = request_of(spec);
  EXPECT_THAT(ways_of(both), testing::Each(HasSubstr("fsdp compile:layers")));
  EXPECT_THAT(both.stacks_left_out, Contains(testing::Pair("megatron", HasSubstr("--compile layers"))));
  RequestSpec dense = spec_13b();
  dense[Dimension::MoeDispatcher] = "deepep";
  dense.stack = "megatron";
  EXPECT_THAT(fault_of(dense).message, HasSubstr("has no experts"));
}

TEST(ResolveExecution, NobodyAsksForMoreWaysThanAreCompared) {
  RequestSpec spec = spec_13b();
  spec.stack = "fsdp";
  for (const Dimension d :
       {Dimension::LigerKernels, Dimension::EmptyCache, Dimension::ReentrantCheckpoint, Dimension::FlashAttention}) {
    spec[d] = d == Dimension::EmptyCache ? "on,default" : "on,off";
  }
  EXPECT_EQ(request_of(spec).stacks.size(), 64U) << "16, with and without compilation and a linear loss";
  spec[Dimension::ReleaseGradients] = "on,off";
  EXPECT_THAT(fault_of(spec).message, HasSubstr("more than 64 ways"));
}

TEST(ResolveExecution, ModulesMeanSelectiveRecomputation) {
  RequestSpec spec = spec_13b();
  spec.stack = "megatron";
  spec[Dimension::RecomputeModules] = "mlp+layernorm";
  EXPECT_EQ(request_of(spec)[Dimension::Recompute].values, std::vector{dimension_value(Recompute::Selective)});
}

}  // namespace
}  // namespace smplan::test
