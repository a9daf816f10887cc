#include "planner/preflight/rules/settings.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/rules/setting_places.hpp"
#include "planner/preflight/rules/setting_values.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/preflight/torchtitan_arguments.hpp"
#include "planner/preflight/verl_configuration.hpp"

namespace smplan {
namespace {

using Type = FrameworkSetting::Type;

/// Settings that a rule of their own reports, so that a fault is said once.
bool has_own_rule(const SettingSection& section, const FrameworkSetting& setting) {
  static constexpr std::string_view kOwn[] = {"zero_optimization.stage",
                                              "zero_optimization.offload_optimizer.device",
                                              "zero_optimization.offload_param.device",
                                              "deepspeed_config.zero_stage",
                                              "deepspeed_config.offload_optimizer_device",
                                              "deepspeed_config.offload_param_device",
                                              "fsdp_config.fsdp_sharding_strategy",
                                              "fsdp_config.fsdp_reshard_after_forward",
                                              ".recompute-granularity",
                                              "model:adapter.sharding_strategy",
                                              "training_config.training_args.strategy.fsdp_config:llmft."
                                              "sharding_strategy"};
  const std::string path = section.path + '.' + setting.name;
  return std::find(std::begin(kOwn), std::end(kOwn), path) != std::end(kOwn);
}

/// Whether PyYAML, which loads the file, makes text of the number: an exponent needs a point before it, and a sign of
/// its own. Source: PyYAML 6.0.3, resolver.py. OmegaConf, which others load with, makes a number of it.
bool is_text_to_pyyaml(const Node& node, const Job& job) {
  const bool loads = job.kind == JobKind::Trl || job.kind == JobKind::Axolotl;
  if (!loads || node.kind != Node::Kind::Real || job.file.ends_with(".json")) return false;
  const std::size_t exponent = node.text.find_first_of("eE");
  if (exponent == std::string::npos) return false;
  const char sign = exponent + 1 < node.text.size() ? node.text[exponent + 1] : ' ';
  return node.text.find('.') > exponent || (sign != '+' && sign != '-');
}

bool is_command_line(const CheckInput& in) {
  // Only a tree of options has its keys' underscores as hyphens, and its values at no bytes of their own.
  const Node& root = in.job.root();
  return in.job.kind == JobKind::Megatron ||
         (in.job.kind == JobKind::Trl && !root.items.empty() && root.items.front().span.end == 0 &&
          std::none_of(root.items.begin(), root.items.end(),
                       [](const Node& n) { return n.key.find('_') != std::string::npos; }));
}

// Unknown keys. --------------------------------------------------------------------------------------------------

std::vector<std::string> names_of(const SettingSection& section) {
  std::vector<std::string> names;
  for (const FrameworkSetting& s : section.settings) {
    names.push_back(s.name);
    names.insert(names.end(), s.also.begin(), s.also.end());
  }
  return names;
}

/// Two neighbours exchanged: `fp61`.
bool exchanged(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin());
  if (left == a.end() || left + 1 == a.end()) return false;
  return *left == *(right + 1) && *(left + 1) == *right && std::equal(left + 2, a.end(), right + 2);
}

/// Known names that are a slip away: long enough that another word would be a coincidence.
std::string slip_of(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t kLong = 6;
  const auto whole =
      std::find_if(known.begin(), known.end(), [&](const auto& other) { return exchanged(name, other); });
  if (whole != known.end()) return *whole;
  if (name.size() < kLong || name.back() < 'a' || name.back() > 'z') return {};  // --data-path2 is meant
  for (const std::string& other : known) {
    if (other.size() >= kLong && one_slip_apart(name, other)) return other;
  }
  return {};
}

/// One of several commands of a framework, each with settings of its own.
bool is_command(const SettingSection& section, const FrameworkTable& table) {
  return section.path.starts_with(':') && section.reader == SettingReader::Argparse &&
         table.find("launcher") != nullptr;
}

/// The other commands that take it: `trl grpo`.
std::string commands_with(const std::string& name, const FrameworkTable& table) {
  std::string out;
  for (const SettingSection& section : table.sections) {
    const FrameworkSetting* setting = is_command(section, table) ? section.find(name) : nullptr;
    if (setting == nullptr || !setting->last.empty()) continue;
    out += (out.empty() ? "`" : ", `") + table.framework + " " + section.path.substr(1) + "`";
  }
  return out;
}

/// Of an older version, whose commands may have taken it.
bool is_of_older_version(const Place& place, const std::string& name) {
  const SettingSection* all = is_command(place.section, place.table) ? place.table.find("") : nullptr;
  const FrameworkSetting* setting = all == nullptr ? nullptr : all->find(name);
  return setting != nullptr && !setting->last.empty();
}

std::string section_name(const SettingSection& section, const FrameworkTable& table) {
  if (is_command(section, table)) return "`" + table.framework + " " + section.path.substr(1) + "`";
  const std::string path = section.path.substr(0, section.path.find(':'));
  return path.empty() ? table.framework + "'s file" : path;
}

/// The same of an object, which may say by itself what it is.
std::string place_name(const Place& place) {
  const Node* made = place.object.find("_component_");
  if (made != nullptr && made->is_string() && place.section.path.find(':') != std::string::npos) return made->text;
  return section_name(place.section, place.table);
}

/// An option's name, and no part of a quoted text or of the shell's that begins with hyphens.
bool is_option_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

/// Each unknown key is held against all that are known: a hostile file may have a hundred thousand.
constexpr int kMostUnknown = 1000;

/// The engine of verl's that has the setting in the same place, where the chosen one has not; empty where none has.
std::string engine_with(const Place& place, const std::string& name) {
  const std::string path = place.section.path.substr(0, place.section.path.find(':'));
  const std::string configuration = place.variant.substr(0, place.variant.find('/'));
  for (const std::string_view engine : {"dp", "megatron", "veomni", "torchtitan", "fsdp", "automodel"}) {
    const SettingSection* other = place.table.find(fmt::format("{}:{}/{}", path, configuration, engine));
    const FrameworkSetting* setting = other == nullptr ? nullptr : other->find(name);
    if (setting != nullptr && setting->last.empty()) return std::string(engine);
  }
  return {};
}

void unknown_member(const Place& place, const Node& member, const std::string& name, Report& report) {
  const std::vector<std::string> known = names_of(place.section);
  const std::string slip = slip_of(name, known);
  // Hydra refuses what its file does not have, unless a plus adds it.
  const bool lacks = member.plus == 0 && place.table.framework == "verl";
  const bool refused = place.section.unknown == UnknownKey::Refused || lacks;
  const bool options = place.section.reader == SettingReader::Argparse;
  if (options && !is_option_name(name)) return;
  // Sections of the user's own are common where nobody refuses them.
  const bool own = member.is_object() || place.section.unknown == UnknownKey::Open;
  if (!refused && !options && own && slip.empty()) return;
  Finding& finding = report.at(member, {quote(member.written.empty() ? name : member.written), place_name(place)});
  finding.source = place.table.source;
  const auto near = slip.empty() ? nearest_names(name, known, 1) : std::vector<std::string>{slip};
  if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  const std::string others = is_command(place.section, place.table) ? commands_with(name, place.table) : "";
  if (!others.empty()) finding.fix = "delete it: it is a setting of " + others;
  const bool engines = place.table.framework == "verl" && !place.variant.empty();
  const std::string engine = engines ? engine_with(place, name) : std::string();
  if (!engine.empty()) {
    const std::string_view choice = place.variant.starts_with("sft") ? "engine" : "model_engine";
    finding.fix = fmt::format("choose the engine that has it: {}={}", choice, engine);
  }
  // A file that goes on from verl's may be for a program of the user's, with classes of its own.
  const bool of_class = refused && place.table.framework == "verl" && member.plus < 0 && near.empty() && engine.empty();
  if (of_class) {
    finding.severity = Severity::Warning;
    finding.message += ": verl's own programs refuse it";
  }
  if (refused || (options && !slip.empty())) return;
  finding.severity = Severity::Warning;
  finding.message += options ? ": its parser refuses it, unless the script adds it" : ": it is dropped without a word";
}

/// A short name, a slip away from one that the object lacks.
bool misspells_absent(const std::string& name, const Place& place) {
  const std::vector<std::string> known = names_of(place.section);
  return std::any_of(known.begin(), known.end(), [&](const std::string& other) {
    return other.size() > 2 && !place.object.has(other) && (exchanged(name, other) || one_slip_apart(name, other));
  });
}

/// TorchTitan has members that a module brings: one of the user's own, or that of a version without a TOML.
bool is_extended(const Job& job) {
  const Node& root = job.root();
  const bool without_toml = titan_program(job.started) != nullptr && root.at({"job", "config_file"}) == nullptr;
  return without_toml || root.at({"experimental", "custom_args_module"}) || root.at({"job", "custom_config_module"});
}

/// A part of verl's that takes any name. Names that an older version listed in it are as good as others.
bool takes_any_name(const SettingSection& section) {
  const auto& all = section.settings;
  if (section.unknown == UnknownKey::HandedOn) return true;
  return section.unknown == UnknownKey::Open &&
         std::all_of(all.begin(), all.end(), [](const FrameworkSetting& s) { return !s.last.empty(); });
}

/// Hydra has to be told to add it.
bool lacks_plus(const Place& place, const Node& member) { return member.plus == 0 && takes_any_name(place.section); }

/// Hydra's own settings stand beside all others.
bool is_of_hydra(const Place& place, const Node& member) {
  return place.object.where.path.empty() && member.key == "hydra";
}

/// argparse takes the beginning of one option's name for it.
bool is_abbreviated(const Place& place, std::string_view name) {
  const auto begins = [&](const FrameworkSetting& s) {
    return s.name.starts_with(name) ||
           std::any_of(s.also.begin(), s.also.end(), [&](const std::string& other) { return other.starts_with(name); });
  };
  const auto& all = place.section.settings;
  const auto current = [&](const FrameworkSetting& s) { return s.last.empty() && begins(s); };
  return is_command(place.section, place.table) &&
         (std::count_if(all.begin(), all.end(), begins) == 1 || std::count_if(all.begin(), all.end(), current) == 1);
}

/// Keys of the file that the command lacks though another command has them; nullopt where one is of no command.
std::optional<std::vector<const Node*>> lacking(const Place& place, const SettingSection& command) {
  std::vector<const Node*> out;
  for (const Node& member : place.object.items) {
    const FrameworkSetting* setting = nullptr;
    const std::string name = key_of(place.section, member, setting);
    if (setting == nullptr || !setting->last.empty() || command.find(name) != nullptr) continue;
    if (commands_with(name, place.table).empty()) return std::nullopt;
    out.push_back(&member);
  }
  return out;
}

/// Keys that no command takes together, where the command is not known: those that the likeliest lacks.
void settings_of_two_commands(const Place& place, Report& report) {
  const SettingSection* likeliest = nullptr;
  std::vector<const Node*> fewest;
  for (const SettingSection& section : place.table.sections) {
    if (!is_command(section, place.table)) continue;
    auto missing = lacking(place, section);
    if (!missing || missing->empty()) return;
    if (likeliest != nullptr && missing->size() >= fewest.size()) continue;
    likeliest = &section;
    fewest = std::move(*missing);
  }
  if (likeliest == nullptr) return;
  const Node& first = *fewest.front();
  const std::string command = section_name(*likeliest, place.table);
  Finding& finding = report.at(first, {quote(first.name()), command});
  finding.severity = Severity::Warning;
  finding.message += ", which takes " + std::string(fewest.size() == 1 ? "all" : "most") +
                     " of the others: no command takes them together, unless the script adds it";
  finding.fix = "which command is it for? it is a setting of " + commands_with(underscored(first.key), place.table);
  finding.source = place.table.source;
}

/// An option of the launcher, in its line, or in the file that `trl sft --config` hands it on from.
bool is_of_launcher(std::string name, const SettingSection* launcher) {
  std::replace(name.begin(), name.end(), '_', '-');
  return launcher != nullptr && launcher->find(name) != nullptr;
}

/// An override and the whole file that it changes do not fit.
bool is_wrong_sign(const Node& member) {
  if (member.plus < 0 || member.under == Node::Under::Unknown) return false;
  const bool part = member.is_object() || member.is_array();
  if (member.removed) return member.under != Node::Under::Value;
  if (member.plus == 0) return member.under == Node::Under::Nothing;
  return member.plus == 1 && member.under == Node::Under::Value && !part;
}

}  // namespace

void unknown_settings(const CheckInput& in, Report& report) {
  const bool own_script = runs_own_script(in.job);
  const auto visit = [&](const Place& place) {
    const bool whole = place.section.path.empty() || is_command(place.section, place.table);
    const SettingSection* launcher = whole ? place.table.find("launcher") : nullptr;
    const bool options = is_command_line(in);
    if (place.section.path.empty() && in.job.kind == JobKind::Trl && !own_script) {
      settings_of_two_commands(place, report);
    }
    int unknown = 0;
    for (const Node& member : place.object.items) {
      const FrameworkSetting* setting = nullptr;
      const std::string name = key_of(place.section, member, setting);
      if (setting != nullptr || is_of_launcher(member.key, launcher) || is_before_program(in.job, member)) continue;
      if (place.section.unknown == UnknownKey::HandedOn) continue;
      if (own_script && slip_of(name, names_of(place.section)).empty()) continue;
      if (is_of_older_version(place, name) || (options && is_abbreviated(place, name))) continue;
      if (has_overrides(in.job) && (member.plus < 0 || lacks_plus(place, member))) continue;
      if (place.table.framework == "verl" && is_of_hydra(place, member)) continue;
      if (member.malformed || is_wrong_sign(member) || (member.key == "defaults" && place.object.where.path.empty()))
        continue;
      // Whole sections may come with --job.custom_config_module on the command line.
      const bool section = place.section.path.empty() && place.table.framework == "torchtitan" && member.is_object();
      if (section && slip_of(name, names_of(place.section)).empty() && !misspells_absent(name, place)) continue;
      const bool open = has_one_of(in.job.root(), place.section.open_when);
      if (open && slip_of(name, names_of(place.section)).empty()) continue;
      if (++unknown > kMostUnknown) {
        const std::string more = fmt::format("what follows after {} unknown keys", kMostUnknown);
        report.at(member, {more, section_name(place.section, place.table)}).fix = "is this the right file?";
        break;
      }
      unknown_member(place, member, name, report);
    }
  };
  if (in.job.kind != JobKind::TorchTitan || !is_extended(in.job)) each_object(in, visit);
}

namespace {

/// Every override whose sign does not fit what its file has; below one there are no others.
void each_wrong_sign(const Node& object, const std::function<void(const Node& around, const Node&)>& visit) {
  for (const Node& member : object.items) {
    if (is_wrong_sign(member)) {
      visit(object, member);
    } else {
      each_wrong_sign(member, visit);
    }
  }
}

/// Of a command line whose file is known.
void signs_beside_file(const CheckInput& in, Report& report) {
  each_wrong_sign(in.job.root(), [&](const Node& around, const Node& member) {
    const bool adds = member.plus == 1;
    std::vector<std::string> known;
    for (const Node& other : around.items) {
      if (&other != &member && other.plus < 0) known.push_back(other.key);
    }
    const auto near = nearest_names(member.key, known, 1);
    Finding& finding =
        report.at(member, {member.key, adds             ? "in the file already: a plus adds what is not there"
                                       : member.removed ? "not in the file: there is nothing to take away"
                                                        : "not in the file: Hydra sets what is there, and adds what a "
                                                          "plus is before"});
    finding.fix = adds             ? "write it without the plus"
                  : !near.empty()  ? "did you mean " + near.front() + "?"
                  : member.removed ? "drop the override"
                                   : "write a plus before it";
    finding.source = "hydra-core 1.3.2, _internal/config_loader_impl.py, as NeMo-RL calls it (nemo_rl/utils/config.py)";
  });
}

void malformed_overrides(const Node& object, Report& report) {
  for (const Node& member : object.items) {
    malformed_overrides(member, report);
    if (!member.malformed) continue;
    const std::string name = member.key.empty() ? quote(member.text) : member.key + "=" + member.text;
    Finding& finding = report.at(member, {name, "no override that Hydra's grammar takes"});
    finding.fix = member.key.empty() ? "write the setting's name before it" : "put the value into quotes of its own";
    finding.source = "hydra-core 1.3.2, grammar/OverrideLexer.g4 and OverrideParser.g4";
  }
}

}  // namespace

void wrong_signs(const CheckInput& in, Report& report) {
  if (!has_overrides(in.job)) return;
  const bool sweeps = in.job.root().has("multirun") || in.job.root().text.ends_with(" -m");
  if (!sweeps) malformed_overrides(in.job.root(), report);
  if (in.job.kind == JobKind::NemoRl) return signs_beside_file(in, report);
  each_object(in, [&](const Place& place) {
    for (const Node& member : place.object.items) {
      const FrameworkSetting* setting = place.section.find(member.key);
      const bool lacks = setting == nullptr ? lacks_plus(place, member) : setting->unlisted && member.plus == 0;
      const bool scalar = !member.is_object() && !member.is_array();
      const bool there = setting != nullptr && setting->filled && setting->last.empty() && scalar && member.plus == 1;
      if (!lacks && !there) continue;
      Finding& finding = report.at(member, {member.key, lacks ? "not in verl's own file: Hydra sets what is there, and "
                                                                "adds what a plus is before"
                                                              : "in verl's own file: a plus adds what is not there"});
      finding.fix = lacks ? "write a plus before it" : "write it without the plus";
      if (there && !setting->after.empty()) {
        finding.severity = Severity::Warning;
        finding.message += fmt::format(" (verl {} did not have it yet)", setting->after);
      }
      finding.source = place.table.source;
    }
  });
}

namespace {

/// Modules of the user's own that verl imports may bring words of its registries.
bool brings_words(const Job& job) {
  if (job.kind != JobKind::Verl) return false;
  const Node* library = job.root().at({"actor_rollout_ref", "model", "external_lib"});
  return (library != nullptr && !library->is_null()) ||
         job.root().text.find("VERL_USE_EXTERNAL_MODULES") != std::string::npos;
}

/// A word that chooses the file of a whole part: `engine=megatron`.
bool chooses_part(const Place& place, const Node& member, const FrameworkSetting& setting) {
  return place.table.framework == "verl" && member.plus >= 0 && member.is_string() && setting.is(Type::Object) &&
         place.object.where.path.empty();
}

/// Paths of the components that the table has, each behind its section's name and a colon.
std::vector<std::string> component_paths(const FrameworkTable& table) {
  std::vector<std::string> known;
  for (const SettingSection& section : table.sections) {
    if (section.path.find(':') == std::string::npos) continue;
    known.push_back(section.path);
    known.insert(known.end(), section.same.begin(), section.same.end());
  }
  return known;
}

/// A slip of one in the same package, of another library's: that may have others in another version.
bool is_slip_of_neighbour(const std::string& path, const std::vector<std::string>& known) {
  const std::string package = path.substr(0, path.rfind('.') + 1);
  return !package.empty() && std::any_of(known.begin(), known.end(), [&](const std::string& other) {
    return other.substr(0, other.rfind('.') + 1) == package && one_slip_apart(path, other);
  });
}

/// A component that the framework, or a package of optimizers, does not have.
void unknown_component(const Place& place, const Node& member, const FrameworkSetting& setting, Report& report) {
  for (const Node* object : objects_of(member, setting)) {
    const std::string path = chosen_path(*object, setting);
    if (path.empty() || place.table.find(path) != nullptr || is_left_open(path)) continue;
    if (without_private(path) != path) continue;  // the table has public names alone
    const std::vector<std::string> known = component_paths(place.table);
    const bool own = path.starts_with(setting.section + ':' + place.table.framework + '.');
    if (!own && !is_slip_of_neighbour(path, known)) continue;
    const Node& chosen = *object->find(setting.section_of);
    const std::string library = path.substr(setting.section.size() + 1, path.find('.') - setting.section.size() - 1);
    Finding& finding = report.at(chosen, {chosen.key, "a component of " + library, shown_value(chosen)});
    finding.source = place.table.source;
    const auto near = nearest_names(path, known, 1);
    finding.fix =
        near.empty() ? "name one that it has" : "did you mean " + near.front().substr(setting.section.size() + 1) + "?";
  }
}

}  // namespace

void wrong_settings(const CheckInput& in, Report& report) {
  const bool option = is_command_line(in);
  const bool own_words = brings_words(in.job);
  const VisitSetting judge = [&](const Place& place, const Node& member, const FrameworkSetting& known) {
    if (is_off(place) && (place.inside_off || known.name != place.section.off)) return;
    if (has_own_rule(place.section, known) || has_one_of(in.job.root(), known.unless)) return;
    if (chooses_part(place, member, known) || member.removed || member.malformed) return;
    if (is_before_program(in.job, member)) return;
    FrameworkSetting setting = known;
    if (own_words) setting.values.clear();
    unknown_component(place, member, setting, report);
    const Node* at = &member;
    std::string is;
    std::optional<Node> text;
    if (!option && is_text_to_pyyaml(member, in.job)) text.emplace(member).kind = Node::Kind::String;
    const Node& value = text ? *text : member;
    auto fault = value_fault(value, setting, place.section, option);
    if (fault) is = shown_value(value);
    if (auto wrong = fault ? std::nullopt : entry_fault(member, setting, place.section)) {
      at = wrong->entry;
      fault = std::move(wrong->fault);
      is = std::move(wrong->is);
    }
    if (!fault) return;
    // As the line has it; of a tree of options as the table spells it.
    const FrameworkSetting* row = nullptr;
    const std::string name = member.written.empty() ? key_of(place.section, member, row) : member.written;
    Finding& finding = report.at(*at, {name, fault->expected, is});
    finding.severity = fault->severity;
    if (in.job.kind == JobKind::NemoRl && value.is_null() && setting.is(Type::String) && !has_overrides(in.job)) {
      finding.severity = Severity::Warning;
      finding.message += ": the command line has to give it";
    }
    finding.source = place.table.source;
    finding.fix = fault->fix.empty() ? "write " + fault->expected : fault->fix;
    if (fault->expected == "a boolean" && fault->severity == Severity::Warning && truth_of(*at) == true) {
      finding.edits = {{Edit::Kind::Set, at->where.path, "true"}};
    }
  };
  each_setting(in, judge);
  each_setting_of_verl(in, judge);
}

void old_settings(const CheckInput& in, Report& report) {
  each_setting(in, [&](const Place& place, const Node& member, const FrameworkSetting& setting) {
    const std::string word = written_word(member).value_or("");
    const std::string_view last = setting.last.empty() ? setting.last_with(word) : setting.last;
    if (last.empty() && !setting.deprecated) return;
    if (place.table.framework == "verl" && member.plus != 0 && takes_any_name(place.section)) return;
    if (setting.name == "cpu_offload" || setting.name == "cpu_offload_param") return;  // rewritten by the rule itself
    // Deprecated without a successor is a remark: something may still read it.
    const bool remark = last.empty() && setting.replaced_by.empty();
    const std::string now = setting.replaced_by.empty() ? "another setting" : setting.replaced_by;
    Finding& finding = report.at(member, {member.name(), now});
    finding.source = place.table.source;
    if (remark) {
      finding.severity = Severity::Info;
      finding.message = fmt::format("{} is deprecated", member.name());
      finding.fix = "nothing to do while this version reads it";
    }
    if (last.empty()) return;
    const std::string what = setting.last.empty() ? member.name() + " = " + shown_value(member) : quote(member.name());
    finding.message =
        fmt::format("{} {} had {} last: {} does not know it", place.table.framework, last, what, place.table.version);
    finding.fix = "pin that version, or use what took its place";
  });
}

namespace {

/// A part that lacks one thing, or few of many, is meant to be whole; others are what a command line completes.
bool is_meant_whole(const Place& place) {
  if (place.table.framework != "nemo-rl") return true;
  std::ptrdiff_t needed = 0;
  std::ptrdiff_t given = 0;
  for (const FrameworkSetting& setting : place.section.settings) {
    if (!setting.required) continue;
    ++needed;
    given += place.object.has(setting.name) ? 1 : 0;
  }
  const std::ptrdiff_t missing = needed - given;
  return given > 0 && (missing == 1 || given > 4 * missing);
}

}  // namespace

void missing_settings(const CheckInput& in, Report& report) {
  if (in.job.kind == JobKind::NemoRl && !nemo_rl_configuration(in.job.root()).whole) return;
  each_object(in, [&](const Place& place) {
    if (place.section.reader == SettingReader::Argparse) return;  // another file, or the command line, may give it
    if (is_off(place) || !is_meant_whole(place)) return;
    for (const FrameworkSetting& setting : place.section.settings) {
      if (!setting.required || !setting.last.empty()) continue;
      const bool given = std::any_of(place.object.items.begin(), place.object.items.end(),
                                     [&](const Node& n) { return setting.answers_to(n.key); });
      if (given) continue;
      Finding& finding = report.at(place.object, {setting.name, place_name(place)});
      finding.source = place.table.source;
      if (place.section.path.find(':') == std::string::npos || in.job.kind != JobKind::Torchtune) continue;
      finding.severity = Severity::Warning;
      finding.message += ": it is a parameter without a default, and `tune run` gives it or fails";
    }
  });
}

}  // namespace smplan
