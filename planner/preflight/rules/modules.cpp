// Names that hang on the model: classes that FSDP wraps, and modules that carry adapters. The model is one of the
// catalog's that transformers has a class for, else nothing is judged.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/words.hpp"
#include "catalogs/llama_factory_templates.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

/// The modules of the job's model; nullptr where they are not known.
const ModelModules* modules_of_model(const CheckInput& in) {
  return in.job.architecture == nullptr ? nullptr : modules_of(in.job.architecture->model_type());
}

/// The words of a list, or of a text with commas, as they are written.
std::vector<std::string> words_of_node(const Node& node) {
  std::vector<std::string> words;
  if (node.is_array()) {
    for (const Node& entry : node.items) words.push_back(entry.text);
    return words;
  }
  std::string text = node.text;
  std::replace(text.begin(), text.end(), ',', ' ');
  for (const std::string_view word : words_of(text)) words.emplace_back(word);
  return words;
}

bool leaves_open(const std::vector<std::string>& words) {
  return words.empty() || std::any_of(words.begin(), words.end(), [](const std::string& word) {
           return word.empty() || is_placeholder(word) || word.find_first_of("$`") != std::string::npos;
         });
}

/// The first of these members that is there, also as a command line spells it.
const Node* first_at(const Node& root, std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    std::string dashed(path);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    for (const std::string_view spelling : {path, std::string_view(dashed)}) {
      const Node* node = node_by(root, spelling);
      if (node != nullptr && !node->is_null()) return node;
    }
  }
  return nullptr;
}

/// Whether the code beside the weights may count.
bool own_code(const Node& root) {
  return is_on(
      first_at(root, {"trust_remote_code", "actor_rollout_ref.model.trust_remote_code", "model.trust_remote_code"}));
}

// Layers that FSDP wraps. ----------------------------------------------------------------------------------------

/// Whether the file's policy is the one that looks at classes. accelerate has none by itself; the Trainer's words say
/// auto_wrap.
bool wraps_classes(const Node& root) {
  const Node* policy =
      first_at(root, {"fsdp_config.fsdp_auto_wrap_policy", "fsdp_config.auto_wrap_policy", "fsdp_auto_wrap_policy"});
  if (policy != nullptr) return policy->text == "TRANSFORMER_BASED_WRAP";
  const Node* words = first_at(root, {"fsdp"});
  return words != nullptr && contains(list_of(*words), "auto_wrap");
}

bool is_known_elsewhere(const std::string& name) {
  const auto& all = model_modules();
  return std::any_of(all.begin(), all.end(), [&](const ModelModules& family) { return contains(family.layers, name); });
}

/// A class that the model lacks: a layer of another family, or a slip of its own. Others may be of torch or the user's.
bool is_foreign(const std::string& name, const ModelModules& modules, bool remote) {
  if (contains(modules.classes, name)) return false;
  if (is_known_elsewhere(name)) return true;
  const auto slip = [&](const std::string& layer) {
    return lower_case(layer) == lower_case(name) || one_slip_apart(layer, name);
  };
  return !remote && std::any_of(modules.layers.begin(), modules.layers.end(), slip);
}

/// verl looks for any of its classes, where no size decides. Source: verl 0.9.1, utils/fsdp_utils.py.
void wrapped_layer_of_verl(const CheckInput& in, Report& report) {
  const Node* policy =
      first_at(in.job.root(), {"actor_rollout_ref.actor.fsdp_config.wrap_policy", "engine.wrap_policy"});
  if (policy == nullptr || !in.job.strategy.stack.is("fsdp") || is_on(policy->find("disable"))) return;
  const Node* least = policy->find("min_num_params");
  const Node* named = policy->find("transformer_layer_cls_to_wrap");
  if (named == nullptr || named->is_null() || (least != nullptr && integer_of(*least) != 0)) return;
  const std::vector<std::string> words = words_of_node(*named);
  const ModelModules* modules = leaves_open(words) ? nullptr : modules_of_model(in);
  const bool remote = own_code(in.job.root());
  const auto foreign = [&](const std::string& word) { return is_foreign(word, *modules, remote); };
  if (modules == nullptr || !std::all_of(words.begin(), words.end(), foreign)) return;
  Finding& finding = report.at(*named, {quote(list_text(words)), in.job.architecture->name});
  finding.fix = modules->layers.empty() ? "leave it out" : "write " + list_text(modules->layers);
  finding.source = source_of_modules();
}

void wrapped_layer(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (in.job.kind == JobKind::Verl) return wrapped_layer_of_verl(in, report);
  const Node* named =
      first_at(root, {"fsdp_config.fsdp_transformer_layer_cls_to_wrap", "fsdp_config.transformer_layer_cls_to_wrap",
                      "fsdp_transformer_layer_cls_to_wrap"});
  if (named == nullptr || named->is_object() || !wraps_classes(root)) return;
  const std::vector<std::string> words = words_of_node(*named);
  const ModelModules* modules = leaves_open(words) ? nullptr : modules_of_model(in);
  if (modules == nullptr) return;
  for (const std::string& word : words) {
    if (!is_foreign(word, *modules, own_code(root))) continue;
    Finding& finding = report.at(*named, {quote(word), in.job.architecture->name});
    finding.fix = modules->layers.empty() ? "leave it out" : "write " + list_text(modules->layers);
    finding.source = source_of_modules();
    return;
  }
}

// Modules that carry adapters. -----------------------------------------------------------------------------------

/// Where a tool names them, where it trains adapters at all.
const Node* targets_of(const Job& job) {
  const Node& root = job.root();
  const Node* targets = nullptr;
  switch (job.kind) {
    case JobKind::Trl:
      if (!is_on(first_at(root, {"use_peft"}))) return nullptr;
      return first_at(root, {"lora_target_modules"});
    case JobKind::Axolotl:
      targets = first_at(root, {"adapter"});
      if (targets == nullptr || (targets->text != "lora" && targets->text != "qlora")) return nullptr;
      if (is_on(root.find("lora_target_linear")) || root.has("lora_target_parameters")) return nullptr;
      return first_at(root, {"lora_target_modules"});
    case JobKind::LlamaFactory:
      targets = first_at(root, {"finetuning_type"});
      if (targets != nullptr && targets->text != "lora") return nullptr;
      targets = first_at(root, {"lora_target"});
      return targets == nullptr || targets->text == "all" ? nullptr : targets;
    case JobKind::Verl:
      // By its adapters through PEFT, which FSDP trains; those of Megatron have names of their own.
      targets = first_at(root, {"actor_rollout_ref.model.lora_rank", "model.lora_rank"});
      if (targets == nullptr || integer_of(*targets).value_or(0) < 1) return nullptr;
      if (!job.strategy.stack.is("fsdp")) return nullptr;
      return first_at(root, {"actor_rollout_ref.model.target_modules", "model.target_modules"});
    default:
      return nullptr;
  }
}

/// The last name of a path: `self_attn.q_proj`.
std::string last_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Whether PEFT could put adapters on what it names; a number is an entry of a list.
bool can_match(const std::string& target, const ModelModules& modules) {
  const std::string name = last_of(target);
  return contains(modules.names, name) || (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos);
}

bool is_plain(std::string_view text) { return text.find_first_of("\\^$*+?()[]{}|.") == std::string_view::npos; }

void judge_expression(const std::string& text, const Node& at, const ModelModules& modules, Report& report) {
  if (text == "all-linear" || !is_plain(text) || contains(modules.heads, text)) return;
  Finding& finding = report.at(at, {quote(text), "the whole path of any module: PEFT reads one text as an expression"});
  finding.fix = fmt::format("write '.*\\.{}$', or a list of several names", text);
}

void adapter_targets(const CheckInput& in, Report& report) {
  const Node* targets = targets_of(in.job);
  if (targets == nullptr || targets->is_object()) return;
  const std::string* expression = expression_of(*targets, in.job.kind);
  const std::vector<std::string> words = expression != nullptr ? std::vector{*expression} : words_of_node(*targets);
  const ModelModules* modules = leaves_open(words) ? nullptr : modules_of_model(in);
  if (modules == nullptr || modules->open || own_code(in.job.root())) return;
  if (expression != nullptr) return judge_expression(*expression, *targets, *modules, report);
  std::vector<std::string> unknown = words;
  std::erase_if(unknown, [&](const std::string& word) { return can_match(word, *modules); });
  if (unknown.empty()) return;
  Finding& finding = report.at(*targets, {quote(list_text(unknown)), "any module of " + in.job.architecture->name});
  finding.source = source_of_modules();
  const auto near = nearest_names(last_of(unknown.front()), modules->names, 1);
  if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  if (unknown.size() == words.size()) return;
  finding.severity = Severity::Warning;
  finding.message += ": what is not found gets no adapter";
}

/// A template whose models are all of other authors than the job's model. One that no listed model has is the user's
/// own, or for any.
void template_of_model(const CheckInput& in, Report& report) {
  const Node* chosen = first_at(in.job.root(), {"template"});
  if (chosen == nullptr || !chosen->is_string() || !in.job.model) return;
  if (in.job.model->find_first_of("/.~$") == 0) return;  // what lies in a folder may be anything
  const std::vector<std::string_view> theirs = templates_of_authors(*in.job.model);
  const bool fits = std::find(theirs.begin(), theirs.end(), chosen->text) != theirs.end();
  if (theirs.empty() || fits || !is_template_of_models(chosen->text)) return;
  report.at(*chosen, {quote(chosen->text), *in.job.model}).fix = fmt::format("write {}", theirs.front());
}

constexpr Kinds kTuned = one(JobKind::Trl) | one(JobKind::Axolotl) | one(JobKind::LlamaFactory) | one(JobKind::Verl);

constexpr Rule kModuleRules[] = {
    {"C232", Severity::Error, "Layer class of another model",
     "the class that FSDP is to wrap is a layer of another family than the model's, or a slip of its own",
     "{} is no class of {}: no such layer is found, which raises", "name the model's decoder layer, or leave it out",
     "catalogs/data/modules, read out of transformers by scripts/refresh", kTuned | kAccelerate, Need::Nothing,
     wrapped_layer},
    {"C233", Severity::Error, "Modules for adapters",
     "none of the modules that are to carry adapters is one of the model's (a warning where some are), or one name "
     "stands where PEFT reads an expression",
     "{} does not match {}", "name modules of the model, or all-linear",
     "catalogs/data/modules, read out of transformers by scripts/refresh; PEFT 0.21.2, tuners_utils.py", kTuned,
     Need::Nothing, adapter_targets},
    {"C247", Severity::Warning, "Template of another model",
     "the template is one that LLaMA-Factory has for models of other authors than the model's",
     "the template {} is not one of {}: the model's own marks of turns are not in what it learns",
     "write the model's own", "catalogs/data/finetuning/llama_factory_templates.json, read by scripts/refresh",
     one(JobKind::LlamaFactory), Need::Nothing, template_of_model},
};

}  // namespace

std::span<const Rule> module_rules() { return kModuleRules; }

}  // namespace smplan
