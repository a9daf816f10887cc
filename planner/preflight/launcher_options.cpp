#include "planner/preflight/launcher_options.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"
#include "planner/preflight/shell_variables.hpp"

namespace smplan {
namespace {

/// How a launcher is started: by its program, with its action behind it, or by Python, as a module.
struct LaunchProgram {
  std::string_view launcher, title, table, section, program, action, module;
  bool plain;        ///< its program's name is that of a library too: it starts where a program stands
  bool abbreviates;  ///< it takes the beginning of an option's name
};

constexpr LaunchProgram kLaunchPrograms[] = {
    {"torchrun", "torchrun", "torchrun", "", "torchrun", "", "torch.distributed.run", false, true},
    {"torchrun", "torch.distributed.launch", "torchrun", ":launch", "", "", "torch.distributed.launch", false, true},
    {"hyperpodrun", "hyperpodrun", "torchrun", ":hyperpodrun", "hyperpodrun", "", "", false, true},
    {"accelerate-launch", "accelerate launch", "accelerate-launch", "", "accelerate", "launch",
     "accelerate.commands.launch", false, false},
    {"accelerate-launch", "accelerate launch", "accelerate-launch", "", "accelerate-launch", "", "", false, false},
    {"deepspeed-launch", "deepspeed", "deepspeed-launch", "", "deepspeed", "", "deepspeed.launcher.runner", true, true},
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a program may stand at that place: at the beginning, or behind one that starts others.
bool is_program_at(const std::vector<ShellWord>& command, std::size_t at) {
  static constexpr std::array<std::string_view, 24> kStarters = {
      "srun",    "mpirun", "mpiexec", "exec",   "nohup",  "time",        "env",     "eval",
      "numactl", "nsys",   "ncu",     "docker", "sudo",   "uv",          "poetry",  "then",
      "do",      "else",   "if",      "!",      "podman", "singularity", "timeout", "apptainer"};
  const std::string& first = command.front().text;
  return at == 0 || is_one_of(base_name(first), kStarters) || first.starts_with('$') ||
         first.find('=') != std::string::npos;
}

/// The launcher that is started at that word, and where its own words begin; nullptr where none is.
const LaunchProgram* launcher_at(const std::vector<ShellWord>& command, std::size_t at, std::size_t& next) {
  const std::string& word = command[at].text;
  for (const LaunchProgram& launcher : kLaunchPrograms) {
    next = at + 1;
    if (!launcher.module.empty() && word == launcher.module && at > 0 && command[at - 1].text == "-m") return &launcher;
    if (launcher.program.empty() || base_name(word) != launcher.program ||
        (launcher.plain && !is_program_at(command, at)))
      continue;
    if (launcher.action.empty()) return &launcher;
    if (next < command.size() && command[next].text == launcher.action) {
      ++next;
      return &launcher;
    }
  }
  return nullptr;
}

/// A script or a shell: what stands before it is not its own. The command's size where there is none.
std::size_t script_in(const std::vector<ShellWord>& command) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i].text;
    const bool module = i > 0 && (command[i - 1].text == "-m" || command[i - 1].text == "--module");
    if (module && launcher_at(command, i, next) == nullptr) return i;
    if (word.starts_with('-')) continue;
    const std::string_view name = base_name(word);
    if (name.ends_with(".py") || name.ends_with(".sh") || (i > 0 && (name == "bash" || name == "sh"))) return i;
  }
  return command.size();
}

std::string hyphened(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

/// `--name`, `-x`; a negative number is none.
bool is_any_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '-' ? word.size() > 2 : is_letter_or_digit(word[1])) &&
         (word[1] < '0' || word[1] > '9');
}

/// Plain variables alone: what else a shell makes of them (`${N%:*}`) is not known.
bool has_plain_variables(std::string_view text) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::size_t end = std::min(text.find('}', at), text.size());
    if (!is_shell_name(text.substr(at + 2, end - at - 2))) return false;
  }
  return true;
}

/// A command inside that goes on in the next words: `$(hostname -I)`.
bool is_cut_command(std::string_view text) {
  const auto opened = std::count(text.begin(), text.end(), '(');
  return opened != std::count(text.begin(), text.end(), ')') || std::count(text.begin(), text.end(), '`') % 2 != 0;
}

/// The options between the launcher and its script.
class OptionReader {
 public:
  OptionReader(const SettingSection& known, bool abbreviates, const std::string& list, std::vector<Node>& out)
      : known_(known), abbreviates_(abbreviates), list_(list), out_(out) {}

  /// Whether all of them are there: what a variable brings that is not known may be more.
  bool read(const std::vector<ShellWord>& words, std::size_t next, std::size_t most) {
    for (; next < words.size() && is_any_option(words[next].text) && out_.size() < most; ++next) {
      const ShellWord& word = words[next];
      if (is_cut_command(word.text)) return false;
      Node option = option_of(word);
      const bool valued = option.is_string();
      if (!valued && next + 1 < words.size() && takes_value(option.key) && !is_any_option(words[next + 1].text)) {
        const std::string& value = words[next + 1].text;
        // Behind a name that is none, what looks like the script is it.
        if (is_known(option.key) || (next + 2 < words.size() && !value.ends_with(".py"))) {
          option.kind = Node::Kind::String;
          option.text = value;
          ++next;
        }
      }
      const bool cut = is_cut_command(option.text);
      if (!is_abbreviated(option.key)) out_.push_back(std::move(option));
      if (cut) return false;
    }
    return next == words.size() || words[next].text.find('$') == std::string::npos;
  }

 private:
  /// With the value that stands behind `=`, or of a short name right behind it: `-r3`.
  [[nodiscard]] Node option_of(const ShellWord& word) const {
    const bool dashed = word.text.starts_with("--");
    const std::string_view text = std::string_view(word.text).substr(dashed ? 2 : 0);
    const std::size_t end = std::min(dashed ? text.find('=') : std::size_t{2}, text.size());
    Node option;
    option.key = text.substr(0, end);
    option.kind = Node::Kind::Bool;
    option.truth = true;
    option.open = word.conditional;
    option.where = {list_.empty() ? pointer_to("", option.key) : list_, word.line};
    if (end < text.size()) {
      option.kind = Node::Kind::String;
      option.text = text.substr(end + (dashed ? 1 : 0));
    }
    return option;
  }

  [[nodiscard]] bool is_known(const std::string& name) const { return known_.find(name) != nullptr; }

  [[nodiscard]] bool takes_value(const std::string& name) const {
    const FrameworkSetting* setting = known_.find(name);
    return setting == nullptr || setting->option != OptionValues::None;
  }

  /// argparse takes the beginning of a name for it, where it is that of one alone: newer Pythons count spellings once.
  [[nodiscard]] bool is_abbreviated(const std::string& name) const {
    return abbreviates_ && !is_known(name) &&
           std::any_of(known_.settings.begin(), known_.settings.end(), [&](const auto& setting) {
             return setting.name.starts_with(name) ||
                    std::any_of(setting.also.begin(), setting.also.end(),
                                [&](const auto& one) { return one.starts_with(name); });
           });
  }

  const SettingSection& known_;
  bool abbreviates_;
  const std::string& list_;
  std::vector<Node>& out_;
};

/// The words of a script, command by command, with the variables and arrays that it sets before.
class CommandReader {
 public:
  CommandReader(const std::string& list, LauncherCalls& out) : list_(list), out_(out) {}

  void read(const std::vector<ShellWord>& words, int depth = 0) {
    std::vector<ShellWord> command;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ShellWord& word = words[i];
      const std::string_view text = word.text;
      if (word.first) {
        finish(command, depth);
        command.clear();
      }
      if (!conditions_.take(word)) continue;
      if (text.ends_with("=(") && begins_array(text.substr(0, text.size() - 1))) {
        i = take_array(words, i);
        continue;
      }
      const bool sets = command.empty() || (command.size() == 1 && exports(command.front().text));
      const bool plain = word.literal || has_plain_variables(text);
      if (sets && plain && variables_.take(text, conditions_.inside())) continue;
      expand(word, 0, command);
    }
    finish(command, depth);
  }

 private:
  static bool exports(std::string_view word) { return word == "export" || word == "local" || word == "declare"; }

  std::size_t take_array(const std::vector<ShellWord>& words, std::size_t at) {
    const std::string& head = words[at].text;
    std::vector<ShellWord> entries;
    for (++at; at < words.size() && words[at].text != ")"; ++at) expand(words[at], 0, entries);
    for (ShellWord& entry : entries) entry.conditional = entry.conditional || conditions_.inside();
    std::vector<ShellWord>& array = arrays_[head.substr(0, head.find_first_of("+="))];
    if (head.find('+') == std::string::npos) array.clear();
    array.insert(array.end(), entries.begin(), entries.end());
    finish(entries, 0);  // a command may be kept in one
    return at;
  }

  void expand(const ShellWord& word, int depth, std::vector<ShellWord>& out) {
    constexpr int kDeepest = 8;
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    const auto array = name.empty() ? arrays_.end() : arrays_.find(name);
    if (depth > kDeepest) return;
    if (array != arrays_.end()) {
      if (!take_from_budget(array->second.size())) return;
      out.insert(out.end(), array->second.begin(), array->second.end());
      return;
    }
    if (word.literal || word.text.find('$') == std::string::npos || !has_plain_variables(word.text)) {
      out.push_back(word);
      return;
    }
    ShellWord whole = word;
    whole.text = variables_.expanded(word.text);
    // What is empty here may be filled where this reader does not look.
    if (whole.text.empty() || whole.text.ends_with('=')) whole.text = word.text;
    if (name.empty() || word.quoted || whole.text == word.text) {
      out.push_back(std::move(whole));
      return;
    }
    const std::vector<std::string_view> parts = blank_separated(whole.text);
    if (!take_from_budget(parts.size())) return;
    for (const std::string_view part : parts) {
      expand({std::string(part), word.line}, depth + 1, out);
    }
  }

  bool take_from_budget(std::size_t words) {
    if (words > words_left_) return false;
    words_left_ -= words;
    return true;
  }

  static std::vector<std::string_view> blank_separated(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    std::vector<std::string_view> parts;
    while (!text.empty()) {
      text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
      const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
      if (end > 0) parts.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return parts;
  }

  void finish(const std::vector<ShellWord>& command, int depth) {
    constexpr int kDeepest = 4;
    static constexpr std::array<std::string_view, 2> kTell = {"echo", "printf"};
    if (command.empty() || is_one_of(command.front().text, kTell)) return;
    take_script(command);
    std::size_t next = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
      if (const LaunchProgram* launcher = launcher_at(command, i, next)) return take_launch(*launcher, command, next);
      if (i == 0 || depth == kDeepest || !takes_script(command[i - 1].text)) continue;
      Result<std::vector<ShellWord>> inner = split_words(command[i].text, "");
      if (!inner) continue;
      for (ShellWord& word : *inner) word.line = command[i].line;
      read(*inner, depth + 1);
    }
  }

  void take_launch(const LaunchProgram& launcher, const std::vector<ShellWord>& command, std::size_t next) {
    const FrameworkTable* table = framework_table(launcher.table);
    const SettingSection* known = table == nullptr ? nullptr : table->find(launcher.section);
    if (known == nullptr) return;
    LauncherCall launch{launcher.launcher, launcher.title, launcher.table, launcher.section, {}};
    launch.options.kind = Node::Kind::Object;
    OptionReader reader(*known, launcher.abbreviates, list_, launch.options.items);
    launch.options.open = !reader.read(command, next, options_left_);
    options_left_ -= launch.options.items.size();
    if (!launch.options.items.empty()) out_.all.push_back(std::move(launch));
  }

  /// Which of its command's options are not the script's.
  void take_script(const std::vector<ShellWord>& command) {
    const std::size_t script = script_in(command);
    if (script == command.size()) return;
    std::set<std::string> own;
    for (std::size_t i = script + 1; i < command.size(); ++i) {
      if (is_option(command[i])) own.insert(option_name(command[i]));
    }
    for (std::size_t i = 0; i < script; ++i) {
      if (!is_option(command[i]) || out_.before_script.size() == kMostOptions) continue;
      std::string name = option_name(command[i]);
      if (!own.contains(name)) out_.before_script.emplace(std::move(name), command[i].line);
    }
    if (is_titan(command[script].text)) take_titan(command, script + 1);
  }

  static std::string option_name(const ShellWord& word) {
    return hyphened(std::string_view(word.text).substr(2, word.text.find('=') - 2));
  }

  static bool is_titan(std::string_view script) {
    return script == "torchtitan.train" || script.ends_with("torchtitan/train.py") ||
           base_name(script) == "run_train.sh";
  }

  /// Versions that have a TOML alone: `--parallelism.tensor_parallel_degree 2` is its member.
  void take_titan(const std::vector<ShellWord>& command, std::size_t next) {
    const FrameworkTable* table = framework_table("torchtitan");
    Node settings;
    settings.kind = Node::Kind::Object;
    const std::size_t end = std::min(command.size(), next + kMostOptions);
    for (; table != nullptr && next < end; ++next) {
      const ShellWord& word = command[next];
      if (!is_option(word)) continue;
      std::string name = word.text.substr(2, word.text.find('=') - 2);
      if (name.find('.') == std::string::npos) continue;
      std::replace(name.begin(), name.end(), '-', '_');
      take_member(*table, name, word.line, settings);
    }
    const std::string* file = variables_.find("CONFIG_FILE");
    const bool toml = settings.at({"job", "config_file"}) != nullptr || (file != nullptr && file->ends_with(".toml"));
    if (toml && !settings.items.empty()) out_.titan = std::move(settings);
  }

  static void take_member(const FrameworkTable& table, std::string_view name, int line, Node& settings) {
    Node* node = &settings;
    std::string section;
    while (!name.empty()) {
      const std::size_t dot = std::min(name.find('.'), name.size());
      std::string key(name.substr(0, dot));
      name.remove_prefix(std::min(dot + 1, name.size()));
      const SettingSection* known = table.find(section);
      if (known == nullptr) return;
      // A switch has a second name, by which it is off.
      if (name.empty() && key.starts_with("no_") && known->find(key) == nullptr) key.erase(0, 3);
      Node* inner = nullptr;
      for (Node& item : node->items) {
        if (item.key == key) inner = &item;
      }
      if (inner == nullptr) {
        Node made;
        made.kind = name.empty() ? Node::Kind::String : Node::Kind::Object;
        made.where = {pointer_to(node->where.path, key), line};
        made.key = key;
        node->items.push_back(std::move(made));
        inner = &node->items.back();
      }
      if (!name.empty() && !inner->is_object()) return;
      node = inner;
      section += (section.empty() ? "" : ".") + key;
    }
  }

  static constexpr std::size_t kMostOptions = 1000;  ///< a hostile file may have a hundred thousand

  const std::string& list_;
  LauncherCalls& out_;
  std::size_t options_left_ = kMostOptions;
  Conditions conditions_;
  Variables variables_;
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that arrays and texts may bring
};

}  // namespace

const LauncherCall* only_call(const LauncherCalls& launches, std::string_view launcher) {
  const LauncherCall* only = nullptr;
  for (const LauncherCall& call : launches.all) {
    if (call.launcher != launcher) continue;
    if (only != nullptr) return nullptr;
    only = &call;
  }
  return only;
}

const Node* option_of(const LauncherCall& call, std::string_view name) {
  const auto& options = call.options.items;
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const Node& option) { return hyphened(option.key) == name; });
  return found == options.end() ? nullptr : &*found;
}

LauncherCalls launches_of(const std::vector<ShellWord>& words, const std::string& list) {
  LauncherCalls launches;
  CommandReader(list, launches).read(words);
  return launches;
}

}  // namespace smplan
