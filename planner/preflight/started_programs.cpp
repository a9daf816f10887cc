#include "planner/preflight/started_programs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "planner/preflight/shell_commands.hpp"

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

/// What commands start.
class ProgramReader {
 public:
  ProgramReader(const std::string& list, StartedPrograms& out) : list_(list), out_(out) {}

  void take(const std::vector<ShellWord>& command) {
    take_program(command);
    std::size_t next = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
      if (const LaunchProgram* launcher = launcher_at(command, i, next)) return take_launch(*launcher, command, next);
    }
  }

 private:
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
  ShellScript script = commands_of(words);
  ProgramReader reader(list, started);
  for (const ShellCommand& command : script.commands) reader.take(command.words);
  started.variables = std::move(script.variables);
  return started;
}

}  // namespace smplan
