#include "catalogs/training_loss.hpp"

#include <gtest/gtest.h>

#include "catalogs/catalog.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "models/memory/memory.hpp"
#include "models/step/step.hpp"

namespace smplan {
namespace {

/// Llama 3.1 8B on one node of H100.
class Losses : public testing::Test {
 protected:
  Catalog catalog = *Catalog::shipped();
  const Stack* stack = catalog.find_stack("hf-trainer");
  Cluster cluster = *make_cluster(catalog, *catalog.find_instance("ml.p5.48xlarge"), 1);
  Workload w = workload();
  Strategy s = strategy();

  Workload workload() {
    Workload out;
    out.architecture = catalog.find_model("llama-3.1-8b")->architecture;
    out.seq_len = 1024;
    out.global_batch = 128;
    out.tokens = 1e8;
    out.fine_tunes = true;
    return out;
  }
  static Strategy strategy() {
    Strategy out;
    out.data_parallel = 8;
    out.shard_degree = 8;
    out.sharding = Sharding::FsdpFull;
    out.micro_batch = 2;
    out.recompute = Recompute::Full;
    return out;
  }
  MemoryEstimate memory() { return estimate_memory(w, s, cluster, *stack); }
  StepEstimate step() { return estimate_step(w, s, cluster, *stack); }
};

TEST_F(Losses, AreNamedAsPeopleNameThem) {
  EXPECT_EQ(training_loss("DPO"), training_loss("dpo"));
  EXPECT_EQ(training_loss("ipo")->name, "dpo");
  EXPECT_EQ(training_loss("rm")->name, "reward");
  EXPECT_EQ(training_loss("sft"), nullptr);
  for (const TrainingLoss& loss : training_losses()) {
    EXPECT_EQ(loss.frozen != FrozenModel::None, loss.frozen_forwards > 0) << loss.name;
  }
  EXPECT_EQ(fine_tuning_method("rsLoRA")->trains, "lora");
}

TEST_F(Losses, AReferenceIsACopyOfTheWeightsInSixteenBitsCutAsTheyAre) {
  w.loss = training_loss("dpo");
  const double weights = 2.0 * 8'030'261'248;
  s.sharding = Sharding::None;
  s.shard_degree = 1;
  const Bytes whole = memory().components.reference;
  s = strategy();
  const Bytes sharded = memory().components.reference;
  // Beside it the reference's logits at the loss: 6 bytes of 2 x 1024 x 128,256.
  const double logits = 6.0 * 2 * 1024 * 128256;
  EXPECT_NEAR(whole.value(), weights, logits);
  EXPECT_NEAR(sharded.value(), weights / 8, logits);
  w.reference = Reference::Precomputed;
  EXPECT_EQ(memory().components.reference, Bytes());
  EXPECT_EQ(step().components.reference, Seconds());
}

TEST_F(Losses, APassOfTheReferenceIsAForwardPass) {
  const StepEstimate plain = step();
  w.loss = training_loss("dpo");
  const StepEstimate dpo = step();
  // Of full training without recomputation, a forward pass is a third of the products.
  EXPECT_GT(dpo.components.reference, plain.components.compute * 0.3);
  EXPECT_LT(dpo.components.reference, plain.time() * 0.45);
  EXPECT_NEAR((dpo.time() - plain.time()) / (dpo.components.reference), 1, 0.05);
  w.loss = training_loss("kto");
  EXPECT_NEAR(step().components.reference / dpo.components.reference, 3, 1e-9)
      << "two of the reference, one of its own";
  w.loss = training_loss("orpo");
  EXPECT_EQ(step().components.reference, Seconds());
  EXPECT_EQ(memory().components.reference, Bytes());
}

TEST_F(Losses, ATeacherCostsByItsSize) {
  w.architecture = catalog.find_model("qwen2.5-7b")->architecture;
  w.loss = training_loss("distillation");
  w.teacher = w.architecture;
  const Seconds itself = step().components.reference;
  const Bytes bytes = memory().components.reference;
  w.teacher = catalog.find_model("qwen2.5-72b")->architecture;
  EXPECT_NEAR(step().components.reference / itself, 9.5, 1.5);
  // In 16 bits over eight ranks, less the logits where another instant is the peak.
  const double more = 2.0 / 8 * (72'706'203'648.0 - 7'615'616'512.0);
  EXPECT_NEAR((memory().components.reference - bytes).value(), more, 10.0 * 2 * 1024 * 152064);
}

TEST_F(Losses, ARewardModelHasNoLogits) {
  s.micro_batch = 16;
  const MemoryEstimate whole = memory();
  EXPECT_GT(whole.components.logits, Bytes(1e9));
  const StepEstimate plain = step();
  w.loss = training_loss("reward");
  EXPECT_EQ(memory().components.logits, Bytes());
  EXPECT_LT(memory().wanted, whole.wanted);
  EXPECT_LT(step().components.compute, plain.components.compute);
}

TEST_F(Losses, TimeIsThatOfTheAverageLengthMemoryThatOfTheLongest) {
  const MemoryEstimate longest = memory();
  w.mean_seq_len = 512;
  EXPECT_EQ(memory().wanted, longest.wanted);
  const StepEstimate mixed = step();
  w.mean_seq_len = 0;
  w.seq_len = 512;
  EXPECT_EQ(mixed.components, step().components);
  EXPECT_EQ(w.tokens_per_step(), 512.0 * 128);
}

TEST_F(Losses, PairsGoThroughTheModelTogether) {
  w.loss = training_loss("dpo");
  stack = catalog.find_stack("fsdp");
  EXPECT_TRUE(check(s, w, *stack).empty());
  s.micro_batch = 1;
  EXPECT_EQ(check(s, w, *stack).front().location, "--micro-batch");
  w.global_batch = 127;
  EXPECT_EQ(check(w).front().location, "--global-batch");
}

}  // namespace
}  // namespace smplan
