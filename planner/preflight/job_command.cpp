#include "planner/preflight/job_command.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"

namespace smplan {
namespace {

bool starts_nodes(const LauncherCall& call) {
  return call.program->launcher == "torchrun" || call.program->launcher == "hyperpodrun";
}

/// `4`, or `2:8` of an elastic job.
void read_nodes(const Node* option, const Where& where, JobCommand& command) {
  if (option == nullptr) return;
  const std::string_view text = option->text;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto least = integer_from(text.substr(0, colon));
  const auto most = colon == text.size() ? least : integer_from(text.substr(colon + 1));
  if (!least || !most) return;
  // The words of a list have no places of their own.
  command.least_nodes = derived(*least, where.path.empty() ? option->where : where);
  command.most_nodes = derived(*most, command.least_nodes.where);
}

/// Every option of a line of directives: `#SBATCH --nodes=4 -t 60`. A letter may have its value behind it: `-N4`.
void read_directives(std::string_view line, int number, std::vector<SlurmDirective>& out) {
  constexpr std::string_view kMark = "#SBATCH ";
  if (!line.starts_with(kMark)) return;
  line.remove_prefix(kMark.size());
  line = line.substr(0, line.find(" #"));
  for (const std::string_view word : words_of(line)) {
    if (!word.starts_with('-')) {  // the value of the option before it, or what nobody reads
      if (!out.empty() && out.back().line == number && !out.back().value) out.back().value = word;
      continue;
    }
    SlurmDirective made;
    made.line = number;
    const bool is_long = word.starts_with("--");
    const std::string_view rest = word.substr(is_long ? 2 : 1);
    const std::size_t end = is_long ? std::min(rest.find('='), rest.size()) : std::min<std::size_t>(1, rest.size());
    made.name = rest.substr(0, end);
    if (end < rest.size()) made.value = rest.substr(end + (is_long ? 1 : 0));
    out.push_back(std::move(made));
  }
}

void read_directive(std::string_view line, int number, JobSlurm& slurm) {
  const std::size_t known = slurm.directives.size();
  read_directives(line, number, slurm.directives);
  for (std::size_t i = known; i < slurm.directives.size(); ++i) {
    const auto& [name, given, where] = slurm.directives[i];
    std::string_view value = given ? std::string_view(*given) : std::string_view();
    Count* into = name == "nodes" || name == "N"                ? &slurm.nodes
                  : name == "ntasks-per-node"                   ? &slurm.tasks_per_node
                  : name == "gpus-per-node"                     ? &slurm.devices_per_node
                  : name == "gres" && value.starts_with("gpu:") ? &slurm.devices_per_node
                                                                : nullptr;
    if (name == "gres") value = value.substr(0, value.find(','));
    // `gpu:h100:8` has the count last; a range of nodes is none.
    const auto n = integer_from(value.substr(value.rfind(':') + 1));
    if (into != nullptr && n) *into = derived(*n, {"", where});
  }
}

/// `export CUDA_VISIBLE_DEVICES=0,1`, or the setting before a launcher, which alone are the launcher's. Of two nobody
/// knows which holds, nor of one inside a condition.
void read_visible(std::string_view line, int number, bool conditional, bool& seen, Job& job) {
  constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES";
  const std::string exported = fmt::format("export {}=", kName);
  const std::string before = fmt::format("{}=", kName);
  const bool unset = line.starts_with("unset ") && line.find(kName) != std::string_view::npos;
  const auto& launches = job.started.launches;
  const bool launches_here = std::any_of(launches.begin(), launches.end(), [&](const LauncherCall& call) {
    return starts_nodes(call) && call.line == number;
  });
  const bool told = line.starts_with(exported) || (line.starts_with(before) && launches_here);
  if (!unset && !told) return;
  Text& visible = job.command.visible;
  visible = Text{};
  std::string_view value = unset ? std::string_view() : line.substr(line.find('=') + 1);
  if (value.starts_with('"') || value.starts_with('\'')) value.remove_prefix(1);
  value = value.substr(0, value.find_first_not_of("0123456789,"));
  if (!value.empty() && !seen && !conditional) visible = derived(std::string(value), {"", number});
  seen = true;
}

}  // namespace

Result<Node> words_of(const Node* command, const Node* args, const std::string& file) {
  Node all;
  all.kind = Node::Kind::Array;
  for (const Node* list : {command, args}) {
    if (list == nullptr || !list->is_array()) continue;
    if (all.items.empty()) all.where = list->where;
    for (const Node& word : list->items) {
      if (word.text.find("hyperpodrun ") != std::string::npos || word.text.find("torchrun ") != std::string::npos) {
        return parse_document(word.text, file, Syntax::Arguments);
      }
      all.items.push_back(word);
    }
  }
  return argument_nodes_of(all, file);
}

bool starts_torchrun(const StartedPrograms& started) {
  return std::any_of(started.launches.begin(), started.launches.end(), starts_nodes);
}

void read_launched(const StartedPrograms& started, const Where& where, JobCommand& command) {
  const auto& launches = started.launches;
  const auto call = std::find_if(launches.begin(), launches.end(), starts_nodes);
  if (call == launches.end() || std::find_if(call + 1, launches.end(), starts_nodes) != launches.end()) return;
  command.program = call->program->title;
  command.where = where.path.empty() ? Where{"", call->line} : where;
  read_nodes(option_of(*call, "nnodes"), where, command);
  command.processes = count_field(option_of(*call, "nproc-per-node"));
  if (!where.path.empty()) command.processes.where = where;
}

StartedPrograms started_by(const Node* command, const Node* args, const std::string& file) {
  std::vector<ShellWord> words;
  std::string list;
  for (const Node* part : {command, args}) {
    if (part == nullptr || (part->is_array() && part->items.empty())) continue;
    list = part->where.path;
    if (part->is_string()) {
      const Result<std::vector<ShellWord>> script = split_words(part->text, file);
      if (script) words.insert(words.end(), script->begin(), script->end());
    }
    for (const Node& word : part->items) words.push_back({word.text, word.where.line, false, true, true});
  }
  return started_by(words, list);
}

void read_container_command(const Node* command, const Node* args, Job& job) {
  if (command == nullptr && args == nullptr) return;
  job.started = started_by(command, args, job.file);
  read_launched(job.started, (args != nullptr ? args : command)->where, job.command);
}

void read_script_lines(std::string_view text, Job& job) {
  bool seen = false;
  bool& by_srun = job.slurm.by_srun;
  bool commands = false;
  int conditions = 0;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!commands) read_directive(line, number, job.slurm);
    if (commands && line.starts_with("#SBATCH ") && !job.slurm.late) job.slurm.late = Where{"", number};
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('#')) continue;
    const std::string_view first = line.substr(0, line.find_first_of(" \t\r;"));
    if (first == "if" && !line.ends_with("fi")) ++conditions;
    if (first == "fi") conditions = std::max(0, conditions - 1);
    read_visible(line, number, conditions > 0, seen, job);
    commands = commands || !line.empty();
    const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
    by_srun = by_srun || has("srun ");
    job.slurm.by_others =
        job.slurm.by_others || has("mpirun") || has("mpiexec") || has("ssh") || has("pdsh") || has("clush");
  }
  if (!by_srun) job.slurm.tasks_per_node = {};  // srun alone starts the tasks
}

}  // namespace smplan
