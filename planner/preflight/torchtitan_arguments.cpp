// Source: TorchTitan v0.2.2, config/manager.py; HEAD of 2026-08, torchtitan/config/manager.py and run_train.sh.
#include "planner/preflight/torchtitan_arguments.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_folder.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using Type = FrameworkSetting::Type;

constexpr std::string_view kScript = "run_train.sh";  ///< TorchTitan's own, which variables tell the file

bool is_titan(std::string_view program) {
  return program == kTitanProgram || program.ends_with("torchtitan/train.py") || base_name(program) == kScript;
}

/// A word of a command line as the TOML would have it.
Node typed(const std::string& text, const FrameworkSetting* setting) {
  Node node;
  node.kind = Node::Kind::String;
  node.text = text;
  const std::string word = lower_case(text);
  if (setting == nullptr || text.find('$') != std::string::npos) return node;
  if (setting->is(Type::Boolean) && (word == "true" || word == "false")) {
    node.kind = Node::Kind::Bool;
    node.truth = word == "true";
  } else if (setting->is(Type::Null) && word == "none") {
    node.kind = Node::Kind::Null;
  } else if (const auto integer = integer_of(node); integer && !setting->is(Type::String)) {
    node.kind = Node::Kind::Integer;
    node.integer = *integer;
  } else if (const auto real = number_of(node); real && setting->is(Type::Number)) {
    node.kind = Node::Kind::Real;
    node.real = *real;
  }
  return node;
}

/// What stands behind an option. Its program divides a list by commas.
Node value_of(const std::vector<std::string>& words, const FrameworkSetting* setting, bool off) {
  Node node;
  if (words.empty()) {
    node.kind = Node::Kind::Bool;
    node.truth = !off;
    return node;
  }
  if (setting == nullptr || !setting->is(Type::List)) return typed(words.front(), setting);
  node.kind = Node::Kind::Array;
  for (std::string_view rest : words) {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (end > 0) node.items.push_back(typed(std::string(rest.substr(0, end)), nullptr));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return node;
}

/// The member of that key, made where there is none.
Node& member_of(Node& object, const std::string& key, int line) {
  if (!object.is_object()) {
    object.kind = Node::Kind::Object;
    object.items.clear();
  }
  const Node* known = object.find(key);
  if (known != nullptr) return object.items[static_cast<std::size_t>(known - object.items.data())];
  Node made;
  made.key = key;
  made.where = {pointer_to(object.where.path, key), line};
  object.items.push_back(std::move(made));
  return object.items.back();
}

/// Lays one option over the settings: `checkpoint.no_enable` switches that off.
void take_option(const FrameworkTable& table, std::string_view name, const std::vector<std::string>& words, int line,
                 Node& settings) {
  Node* node = &settings;
  const SettingSection* section = table.find("");
  const FrameworkSetting* setting = nullptr;
  bool off = false;
  int depth = 0;
  while (!name.empty() && ++depth < kMaxJobDepth / 2) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    std::string key(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
    off =
        name.empty() && words.empty() && key.starts_with("no_") && section != nullptr && section->find(key) == nullptr;
    if (off) key.erase(0, 3);
    setting = section == nullptr ? nullptr : section->find(key);
    section = setting == nullptr || setting->section.empty() ? nullptr : table.find(setting->section);
    node = &member_of(*node, key, line);
  }
  Node value = value_of(words, setting, off);
  value.key = node->key;
  value.where = {node->where.path, line};
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    value.items[i].where = {pointer_to(value.where.path, std::to_string(i)), line};
  }
  *node = std::move(value);
}

/// The file of settings; empty where none is named.
std::string named_file(const Job& job) {
  const Node* file = job.root().at({"job", "config_file"});
  return file != nullptr && file->is_string() ? file->text : std::string();
}

}  // namespace

const StartedProgram* titan_program(const StartedPrograms& started) {
  const auto found = std::find_if(started.programs.begin(), started.programs.end(),
                                  [](const StartedProgram& program) { return is_titan(program.name); });
  return found == started.programs.end() ? nullptr : &*found;
}

Node titan_settings(const StartedPrograms& started, Node file) {
  const FrameworkTable* table = framework_table("torchtitan");
  const StartedProgram* program = titan_program(started);
  Node settings = std::move(file);
  settings.kind = Node::Kind::Object;
  settings.open = settings.items.empty();
  if (table == nullptr || program == nullptr) return settings;
  constexpr std::pair<const char*, std::string_view> kVariables[] = {
      {"CONFIG_FILE", "job.config_file"}, {"MODULE", "module"}, {"CONFIG", "config"}};
  for (const auto& [variable, option] : kVariables) {
    const std::string* value = started.variables.find(variable);
    if (value != nullptr && base_name(program->name) == kScript) take_option(*table, option, {*value}, 0, settings);
  }
  const std::vector<ShellWord>& words = program->words;
  const std::size_t end = std::min(words.size(), kMostLauncherOptions);
  for (std::size_t i = 0; i < end; ++i) {
    if (!is_option(words[i])) continue;
    const std::string& word = words[i].text;
    const int line = words[i].line;
    const std::size_t equals = std::min(word.find('='), word.size());
    std::string name = word.substr(2, equals - 2);
    std::replace(name.begin(), name.end(), '-', '_');
    std::vector<std::string> values;
    if (equals < word.size()) values.push_back(word.substr(equals + 1));
    for (; equals == word.size() && i + 1 < end && !is_any_option(words[i + 1].text); ++i) {
      values.push_back(words[i + 1].text);
      // A variable behind the value may hold more options.
      const std::string variable = variable_in(values.back());
      settings.open = settings.open || (values.size() > 1 && !variable.empty() && variable != kAllArguments);
    }
    const bool plain = name.find('.') == std::string::npos;
    if (!plain || name == "module" || name == "config") take_option(*table, name, values, line, settings);
  }
  return settings;
}

void read_titan_file(Job& job) {
  const std::string named = titan_program(job.started) == nullptr ? std::string() : named_file(job);
  if (!named.ends_with(".toml")) return;
  const fs::path folder = fs::path(job.file).parent_path();
  for (const fs::path& from_folder : {fs::path(named), fs::path(named).filename()}) {
    const fs::path path = folder / from_folder;
    std::error_code none;
    if (!stays_inside(from_folder) || !fs::is_regular_file(path, none)) continue;
    const std::string shown = path.lexically_relative(folder).generic_string();
    const Result<std::string> text = read_text_file(path.string());
    Result<Node> file = text ? parse_document(*text, shown, Syntax::Toml) : tl::unexpected<Diagnostics>(text.error());
    if (!file) {
      job.broken_files.push_back(
          {job.root().at({"job", "config_file"})->where, named, to_string(file.error().front())});
      return;
    }
    name_file(*file, shown);
    file->where = job.root().where;
    job = reread_job(job, titan_settings(job.started, std::move(*file)));
    return;
  }
}

}  // namespace smplan
