#include "models/layers/activations.hpp"

#include <gtest/gtest.h>

#include "models/job/execution.hpp"
#include "models/memory/memory.hpp"
#include "models/pipeline/schedule.hpp"
#include "tests/support/layer_modules.hpp"

namespace smplan {
namespace {

/// Korthikanti et al. 2022 (2205.05198), table 3: GPT with dropout, sequence 2048, tensor parallel 8. Bytes of
/// the first pipeline rank as reproduced by Calculon (Isaev et al. 2023).
struct Published {
  const char* name;
  std::int64_t hidden, heads, layers, micro_batch;
  std::int32_t pipeline, chunks;
  double none_gib, sequence_selective_gib;
};

class KorthikantiActivations : public testing::TestWithParam<Published> {};

Workload gpt(const Published& p) {
  Workload w;
  Architecture& a = w.architecture;
  a.n_layers = p.layers;
  a.hidden = p.hidden;
  a.n_heads = a.n_kv_heads = p.heads;
  a.head_dim = p.hidden / p.heads;
  a.ffn_hidden = 4 * p.hidden;
  a.vocab = 51200;
  a.gated_mlp = false;
  a.norm = NormKind::LayerNorm;
  a.positions = PositionEncoding::Learned;
  a.max_positions = 2048;
  w.seq_len = 2048;
  w.global_batch = std::int64_t{4} * p.pipeline * p.micro_batch;
  return w;
}

double first_rank_gib(const Published& p, bool sequence_parallel, Recompute recompute) {
  const Workload w = gpt(p);
  Strategy s;
  s.tensor_parallel = 8;
  s.sequence_parallel = sequence_parallel;
  s.pipeline_parallel = p.pipeline;
  s.virtual_pipeline = p.chunks;
  s.schedule = p.chunks > 1 ? Schedule::Interleaved : Schedule::OneFOneB;
  s.micro_batch = static_cast<std::int32_t>(p.micro_batch);
  s.recompute = recompute;
  LayerSpec spec;
  spec.ffn_hidden = w.architecture.ffn_hidden;
  const double micro_batches = in_flight_micro_batches(0, p.pipeline, s.micro_batches(w), p.chunks, s.schedule);
  const double layers = micro_batches * static_cast<double>(p.layers) / p.pipeline;
  Stack stack;
  stack.flash_attention = false;
  return in_gib(layer_activation_bytes(w, spec, s, stack)) * layers;
}

TEST_P(KorthikantiActivations, MatchTheLastDigit) {
  const Published& p = GetParam();
  EXPECT_NEAR(first_rank_gib(p, false, Recompute::None), p.none_gib, 5e-5);
  EXPECT_NEAR(first_rank_gib(p, true, Recompute::Selective), p.sequence_selective_gib, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(Table3, KorthikantiActivations,
                         testing::Values(Published{"Gpt22B", 6144, 64, 48, 4, 1, 1, 59.25, 9.5625},
                                         Published{"Gpt175B", 12288, 96, 96, 1, 8, 3, 66.84375, 12.3515625},
                                         Published{"Gpt530B", 20480, 128, 105, 1, 35, 3, 114.0234375, 23.0762},
                                         Published{"Gpt1T", 25600, 160, 128, 1, 64, 1, 131.25, 26.5625}),
                         [](const testing::TestParamInfo<Published>& info) { return std::string(info.param.name); });

Workload llama_70b(std::int64_t seq_len) {
  Workload w;
  Architecture& a = w.architecture;
  a.n_layers = 80;
  a.hidden = 8192;
  a.n_heads = 64;
  a.n_kv_heads = 8;
  a.head_dim = 128;
  a.ffn_hidden = 28672;
  a.vocab = 128256;
  w.seq_len = seq_len;
  w.global_batch = 8;
  return w;
}
LayerSpec dense(const Workload& w) {
  LayerSpec spec;
  spec.ffn_hidden = w.architecture.ffn_hidden;
  return spec;
}

TEST(ModernBlock, KeepsTheLedgerOfEightHiddenSixFfn) {
  // Per token: norms 8h, queries and attention output 4 a dh, keys and values 4 g dh, gate, up and product 6f,
  // log-sum-exp 4a: 8*8192 + 4*64*128 + 4*8*128 + 6*28672 + 4*64 = 274688 bytes.
  const Workload w = llama_70b(4096);
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(), 4096.0 * 274688);
}

TEST(ModernBlock, FullRecomputationKeepsTheInput) {
  const Workload w = llama_70b(4096);
  Strategy s;
  s.recompute = Recompute::Full;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), s, Stack{}).value(), 4096.0 * 2 * 8192);
}

TEST(ModernBlock, SequenceParallelDividesEverything) {
  const Workload w = llama_70b(4096);
  Strategy s;
  s.tensor_parallel = 8;
  s.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), s, Stack{}).value(), 4096.0 * 274688 / 8);
  s.recompute = Recompute::Full;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), s, Stack{}).value(), 4096.0 * 2 * 8192 / 8);
}

TEST(ModernBlock, InFullPrecisionKeepsTwiceTheBytesButForTheLogSumExp) {
  Workload w = llama_70b(4096);
  w.precision = Precision::Fp32;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(),
                   4096.0 * (2 * (274688 - 256) + 256));
}

TEST(ModernBlock, WhoseHalvesShareANormKeepsOneNormLess) {
  Workload w = llama_70b(4096);
  w.architecture.parallel_block = true;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(), 4096.0 * (274688 - 4 * 8192));
}

TEST(ModernBlock, KeepsTheInputsOfFurtherNorms) {
  Workload w = llama_70b(4096);
  w.architecture.qk_norm = true;
  const double heads = 2 * (64 + 8) * 128;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(), 4096.0 * (274688 + heads));
  w.architecture.norms_per_layer = 4;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(),
                   4096.0 * (274688 + heads + 2 * 2 * 8192));
  Stack plain;
  plain.plain_layers = true;
  const Bytes cast = layer_activation_bytes(w, dense(w), Strategy{}, plain);
  w.architecture.qk_norm = false;
  EXPECT_DOUBLE_EQ((cast - layer_activation_bytes(w, dense(w), Strategy{}, plain)).value(), 4096.0 * 3 * heads)
      << "in 32 bits and once more in 16";
}

TEST(ModernBlock, OverAnEncoderKeepsASecondAttention) {
  const Workload w = llama_70b(4096);
  LayerSpec spec = dense(w);
  spec.cross_attention = true;
  // Norm in and out, queries, keys and values, output, log-sum-exp.
  const double attention = 4 * 8192 + 2 * 80 * 128 + 2 * 8192 + 4 * 64;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, spec, Strategy{}, Stack{}).value(), 4096.0 * (274688 + attention));
}

TEST(LatentAttention, KeepsCompressedAndExpandedVectorsAndTheRotatedOnceMore) {
  Workload w = llama_70b(4096);
  w.architecture.latent = {
      .q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
  const double compressed = 4 * (1536 + 512) + 2 * 64;
  const double expanded = 2 * 64 * (2 * 192 + 256) + 2 * 8192;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), Strategy{}, Stack{}).value(),
                   4096.0 * (8 * 8192 + 6 * 28672 + 4 * 64 + compressed + expanded));
}

TEST(UnfusedKernels, KeepTheGateOnceMoreAndInputsAsGathered) {
  const Workload w = llama_70b(4096);
  Strategy s;
  const double alone = token_activations(w, dense(w), s, {.unfused = true}).saved;
  EXPECT_DOUBLE_EQ(alone, 274688 + 2 * 28672);
  s.tensor_parallel = 8;
  s.sequence_parallel = true;
  // Of the two inputs of 2 h bytes this rank has an eighth and keeps all.
  const double gathered = 2 * 2 * 8192 * 7;
  EXPECT_DOUBLE_EQ(token_activations(w, dense(w), s, {.unfused = true}).saved, (alone + gathered) / 8);
}

TEST(Backward, HoldsTheGradientsOfItsWidestOperationBesideTheOneThatFlows) {
  const Workload w = llama_70b(4096);
  const auto transient = [&](const Workload& of, const LayerSpec& spec, const Strategy& s, ActivationOptions options) {
    return token_activations(of, spec, s, options).transient;
  };
  Strategy s;
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {}), 4 * 28672 + 2 * 8192) << "gate and up";
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {.unfused = true}), 2 * 28672 + 2 * 8192);
  const double scores = 2 * 2 * 64 * 4096;
  const double mlp = 6 * 28672 + 4 * 8192;
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {.flash_attention = false}), scores - mlp)
      << "two gradients of the scores, when what the MLP kept is gone";
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {.flash_attention = false, .dropout = true}), scores - mlp - 8192)
      << "dropout makes one of the two, and its mask goes with the MLP";
  Workload experts = w;
  experts.architecture.moe = {.n_experts = 64, .top_k = 4, .expert_ffn_hidden = 1024};
  EXPECT_DOUBLE_EQ(transient(experts, {.moe = true}, s, {}), 2 * 80 * 128 + 2 * 8192 + 2 * 8192 * (1 + 4))
      << "queries, keys and values, and a gradient for each routed copy";
  s.tensor_parallel = 8;
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {}), 4 * 28672 / 8 + 2 * 8192);
  s.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(transient(w, dense(w), s, {}), (4 * 28672 + 2 * 8192) / 8);
}

TEST(ModernBlock, ContextParallelDividesTokens) {
  const Workload w = llama_70b(32768);
  Strategy s;
  s.context_parallel = 8;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), s, Stack{}).value(), 4096.0 * 274688);
}

TEST(ModernBlock, FlashKeepsLessThanScores) {
  const Workload w = llama_70b(4096);
  const Bytes flash = layer_activation_bytes(w, dense(w), Strategy{}, Stack{});
  Stack stored;
  stored.flash_attention = false;
  EXPECT_LT(flash, layer_activation_bytes(w, dense(w), Strategy{}, stored));
}

TEST(LowRank, FrozenMlpKeepsNoProductInputs) {
  Workload w = llama_70b(4096);
  w.finetune = FineTune::Lora;
  w.lora.targets = LoraTargets::Linear;
  const Bytes everywhere = layer_activation_bytes(w, dense(w), Strategy{}, Stack{});
  w.lora.targets = LoraTargets::Attention;
  const Bytes attention_only = layer_activation_bytes(w, dense(w), Strategy{}, Stack{});
  const double between = 3.0 * 2 * static_cast<double>(w.lora.rank);  // the two products of an adapter
  EXPECT_DOUBLE_EQ((everywhere - attention_only).value(), 4096.0 * (2 * 8192 + 2 * 28672 + between));
}

TEST(Fp8, KeepsProductInputsInOneByte) {
  Workload w = llama_70b(4096);
  const Bytes bf16 = layer_activation_bytes(w, dense(w), Strategy{}, Stack{});
  w.precision = Precision::Fp8;
  const Bytes fp8 = layer_activation_bytes(w, dense(w), Strategy{}, Stack{});
  // Both norm outputs, the attention output and the MLP's product.
  EXPECT_DOUBLE_EQ((bf16 - fp8).value(), 4096.0 * (2 * 8192 + 64 * 128 + 28672));
}

TEST(Recomputation, KeepsLessTheMoreIsDoneAgain) {
  const Workload w = llama_70b(4096);
  for (const bool fsdp : {false, true}) {
    Strategy s;
    if (fsdp) s.sharding = Sharding::FsdpFull;
    Bytes last = gib(1e9);
    for (const Recompute r : {Recompute::None, Recompute::Selective, Recompute::Full}) {
      s.recompute = r;
      const Bytes kept_bytes = layer_activation_bytes(w, dense(w), s, Stack{});
      EXPECT_LE(kept_bytes, last);
      last = kept_bytes;
    }
  }
}

TEST(Recomputation, ByOperationKeepsEveryOtherProduct) {
  const Workload w = llama_70b(4096);
  Strategy s;
  s.sharding = Sharding::FsdpFull;
  s.recompute = Recompute::Selective;
  // Layer input and norm; queries and attention output, values, gate; log-sum-exp.
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, dense(w), s, Stack{}).value(),
                   4096.0 * (2 * 2 * 8192 + 2 * (2 * 8192 + 8 * 128 + 28672) + 4 * 64));
}

double selective_per_token(const Workload& w, const LayerSpec& spec, std::initializer_list<LayerModule> modules,
                           bool flash = true) {
  Stack stack;
  stack.flash_attention = flash;
  stack.execution.recompute_modules = test::modules(modules);
  return token_activations(w, spec, Strategy{}, activation_options(w, Strategy{}, stack)).selective;
}

TEST(Recomputation, OfModulesKeepsAllButWhatTheyMake) {
  Workload w = llama_70b(4096);
  const double all = selective_per_token(w, dense(w), {});
  const auto dropped = [&](LayerModule module) { return all - selective_per_token(w, dense(w), {module}); };
  EXPECT_DOUBLE_EQ(dropped(LayerModule::Norms), 2 * 2 * 8192);
  EXPECT_DOUBLE_EQ(dropped(LayerModule::DenseMlp), 6 * 28672) << "gate, up and their product";
  EXPECT_DOUBLE_EQ(dropped(LayerModule::CoreAttention), 0) << "flash attention keeps no scores";
  for (const LayerModule absent : {LayerModule::LatentUpProjection, LayerModule::ExpertActivation,
                                   LayerModule::SharedExperts, LayerModule::Experts}) {
    EXPECT_DOUBLE_EQ(dropped(absent), 0);
  }
  EXPECT_DOUBLE_EQ(all - selective_per_token(w, dense(w), {LayerModule::Norms, LayerModule::DenseMlp}),
                   2 * 2 * 8192 + 6 * 28672);
  const double stored = 64.0 * 4096 * 2;
  EXPECT_DOUBLE_EQ(selective_per_token(w, dense(w), {LayerModule::Norms}, false) -
                       selective_per_token(w, dense(w), {LayerModule::Norms, LayerModule::CoreAttention}, false),
                   stored);
}

TEST(Recomputation, OfModulesOfExpertsDropsWhatIsRouted) {
  Workload w = llama_70b(4096);
  w.architecture.moe = {
      .n_experts = 64, .top_k = 2, .expert_ffn_hidden = 1024, .n_shared_experts = 1, .shared_expert_ffn_hidden = 512};
  const LayerSpec spec{.moe = true};
  const double all = selective_per_token(w, spec, {});
  const auto dropped = [&](std::initializer_list<LayerModule> modules) {
    return all - selective_per_token(w, spec, modules);
  };
  EXPECT_DOUBLE_EQ(dropped({LayerModule::ExpertActivation}), 2 * 2 * 1024);
  EXPECT_DOUBLE_EQ(dropped({LayerModule::SharedExperts}), 6 * 512);
  const double experts = 2 * (6 * 1024 + 2 * 8192) + 6 * 512 + 4 * 64;
  EXPECT_DOUBLE_EQ(dropped({LayerModule::Experts}), experts);
  EXPECT_DOUBLE_EQ(dropped({LayerModule::ExpertActivation, LayerModule::Experts}), experts) << "counted once";
  EXPECT_DOUBLE_EQ(dropped({LayerModule::DenseMlp}), 0);
  w.architecture.latent = {
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
  EXPECT_DOUBLE_EQ(selective_per_token(w, spec, {}) - selective_per_token(w, spec, {LayerModule::LatentUpProjection}),
                   2.0 * 64 * (2 * 192 + 256));
}

// Korthikanti et al. 2022, section 4.3: of the embedding a byte of dropout's mask; a norm needs its input.
TEST(Embedding, KeepsItsMaskAndTheInputOfItsNorm) {
  Workload w = gpt({.hidden = 4096, .heads = 32, .layers = 32, .micro_batch = 1, .pipeline = 1, .chunks = 1});
  Strategy s;
  s.tensor_parallel = 8;
  const auto bytes = [&](bool dropout) { return embedding_kept(w, s, {.dropout = dropout}); };
  EXPECT_EQ(bytes(false), 0);
  EXPECT_EQ(bytes(true), 4096);
  w.architecture.embedding_norm = true;
  EXPECT_EQ(bytes(true), 3 * 4096);
  s.sequence_parallel = true;
  EXPECT_EQ(bytes(true), 3 * 4096 / 8);
  w.finetune = FineTune::Lora;
  EXPECT_EQ(bytes(true), 0) << "frozen";
}

TEST(Experts, OnOtherRanksAreNotDividedByTensorRanksThatDoNotShareTheTokens) {
  Workload w = llama_70b(4096);
  w.architecture.moe = {.n_experts = 64, .top_k = 2, .expert_ffn_hidden = 1024};
  Strategy s;
  s.tensor_parallel = 8;
  s.expert_parallel = 4;
  const double attention = 2 * 80 * 128 + 2 * 8192 + 4 * 64;
  const double experts = 2 * (6 * 1024 + 2 * 8192);
  const double router = 4 * 64;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, {.moe = true}, s, Stack{}).value(),
                   4096.0 * (8 * 8192 + router + attention / 8 + experts));
  s.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(w, {.moe = true}, s, Stack{}).value(),
                   4096.0 * (8 * 8192 + router + attention + experts) / 8);
}

TEST(Experts, TopKTokensAreKept) {
  Workload w = llama_70b(4096);
  w.architecture.moe.n_experts = 64;
  w.architecture.moe.expert_ffn_hidden = 1024;
  LayerSpec spec;
  spec.moe = true;
  w.architecture.moe.top_k = 2;
  const Bytes two = layer_activation_bytes(w, spec, Strategy{}, Stack{});
  w.architecture.moe.top_k = 4;
  const Bytes four = layer_activation_bytes(w, spec, Strategy{}, Stack{});
  // Two more copies of the routed input, gate, up and product.
  EXPECT_DOUBLE_EQ((four - two).value(), 4096.0 * 2 * (2 * 8192 + 6 * 1024));
}

Workload llama_2_7b_with_adapters(LoraTargets targets) {
  Workload w;
  Architecture& a = w.architecture;
  a.n_layers = a.n_heads = a.n_kv_heads = 32;
  a.hidden = 4096;
  a.head_dim = 128;
  a.ffn_hidden = 11008;
  a.vocab = 32000;
  w.seq_len = 1304;
  w.global_batch = 1;
  w.finetune = FineTune::Lora;
  w.lora.targets = targets;
  return w;
}

Stack litgpt() {
  Stack stack;
  stack.fused_kernels = false;
  stack.plain_layers = stack.fused_qkv = stack.adapter_dropout = stack.lightning_quantization = true;
  return stack;
}

double saved_per_token(const Workload& w, const Stack& stack) {
  return token_activations(w, dense(w), Strategy{}, activation_options(w, Strategy{}, stack)).saved;
}

// Its table of Llama 2 7B (2023-10, rank 8, A100-40GB): 21.30 and 29.07 GB at one and two sequences of 1,304 tokens.
// Less 8 bytes a logit and 52 KB a token of gradients that is 176.6 KB a token and layer.
TEST(LitGpt, KeepsWhatItsTableSays) {
  const double measured = ((29.07e9 - 21.30e9) / 1304 - 8.0 * 32000 - (4 * 11008 + 2 * 4096)) / 32;
  const double saved = saved_per_token(llama_2_7b_with_adapters(LoraTargets::QueryValue), litgpt());
  EXPECT_NEAR(saved / measured, 1, 0.01);
  // Norms in fp32 8 h; dropped-out input and mask 3; queries, keys, values 6; their rotated copies 4; scattered
  // adapters 4; output of attention 2; gate, up and their product 6 f; one fp32 a head; two adapters of 16 values.
  EXPECT_DOUBLE_EQ(saved, 27.0 * 4096 + 6.0 * 11008 + 4 * 32 + 2 * 2 * 16);
}

TEST(LitGpt, QuantisedProductsKeepInputsThatNothingNeeds) {
  Workload w = llama_2_7b_with_adapters(LoraTargets::QueryValue);
  const double sixteen_bits = saved_per_token(w, litgpt());
  w.finetune = FineTune::Qlora;
  EXPECT_DOUBLE_EQ(saved_per_token(w, litgpt()) - sixteen_bits, 4.0 * 4096 + 2.0 * 11008);
  Stack newer = litgpt();
  newer.lightning_quantization = false;
  EXPECT_DOUBLE_EQ(saved_per_token(w, newer), sixteen_bits);
}

TEST(LitGpt, AdaptersOnEveryMapDropOutEveryInput) {
  const double some = saved_per_token(llama_2_7b_with_adapters(LoraTargets::QueryValue), litgpt());
  const double all = saved_per_token(llama_2_7b_with_adapters(LoraTargets::Linear), litgpt());
  // Output of attention, gate and up 3 h each, down 3 f; without the scattered 4 h; five more adapters of 16 values.
  EXPECT_DOUBLE_EQ(all - some, (3.0 + 6 - 4) * 4096 + 3.0 * 11008 + 5 * 2 * 16);
}

// torchtune's list of optimizations (Llama 3.2 3B, 2 x 4096 tokens, A100): torch.compile takes 9.0 GiB off the peak.
TEST(PlainLayers, KeepWhatCompilingDrops) {
  Workload w;
  Architecture& a = w.architecture;
  a.n_layers = 28;
  a.hidden = 3072;
  a.n_heads = 24;
  a.n_kv_heads = 8;
  a.head_dim = 128;
  a.ffn_hidden = 8192;
  w.seq_len = 4096;
  w.global_batch = 2;
  Stack plain;
  plain.fused_kernels = false;
  plain.plain_layers = true;
  const double dropped = saved_per_token(w, plain) - saved_per_token(w, Stack{});
  // Both norms 4 h more, the gated product 2 f, keys and values of 16 more heads.
  EXPECT_DOUBLE_EQ(dropped, 8.0 * 3072 + 2.0 * 8192 + 4.0 * 16 * 128);
  a.norm = NormKind::LayerNorm;
  a.n_kv_heads = 24;
  EXPECT_DOUBLE_EQ(saved_per_token(w, plain) - saved_per_token(w, Stack{}), 2.0 * 8192) << "nothing of these is cast";
}

Stack plain_stack() {
  Stack stack;
  stack.fused_kernels = false;
  stack.plain_layers = true;
  return stack;
}

Workload tiny_llama() {
  Workload w;
  Architecture& a = w.architecture;
  a.n_layers = 22;
  a.hidden = 2048;
  a.n_heads = 32;
  a.n_kv_heads = 4;
  a.head_dim = 64;
  a.ffn_hidden = 5632;
  w.seq_len = 2048;
  w.global_batch = 4;
  return w;
}

// Counted in the modules of Transformers 5.17 under autocast; an H200 measured 53.2 h a layer where these are 52.6 h
// (tests/measured/trainer_runs.csv, tinyllama-1.1b-b4-s2048-full-bf16).
TEST(Autocast, KeepsHiddenStatesInFp32AndACastForEachProduct) {
  const Workload w = tiny_llama();
  Stack stack = plain_stack();
  stack.autocast = stack.transformers_layers = stack.grouped_attention = true;
  const double norms = 2 * (4 + 4) * 2048;
  const double casts = (3 * 2 + 2 * 2) * 2048;
  const double attention = 2 * (2048 + 2 * 256) + 2 * 2048 + 4 * 32;
  EXPECT_DOUBLE_EQ(saved_per_token(w, stack), norms + casts + attention + 8 * 5632);
  EXPECT_DOUBLE_EQ(token_activations(w, dense(w), Strategy{}, activation_options(w, Strategy{}, stack)).input,
                   4 * 2048);
  stack.execution.pure_half = Toggle::On;
  EXPECT_DOUBLE_EQ(saved_per_token(w, stack), norms - 2 * 2 * 2048 + 2 * 2 * 2048 + attention + 8 * 5632)
      << "weights in 16 bits keep hidden states there";
}

TEST(PlainLayers, RepeatHeadsForAMaskOfPaddingAndInOlderReleases) {
  Workload w = tiny_llama();
  Stack stack = plain_stack();
  stack.grouped_attention = true;
  stack.grouped_attention_since = 2501;
  const double grouped = saved_per_token(w, stack);
  const double repeated = grouped + 2 * 2 * 28 * 64;
  EXPECT_DOUBLE_EQ(saved_per_token(w, as_of_release(stack, 2412)), repeated);
  EXPECT_DOUBLE_EQ(saved_per_token(w, as_of_release(stack, 2501)), grouped);
  w.padded = true;
  EXPECT_DOUBLE_EQ(saved_per_token(w, stack), repeated);
}

// Transformers' eager attention takes the softmax in fp32 and casts it. Between eager and SDPA an H200 measured 7.0
// bytes a score for GPT-2, which drops some out, and 5.7 for Llama with its transients.
TEST(PlainLayers, KeepStoredScoresInFp32AndAsTheyMeetTheValues) {
  Workload w = tiny_llama();
  w.architecture.n_kv_heads = 32;
  Stack eager = plain_stack();
  const double flash = saved_per_token(w, eager) - 4 * 32;
  eager.flash_attention = false;
  const double scores = 32.0 * 2048;
  EXPECT_DOUBLE_EQ(saved_per_token(w, eager) - flash, (4 + 2) * scores);
  w.precision = Precision::Fp32;
  Stack kernel = eager;
  kernel.flash_attention = true;
  EXPECT_DOUBLE_EQ(saved_per_token(w, eager) - (saved_per_token(w, kernel) - 4 * 32), 4 * scores);
}

// Counted in NewGELUActivation; an H200 measured 50 h a layer of GPT-2 where the ffn's 12 bytes are 48 h.
TEST(PlainLayers, ComputeTheTanhFormOfGeluByOperations) {
  Workload w = tiny_llama();
  Architecture& a = w.architecture;
  a.gated_mlp = false;
  Stack stack = plain_stack();
  stack.transformers_layers = true;
  const auto added = [&] {
    a.plain_gelu = false;
    const double fused = saved_per_token(w, stack);
    a.plain_gelu = true;
    return (saved_per_token(w, stack) - fused) / 5632;
  };
  EXPECT_DOUBLE_EQ(added(), 6) << "cube, tanh and two factors for the one input";
  stack.autocast = true;
  EXPECT_DOUBLE_EQ(added(), 12) << "the cube in fp32, and what follows";
  w.precision = Precision::Fp32;
  EXPECT_DOUBLE_EQ(added(), 12);
  stack.transformers_layers = false;
  EXPECT_DOUBLE_EQ(added(), 0) << "other programs have one kernel for it";
}

// PEFT keeps adapters in fp32; under autocast each reads a copy of its own.
TEST(LowRank, AdaptersInFp32ReadCopiesOfTheirInputs) {
  Workload w = tiny_llama();
  w.finetune = FineTune::Lora;
  w.lora.targets = LoraTargets::Linear;
  Stack stack = plain_stack();
  const double shared = saved_per_token(w, stack);
  stack.adapter_copies = true;
  EXPECT_DOUBLE_EQ(saved_per_token(w, stack) - shared, 8.0 * 2048) << "two of three, one of two, and of the output";
  w.lora.targets = LoraTargets::QueryValue;
  stack.adapter_copies = false;
  const double two = saved_per_token(w, stack);
  stack.adapter_copies = true;
  EXPECT_DOUBLE_EQ(saved_per_token(w, stack) - two, 2.0 * 2048);
}

TEST(LigerKernels, WriteTheGatesGradientsOverItsInputs) {
  Workload w = llama_70b(4096);
  Stack liger;
  liger.liger_kernels = true;
  const auto transient = [&](const Stack& stack) {
    return token_activations(w, dense(w), Strategy{}, activation_options(w, Strategy{}, stack)).transient;
  };
  EXPECT_DOUBLE_EQ(transient(Stack{}) - transient(liger), 2.0 * 28672);
}

}  // namespace
}  // namespace smplan
