// The modules that carry adapters, as files name them: by the ends of their paths, or by one expression for whole ones.
// Source: huggingface/peft 0.21, tuners/tuners_utils.py, check_target_module_exists.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "catalogs/tokenizer/pattern.hpp"
#include "models/layers/adapters.hpp"
#include "planner/preflight/tool_settings.hpp"
#include "planner/preflight/weight_names.hpp"

namespace smplan {
namespace {

/// Modules by names that models/layers/adapters.hpp does not have. Where one module makes queries, keys and values,
/// adapters of queries and values are of all three. Routers are too small to count.
constexpr auto kModules = std::to_array<ToolWord>({
    {"output_proj", "o_proj"},
    {"out_proj", "o_proj"},
    {"dense", "o_proj"},
    {"attn.c_proj", "o_proj"},
    {"wq", "q_proj"},
    {"wk", "k_proj"},
    {"wv", "v_proj"},
    {"wo", "o_proj"},
    {"q", "q_proj"},
    {"k", "k_proj"},
    {"v", "v_proj"},
    {"o", "o_proj"},
    {"w1", "gate_proj"},
    {"w2", "down_proj"},
    {"w3", "up_proj"},
    {"qkv_proj", "q_proj+v_proj"},
    {"query_key_value", "q_proj+v_proj"},
    {"wqkv", "q_proj+v_proj"},
    {"c_attn", "q_proj+v_proj"},
    {"q_a_proj", "q_proj"},
    {"q_b_proj", "q_proj"},
    {"kv_a_proj_with_mqa", "k_proj+v_proj"},
    {"kv_b_proj", "k_proj+v_proj"},
    {"gate_up_proj", "gate_proj+up_proj"},
    {"fc1", "up_proj"},
    {"fc2", "down_proj"},
    {"fc_in", "up_proj"},
    {"fc_out", "down_proj"},
    {"c_fc", "up_proj"},
    {"mlp.c_proj", "down_proj"},
    {"c_proj", "o_proj+down_proj"},
    {"dense_h_to_4h", "up_proj"},
    {"dense_4h_to_h", "down_proj"},
    {"v1", "up_proj"},
    {"mlp_up", "up_proj"},
    {"mlp_down", "down_proj"},
    {"gate", ""},
    {"layer", ""},
    {"router", ""},
    {"shared_expert_gate", ""},
    {"in_proj_ba", "state"},
    {"in_proj_qkvz", "state"},
    {"in_proj_qkv", "state"},
    {"in_proj_z", "state"},
    {"in_proj_a", "state"},
    {"in_proj_b", "state"},
    {"x_proj", "state"},
    {"dt_proj", "state"},
    {"in_proj", "all"},
    {"linear", "all"},
    {"all_linear", "all"},
});

/// Paths of a block that an expression is tried with.
constexpr auto kPaths = std::to_array<std::string_view>({
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "linear_attn.in_proj_qkvz",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "mlp.shared_expert.up_proj",
    "mlp.shared_experts.up_proj",
    "mlp.experts.0.gate_proj",
    "mlp.experts.0.up_proj",
    "mlp.experts.0.down_proj",
});

/// What a file names of a block.
class Adapted {
 public:
  /// False where the module is not known. The path may be a simple expression: `.*\\.query_key_value$`.
  bool add(std::string path) {
    std::erase_if(path, [](char c) { return c == '\\' || c == '$' || c == '*'; });
    path.erase(0, path.find_first_not_of('.'));
    const std::string word = module_of(path);
    if (word.empty()) return true;
    if (word == "state") return mixes_states_ = true;
    const auto layers = linear_layers_from(word);
    if (!layers) return false;
    layers_.bits |= layers->bits;
    // A name alone is that of experts too.
    const bool alone = path.find('.') == std::string::npos;
    const bool routed = path.find("experts.") != std::string::npos && path.find("shared_experts.") == std::string::npos;
    routed_ = routed_ || ((alone || routed) && lora_targets_of(*layers) == LoraTargets::Linear);
    return true;
  }
  [[nodiscard]] bool empty() const { return layers_.bits == 0 && !mixes_states_; }
  [[nodiscard]] LoraTargets targets() const {
    const LoraTargets named = lora_targets_of(layers_);
    if (named == LoraTargets::Linear && routed_) return named;
    return mixes_states_ || named == LoraTargets::Linear ? LoraTargets::NonExpert : named;
  }

 private:
  /// By the end of the path: `mlp.c_proj`.
  static std::string module_of(const std::string& path) {
    const auto last = path.rfind('.');
    const auto block = last == std::string::npos ? last : path.rfind('.', last - 1);
    if (const auto ours = ours_of(kModules, path.substr(block + 1))) return std::string(*ours);  // npos + 1 is 0
    const std::string name = path.substr(last + 1);
    return std::string(ours_of(kModules, name).value_or(name));
  }

  LinearLayers layers_;
  bool mixes_states_ = false;
  bool routed_ = false;
};

/// Alternatives, which no name has; what else an expression says of one name the name's end tells.
bool has_alternatives(std::string_view text) { return text.find('(') != std::string_view::npos; }

/// PEFT matches an expression with whole paths. Blocks that have a module may be some of a model's: those with
/// attention beside others with state mixers.
void read_expression(const std::string& text, const Where& where, Adapted& adapted) {
  const Result<Pattern> pattern = Pattern::oniguruma("\\A(?:" + text + ")\\z", where.path);
  if (!pattern) return;
  Matcher matcher;
  for (const std::string_view path : kPaths) {
    const auto matches = [&](std::int64_t depth) {
      return std::any_of(kTextModels.begin(), kTextModels.end(), [&](std::string_view beginning) {
        return matcher.matches(*pattern, fmt::format("{}layers.{}.{}", beginning, depth, path));
      });
    };
    matcher.start_text();
    for (std::int64_t depth = 0; depth < kDepths; ++depth) {
      if (!matches(depth)) continue;
      adapted.add(std::string(path));
      break;
    }
  }
}

}  // namespace

const std::string* expression_of(const Node& targets, JobKind kind) {
  if (kind == JobKind::LlamaFactory) return nullptr;
  if (targets.is_string()) return &targets.text;
  return kind == JobKind::Trl && targets.items.size() == 1 ? &targets.items.front().text : nullptr;
}

void read_lora_targets(const Node& node, Job& job) {
  if (job.strategy.lora_targets.stated) return;
  Adapted adapted;
  bool known = true;
  const std::string* expression = expression_of(node, job.kind);
  if (expression != nullptr && has_alternatives(*expression)) {
    read_expression(*expression, node.where, adapted);
    known = !adapted.empty();
  } else {
    for (const std::string& path : list_of(node)) known = adapted.add(path) && known;
  }
  if (!known) return note_unread(node, "names modules that are not known: taken as every linear layer", job);
  if (adapted.empty()) return;
  job.strategy.lora_targets = derived(std::string(to_string(adapted.targets())), node.where);
}

}  // namespace smplan
