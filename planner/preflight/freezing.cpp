#include "planner/preflight/freezing.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "catalogs/tokenizer/pattern.hpp"
#include "planner/preflight/weight_names.hpp"

namespace smplan {
namespace {

/// Weights of a block of Llama and its kin, as transformers names them.
constexpr std::array<std::string_view, 9> kOfBlock = {
    "input_layernorm.weight",  "post_attention_layernorm.weight", "self_attn.q_proj.weight", "self_attn.k_proj.weight",
    "self_attn.v_proj.weight", "self_attn.o_proj.weight",         "mlp.gate_proj.weight",    "mlp.up_proj.weight",
    "mlp.down_proj.weight"};
constexpr std::size_t kMostPatterns = 1000;
/// LLaMA-Factory's default of `freeze_trainable_layers`.
constexpr std::int64_t kFactoryBlocks = 2;

constexpr std::string_view kUnknownNames =
    "unfrozen_parameters are read as names of Llama's weights, and train parts of blocks or others: give "
    "--trained-layers";
constexpr std::string_view kApart = "the blocks that are trained are not next to one another: that is not modelled";

/// Without the rows of a weight at its end, `[:32000]`: what is outside of them has gradients too, set to zero.
std::string_view without_rows(std::string_view pattern) {
  if (!pattern.ends_with(']')) return pattern;
  const std::size_t open = pattern.rfind('[');
  if (open == std::string_view::npos || open == 0) return pattern;
  const std::string_view inside = pattern.substr(open + 1, pattern.size() - open - 2);
  const bool rows = inside.find_first_not_of("0123456789:") == std::string_view::npos;
  return rows && inside.find(':') == inside.rfind(':') ? pattern.substr(0, open) : pattern;
}

/// axolotl takes a point for itself, unless it is repeated, and matches from the start of a name on (utils/freeze.py).
std::string expression(std::string_view pattern) {
  pattern = without_rows(pattern);
  std::string out = "\\A(?:";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '.' && !(i + 1 < pattern.size() && pattern[i + 1] == '+')) out += '\\';
    out += pattern[i];
  }
  return out + ')';
}

class Names {
 public:
  /// False where a pattern is none.
  bool add(const Node& pattern) {
    Result<Pattern> compiled = Pattern::oniguruma(expression(pattern.text), pattern.where.path);
    if (!compiled) return false;
    patterns_.push_back(std::move(*compiled));
    matched_.push_back(false);
    return true;
  }
  /// Whether a pattern matches the name behind any of these beginnings. All are tried: see all_matched().
  bool trains(std::span<const std::string_view> beginnings, std::string_view name) {
    bool trained = false;
    for (const std::string_view beginning : beginnings) {
      const std::string whole = std::string(beginning) + std::string(name);
      matcher_.start_text();
      for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (!matcher_.matches(patterns_[i], whole)) continue;
        matched_[i] = trained = true;
      }
    }
    return trained;
  }
  /// Every pattern has matched a name that was tried.
  [[nodiscard]] bool all_matched() const {
    return std::all_of(matched_.begin(), matched_.end(), [](bool matched) { return matched; });
  }

 private:
  std::vector<Pattern> patterns_;
  std::vector<bool> matched_;
  Matcher matcher_;
};

void state_trained(const std::string& words, const Where& where, Job& job) {
  state_full(where, job);
  otherwise(job.strategy.trained_layers, words, where);
}

std::string joined(std::string blocks, bool embedding, bool head) {
  const auto add = [&](bool trained, std::string_view word) {
    if (trained) blocks += (blocks.empty() ? "" : "+") + std::string(word);
  };
  add(embedding, "embedding");
  add(head, "head");
  return blocks;
}

}  // namespace

void read_unfrozen(const Node& patterns, Job& job) {
  Names names;
  const std::vector<Node> alone{patterns};
  const std::vector<Node>& all = patterns.is_string() ? alone : patterns.items;
  if (all.empty()) return;
  bool known = all.size() <= kMostPatterns;
  for (const Node& pattern : all) known = known && pattern.is_string() && names.add(pattern);
  std::vector<std::int64_t> blocks;
  for (std::int64_t depth = 0; known && depth < kDepths; ++depth) {
    std::size_t trained = 0;
    for (const std::string_view weight : kOfBlock)
      trained += names.trains(kTextModels, fmt::format("layers.{}.{}", depth, weight));
    if (trained == kOfBlock.size()) blocks.push_back(depth);
    known = trained == 0 || trained == kOfBlock.size();
  }
  const bool embedding = names.trains(kTextModels, "embed_tokens.weight");
  const bool head = names.trains(kHeads, "lm_head.weight");
  names.trains(kTextModels, "norm.weight");  // may be trained too: it is too small to count
  // A pattern of other names trains what is not known here.
  if (!known || !names.all_matched() || (blocks.empty() && !embedding && !head)) {
    return state_unmodelled(kUnknownNames, job);
  }
  std::string range;
  if (!blocks.empty()) {
    if (blocks.back() - blocks.front() + 1 != static_cast<std::int64_t>(blocks.size())) {
      return state_unmodelled(kApart, job);
    }
    const bool to_end = blocks.back() == kDepths - 1;
    range = fmt::format("{}-{}", blocks.front(), to_end ? std::string() : std::to_string(blocks.back()));
  }
  state_trained(joined(range, embedding, head), patterns.where, job);
}

void read_freeze(const Node& root, const Where& where, Job& job) {
  const Node* count = root.find("freeze_trainable_layers");
  const std::int64_t blocks = count == nullptr ? kFactoryBlocks : integer_of(*count).value_or(0);
  if (blocks == 0) {
    return state_unmodelled("freeze_trainable_layers is no number of blocks: give --trained-layers", job);
  }
  if (const Node* modules = root.find("freeze_trainable_modules"); modules != nullptr && modules->text != "all") {
    return state_unmodelled("training some modules of a block is not modelled: use freeze_trainable_modules: all", job);
  }
  bool embedding = false;
  bool head = false;
  if (const Node* extra = root.find("freeze_extra_modules")) {
    for (const std::string& word : list_of(*extra)) {
      embedding = embedding || word == "embed_tokens" || word == "wte";
      head = head || word == "lm_head";
      if (word == "norm" || word == "embed_tokens" || word == "wte" || word == "lm_head") continue;
      note_unread(*extra, "names modules trained beside the blocks, which are not counted", job);
    }
  }
  const std::string words = blocks > 0 ? fmt::format("last:{}", blocks) : fmt::format("first:{}", -blocks);
  state_trained(joined(words, embedding, head), where, job);
}

}  // namespace smplan
