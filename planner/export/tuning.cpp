#include "planner/export/tuning.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/words.hpp"
#include "catalogs/adapted_layers.hpp"
#include "planner/export/hub_name.hpp"

namespace smplan {

void refuse(Diagnostics& faults, std::string message, std::string hint) {
  faults.push_back({"not-expressible", "--target", std::move(message), std::move(hint)});
}

void check_tunes(const TrainingPlan& plan, std::string_view tool, Diagnostics& faults) {
  if (!plan.fine_tunes) {
    refuse(faults, fmt::format("{} trains on from a model's weights, the plan starts from nothing", tool),
           "plan with --finetune full, lora or qlora");
  }
  if (plan.model.kind != ModelKind::Decoder) {
    refuse(faults, fmt::format("{} trains causal language models, {} is none", tool, plan.model.name),
           "export to torchrun or accelerate");
  }
  if (plan.finetune != FineTune::Full) check_targets(plan, faults);
}

void check_one_format(const TrainingPlan& plan, std::string_view tool, Diagnostics& faults) {
  if (keeps_32_bits(plan.precision) || is_pure_half(plan)) return;
  refuse(faults, fmt::format("{} keeps what it trains in the number format of the products, the plan in fp32", tool),
         "plan with --pure-half on");
}

void check_fsdp_offload(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  if (is_fsdp(s.sharding) && s.offload.optimizer && !s.offload.parameters) {
    refuse(faults, "FSDP offloads the optimizer with the parameters alone", "plan with --offload params, or none");
  }
}

std::int64_t examples_of_a_pass(const TrainingPlan& plan) {
  const std::int64_t together = plan.loss != nullptr ? plan.loss->sequences : 1;
  return std::max<std::int64_t>(1, plan.strategy.micro_batch / together);
}

std::int64_t examples_of_a_step(const TrainingPlan& plan) {
  const std::int64_t together = plan.loss != nullptr ? plan.loss->sequences : 1;
  return std::max<std::int64_t>(1, plan.global_batch / together);
}

void check_targets(const TrainingPlan& plan, Diagnostics& faults) {
  if (plan.lora_targets == LoraTargets::NonExpert) {
    refuse(faults, "this writer has no list of names that leaves out the routed experts alone",
           "plan with --lora-targets linear or attention, or export with --script your own");
    return;
  }
  if (plan.lora_targets == LoraTargets::Linear || peft_targets_of(plan.model)) return;
  refuse(faults, fmt::format("it is not known what transformers calls the projections of {}", plan.model.name),
         "plan with --lora-targets linear, or export with --script your own");
}

std::vector<std::string> lora_targets(const TrainingPlan& plan) {
  const AdapterTargets targets = peft_targets_of(plan.model).value_or(AdapterTargets{});
  switch (plan.lora_targets) {
    case LoraTargets::QueryValue:
      return targets.query_value;
    case LoraTargets::Attention:
      return targets.attention;
    case LoraTargets::NonExpert:
    case LoraTargets::Linear:
      return targets.linear;
  }
  return {};
}

Json peft_targets(const TrainingPlan& plan) {
  const std::vector<std::string> names = lora_targets(plan);
  return names.empty() ? Json("all-linear") : Json(names);
}

bool is_gpt_oss(const Architecture& model) { return model.model_type() == "gpt_oss"; }

bool fits_flash_attention(const Architecture& model) {
  constexpr std::int64_t kWidest = 256;
  return std::max(model.head_dim, model.global.head_dim) <= kWidest;
}

Json fused_attention(const Architecture& model) {
  // FlashAttention 2 has no sinks; the kernel of vLLM has: aws/sagemaker-hyperpod-recipes 2631995, recipes of gpt-oss.
  return Json{{"attn_implementation", is_gpt_oss(model) ? "kernels-community/vllm-flash-attn3" : "flash_attention_2"}};
}

std::string weights_of(const ExportJob& job, Export& out) {
  return hub_name_or(job, "REPLACE-ME-model", "folder of the model's weights, or its name on the Hugging Face hub",
                     out);
}

std::string data_set(Export& out) {
  out.placeholders.push_back({"REPLACE-ME-data", "folder of the data, or its name on the Hugging Face hub"});
  return "REPLACE-ME-data";
}

void note_start(const TrainingPlan& plan, std::string_view command, Export& out) {
  out.notes.push_back(fmt::format(
      "Start it on each instance: `torchrun --nnodes {} --nproc-per-node {} --node-rank RANK --rdzv-backend c10d "
      "--rdzv-endpoint FIRST:29500 {}`.",
      plan.instance_count, plan.devices_per_instance(), command));
}

}  // namespace smplan
