#include "planner/preflight/rules/setting_places.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/preflight/verl_configuration.hpp"

namespace smplan {
namespace {

using Type = FrameworkSetting::Type;

const FrameworkTable* table_of(const Job& job) {
  return framework_table(job.kind == JobKind::HyperpodJob ? kubernetes_table(job.root()) : to_string(job.kind));
}

/// Of the configuration, for verl with its engine, as the table names them. The engine's parts are left out where it is
/// none.
std::string variant_of(const FrameworkTable& table, const Job& job) {
  if (job.kind == JobKind::NemoRl) return nemo_rl_configuration(job.root()).name;
  if (job.kind == JobKind::HyperpodRecipe) return std::string(recipe_schema(job.root()));
  if (job.kind != JobKind::Verl) return {};
  const VerlConfiguration found = verl_configuration(job.root());
  if (found.name.empty() || found.engine.empty()) return found.name;
  const std::string variant = found.name + "/" + found.engine;
  const bool one_engine = table.find(":" + found.name + "/dp") == nullptr && found.name != "sft_trainer_engine";
  return table.find(":" + variant) != nullptr ? variant : one_engine ? found.name : "";
}

/// Of several commands the one that alone takes every key of a file; nullptr where none does, or two do.
const SettingSection* only_command(const FrameworkTable& table, const Node& root) {
  const SettingSection* only = nullptr;
  for (const SettingSection& section : table.sections) {
    if (!section.path.starts_with(':') || section.reader != SettingReader::Argparse) continue;
    const bool takes_all = std::all_of(root.items.begin(), root.items.end(), [&](const Node& member) {
      const FrameworkSetting* setting = nullptr;
      key_of(section, member, setting);
      return setting != nullptr;
    });
    if (!takes_all) continue;
    if (only != nullptr) return nullptr;
    only = &section;
  }
  return only;
}

/// The section of the whole file: accelerate has one for each of its environments, others by the keys of a file.
const SettingSection* root_section(const FrameworkTable& table, const Job& job) {
  if (job.kind == JobKind::NemoRl) return table.find(":" + nemo_rl_configuration(job.root()).name);
  if (job.kind == JobKind::HyperpodRecipe) return table.find(":" + std::string(recipe_schema(job.root())));
  if (job.kind == JobKind::Verl) return table.find(":" + verl_configuration(job.root()).name);
  for (const SettingSection& section : table.sections) {
    if (has_one_of(job.root(), section.when)) return &section;
  }
  const Node* environment = job.root().find("compute_environment");
  const std::string chosen = environment != nullptr     ? environment->text
                             : job.kind == JobKind::Trl ? trl_command(job.started)
                                                        : "";
  const SettingSection* own = !chosen.empty()            ? table.find(":" + chosen)
                              : job.kind == JobKind::Trl ? only_command(table, job.root())
                                                         : nullptr;
  return own != nullptr ? own : table.find("");
}

/// The section of an object that is a member, or stands in its list; nullptr where the table does not describe it.
const SettingSection* section_of(const Place& place, const Node& object, const FrameworkSetting& setting) {
  const auto& [table, section, around, variant, inside_off] = place;
  if (!setting.section.empty() && !setting.section_of.empty()) {
    const std::string path = chosen_path(object, setting);
    for (const std::string& one : {path, without_private(path)}) {
      if (const SettingSection* own = one.empty() ? nullptr : table.find(one)) return own;
    }
    return table.find(setting.section);
  }
  if (!setting.section.empty() && table.by_configuration) return table.find(setting.section + ":" + variant);
  if (!setting.section.empty()) return table.find(setting.section);
  if (setting.section_of.empty()) return nullptr;
  const Node* chosen = around.find(setting.section_of);
  if (chosen == nullptr || !chosen->is_string()) return nullptr;
  const std::string path = section.path + '.' + setting.name + ':';
  const SettingSection* found = table.find(path + chosen->text);
  return found != nullptr ? found : table.find(path + lower_case(chosen->text));
}

/// Calls `visit` for every described object of the file.
void each_object(const Place& place, const std::function<void(const Place&)>& visit) {
  visit(place);
  for (const Node& member : place.object.items) {
    const FrameworkSetting* setting = nullptr;
    key_of(place.section, member, setting);
    if (setting == nullptr) continue;
    // An old part is told once.
    if (!setting->last.empty() && place.table.framework == "verl") continue;
    for (const Node* object : objects_of(member, *setting)) {
      const SettingSection* inner = section_of(place, *object, *setting);
      if (inner != nullptr) each_object({place.table, *inner, *object, place.variant, is_off(place)}, visit);
    }
  }
}

/// Calls `visit` for every member of the object that the table knows.
void each_known(const Place& place, const VisitSetting& visit) {
  for (const Node& member : place.object.items) {
    const FrameworkSetting* setting = nullptr;
    key_of(place.section, member, setting);
    if (setting != nullptr) visit(place, member, *setting);
  }
}

}  // namespace

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string key_of(const SettingSection& section, const Node& node, const FrameworkSetting*& setting) {
  setting = section.find(node.key);
  if (setting != nullptr || section.reader != SettingReader::Argparse) return node.key;
  const std::string name = underscored(node.key);
  setting = section.find(name);
  const auto has_underscore = [](const FrameworkSetting& s) { return s.name.find('_') != std::string::npos; };
  const bool underscores = std::any_of(section.settings.begin(), section.settings.end(), has_underscore);
  return underscores ? name : node.key;
}

bool has_one_of(const Node& root, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return node_by(root, path) != nullptr; });
}

bool has_overrides(const Job& job) { return job.root().plus >= 0; }

std::string chosen_path(const Node& object, const FrameworkSetting& setting) {
  if (setting.section.empty() || setting.section_of.empty()) return {};
  const Node* chosen = object.find(setting.section_of);
  return chosen == nullptr || !chosen->is_string() ? std::string() : setting.section + ':' + chosen->text;
}

std::string without_private(const std::string& path) {
  const std::size_t last = path.rfind('.');
  std::string out = path.substr(0, std::min(last, path.size()));
  for (std::size_t at = out.find("._"); at != std::string::npos; at = out.find("._")) {
    out.erase(at, std::min(out.find('.', at + 1), out.size()) - at);
  }
  return last == std::string::npos ? out : out + path.substr(last);
}

bool is_off(const Place& place) {
  if (place.inside_off || place.section.off.empty()) return place.inside_off;
  const Node* on = place.object.find(place.section.off);
  return on != nullptr && truth_of(*on) != true;
}

std::vector<const Node*> objects_of(const Node& member, const FrameworkSetting& setting) {
  if (member.is_object()) return {&member};
  std::vector<const Node*> objects;
  const bool list = member.is_array() && !setting.section.empty() && (setting.is(Type::List) || setting.is(Type::Any));
  for (const Node& entry : member.items) {
    if (list && entry.is_object()) objects.push_back(&entry);
  }
  return objects;
}

bool is_before_program(const Job& job, const Node& member) {
  return job.started.before_program.contains({member.key, member.where.line});
}

bool runs_own_script(const Job& job) {
  return job.kind == JobKind::Trl && job.started.is_script && trl_command(job.started).empty();
}

void each_object(const CheckInput& in, const std::function<void(const Place&)>& visit) {
  if (in.job.kind == JobKind::Torchrun) return;  // its launchers have a rule of their own
  if (runs_own_script(in.job) && !has_trainer_options(in.job.root(), in.job.started)) return;
  const FrameworkTable* table = table_of(in.job);
  const SettingSection* root = table == nullptr ? nullptr : root_section(*table, in.job);
  if (root != nullptr) each_object({*table, *root, in.job.root(), variant_of(*table, in.job)}, visit);
}

void each_setting(const CheckInput& in, const VisitSetting& visit) {
  each_object(in, [&](const Place& place) {
    each_known(place, [&](const Place& around, const Node& member, const FrameworkSetting& setting) {
      if (!is_before_program(in.job, member)) visit(around, member, setting);
    });
  });
}

/// The same of the part of a HyperPod recipe that its image hands on to verl. The image's verl may have more settings
/// than the published one, but not other values of those.
void each_setting_of_verl(const CheckInput& in, const VisitSetting& visit) {
  if (in.job.kind != JobKind::HyperpodRecipe || recipe_schema(in.job.root()) != "verl") return;
  const FrameworkTable* table = framework_table("verl");
  const Node* part = in.job.root().find("training_config");
  if (table == nullptr || part == nullptr || !part->is_object()) return;
  const VerlConfiguration found = verl_configuration(*part);
  const SettingSection* root = table->find(":" + found.name);
  if (found.name.empty() || root == nullptr) return;
  const std::string variant = found.name + (found.engine.empty() ? "" : "/" + found.engine);
  each_object({*table, *root, *part, variant}, [&](const Place& place) { each_known(place, visit); });
}

}  // namespace smplan
