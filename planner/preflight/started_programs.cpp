#include "planner/preflight/started_programs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

namespace smplan {
namespace {

constexpr LaunchProgram kLaunchPrograms[] = {
    {"torchrun", "torchrun", "torchrun", "", "torchrun", "", "torch.distributed.run", false, true},
    {"torchrun", "torch.distributed.launch", "torchrun", ":launch", "", "", "torch.distributed.launch", false, true},
    {"hyperpodrun", "hyperpodrun", "torchrun", ":hyperpodrun", "hyperpodrun", "", "", false, true},
    {"accelerate-launch", "accelerate launch", "accelerate-launch", "", "accelerate", "launch",
     "accelerate.commands.launch", false, false},
    {"accelerate-launch", "accelerate launch", "accelerate-launch", "", "accelerate-launch", "", "", false, false},
    {"deepspeed-launch", "deepspeed", "deepspeed-launch", "", "deepspeed", "", "deepspeed.launcher.runner", true, true},
};

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

/// Programs of tools that people name themselves, with what they are to do behind.
constexpr std::array<std::string_view, 5> kTools = {"trl", "tune", "axolotl", "llamafactory-cli", "lmf"};

/// A script, a module, a tool or a shell: what stands before it is not its own. The command's size where there is none.
std::size_t program_in(const std::vector<ShellWord>& command) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i].text;
    const bool module = i > 0 && (command[i - 1].text == "-m" || command[i - 1].text == "--module");
    if (module && launcher_at(command, i, next) == nullptr) return i;
    if (word.starts_with('-')) continue;
    const std::string_view name = base_name(word);
    if (name.ends_with(".py") || name.ends_with(".sh") || (i > 0 && (name == "bash" || name == "sh"))) return i;
    if (is_one_of(name, kTools) && is_program_at(command, i)) return i;
  }
  return command.size();
}

/// Plain variables alone: what else a shell makes of them (`${N%:*}`) is not known. `defaults`: those with a value for
/// where nobody sets them too (`${N:-8}`).
bool has_plain_variables(std::string_view text, bool defaults = false) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::string_view inside = text.substr(at + 2);
    const std::size_t end = std::min(inside.find('}'), inside.size());
    if (!is_shell_name(inside.substr(0, defaults ? std::min(end, inside.find(":-")) : end))) return false;
  }
  return true;
}

/// The words of a script, command by command, with the variables and arrays that it sets before.
class CommandReader {
 public:
  CommandReader(const std::string& list, StartedPrograms& out) : list_(list), out_(out) {}

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
      const bool plain = word.literal || has_plain_variables(text, true);
      if (sets && plain && variables_.take(text, conditions_.inside())) continue;
      expand(word, 0, command);
    }
    finish(command, depth);
    out_.variables = variables_;
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
    take_program(command);
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
    LauncherCall call = read_launcher_options(launcher, command, next, list_, options_left_);
    options_left_ -= call.options.items.size();
    if (out_.launches.size() < kMostPrograms) out_.launches.push_back(std::move(call));
  }

  /// And which of its command's options are not its own.
  void take_program(const std::vector<ShellWord>& command) {
    const std::size_t program = program_in(command);
    if (program == command.size()) return;
    const auto words = command.begin() + static_cast<std::ptrdiff_t>(program) + 1;
    std::set<std::string> own;
    for (auto word = words; word != command.end(); ++word) {
      if (is_option(*word)) own.insert(option_name(*word));
    }
    for (std::size_t i = 0; i < program; ++i) {
      if (!is_option(command[i]) || out_.before_program.size() == kMostLauncherOptions) continue;
      std::string name = option_name(command[i]);
      if (!own.contains(name)) out_.before_program.emplace(std::move(name), command[i].line);
    }
    if (out_.programs.size() < kMostPrograms) out_.programs.push_back({command[program].text, {words, command.end()}});
  }

  static std::string option_name(const ShellWord& word) {
    return hyphened(std::string_view(word.text).substr(2, word.text.find('=') - 2));
  }

  static constexpr std::size_t kMostPrograms = 1000;

  const std::string& list_;
  StartedPrograms& out_;
  std::size_t options_left_ = kMostLauncherOptions;
  Conditions conditions_;
  Variables variables_;
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that arrays and texts may bring
};

}  // namespace

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const LauncherCall* only_call(const StartedPrograms& started, std::string_view launcher) {
  const LauncherCall* only = nullptr;
  for (const LauncherCall& call : started.launches) {
    if (call.program->launcher != launcher) continue;
    if (only != nullptr) return nullptr;
    only = &call;
  }
  return only;
}

bool starts(const StartedPrograms& started, std::string_view program) {
  return std::any_of(started.programs.begin(), started.programs.end(),
                     [&](const StartedProgram& one) { return base_name(one.name) == program; });
}

std::string trl_command(const StartedPrograms& started) {
  constexpr std::string_view kScripts = "trl/scripts/";
  constexpr std::string_view kModules = "trl.scripts.";
  constexpr std::array<std::string_view, 4> kOthers = {"vllm-serve", "vllm_serve", "env", "skills"};
  for (const StartedProgram& program : started.programs) {
    std::string_view name = program.name;
    if (base_name(name) == "trl" && !program.words.empty()) {
      name = program.words.front().text;
    } else if (name.starts_with(kModules)) {
      name.remove_prefix(kModules.size());
    } else if (const std::size_t script = name.rfind(kScripts); script != std::string_view::npos) {
      name.remove_prefix(script + kScripts.size());
      if (name.ends_with(".py")) name.remove_suffix(3);
    } else {
      continue;
    }
    if (!is_one_of(name, kOthers)) return std::string(name);
  }
  return {};
}

StartedPrograms started_by(const std::vector<ShellWord>& words, const std::string& list) {
  StartedPrograms started;
  started.is_script = !words.empty() && !is_any_option(words.front().text);
  CommandReader(list, started).read(words);
  return started;
}

}  // namespace smplan
