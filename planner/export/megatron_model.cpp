#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/export/megatron.hpp"
#include "planner/export/tuning.hpp"

// Read against NVIDIA/Megatron-LM d98e8a6: megatron/training/arguments.py, core/transformer/transformer_config.py.

namespace smplan {
namespace {

/// What layers have beside the widths that the catalog holds, and Megatron's arguments or we have no words for.
struct Peculiarity {
  std::string_view family;
  std::string_view what;
};
constexpr Peculiarity kPeculiar[] = {
    {"dbrx", "clipped queries, keys and values"},
    {"gemma", "GeGLU, norms of its own and soft caps"},
    {"gpt-neo", "every other layer attending locally"},
    {"gpt-oss", "a clamped, shifted gate and attention sinks"},
    {"llama4", "attention in chunks"},
    {"llama4_text", "attention in chunks"},
    {"grok", "GeGLU and soft caps"},
    {"olmoe", "norms over the queries and keys of all heads"},
    {"opt", "ReLU"},
};

/// Types of transformers of one family: `gemma` is `gemma3_text` too.
bool is_of(std::string_view type, std::string_view known) {
  const std::string letters = letters_and_digits(type);
  const std::string wanted = letters_and_digits(known);
  if (!letters.starts_with(wanted)) return false;
  return letters.size() == wanted.size() || (letters[wanted.size()] >= '0' && letters[wanted.size()] <= '9');
}

std::string peculiarity(const Architecture& a) {
  for (const Peculiarity& p : kPeculiar) {
    if (is_of(a.model_type(), p.family)) return std::string(p.what);
  }
  if (a.positions == PositionEncoding::Alibi) return "ALiBi";
  if (a.positions == PositionEncoding::RelativeBias) return "relative position biases";
  if (a.parallel_block) return "attention and MLP side by side";
  if (a.embedding_norm) return "a norm on the embedding";
  return {};
}

}  // namespace

void check_megatron(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  if (plan.model.kind != ModelKind::Decoder) {
    refuse(faults,
           fmt::format("megatron exports decoders, {} is of kind {}", plan.model.name, to_string(plan.model.kind)),
           "plan with --stack ddp, fsdp or deepspeed");
  } else {
    const std::string what = peculiarity(plan.model);
    if (!what.empty()) {
      refuse(faults, fmt::format("megatron's arguments cannot say what {} has: {}", plan.model.name, what),
             "plan with --stack fsdp or deepspeed");
    }
  }
  const Optimizer o = plan.optimizer;
  if (o != Optimizer::AdamW && o != Optimizer::SgdMomentum && o != Optimizer::Muon) {
    refuse(faults, fmt::format("megatron has no optimizer {}", to_string(o)), "plan with --optimizer adamw");
  }
  // TransformerConfig.__post_init__ raises on both.
  if (s.offload.activations && s.pipeline_parallel > 1) {
    refuse(faults, "megatron offloads no activations in a pipeline", "plan with --offload none, or with --pp 1");
  }
  if (s.offload.activations && s.recompute != Recompute::None) {
    refuse(faults, "megatron offloads no activations beside recomputation",
           "plan with --offload none, or with --recompute none");
  }
  // Its fused cross-entropies, native and Transformer Engine's, both take the logits.
  if (plan.strategy.execution.loss_kernel == LossKernel::Linear) {
    refuse(faults, "megatron has no loss that keeps no logits", "plan with --fused-loss off");
  }
}

}  // namespace smplan
