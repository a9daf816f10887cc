#include "planner/validation/run_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "planner/validation/phrases.hpp"

namespace smplan {
namespace {

class Words : public Phrases {
 public:
  using Phrases::Phrases;
  /// The whole number right after a phrase.
  [[nodiscard]] std::optional<std::int64_t> number_after(std::string_view phrase) const {
    const std::size_t at = text().find(phrase);
    if (at == std::string::npos) return std::nullopt;
    std::int64_t value = 0;
    const char* begin = text().data() + at + phrase.size();
    const auto [end, error] = std::from_chars(begin, text().data() + text().size(), value);
    if (error != std::errc() || end == begin || value <= 0) return std::nullopt;
    return value;
  }
  /// Year of a YY.MM release right after a phrase.
  [[nodiscard]] std::optional<double> release_after(std::string_view phrase) const {
    const std::optional<std::int64_t> year = number_after(phrase);
    if (!year || *year < 20 || *year > 60) return std::nullopt;
    const std::optional<std::int64_t> month = number_after(std::string(phrase) + std::to_string(*year) + ".0");
    const std::optional<std::int64_t> late = number_after(std::string(phrase) + std::to_string(*year) + ".");
    const auto months = static_cast<double>(month.value_or(late.value_or(6)));
    return months > 12 ? std::nullopt : std::optional<double>(2000 + static_cast<double>(*year) + (months - 1) / 12);
  }
};

Toggle toggle(const std::optional<bool>& on) { return !on ? Toggle::Default : *on ? Toggle::On : Toggle::Off; }
Toggle on_if(bool on) { return on ? Toggle::On : Toggle::Default; }

void switch_experts(const RunSettings& r, Execution& e) {
  if (r.deduplicated_dispatch) {
    e.moe_dispatcher = *r.deduplicated_dispatch ? MoeDispatcher::DeepEp : MoeDispatcher::AllToAll;
  }
  e.expert_overlap = toggle(r.expert_overlap);
  if (r.performance_recipe) e.moe_router = MoeRouter::Balanced;
  e.fused_routing = on_if(r.performance_recipe);
  if (r.graphed_experts) e.cuda_graphs = CudaGraphs::Router;
  if (r.graphed_layers) e.cuda_graphs = CudaGraphs::Layers;
  if (r.graphed_iteration) e.cuda_graphs = CudaGraphs::Iteration;
}

}  // namespace

bool says_four_bit_format(const Phrases& words) {
  constexpr std::array<std::string_view, 6> kFourBits{"nf4", "gptq", "4-bit", "4bit", "int4", "awq"};
  const std::vector<std::string_view> others{"adam",   "adamw",     "optimizer", "optimizers", "lion",
                                             "states", "gradients", "gradient",  "kv",         "activations"};
  return std::any_of(kFourBits.begin(), kFourBits.end(),
                     [&](std::string_view name) { return words.say_word(name, others); });
}

bool says_four_bit_weights(const Phrases& words) {
  return says_four_bit_format(words) || words.say_word("q-lora") || words.say_word("qlora");
}

RunSettings read_settings(std::string_view notes, std::string_view framework) {
  const Words words(std::string(notes) + " " + std::string(framework));
  // Notes may compare with other programs.
  const Phrases program(framework.empty() ? notes : framework);
  RunSettings s;
  if (words.say_any(std::array<std::string_view, 3>{"nvfp4", "fp4_", "label fp4"})) s.precision = Precision::Fp4;
  if (words.say_any(std::array<std::string_view, 3>{"fp8mx", "_fp8", "label fp8"})) s.precision = Precision::Fp8;
  if (words.say("float8")) s.precision = Precision::Fp8;
  if (words.say("_bf16_config") || words.say("label bf16")) s.precision = Precision::Bf16;
  s.rowwise_scales = words.say("rowwise");
  s.lora_rank = words.number_after("lora rank ");
  if (!s.lora_rank) s.lora_rank = words.number_after("rank=");
  // PEFT's comparison of methods (huggingface/peft 5d602fd, method_comparison/MetaMathQA/run.py).
  s.full_adapters = s.empties_cache = program.say("method_comparison");
  // That, torchtune's recipes and Answer.AI's script keep weights in dtype.
  s.pure_half = words.say("mp_mode=pure") || program.say("torchtune") || program.say("fsdp+qlora") || s.full_adapters;
  s.checkpoints_run_through = words.say("mp_mode=pure");  // the tables of LLM Foundry made with PyTorch 1.13
  s.tied_embeddings = words.say("tied=1");
  s.lora_embeddings =
      words.say_any(std::array<std::string_view, 3>{"lora (emb)", "modules_to_save", "lm_head also trained"});
  s.liger_kernels = words.say("liger");
  s.fused_loss = s.liger_kernels || words.say_any(std::array<std::string_view, 5>{
                                        "fused-linear", "cut cross", "fused loss", "chunked loss", "chunked cross"});
  // Its list of optimizations begins with the plain loss; its recipes come with the chunked one.
  s.whole_logits = words.say_any(std::array<std::string_view, 3>{"step: baseline", "step: +packed", "step: +compile"});
  s.fused_cross_entropy = words.say_any(
      std::array<std::string_view, 3>{"fused cross-entropy", "fused cross entropy", "cross-entropy-loss-fusion"});
  s.global_batch = words.number_after("global_batch ");
  if (!s.global_batch) s.global_batch = words.number_after("effective minibatch ");
  s.seq_len_is_limit = words.say_any(
      std::array<std::string_view, 3>{"samples are shorter", "longest alpaca sample", "variable lengths (max"});
  // A list of techniques says what ran; "no compile" may speak of the row beside it.
  if (words.say_any(std::array<std::string_view, 4>{"+ compile", "+compile", "compile +", "torch.compile"})) {
    s.compiled = true;
  } else if (words.say("no compile") || words.deny("torch.compile") || words.deny("compile") || words.say("eager")) {
    s.compiled = false;
  }
  // torchtitan compiles the loss too since 2025 (components/loss.py), beside PyTorch 2.7 and later.
  constexpr std::int64_t kFirstMinor = 7;
  s.compiled_loss = s.compiled.value_or(false) && words.number_after("pytorch 2.").value_or(0) >= kFirstMinor;
  s.unpacked = words.say("packing=0");
  s.async_tensor_parallel = words.say_any(std::array<std::string_view, 3>{"asynctp", "async tp", "async-tp"});
  s.all_to_all_context = words.say("cp a2a");
  s.tensor_overlap =
      !words.say_any(std::array<std::string_view, 3>{"no tp-comm overlap", "no tp comm overlap", "no tp overlap"});
  // Opt-in there (megatron/training/arguments.py), on in the recipes of NeMo and Megatron-Bridge.
  s.gradient_overlap = !program.say("megatron-lm") || words.say("overlap-grad-reduce");
  s.interleaved = words.say("interleaved 1f1b");
  if (words.say("dispatcher=alltoall")) s.deduplicated_dispatch = false;
  // Megatron Core's flex dispatcher runs one of the two.
  if (words.say_any(std::array<std::string_view, 3>{"dispatcher=flex", "deepep", "hybridep"})) {
    s.deduplicated_dispatch = true;
  }
  s.performance_recipe = words.say("container 2") || words.say("container nemo 2") || words.say("items/pretrain");
  s.software_year = words.release_after("container ");
  if (!s.software_year) s.software_year = words.release_after("container nemo ");
  if (!s.software_year && words.say("items/pretrain")) s.software_year = kSoftwareYear;  // cards of the main branch
  // grad_reduce_in_fp32 is off in their recipes; Megatron-LM's own default is on.
  s.half_gradients = program.say("megatron-bridge") || program.say("nemo");
  if (words.say("ep-a2a overlap=on")) s.expert_overlap = true;
  if (words.say("ep-a2a overlap=off")) s.expert_overlap = false;
  return s;
}

Execution execution_of(const RunSettings& r, bool has_experts) {
  Execution e;
  if (r.compiled) e.compile = !*r.compiled ? Compile::Off : r.compiled_loss ? Compile::LayersAndLoss : Compile::Layers;
  if (r.fused_cross_entropy) e.loss_kernel = LossKernel::Fused;
  if (r.whole_logits) e.loss_kernel = LossKernel::Whole;
  if (r.fused_loss) e.loss_kernel = LossKernel::Linear;
  e.liger_kernels = on_if(r.liger_kernels);
  if (!r.tensor_overlap) e.tensor_overlap = TensorOverlap::Off;
  if (r.async_tensor_parallel) e.tensor_overlap = TensorOverlap::Async;
  if (!r.gradient_overlap) e.gradient_overlap = Toggle::Off;
  if (r.all_to_all_context) e.context_exchange = ContextExchange::AllToAll;
  if (has_experts) switch_experts(r, e);
  for (const LayerModule module : r.recomputed_modules) e.recompute_modules.add(module);
  e.half_gradients = on_if(r.half_gradients);
  e.vocab_multiple = r.exact_vocabulary ? 1 : 0;
  e.empty_cache = on_if(r.empties_cache);
  e.reentrant_checkpoint = on_if(r.checkpoints_run_through);
  e.release_gradients = Toggle::On;
  if (r.software_year) {
    const double month = std::round((*r.software_year - std::floor(*r.software_year)) * 12);
    e.software_release = static_cast<std::int32_t>((std::floor(*r.software_year) - 2000) * 100 + month + 1);
  }
  return e;
}

}  // namespace smplan
