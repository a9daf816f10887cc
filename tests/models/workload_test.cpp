#include "models/job/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;

Workload gpt2() {
  Workload w;
  Architecture& a = w.architecture;
  a.name = "gpt2";
  a.n_layers = 12;
  a.hidden = 768;
  a.n_heads = a.n_kv_heads = 12;
  a.head_dim = 64;
  a.ffn_hidden = 3072;
  a.vocab = 50257;
  a.max_positions = 1024;
  a.positions = PositionEncoding::Learned;
  a.norm = NormKind::LayerNorm;
  a.gated_mlp = false;
  a.tied_embeddings = true;
  w.seq_len = 1024;
  w.global_batch = 8;
  return w;
}

TEST(WorkloadText, NamesReadBack) {
  for (const Optimizer o : {Optimizer::AdamW, Optimizer::Adam8bit, Optimizer::SgdMomentum, Optimizer::Lion,
                            Optimizer::Adafactor, Optimizer::Muon, Optimizer::Lamb}) {
    EXPECT_EQ(optimizer_from(to_string(o)), o);
  }
  for (const FineTune f : {FineTune::Full, FineTune::Lora, FineTune::Qlora}) {
    EXPECT_EQ(finetune_from(to_string(f)), f);
  }
  EXPECT_FALSE(optimizer_from("adamm"));
  EXPECT_FALSE(finetune_from(""));
}

TEST(WorkloadCheck, AcceptsGpt2) { EXPECT_THAT(check(gpt2()), IsEmpty()); }

TEST(WorkloadCheck, RefusesWhatCannotBeTrained) {
  Workload w = gpt2();
  w.seq_len = 2048;
  EXPECT_THAT(check(w), Contains(Field(&Diagnostic::code, "sequence-too-long")));
  w = gpt2();
  w.seq_len = 0;
  w.global_batch = -1;
  EXPECT_THAT(check(w), testing::SizeIs(2));
  w = gpt2();
  w.finetune = FineTune::Qlora;
  w.precision = Precision::Fp32;
  EXPECT_THAT(check(w), Contains(Field(&Diagnostic::location, "--dtype")));
  w = gpt2();
  w.finetune = FineTune::Lora;
  w.lora.rank = 0;
  EXPECT_THAT(check(w), Contains(Field(&Diagnostic::location, "--lora-rank")));
}

TEST(Workload, CountsTokensPerStep) { EXPECT_DOUBLE_EQ(gpt2().tokens_per_step(), 8192); }

}  // namespace
}  // namespace smplan
