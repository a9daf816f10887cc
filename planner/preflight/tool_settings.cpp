#include "planner/preflight/tool_settings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "models/job/dimensions.hpp"

namespace smplan {
namespace {

/// Of a value in a reason.
constexpr std::size_t kMostShown = 60;
/// Optimizers by names that models/job/workload.cpp does not have.
constexpr std::array<ToolWord, 7> kOptimizers = {{{"adamw_hf", "adamw"},
                                                  {"adamw_torch_8bit", "adam8bit"},
                                                  {"ao_adamw_8bit", "adam8bit"},
                                                  {"optimi_adamw", "adamw"},
                                                  {"lion_32bit", "lion"},
                                                  {"paged_lion_32bit", "lion"},
                                                  {"lion_pytorch", "lion"}}};

constexpr std::array<ToolWord, 10> kShardings = {{{"full_shard", "FULL_SHARD"},
                                                  {"shard_grad_op", "SHARD_GRAD_OP"},
                                                  {"no_shard", "NO_SHARD"},
                                                  {"hybrid_shard", "HYBRID_SHARD"},
                                                  {"1", "FULL_SHARD"},
                                                  {"2", "SHARD_GRAD_OP"},
                                                  {"3", "NO_SHARD"},
                                                  {"4", "HYBRID_SHARD"},
                                                  {"true", "FULL_SHARD"},
                                                  {"auto_wrap", ""}}};

/// The text of a scalar; of a list or an object what it is.
std::string shown(const Node& node) {
  if (node.kind == Node::Kind::Bool) return node.truth ? "true" : "false";
  if (node.is_array() || node.is_object()) return std::string(kind_name(node.kind));
  return printable(node.text, kMostShown);
}

/// A text, or what is written without quotes and read as something else.
std::optional<std::string> word_of(const Node& node) {
  if (node.is_string() || node.is_number()) return node.text;
  if (node.kind == Node::Kind::Bool) return node.truth ? "true" : "false";
  return std::nullopt;
}

/// What stands for a value that the tool or the user fills in.
bool is_open(const Node& node) { return node.is_string() && (node.text == "auto" || is_placeholder(node.text)); }

void refuse(const Node& node, std::string why, const ToolRow& row, Job& job) {
  if (row.if_unread == IfUnread::NotModelled) {
    state_unmodelled(fmt::format("{} `{}` is not modelled", row.path, shown(node)), job);
  }
  note_unread(node, std::move(why), job);
}

template <typename T>
void read_value(const Node& node, const ToolRow& row, Field<T>& field, Field<T> read, std::string_view wanted,
                Job& job) {
  if (field.stated) return;
  // A list whose first word counts is an argument list's, and those have no lists here.
  const bool scalar = !node.is_array() && !node.is_object();
  if (!scalar || (!read.value && !is_open(node))) {
    refuse(node, fmt::format("is `{}`, not {}", shown(node), wanted), row, job);
    if (!scalar) return;
  }
  field = std::move(read);
}

/// YAML 1.1 writes 500_000 too.
bool is_grouped(std::string_view text) {
  return !text.empty() && text.front() != '_' && text.find('_') != std::string_view::npos &&
         text.find_first_not_of("0123456789_") == std::string_view::npos;
}

void read_count(const Node& node, const ToolRow& row, Count& field, Job& job) {
  if (node.is_string() && is_grouped(node.text)) {
    Node plain = node;
    std::erase(plain.text, '_');
    return read_count(plain, row, field, job);
  }
  const std::optional<std::int64_t> value = integer_of(node);
  if (value && *value < 1) {
    if (*value != -1) note_unread(node, fmt::format("is {}: taken as not said", *value), job);
    return;
  }
  read_value(node, row, field, count_field(&node), "a whole number", job);
}

void read_text(const Node& node, const ToolRow& row, Text& field, Job& job) {
  if (field.stated) return;
  const std::optional<std::string> word = word_of(node);
  if (!word) return refuse(node, fmt::format("is `{}`, not a word", shown(node)), row, job);
  if (row.words.empty() || is_placeholder(*word)) {
    field = text_field(&node);
    return;
  }
  const auto ours = ours_of(row.words, lower_case(*word));
  if (!ours) return refuse(node, fmt::format("`{}` is not known", shown(node)), row, job);
  if (!ours->empty()) field = derived(std::string(*ours), node.where);
}

/// One row's value into its member.
struct Into {
  const Node& node;
  const ToolRow& row;
  Job& job;

  void operator()(Count JobStrategy::*m) const { read_count(node, row, job.strategy.*m, job); }
  void operator()(Count JobReinforcement::*m) const { read_count(node, row, job.reinforcement.*m, job); }
  void operator()(Text JobStrategy::*m) const { read_text(node, row, job.strategy.*m, job); }
  void operator()(Text JobReinforcement::*m) const { read_text(node, row, job.reinforcement.*m, job); }
  void operator()(Text Job::*m) const { read_text(node, row, job.*m, job); }
  void operator()(Switch JobStrategy::*m) const {
    read_value(node, row, job.strategy.*m, switch_field(&node), "true or false", job);
    if (is_open(node)) job.strategy.*m = {};  // the tool asks the device
  }
  void operator()(Share JobReinforcement::*m) const {
    read_value(node, row, job.reinforcement.*m, share_field(&node), "a number", job);
  }
  void operator()(void (*read)(const Node&, Job&)) const { read(node, job); }
};

void offload_parameters(const Node& node, Job& job) {
  if (truth_of(node) != true) return;
  job.strategy.parameter_offload = derived(std::string("cpu"), node.where);
  job.strategy.optimizer_offload = job.strategy.parameter_offload;
}

/// FSDP2's switch between the first two strategies of FSDP1; some files have FSDP1's words there.
void read_resharding(const Node& node, Job& job) {
  Text& sharding = job.strategy.sharding;
  if (sharding.stated) return;
  if (const auto on = truth_of(node)) {
    sharding = derived(std::string(*on ? "FULL_SHARD" : "SHARD_GRAD_OP"), node.where);
    return;
  }
  constexpr ToolRow kRow{"reshard_after_forward", &JobStrategy::sharding, kShardings, IfUnread::NotModelled};
  read_text(node, kRow, sharding, job);
}

constexpr ToolRow kFsdpRows[] = {
    {"sharding_strategy", &JobStrategy::sharding, kShardings, IfUnread::NotModelled},
    {"fsdp_sharding_strategy", &JobStrategy::sharding, kShardings, IfUnread::NotModelled},
    {"reshard_after_forward", read_resharding},
    {"fsdp_reshard_after_forward", read_resharding},
    {"offload_params", offload_parameters},
    {"fsdp_offload_params", offload_parameters},
    {"cpu_offload", offload_parameters},
    {"activation_checkpointing", read_checkpointing},
    {"fsdp_activation_checkpointing", read_checkpointing},
};

void state_fsdp(const Node& node, Job& job) {
  JobStrategy& s = job.strategy;
  otherwise(s.stack, "fsdp", node.where);
}

}  // namespace

std::optional<std::string_view> ours_of(std::span<const ToolWord> words, std::string_view word) {
  const auto known = std::find_if(words.begin(), words.end(), [&](const ToolWord& w) { return w.word == word; });
  return known == words.end() ? std::nullopt : std::optional(known->ours);
}

std::vector<std::string> list_of(const Node& node) {
  std::vector<std::string> words;
  if (node.is_array()) {
    for (const Node& item : node.items) words.push_back(lower_case(item.text));
    return words;
  }
  std::string text = lower_case(word_of(node).value_or(""));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ',' || c == '[' || c == ']' || c == '\'' || c == '"'; }, ' ');
  for (const std::string_view word : words_of(text)) words.emplace_back(word);
  return words;
}

bool is_on(const Node* node) { return node != nullptr && truth_of(*node) == true; }

void note_unread(const Node& node, std::string why, Job& job) { job.unread.push_back({node.where, std::move(why)}); }

void state_unmodelled(std::string_view why, Job& job) {
  if (job.not_modelled.empty()) job.not_modelled = why;
}

void read_rows(const Node& root, std::span<const ToolRow> rows, Job& job) {
  for (const ToolRow& row : rows) {
    const Node* node = node_by(root, row.path);
    if (node != nullptr && !node->is_null()) std::visit(Into{*node, row, job}, row.into);
  }
}

void read_unmodelled(const Node& root, std::span<const UnmodelledRow> rows, Job& job) {
  for (const UnmodelledRow& row : rows) {
    const Node* node = node_by(root, row.path);
    if (node == nullptr || node->is_null()) continue;
    const bool holds = row.word == "true" ? truth_of(*node) == true
                                          : row.word.empty() || node->text.find(row.word) != std::string::npos;
    if (holds) return state_unmodelled(row.why, job);
  }
}

void otherwise(Count& field, std::int64_t value, const Where& where) {
  if (!field.stated) field = derived(value, where);
}
void otherwise(Text& field, std::string_view value, const Where& where) {
  if (!field.stated) field = derived(std::string(value), where);
}
void otherwise(Switch& field, bool value, const Where& where) {
  if (!field.stated) field = derived(value, where);
}

void read_optimizer(const Node& node, Job& job) {
  if (job.strategy.optimizer.stated || is_open(node)) return;
  const std::string text = word_of(node).value_or("");
  const std::string name = text.substr(text.rfind('.') + 1);  // npos + 1 is 0
  const std::string lower = lower_case(name);
  const std::string word(ours_of(kOptimizers, lower).value_or(lower));
  if (!optimizer_from(word)) {
    state_unmodelled(fmt::format("the optimizer `{}` is not modelled", shown(node)), job);
    return note_unread(node, "is no optimizer that is modelled", job);
  }
  job.strategy.optimizer = derived(word, node.where);
  if (lower == "adamw_torch_fused") job.strategy.execution.fused_optimizer = Toggle::On;
  if (lower.find("paged") != std::string::npos) job.strategy.execution.paged_optimizer = Toggle::On;
  if (lower == "adamw_torch") job.strategy.execution.fused_optimizer = Toggle::Off;
}

void read_adapter_kind(const Node& on, std::string_view kind, Job& job) {
  if (truth_of(on) == true) job.strategy.adapters = derived(std::string(kind), on.where);
}

void read_adapter_start(const Node& node, Job& job) {
  if (lower_case(node.text).starts_with("pissa")) job.strategy.adapters = derived(std::string("pissa"), node.where);
}

void read_whole_modules(const Node& node, Job& job) {
  const std::vector<std::string> words = list_of(node);
  if (words.empty()) return;
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(names.begin(), names.end(), word) != names.end();
    });
  };
  const bool embedding = has({"embed_tokens", "wte", "embed_in", "word_embeddings"});
  const bool head = has({"lm_head", "embed_out", "output"});
  if (embedding || head) {
    job.strategy.lora_embeddings = derived(true, node.where);
    if (words.size() == 2 && embedding && head) return;
  }
  note_unread(node,
              embedding || head ? "is taken as embedding and head trained whole"
                                : "names modules trained whole beside the adapters, which are not counted",
              job);
}

void read_checkpointing(const Node& node, Job& job) {
  JobStrategy& s = job.strategy;
  const std::string word = lower_case(word_of(node).value_or(""));
  if (const auto on = truth_of(node)) {
    // Two switches may ask for it: of the trainer and of FSDP.
    if (*on || !s.recompute.stated) s.recompute = derived(std::string(*on ? "full" : "none"), node.where);
  } else if (word == "offload" || word == "unsloth") {
    s.recompute = derived(std::string("full"), node.where);
    s.activation_offload = derived(true, node.where);
  } else if (!is_open(node)) {
    state_unmodelled(fmt::format("recomputation by `{}` is not modelled", shown(node)), job);
    note_unread(node, "is no recomputation that is known", job);
  }
}

void read_filled_passes(const Node& node, Job& job) {
  if (truth_of(node) == true) job.strategy.by_tokens = derived(true, node.where);
}

void read_attention(const Node& node, Job& job) {
  JobStrategy& s = job.strategy;
  if (s.attention.stated || is_open(node)) return;
  const std::optional<std::string> text = word_of(node);
  if (!text) return note_unread(node, fmt::format("is `{}`, not a word", shown(node)), job);
  std::string word = lower_case(*text);
  if (word == "fa2" || word == "true" || word.ends_with("flash-attn2")) word = "flash_attention_2";
  if (word == "fa3" || word.ends_with("flash-attn3")) word = "flash_attention_3";
  if (word == "disabled") word = "eager";
  if (word == "false") return;
  s.attention = derived(word, node.where);
  if (word == "eager") s.execution.flash_attention = Toggle::Off;
  Strategy told;
  const DimensionRow& kernel = row_of(Dimension::AttentionKernel);
  if (const auto named = kernel.words->parse(word)) {
    kernel.set(told, *named);
    s.execution.attention_kernel = told.execution.attention_kernel;
  }
}

void read_deepspeed_setting(const Node& node, Job& job) {
  JobStrategy& s = job.strategy;
  if (node.is_object()) {
    Job own;
    read_deepspeed(node, own);
    s.zero_stage = own.strategy.zero_stage;
    s.optimizer_offload = own.strategy.optimizer_offload;
    s.parameter_offload = own.strategy.parameter_offload;
    s.execution.reduce_bucket = own.strategy.execution.reduce_bucket;
  } else if (node.is_string() && !node.text.empty()) {
    s.split_file = text_field(&node);
    job.split_unknown = fmt::format("the ZeRO stage stands in {}, which is not beside the file: give --zero-stage",
                                    printable(node.text, kMostShown));
  } else {
    return note_unread(node, fmt::format("is `{}`, not a file", shown(node)), job);
  }
  otherwise(s.stack, "deepspeed", node.where);
}

void read_fsdp_words(const Node& node, Job& job) {
  if (truth_of(node) == false) return;
  const std::vector<std::string> words = list_of(node);
  if (words.empty()) return;
  state_fsdp(node, job);
  for (const std::string& word : words) {
    if (word == "offload") {
      job.strategy.parameter_offload = derived(std::string("cpu"), node.where);
      job.strategy.optimizer_offload = job.strategy.parameter_offload;
      continue;
    }
    const auto ours = ours_of(kShardings, word);
    if (!ours) {
      state_unmodelled(fmt::format("FSDP's `{}` is not modelled", printable(word, kMostShown)), job);
      note_unread(node, fmt::format("`{}` is not known", printable(word, kMostShown)), job);
    } else if (!ours->empty()) {
      otherwise(job.strategy.sharding, *ours, node.where);
    }
  }
}

void read_fsdp_config(const Node& node, Job& job) {
  if (!node.is_object()) {
    if (node.is_string() && !node.text.empty()) {
      job.split_unknown = "the settings of FSDP stand in another file: give --sharding";
      note_unread(node, "is a file, which is not read", job);
    }
    return;
  }
  if (node.items.empty()) return;
  state_fsdp(node, job);
  read_rows(node, kFsdpRows, job);
}

void read_compile(const Node& node, Job& job) {
  if (const auto on = truth_of(node)) job.strategy.execution.compile = *on ? Compile::Layers : Compile::Off;
}

void read_rank(const Node& node, Job& job) {
  const auto rank = integer_of(node);
  if (!rank || *rank < 1) return;
  job.strategy.lora_rank = count_field(&node);
  job.strategy.finetune = derived(std::string("lora"), node.where);
}

void state_adapters(const Adapters& adapters, Job& job) {
  JobStrategy& s = job.strategy;
  const bool four = is_on(adapters.four_bits);
  s.finetune = derived(std::string(four ? "qlora" : "lora"), adapters.chosen->where);
  if (!four && is_on(adapters.eight_bits)) s.execution.base_format = BaseFormat::Int8;
}

void state_full(const Where& where, Job& job) { job.strategy.finetune = derived(std::string("full"), where); }

void finish_tool(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  // These go before all that else is not modelled.
  if (job.reinforcement.algorithm.stated) {
    job.not_modelled = kReinforcement;
  }
  const bool by_accelerate =
      job.kind == JobKind::Axolotl || job.kind == JobKind::LlamaFactory || job.kind == JobKind::Trl;
  // axolotl casts embedding and head back once PEFT has prepared the model (067b021, loaders/model.py). LLaMA-Factory
  // does not prepare it so (ff6d4d1, model/adapter.py), nor does TRL since PR 4704 (2025-12-16) but in its experimental
  // trainers.
  const bool prepared = job.kind == JobKind::Trl && (s.loss.is("orpo") || s.loss.is("simpo"));
  if (by_accelerate && s.finetune.is("qlora") && !prepared) s.execution.wide_embeddings = Toggle::Off;
  if (s.stack.is("fsdp")) {
    otherwise(s.sharding, "FULL_SHARD", s.stack.where);
    // Accelerate does not synchronise before the last micro-batch of a step.
    if (by_accelerate && s.accumulation.value_or(1) > 1) s.execution.unsharded_gradients = Toggle::On;
  }
  if (s.data_replicate.value_or(1) > 1 && s.data_shard) {
    s.sharding = derived(std::string("HYBRID_SHARD"), s.data_replicate.where);
    s.shard_degree = s.data_shard;
  }
  if (!s.sequence_length.stated && job.not_modelled.empty()) {
    job.unread.push_back({root.where, "no length of sequences is said: the model's own is taken"});
  }
}

void state_unread_base(const Node& base, Job& job) {
  const bool unnamed = base.where.path.empty();
  note_unread(base, unnamed ? "the program's own file of settings" : "is another file, whose settings are not read",
              job);
  state_unmodelled("the file goes on from another one, which is not read", job);
}

}  // namespace smplan
