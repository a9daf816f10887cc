// Batches of a measured run: which figure is used, and what is said where they contradict each other.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "planner/validation/prediction.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

/// On eight replicas: micro_batch, global_batch, grad_accum.
ResolvedRun batches(const std::string& cells) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,global_batch,grad_accum\na,gpt2,H100,8,FSDP,1024," + cells +
      "\n");
  Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
  if (!run) throw std::runtime_error(to_string(run.error()));
  return std::move(*run);
}

/// The last of the message's parts.
std::string said(const std::string& cells) { return batches(cells).assumptions.back(); }

TEST(MeasuredBatches, TheNumberOfMicroBatchesTellsTheirSize) {
  const ResolvedRun run = batches(",64,4");
  EXPECT_EQ(run.strategy.micro_batch, 2);
  EXPECT_EQ(run.assumptions.back(), "micro_batch is 2, by grad_accum");
  EXPECT_EQ(batches("2,,4").workload.global_batch, 64);
  EXPECT_EQ(batches(",64,").strategy.micro_batch, 1) << "the stack's usual one";
}

TEST(MeasuredBatches, AContradictionIsSaid) {
  EXPECT_EQ(said("1,64,4"), "micro_batch x dp x grad_accum is 32, global_batch 64 counts");
  EXPECT_EQ(batches("1,64,4").workload.global_batch, 64);
  EXPECT_EQ(said("2,64,4"), "recompute is full") << "they agree";
  EXPECT_NE(predict_run(test::runs_from("id,model,gpu,n_gpus,framework,seq_len,global_batch,grad_accum\n"
                                        "a,gpt2,H100,8,FSDP,1024,64,3\n")
                            .at(0),
                        shipped_catalog())
                .message.find("grad_accum 3 does not divide the sequences of a rank"),
            std::string::npos);
}

TEST(MeasuredBatches, WhatDoesNotDivideIsSaid) {
  EXPECT_EQ(said("1,100,"), "global_batch 100 is no multiple of dp x micro_batch = 8, taken as 96");
  EXPECT_EQ(said("1,4,"), "global_batch 4 is no multiple of dp x micro_batch = 8, taken as 8");
  EXPECT_EQ(said("4,16,"), "micro_batch 4 is more than the 2 sequences of a rank");
  EXPECT_EQ(batches("4,16,").strategy.micro_batch, 2);
}

}  // namespace
}  // namespace smplan
