#include "planner/answer/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "models/layers/layers.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_case;
using testing::StepCase;

std::vector<std::string> unmeasured(const StepCase& c) {
  return unmeasured_traits(c.workload, c.strategy, c.cluster, c.stack);
}

TEST(Traits, NameWhatIsInUseAndNothingElse) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "megatron");
  c.strategy.expert_parallel = 8;
  const std::vector<std::string> found = traits(c.workload, c.strategy, c.cluster);
  const auto has = [&](const char* trait) { return std::find(found.begin(), found.end(), trait) != found.end(); };
  EXPECT_TRUE(has("H100-80GB") && has("bf16") && has("mixture of experts") && has("expert parallelism"));
  EXPECT_TRUE(has("2 to 16 nodes") && has("sequences of 1k to 8k") && has("models of 15B to 100B"));
  EXPECT_FALSE(has("tensor parallelism") || has("low-rank adapters") || has("offloading"));
}

TEST(Traits, ClassesOfSizeEndWhereTheySay) {
  const auto has = [](const StepCase& c, const char* trait) {
    const std::vector<std::string> found = traits(c.workload, c.strategy, c.cluster);
    return std::find(found.begin(), found.end(), trait) != found.end();
  };
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  const std::vector<std::pair<std::int64_t, const char*>> lengths = {
      {1023, "sequences under 1k"},     {1024, "sequences of 1k to 8k"},   {8192, "sequences of 1k to 8k"},
      {8193, "sequences of 8k to 64k"}, {65536, "sequences of 8k to 64k"}, {65537, "sequences over 64k"}};
  for (const auto& [length, name] : lengths) {
    c.workload.seq_len = length;
    EXPECT_TRUE(has(c, name)) << length;
  }
  const std::vector<std::pair<std::int32_t, const char*>> clusters = {
      {1, "one node"},         {2, "2 to 16 nodes"},     {16, "2 to 16 nodes"},
      {17, "17 to 128 nodes"}, {128, "17 to 128 nodes"}, {129, "over 128 nodes"}};
  for (const auto& [nodes, name] : clusters) {
    c.cluster.nodes = nodes;
    EXPECT_TRUE(has(c, name)) << nodes;
  }
}

TEST(Traits, ClassesOfParametersEndWhereTheySay) {
  StepCase c = step_case("gpt2", "ml.p5.48xlarge", 1, "megatron");
  Architecture& a = c.workload.architecture;
  a.extra_parameters = 0;
  const std::int64_t others = count_parameters(a).total();
  const std::vector<std::pair<double, const char*>> sizes = {
      {1e9 - 1, "models under 1B"},    {1e9, "models of 1B to 15B"},         {15e9 - 1, "models of 1B to 15B"},
      {15e9, "models of 15B to 100B"}, {100e9 - 1, "models of 15B to 100B"}, {100e9, "models over 100B"}};
  for (const auto& [size, name] : sizes) {
    a.extra_parameters = static_cast<std::int64_t>(size) - others;
    EXPECT_EQ(traits(c.workload, c.strategy, c.cluster).at(2), name) << size;
  }
}

TEST(Traits, AdaptersAndEveryKindOfOffloadCount) {
  const StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  const std::vector<std::string> plain = traits(c.workload, c.strategy, c.cluster);
  const auto more = [&](const Workload& w, const Strategy& s) {
    std::vector<std::string> found = traits(w, s, c.cluster);
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), found.begin()));
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(plain.size()));
    return found;
  };
  using Names = std::vector<std::string>;
  Workload adapters = c.workload;
  adapters.finetune = FineTune::Lora;
  EXPECT_EQ(more(adapters, c.strategy), Names{"low-rank adapters"});
  Workload frozen = c.workload;
  frozen.trained_layers = trained_layers_from("last:2");
  EXPECT_EQ(more(frozen, c.strategy), Names{"frozen layers"});
  adapters.finetune = FineTune::Qlora;
  EXPECT_EQ(more(adapters, c.strategy), (Names{"low-rank adapters", "a 4-bit base"}));
  for (bool Offload::*part : {&Offload::optimizer, &Offload::parameters, &Offload::activations}) {
    Strategy s = c.strategy;
    s.offload.*part = true;
    EXPECT_EQ(more(c.workload, s), Names{"offloading"});
  }
  Strategy s = c.strategy;
  s.pipeline_parallel = 2;
  s.context_parallel = 2;
  EXPECT_EQ(more(c.workload, s), (Names{"pipeline parallelism", "context parallelism"}));
}

TEST(Traits, ADegreeOfTwoIsAlreadyInUse) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "megatron");
  const std::size_t without = traits(c.workload, c.strategy, c.cluster).size();
  for (std::int32_t Strategy::*degree : {&Strategy::tensor_parallel, &Strategy::pipeline_parallel,
                                         &Strategy::context_parallel, &Strategy::expert_parallel}) {
    Strategy s = c.strategy;
    s.*degree = 2;
    EXPECT_EQ(traits(c.workload, s, c.cluster).size(), without + 1);
  }
}

TEST(Interval, WidensByEachUnmeasuredTraitUpToFour) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  c.stack.profile.measured = traits(c.workload, c.strategy, c.cluster);
  ASSERT_TRUE(unmeasured(c).empty());
  StepEstimate step = c.step();
  set_interval(step, c.stack, 0, Program::Tuned);
  EXPECT_NEAR(std::log(step.p90 / step.p10), 2 * kZ90 * c.stack.profile.residual_sigma, 1e-12);
  double width = 0;
  for (std::size_t missing = 0; missing <= 4; ++missing) {
    set_interval(step, c.stack, missing);
    EXPECT_GT(step.p90 / step.p10, width);
    EXPECT_TRUE(step.p10 < step.time() && step.time() < step.p90);
    width = step.p90 / step.p10;
  }
  set_interval(step, c.stack, 12);
  EXPECT_DOUBLE_EQ(step.p90 / step.p10, width);
}

TEST(Interval, OfAnUnknownProgramIsWiderUntilItsRunsAreMeasured) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  c.stack.profile.residual_sigma = 0.15;
  ASSERT_EQ(c.stack.profile.program_sigma, 0.2);
  EXPECT_DOUBLE_EQ(total_sigma(c.stack, 0, Program::Tuned), 0.15);
  EXPECT_DOUBLE_EQ(total_sigma(c.stack, 0), 0.25);  // the hypotenuse of 0.15 and 0.2
  c.stack.profile.program_sigma = 0;
  EXPECT_DOUBLE_EQ(total_sigma(c.stack, 0), 0.15);
}

TEST(Interval, AnAcceleratorThatNoRunHadIsNamed) {
  const StepCase known = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  const StepCase other = step_case("llama-2-13b", "ml.g6e.48xlarge", 4, "megatron");
  EXPECT_TRUE(unmeasured(known).empty());
  EXPECT_EQ(unmeasured(other), std::vector<std::string>{"L40S"});
}

TEST(PeakInterval, ItsNinetiethPercentileAtTheLimitLeavesATenthToRunOut) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  c.stack.profile.memory_sigma = 0.1;
  const Bytes peak = gib(60);
  const PeakInterval interval = peak_interval(peak, c.stack);
  EXPECT_NEAR(interval.p90 / peak, std::exp(0.1 * kZ90), 1e-12);
  EXPECT_NEAR(peak / interval.p10, std::exp(0.1 * kZ90), 1e-12);
  EXPECT_NEAR(out_of_memory_probability({.wanted = peak, .limit = interval.p90}, c.stack), 0.1, 1e-9);
  EXPECT_NEAR(out_of_memory_probability({.wanted = peak, .limit = interval.p10}, c.stack), 0.9, 1e-9);
}

TEST(OutOfMemory, IsEvenAtTheLimitAndGrowsWithThePeak) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  c.stack.profile.memory_sigma = 0.1;
  MemoryEstimate memory{.wanted = gib(80), .limit = gib(80)};
  EXPECT_DOUBLE_EQ(out_of_memory_probability(memory, c.stack), 0.5);
  memory.wanted = gib(80 * std::exp(-0.1 * kZ90));
  EXPECT_NEAR(out_of_memory_probability(memory, c.stack), 0.1, 1e-9);
  memory.wanted = gib(80 * std::exp(0.1 * kZ90));
  EXPECT_NEAR(out_of_memory_probability(memory, c.stack), 0.9, 1e-9);
  c.stack.profile.memory_sigma = 0;
  memory.peak_device = gib(81);
  EXPECT_DOUBLE_EQ(out_of_memory_probability(memory, c.stack), 1);
}

TEST(OutOfMemory, TheVerdictFollowsTheChance) {
  EXPECT_EQ(verdict_of(0), Verdict::Fits);
  EXPECT_EQ(verdict_of(0.0099), Verdict::Fits);
  EXPECT_EQ(verdict_of(0.01), Verdict::AtTheEdge);
  EXPECT_EQ(verdict_of(0.5), Verdict::AtTheEdge) << "even odds fit";
  EXPECT_EQ(verdict_of(0.51), Verdict::DoesNotFit);
  EXPECT_EQ(to_string(Verdict::AtTheEdge), "at the edge");
}

TEST(OutOfMemory, TheSafePartOfTheMemoryHasTheChanceAskedFor) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 4, "megatron");
  c.stack.profile.memory_sigma = 0.1;
  for (const double most : {0.001, 0.01, 0.1, 0.4}) {
    const MemoryEstimate memory{.wanted = gib(80) * safe_memory_part(c.stack, most), .limit = gib(80)};
    EXPECT_NEAR(out_of_memory_probability(memory, c.stack), most, 1e-6 * most);
  }
  EXPECT_EQ(safe_memory_part(c.stack, 0.7), 1) << "what does not fit is no plan, however bold";
  c.stack.profile.memory_sigma = 0;
  EXPECT_EQ(safe_memory_part(c.stack, 0.01), 1);
}

}  // namespace
}  // namespace smplan
