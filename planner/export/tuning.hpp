#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "planner/export/target.hpp"

namespace smplan {

// What the writers of tools that fine-tune share (tool_files.cpp, torchtune.cpp, verl.cpp, llmft.cpp).

/// Weights, gradients and moments in 16 bits, without fp32 masters.
inline bool is_pure_half(const TrainingPlan& plan) { return plan.strategy.execution.pure_half == Toggle::On; }

/// A fault of the target: what it cannot say, and what to plan instead.
void refuse(Diagnostics& faults, std::string message, std::string hint);

/// Faults that all such tools have: they train causal language models on from their weights.
void check_tunes(const TrainingPlan& plan, std::string_view tool, Diagnostics& faults);
/// Those of tools that keep trained weights in the format of the products: 16-bit masters or fp32 throughout.
void check_one_format(const TrainingPlan& plan, std::string_view tool, Diagnostics& faults);
/// FSDP has one switch for both: what `--offload params` says takes the optimizer along.
void check_fsdp_offload(const TrainingPlan& plan, Diagnostics& faults);

/// Of pairs tools count one for two sequences.
std::int64_t examples_of_a_pass(const TrainingPlan& plan);
/// The same of a step.
std::int64_t examples_of_a_step(const TrainingPlan& plan);

/// A fault where it is not known what transformers calls the layers that are to carry adapters.
void check_targets(const TrainingPlan& plan, Diagnostics& faults);
/// Names of the modules that carry adapters; empty for all linear ones where PEFT finds them itself.
std::vector<std::string> lora_targets(const TrainingPlan& plan);
/// `all-linear`, or the above.
Json peft_targets(const TrainingPlan& plan);

/// Attention with sinks, in a checkpoint of OCP's 4-bit microscaling format: openai/gpt-oss-20b, config.json.
bool is_gpt_oss(const Architecture& model);
/// Whether FlashAttention 2, whose heads have up to 256 values, takes those of the model.
bool fits_flash_attention(const Architecture& model);
/// The kernel that a model's public code takes over packed sequences, as its configuration names it.
Json fused_attention(const Architecture& model);

/// Name on the hub or a placeholder for the folder of the weights.
std::string weights_of(const ExportJob& job, Export& out);
/// A placeholder for the data.
std::string data_set(Export& out);
/// How torchrun starts `command` on each instance.
void note_start(const TrainingPlan& plan, std::string_view command, Export& out);

}  // namespace smplan
