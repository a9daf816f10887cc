// Settings that a training framework refuses together, by catalogs/data/combinations.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"
#include "catalogs/setting_combinations.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/combinations.hpp"
#include "planner/preflight/rules/settings.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/preflight/verl_configuration.hpp"

namespace smplan {
namespace {

using Test = SettingCondition::Test;

/// The member by any spelling that the framework's table has for it.
const Node* member_of(const Node& object, const std::string& section, std::string_view name,
                      const FrameworkTable* table) {
  if (const Node* node = object.find(name)) return node;
  std::string dashed(name);
  for (char& c : dashed) c = c == '_' ? '-' : c;  // as a tree of options has it
  if (const Node* node = object.find(dashed)) return node;
  const SettingSection* known = table == nullptr ? nullptr : table->find(section);
  const FrameworkSetting* setting = known == nullptr ? nullptr : known->find(name);
  if (setting == nullptr) return nullptr;
  for (const std::string& other : setting->also) {
    if (const Node* node = object.find(other)) return node;
  }
  return object.find(setting->name);
}

/// The object whose settings a framework's rows judge. Of lists of objects on the way to a setting one entry counts.
struct Reading {
  const Node& root;
  const FrameworkTable* table;
  bool open = false;   ///< what is not there may be given elsewhere
  bool whole = false;  ///< and still what the library takes without it is known
  std::size_t entry = 0;
  mutable std::size_t entries = 1;  ///< of the longest such list
};

const Node* node_of(const Reading& in, std::string_view path) {
  constexpr std::size_t kMostEntries = 1000;  // a hostile file may have a hundred thousand
  const Node* node = &in.root;
  std::string section;
  while (node != nullptr && !path.empty()) {
    if (node->is_array()) {
      in.entries = std::max(in.entries, std::min(node->items.size(), kMostEntries));
      node = in.entry < node->items.size() ? &node->items[in.entry] : nullptr;
      if (node == nullptr) return nullptr;
    }
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = member_of(*node, section, path.substr(0, dot), in.table);
    section += (section.empty() ? "" : ".") + std::string(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

const Node* first_of(const Reading& in, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (const Node* node = node_of(in, path)) return node;
  }
  return nullptr;
}

/// The first word of an option that stands with others: `--save-interval 500 train.py`.
const Node& first_word(const Node& node) { return node.is_array() && !node.items.empty() ? node.items.front() : node; }

bool is_unknown(const Node& node) {
  return node.open || is_placeholder(node.text) || node.text == "auto" || node.text.find('$') != std::string::npos;
}

/// The value as a word in lower case; nullopt where it is not known, or no scalar.
std::optional<std::string> word_of(const Node* node, const std::optional<std::string>& otherwise) {
  if (node == nullptr || node->is_null()) return otherwise;
  if (node->kind == Node::Kind::Bool) return node->truth ? "true" : "false";
  const Node& word = first_word(*node);
  if (is_unknown(word) || word.is_object() || word.is_array()) return std::nullopt;
  if (const auto whole = integer_of(word)) return count_text(*whole);
  return lower_case(word.text);
}

/// Counts where the setting is not there; nothing does where a file or a command that is not known may give it.
std::optional<std::string> otherwise_of(const Reading& in, const SettingCondition& c) {
  return in.open && !in.whole ? std::nullopt : c.otherwise;
}

std::optional<double> value_of(const Node* node, const std::optional<std::string>& otherwise) {
  if (node == nullptr || node->is_null()) {
    Node text;
    text.kind = Node::Kind::String;
    text.text = otherwise.value_or("");
    return number_of(text);
  }
  const Node& word = first_word(*node);
  if (is_unknown(word)) return std::nullopt;
  return number_of(word);
}

/// Whether it holds; nullopt where that is not known.
std::optional<bool> numbers_hold(const Reading& in, const SettingCondition& c, const Node* node) {
  const auto value = value_of(node, otherwise_of(in, c));
  if (c.other.empty()) {
    // A word is no number of any kind, unless the library works one out of it.
    const bool word = node != nullptr && node->is_string() && !is_unknown(*node) && node->text != "auto";
    if (!value) return c.test == Test::Whole && word ? std::optional(false) : std::nullopt;
    if (c.test == Test::Whole) return std::trunc(*value) == *value;
    return c.test == Test::Above ? *value > c.number : *value < c.number;
  }
  const auto other = value_of(node_of(in, c.other), std::nullopt);
  if (!value || !other) return std::nullopt;
  if (c.test == Test::AtLeast) return *value >= *other;
  if (c.test == Test::AtMost) return *value <= *other;
  return *other != 0 && std::fmod(*value, *other) == 0;
}

/// Entries of a list; nullopt where that is not known, or nothing is there.
std::optional<std::size_t> entries_of(const Node* node) {
  if (node == nullptr || node->is_null() || node->open || is_unknown(*node)) return std::nullopt;
  return node->is_array() ? node->items.size() : 1;
}

bool is_on_at(const Node* node) {
  if (node == nullptr || node->is_null()) return false;
  if (node->is_object() || node->is_array()) return !node->items.empty();
  if (is_unknown(*node)) return false;
  return truth_of(*node).value_or(!node->text.empty());
}

std::optional<bool> holds(const Reading& in, const SettingCondition& c) {
  const Node* node = first_of(in, c.settings);
  const bool there = node != nullptr && !node->is_null();
  switch (c.test) {
    case Test::On:
      if (there && is_unknown(*node)) return std::nullopt;
      return there || !in.open ? std::optional(is_on_at(node)) : std::nullopt;
    case Test::Given:
      if ((!there && in.open) || (there && node->open)) return std::nullopt;
      return there && !(node->is_object() && node->items.empty());
    case Test::Absent:
      return there || !in.open ? std::optional(!there) : std::nullopt;
    case Test::Null:
      if (node == nullptr ? in.open && !in.whole : is_unknown(*node)) return std::nullopt;
      return node != nullptr && node->is_null() && !node->removed;
    case Test::Is:
    case Test::IsNot: {
      const auto word = word_of(node, otherwise_of(in, c));
      if (!word) return std::nullopt;
      return contains(c.words, *word) == (c.test == Test::Is);
    }
    case Test::AsManyAs: {
      const auto own = entries_of(node);
      const auto others = entries_of(node_of(in, c.other));
      return own && others ? std::optional(*own == *others) : std::nullopt;
    }
    default:
      return numbers_hold(in, c, node);
  }
}

bool is_broken(const Reading& in, const SettingCombination& row) {
  for (const SettingCondition& c : row.when) {
    if (holds(in, c) != true) return false;
  }
  for (const SettingCondition& c : row.must) {
    // A word that is asked for has to be there, unless the library takes it without being told.
    const bool absent = c.test == Test::Is && !c.otherwise && !in.open && word_of(first_of(in, c.settings), "") == "";
    if (!absent && holds(in, c) != false) return false;
  }
  return true;
}

/// The setting with all that it stands in: `zero_optimization.offload_param.device`.
std::string dotted(const Node& setting) {
  std::string path = setting.where.path.empty() ? setting.key : setting.where.path.substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

std::vector<BrokenCombination> broken_of(const FrameworkCombinations& known, Reading in) {
  std::vector<BrokenCombination> broken;
  for (const SettingCombination& row : known.rows) {
    for (in.entry = 0, in.entries = 1; in.entry < in.entries; ++in.entry) {
      if (!is_broken(in, row)) continue;
      const Node* at = nullptr;
      for (const SettingCondition& c : row.when) {
        if (at == nullptr) at = first_of(in, c.settings);
      }
      broken.push_back({&row, at});
    }
  }
  return broken;
}

/// The part of a HyperPod recipe that its image hands on to verl; nullptr where it has none.
const Node* part_of_verl(const Job& job) {
  if (job.kind != JobKind::HyperpodRecipe || recipe_schema(job.root()) != "verl") return nullptr;
  const Node* part = job.root().find("training_config");
  return part != nullptr && part->is_object() ? part : nullptr;
}

/// `other`: what runs is not the framework's own newest program, and may heed what that drops.
void judge(const Node& root, std::string_view framework, bool open, bool other, Report& report) {
  const FrameworkCombinations* known = framework_combinations(framework);
  const bool verl = framework == "verl";
  if (known == nullptr || (verl && !verl_configuration(root).validated)) return;
  const bool whole = verl && root.plus < 0 && verl_configuration(root).whole;
  for (const auto& [row, at] : broken_of(*known, {root, framework_table(framework), open, whole})) {
    if (other && (row->warns || row->newest)) continue;
    Finding& finding = report.at(at == nullptr ? root : *at,
                                 {at == nullptr ? row->when.front().settings.front() : dotted(*at), row->says});
    finding.fix = row->fix;
    finding.source = known->source;
    if (root.passes_on) finding.message += ", as the script runs without arguments";
    if (row->warns) finding.severity = Severity::Warning;
  }
}

void combinations(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const std::string_view framework =
      in.job.kind == JobKind::HyperpodJob ? kubernetes_table(root) : to_string(in.job.kind);
  const bool own_script = runs_own_script(in.job);
  if (!own_script || has_trainer_options(root, in.job.started)) judge(root, framework, root.open, own_script, report);
  // The image's verl is older: it may still take what the newest drops.
  if (const Node* part = part_of_verl(in.job)) judge(*part, "verl", true, true, report);
}

constexpr Rule kCombinationsRules[] = {
    {"C226", Severity::Error, "Settings that do not go together",
     "a framework refuses the settings of its file together, or one lacks another that it needs (a warning where it "
     "drops one without a word)",
     "{} {}", "change one of them", "catalogs/data/combinations, each file with its source", kFrameworkFiles,
     Need::Nothing, combinations},
};

}  // namespace

std::vector<BrokenCombination> broken_combinations(const FrameworkCombinations& known, const Node& settings) {
  return broken_of(known, {settings, framework_table(known.framework), settings.open});
}

std::span<const Rule> combination_rules() { return kCombinationsRules; }

}  // namespace smplan
