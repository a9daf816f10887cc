#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "planner/preflight/fields.hpp"

namespace smplan {

// Files of tools that fine-tune (axolotl, LLaMA-Factory, torchtune, TRL, verl, NeMo-RL) are read by tables: a row says
// where a setting stands and which member of the job it is. What a table cannot read is noted in Job::unread.

/// A word of a tool, in lower case, and ours for it. Ours empty: the word leaves the choice to the tool (`auto`).
struct ToolWord {
  std::string_view word;
  std::string_view ours;
};
std::optional<std::string_view> ours_of(std::span<const ToolWord> words, std::string_view word);

/// What a value that cannot be read means.
enum class IfUnread : std::uint8_t {
  Noted,
  NotModelled,  ///< it decides memory or time: nothing is predicted
};

/// Where a setting of a tool stands and what becomes of it. Of several rows of one member the first that is stated
/// counts.
struct ToolRow {
  std::string_view path;  ///< members from the root: `model.lora_rank`
  std::variant<Count JobStrategy::*, Text JobStrategy::*, Switch JobStrategy::*, Count JobReinforcement::*,
               Text JobReinforcement::*, Share JobReinforcement::*, Text Job::*, void (*)(const Node&, Job&)>
      into;
  std::span<const ToolWord> words = {};  ///< of a text; empty: as it stands
  IfUnread if_unread = IfUnread::Noted;
};

/// A place, what it says there, and why such a training cannot be predicted.
struct UnmodelledRow {
  std::string_view path;  ///< members from the root
  std::string_view word;  ///< in its text, or `true`; empty: that it is there at all
  std::string_view why;
};

inline constexpr std::string_view kReinforcement =
    "reinforcement learning is no part of a plan: `smplan rl --from FILE` predicts its steps";
inline constexpr std::string_view kStepRewards = "rewards of single steps of an answer are not modelled";
inline constexpr std::string_view kPartialTraining = "training some of the weights is not modelled";
inline constexpr std::string_view kDistillation = "distillation is not modelled: its teacher's memory is not counted";
inline constexpr std::string_view kQuantizedTraining = "quantization-aware training is not modelled";

/// The words of a list, or of a text that commas and blanks divide, in lower case.
std::vector<std::string> list_of(const Node& node);
/// Whether it is there and true.
bool is_on(const Node* node);

void read_rows(const Node& root, std::span<const ToolRow> rows, Job& job);
/// The first row that holds says why nothing is predicted, unless that is known already.
void read_unmodelled(const Node& root, std::span<const UnmodelledRow> rows, Job& job);
void note_unread(const Node& node, std::string why, Job& job);
void state_unmodelled(std::string_view why, Job& job);

/// What a tool does where its file does not say; `where` is the place that decides.
void otherwise(Count& field, std::int64_t value, const Where& where);
void otherwise(Text& field, std::string_view value, const Where& where);
void otherwise(Switch& field, bool value, const Where& where);

// Rows whose value is more than a word.
/// By the names of torch, bitsandbytes, torchao and TrainingArguments; of a path (`torch.optim.AdamW`) its last name.
void read_optimizer(const Node& node, Job& job);
/// Adapters of this kind, where the switch is on.
void read_adapter_kind(const Node& on, std::string_view kind, Job& job);
/// PEFT's `init_lora_weights`: `pissa`, `pissa_niter_16`; other words start LoRA another way.
void read_adapter_start(const Node& node, Job& job);
/// PEFT takes a text for an expression over a module's whole path. TRL makes one of a list of one. nullptr for names.
const std::string* expression_of(const Node& targets, JobKind kind);
/// Modules that carry adapters: a list, a text with commas, or an expression.
void read_lora_targets(const Node& node, Job& job);
/// Modules that are trained whole beside adapters: embedding and head, or others.
void read_whole_modules(const Node& node, Job& job);
/// Of adapters; 0 trains all weights.
void read_rank(const Node& node, Job& job);
/// `true` recomputes whole layers.
void read_checkpointing(const Node& node, Job& job);
/// `true` fills a pass up to a number of tokens, whatever number of sequences that is.
void read_filled_passes(const Node& node, Job& job);
/// The name of an attention implementation.
void read_attention(const Node& node, Job& job);
/// The path of a DeepSpeed file, or its settings themselves.
void read_deepspeed_setting(const Node& node, Job& job);
/// TrainingArguments' `fsdp`: words of a text or a list.
void read_fsdp_words(const Node& node, Job& job);
/// TrainingArguments' and axolotl's `fsdp_config`, with or without `fsdp_` before its names.
void read_fsdp_config(const Node& node, Job& job);
/// torch.compile, on or off.
void read_compile(const Node& node, Job& job);

/// Where the switch at the row is on, software is told `Value`.
template <auto Member, auto Value>
void told(const Node& node, Job& job) {
  if (truth_of(node) == true) job.strategy.execution.*Member = Value;
}
/// Where it is off.
template <auto Member, auto Value>
void told_off(const Node& node, Job& job) {
  if (truth_of(node) == false) job.strategy.execution.*Member = Value;
}

/// Adapters of this rank, on a base in 4 bits (`qlora`), in 8, or as it is.
struct Adapters {
  const Node* chosen = nullptr;  ///< the setting that asks for them
  const Node* four_bits = nullptr;
  const Node* eight_bits = nullptr;
};
void state_adapters(const Adapters& adapters, Job& job);
/// Every weight is trained.
void state_full(const Where& where, Job& job);

/// After all rows: what the loss and reinforcement learning leave out, and steps that count instead of epochs.
void finish_tool(const Node& root, Job& job);
/// The file goes on from another one (`defaults`), which nobody reads.
void state_unread_base(const Node& base, Job& job);

}  // namespace smplan
