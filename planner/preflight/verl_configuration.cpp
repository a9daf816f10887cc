#include "planner/preflight/verl_configuration.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"

namespace smplan {
namespace {

/// The configuration of each program. Source: verl 0.9.1, the calls of hydra.main.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPrograms = {
    {{"verl.trainer.main_ppo", "ppo_trainer"},
     {"verl.trainer.main_generation_server", "ppo_trainer"},
     {"verl.trainer.sft_trainer", "sft_trainer_engine"},
     {"verl.trainer.sft_trainer_ray", "sft_trainer_engine"},
     {"verl.experimental.fully_async_policy.fully_async_main", "fully_async_ppo_trainer"},
     {"verl.experimental.one_step_off_policy.main_ppo", "one_step_off_ppo_trainer"}}};

bool is_of_verl(const std::string& name) {
  const FrameworkTable* table = framework_table("verl");
  return table != nullptr && table->find(":" + name) != nullptr;
}

/// `verl.trainer.main_ppo` of that, and of `verl/trainer/main_ppo.py`.
std::string module_of(std::string_view word) {
  std::string module(word);
  if (module.ends_with(".py")) module.resize(module.size() - 3);
  std::replace(module.begin(), module.end(), '/', '.');
  const std::size_t begin = module.find("verl.");
  return begin == std::string::npos ? std::string() : module.substr(begin);
}

/// Of the only program of verl's that is started.
std::string of_program(const Node& root) {
  std::string found;
  for (const std::string_view word : words_of(root.text)) {
    const std::string module = module_of(word);
    const auto at = std::find_if(kPrograms.begin(), kPrograms.end(), [&](const auto& p) { return p.first == module; });
    if (at == kPrograms.end()) continue;
    if (!found.empty() && found != at->second) return {};
    found = at->second;
  }
  return found;
}

/// A folder of the user's own, or one that is not said in full.
bool has_own_folder(const Node& root) {
  const std::vector<std::string_view> words = words_of(root.text);
  const bool brief = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("-cn") || word.starts_with("-cp") || word.starts_with("-cd");
  });
  const Node* folder = root.find("config-path");
  const Node* searched = root.at({"hydra", "searchpath"});
  const bool own = folder != nullptr && folder->text != "config" && !folder->text.ends_with("verl/trainer/config");
  return brief || own || searched != nullptr || root.has("config-dir");
}

std::string text_at(const Node& root, std::string_view name) {
  const Node* node = root.find(name);
  return node == nullptr ? std::string() : node->text;
}

VerlConfiguration of_command(const Node& root) {
  VerlConfiguration found;
  if (has_own_folder(root)) return found;
  found.name = of_program(root);
  if (found.name.empty()) return found;
  if (const Node* named = root.find("config-name")) {
    std::string name = named->text;
    if (name.ends_with(".yaml")) name.resize(name.size() - 5);
    found.name = is_of_verl(name) ? name : std::string();
  }
  const bool supervised = found.name == "sft_trainer_engine";
  found.engine = text_at(root, supervised ? "engine" : "model_engine");
  if (found.engine.find('$') != std::string::npos) return {};
  found.whole = !root.open;
  found.validated = of_program(root) == "ppo_trainer" && root.text.find("main_ppo") != std::string::npos;
  return found;
}

/// `defaults` of a file: names of whole configurations, and choices (`model_engine: megatron`).
VerlConfiguration of_defaults(const Node& defaults) {
  VerlConfiguration found;
  found.whole = true;
  for (const Node& entry : defaults.items) {
    const bool named = entry.is_string() && entry.text != "_self_";
    if (named && found.name.empty() && is_of_verl(entry.text)) {
      found.name = entry.text;
    } else if (named) {
      found.whole = false;
    }
    for (const Node& choice : entry.items) {
      const std::vector<std::string_view> words = words_of(choice.key);
      if (!words.empty() && words.back() == "model_engine") found.engine = choice.text;
      if (!words.empty() && words.back() == "engine") found.engine = choice.text;
    }
  }
  found.whole = found.whole && !found.name.empty();
  return found;
}

/// The engine that a strategy is one of: `fsdp2`.
std::string engine_of(std::string_view strategy, std::string_view of_fsdp) {
  return std::string(strategy.starts_with("fsdp") ? of_fsdp : strategy);
}

std::string stated_engine(const Node& root, const VerlConfiguration& found) {
  if (found.name == "sft_trainer_engine") {
    const Node* strategy = root.at({"engine", "strategy"});
    return strategy == nullptr ? std::string() : engine_of(strategy->text, "fsdp");
  }
  if (const std::string engine = text_at(root, "model_engine"); !engine.empty()) return engine;
  const Node* actor = root.at({"actor_rollout_ref", "actor"});
  if (actor == nullptr) return {};
  for (const std::string_view engine : {"megatron", "veomni", "torchtitan"}) {
    if (actor->has(engine)) return std::string(engine);
  }
  const Node* strategy = actor->find("strategy");
  return strategy == nullptr || !strategy->is_string() ? std::string() : engine_of(strategy->text, "dp");
}

}  // namespace

VerlConfiguration verl_configuration(const Node& root) {
  if (root.plus >= 0) return of_command(root);
  VerlConfiguration found;
  if (const Node* defaults = root.find("defaults"); defaults != nullptr && !defaults->is_null()) {
    found = of_defaults(*defaults);
  } else if (root.has("actor_rollout_ref") || root.has("algorithm") || root.has("critic")) {
    found.name = "ppo_trainer";
  } else if (root.has("model") || root.has("engine")) {
    found.name = "sft_trainer_engine";
  }
  if (found.engine.empty()) found.engine = stated_engine(root, found);
  found.validated = !found.name.empty();
  return found;
}

}  // namespace smplan
