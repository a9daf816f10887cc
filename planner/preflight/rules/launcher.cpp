// Who starts the processes: the distribution dictionary and what it becomes in the container.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "catalogs/framework_settings.hpp"
#include "catalogs/setting_combinations.hpp"
#include "planner/preflight/rules/combinations.hpp"
#include "planner/preflight/rules/setting_values.hpp"
#include "planner/preflight/rules/smddp.hpp"
#include "planner/preflight/rules/smp.hpp"
#include "planner/rl/verl_job.hpp"

namespace smplan {
namespace {

const Node* distribution_of(const Job& job) {
  if (job.kind != JobKind::Estimator) return nullptr;
  const Node* node = job.root().find("distribution");
  if (node == nullptr) node = job.root().find("distributions");
  return node != nullptr && node->is_object() ? node : nullptr;
}

/// Misspellings found in the wild, with what was meant.
struct Meant {
  std::string_view written;
  std::string_view key;    ///< top-level key that replaces it
  std::string_view path;   ///< in words
  std::string_view inner;  ///< second level; empty where the value moves as it is
};
constexpr std::array<Meant, 12> kMeant = {{
    {"smdistributed_dataparallel", "smdistributed", "smdistributed.dataparallel", "dataparallel"},
    {"smdistributed_modelparallel", "smdistributed", "smdistributed.modelparallel", "modelparallel"},
    {"dataparallel", "smdistributed", "smdistributed.dataparallel", "dataparallel"},
    {"modelparallel", "smdistributed", "smdistributed.modelparallel", "modelparallel"},
    {"pytorchx", "torch_distributed", "torch_distributed", ""},
    {"torchrun", "torch_distributed", "torch_distributed", ""},
    {"torch_distributed_elastic", "torch_distributed", "torch_distributed", ""},
    {"ddp", "torch_distributed", "torch_distributed", ""},
    {"deepspeed", "torch_distributed", "torch_distributed (the script calls deepspeed.initialize)", ""},
    {"fsdp", "torch_distributed", "torch_distributed (the script wraps the model)", ""},
    {"accelerate", "torch_distributed", "torch_distributed (the script builds an Accelerator)", ""},
    {"horovod", "mpi", "mpi", ""},
}};

/// What to write for a misspelling: what was meant, or torch_distributed where that could not start either.
void correct(const CheckInput& in, const Node& distribution, const Node& entry, const Meant& meant, Finding& finding) {
  const std::string obstacle = meant.inner == "dataparallel"    ? smddp_obstacle(in)
                               : meant.inner == "modelparallel" ? smp_obstacle(in)
                                                                : std::string();
  const bool just_enabled = entry.items.size() == 1 && entry.has("enabled");
  if (!obstacle.empty()) {
    const bool tensorflow = in.job.framework == Framework::TensorFlow;
    const std::string instead = tensorflow ? "mpi or multi_worker_mirrored_strategy" : "torch_distributed";
    const std::string library = meant.inner == "dataparallel" ? "SMDDP" : "the model-parallel library";
    finding.fix = fmt::format("write {}; {} would not start: {}", instead, library, obstacle);
    // A script for the model-parallel library does not run without it.
    const bool same_script = meant.inner == "dataparallel" && !tensorflow;
    if (same_script && just_enabled && !distribution.has("torch_distributed")) {
      finding.edits = {{Edit::Kind::Rename, entry.where.path, "torch_distributed"}};
    }
    return;
  }
  finding.fix = "write " + std::string(meant.path);
  if (distribution.has(meant.key) || !just_enabled) return;
  if (meant.inner.empty()) {
    finding.edits = {{Edit::Kind::Rename, entry.where.path, std::string(meant.key)}};
  } else {
    const bool on = entry.find("enabled")->truth;
    finding.edits = {{Edit::Kind::Set, entry.where.path,
                      "{\"" + std::string(meant.inner) + "\": {\"enabled\": " + (on ? "true" : "false") + "}}"},
                     {Edit::Kind::Rename, entry.where.path, std::string(meant.key)}};
  }
}

void unknown_key(const CheckInput& in, Report& report) {
  const Node* d = distribution_of(in.job);
  if (d == nullptr) return;
  const auto devices = in.devices_per_node();
  for (const Node& entry : d->items) {
    if (contains(in.limits.distribution, entry.key)) continue;
    const std::string idle =
        devices ? count_text(*devices - 1) + " of " + count_text(*devices) : std::string("all but one of the");
    Finding& finding = report.at(entry, {quote(entry.key), idle});
    const InstanceType* type = in.instance();
    if (type != nullptr && type->accelerator_count <= 1) {
      finding.message = quote(entry.key) + " is taken without a word and starts nothing: one process a node";
    }
    for (const Meant& meant : kMeant) {
      if (meant.written == entry.key) correct(in, *d, entry, meant, finding);
    }
    if (finding.edits.empty() && finding.fix == report.fix()) {
      const auto near = nearest_names(entry.key, in.limits.distribution, 1);
      if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
    }
  }
}

/// The SDK takes out of a launcher's dictionary what it knows, and loses the rest.
void unknown_inner_key(const CheckInput& in, Report& report) {
  const Node* d = distribution_of(in.job);
  if (d == nullptr) return;
  const auto judge = [&](std::initializer_list<std::string_view> path, const std::vector<std::string>& read) {
    const Node* launcher = d->at(path);
    if (launcher == nullptr) return;
    for (const Node& entry : launcher->items) {
      if (contains(read, entry.key)) continue;
      Finding& finding = report.at(entry, {quote(entry.key), list_text(read)});
      const auto near = nearest_names(entry.key, read, 1);
      if (near.empty()) {
        finding.edits = {{Edit::Kind::Remove, entry.where.path, ""}};
      } else {
        finding.fix = "did you mean " + near.front() + "?";
      }
    }
  };
  for (const std::string_view plain :
       {"torch_distributed", "parameter_server", "multi_worker_mirrored_strategy", "pytorchxla"}) {
    judge({plain}, {"enabled"});
  }
  judge({"mpi"}, {"enabled", "processes_per_host", "custom_mpi_options"});
  judge({"pytorchddp"}, {"enabled", "custom_mpi_options"});
  judge({"smdistributed", "dataparallel"}, {"enabled", "custom_mpi_options"});
  judge({"smdistributed", "modelparallel"}, {"enabled", "parameters"});
}

/// The container's own command may launch, and an image that is no AWS one decides for itself.
bool launches_itself(const CheckInput& in) {
  if (in.job.entry_point.is(std::string(kVerlProgram))) return true;  // it starts Ray, which starts the processes
  const Job& job = in.job;
  if (job.entrypoint_words != nullptr || job.argument_words != nullptr || job.algorithm.stated) return true;
  if (job.root().has("training_recipe")) return true;
  if (const Node* code = job.root().find("source_code"); code != nullptr && code->has("command")) return true;
  return job.framework == Framework::Other || (job.framework == Framework::Unknown && job.kind != JobKind::Estimator) ||
         job.class_name.is("Estimator");
}

void no_launcher(const CheckInput& in, Report& report) {
  if (in.job.launcher.any() || launches_itself(in) || is_local(in.job) || in.job.script_launches == true) return;
  const InstanceType* type = in.instance();
  const auto nodes = in.nodes();
  if (type == nullptr || !nodes || *nodes < 1) return;
  if (type->accelerator_count <= 1 && *nodes <= 1) return;
  // An unknown key and a value of the wrong type are said by their own rules; a placeholder may be anything.
  if (const Node* d = distribution_of(in.job)) {
    for (const Node& entry : d->items) {
      const bool launches = entry.key != "instance_groups";
      if (!contains(in.limits.distribution, entry.key) || (launches && !entry.is_object())) return;
    }
  } else if (const Node* other = in.job.root().find("distribution"); other != nullptr && !other->is_null()) {
    return;
  }
  const std::int64_t world = times(*nodes, type->accelerator_count);
  if (world <= *nodes) return;
  // On one node one TensorFlow process drives all of them: MirroredStrategy.
  const bool tensorflow =
      in.job.framework == Framework::TensorFlow || (in.job.framework == Framework::HuggingFace && !in.pytorch());
  if (tensorflow && *nodes == 1) return;
  Finding& finding = report.at(launcher_place(in.job), {count_text(*nodes), count_text(world)});
  if (tensorflow) finding.fix = "multi_worker_mirrored_strategy: {\"enabled\": true}";
  // Nobody has seen the script, and its name says that it starts processes: `launch.sh`, `distributed_launch.py`.
  const std::string script = in.job.entry_point.value_or("");
  if (!in.job.script_launches && !script.empty() &&
      (!script.ends_with(".py") || script.find("launch") != std::string::npos)) {
    finding.severity = Severity::Warning;
  }
  if (in.job.framework != Framework::HuggingFace || *nodes > 1) return;
  finding.severity = Severity::Warning;
  finding.message = "one process starts for " + count_text(world) +
                    " accelerators: the Trainer drives them by DataParallel, which is slower than a process for each";
}

void both_smdistributed(const CheckInput& in, Report& report) {
  const Node* d = distribution_of(in.job);
  const Node* smd = d == nullptr ? nullptr : d->find("smdistributed");
  if (smd != nullptr && smd->has("dataparallel") && smd->has("modelparallel")) report.at(*smd);
}

void pytorchddp_with_smdistributed(const CheckInput& in, Report& report) {
  const Node* d = distribution_of(in.job);
  if (d != nullptr && d->has("pytorchddp") && d->has("smdistributed")) report.at(*d->find("pytorchddp"));
}

void torchrun_on_cpu(const CheckInput& in, Report& report) {
  if (!in.job.launcher.torchrun.is(true)) return;
  for (const Machines& m : in.machines) {
    if (!m.type || is_local(in.job) || !is_cpu_type(in, *m.type)) continue;
    if (!in.limits.is_training_type(*m.type)) continue;  // C014 says so
    // A heterogeneous job may have processors beside; its own rule looks at the groups.
    if (in.machines.size() == 1) report.at(in.job.launcher.torchrun, {*m.type});
  }
}

void torchrun_entry_point(const CheckInput& in, Report& report) {
  const Text& entry = in.job.entry_point;
  // ModelTrainer takes a shell script, of which the SDK makes a command.
  if (in.job.launcher.torchrun.is(true) && entry && !entry->ends_with(".py")) {
    report.at(entry, {quote(*entry)});
  }
}

void trainium_launcher(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  for (const Machines& m : in.machines) {
    if (!m.type || !is_trainium_type(in.catalog, *m.type) || !l.any()) continue;
    const bool others = l.mpi.is(true) || l.smddp.is(true) || l.smp.is(true) || l.parameter_server.is(true) ||
                        l.multi_worker_mirrored.is(true) || l.xla.is(true) || l.pytorchddp.is(true);
    if (others) report.at(l.where, {*m.type});
  }
}

const Node* variable(const Job& job, std::string_view name) {
  return job.environment == nullptr ? nullptr : job.environment->find(name);
}

void neuron_cores(const CheckInput& in, Report& report) {
  const Node* cores = variable(in.job, "NEURON_RT_NUM_CORES");
  const InstanceType* type = in.instance();
  if (cores == nullptr || type == nullptr || !has_trainium(in, *type)) return;
  const auto n = integer_of(*cores);
  // A device may be a logical core of several physical ones; both counts are complete.
  const std::int64_t logical = type->accelerator_count;
  const Accelerator* device = in.catalog.find_accelerator(type->accelerator);
  const std::int64_t physical = logical * (device == nullptr ? 1 : device->cores_per_device);
  if (!n || *n == logical || *n >= physical) return;
  report.at(*cores, {count_text(*n), type->name, count_text(logical)}).edits = {
      {Edit::Kind::Remove, cores->where.path, ""}};
}

/// Launchers that take a number of processes: MPI, and the Torchrun of SDK 3.
bool counts_processes(const CheckInput& in) {
  const Launcher& l = in.job.launcher;
  return l.mpi.is(true) || (in.job.kind == JobKind::ModelTrainer && l.torchrun.is(true));
}

/// num_processes of accelerate is the total.
void accelerate_processes(const CheckInput& in, Report& report) {
  const auto devices = in.devices_per_node();
  const auto nodes = in.nodes();
  const Count& total = in.job.strategy.world;
  if (in.instance() == nullptr || !devices || !nodes || !total || *nodes < 1) return;
  if (*total >= times(*devices, *nodes)) return;
  report.at(total, {count_text(*total) + " processes over all of " + count_text(*nodes) + " nodes leave " +
                        count_text(minus(times(*devices, *nodes), *total)) + " accelerators idle",
                    count_text(*devices)});
}

void mpi_processes(const CheckInput& in, Report& report) {
  if (in.job.kind == JobKind::Accelerate) return accelerate_processes(in, report);
  const Launcher& l = in.job.launcher;
  const auto devices = in.devices_per_node();
  if (!counts_processes(in) || !devices || in.instance() == nullptr) return;
  if (!l.processes_per_node.stated) {
    if (!l.mpi.is(true)) return;  // torchrun starts one a device
    report.at(l.mpi, {"the number of MPI processes a node is left open", count_text(*devices)});
  } else if (l.processes_per_node && *l.processes_per_node < *devices) {
    report.at(l.processes_per_node, {count_text(*l.processes_per_node) + " processes a node leave " +
                                         count_text(minus(*devices, *l.processes_per_node)) + " accelerators idle",
                                     count_text(*devices)});
  }
}

/// CUDA takes the devices up to the first that is not there.
std::int64_t devices_seen(std::string_view visible, std::int64_t devices) {
  std::int64_t seen = 0;
  for (std::string_view rest = visible; !rest.empty(); ++seen) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (const auto n = integer_from(rest.substr(0, end)); n && (*n < 0 || *n >= devices)) break;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return seen;
}

void mpi_too_many(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  const auto devices = in.devices_per_node();
  if (counts_processes(in) && devices && in.instance() != nullptr && l.processes_per_node &&
      *l.processes_per_node > *devices) {
    report.at(l.processes_per_node, {count_text(*l.processes_per_node), count_text(*devices)});
  }
  // torchrun starts one a device of the node, seen or not.
  const Node* visible = in.job.environment == nullptr ? nullptr : in.job.environment->find("CUDA_VISIBLE_DEVICES");
  const auto text = visible == nullptr ? std::nullopt : text_of(*visible);
  if (!text || !devices || !(l.torchrun.is(true) || l.smddp.is(true))) return;
  if (const InstanceType* type = in.instance(); type != nullptr && has_trainium(in, *type)) return;  // reads another
  const std::int64_t seen = devices_seen(*text, *devices);
  if (*devices > seen) report.at(*visible, {count_text(*devices), count_text(seen) + " visible"});
}

/// Nodes that the job has by its request or its manifest, else by Slurm's directive.
Count nodes_of_job(const CheckInput& in) {
  const bool by_command = in.job.kind != JobKind::HyperpodJob && !in.job.submitted();
  if (by_command) return in.job.slurm.nodes;
  if (in.job.elastic.on.stated || in.job.root().at({"spec", "elasticPolicy"}) != nullptr) return {};  // they vary
  const auto nodes = in.nodes();
  Count out = in.job.instance_count;
  out.value = nodes;
  return out;
}

/// Processes that a launcher other than torchrun starts on each node: `deepspeed --num_gpus`, or the part of a node in
/// those that `accelerate launch` counts over all machines. Source: DeepSpeed 0.19.8, launcher/runner.py; accelerate
/// 1.15.0, utils/launch.py.
Count started_a_node(const LauncherCall& call) {
  if (call.program->launcher == "deepspeed-launch") return count_field(option_of(call, "num-gpus"));
  if (call.program->launcher != "accelerate-launch") return {};
  Count all = count_field(option_of(call, "num-processes"));
  const Node* machines = option_of(call, "num-machines");
  const std::int64_t n = machines == nullptr ? 1 : integer_of(*machines).value_or(0);
  if (!all || n < 1 || *all % n != 0) return {};
  all.value = *all / n;
  return all;
}

/// More than a node has fail; fewer leave the rest idle, unless CUDA_VISIBLE_DEVICES or the pod says that they are
/// meant.
void processes_beside_devices(const CheckInput& in, std::string_view starter, const Count& processes, Report& report) {
  const bool by_type = in.instance() != nullptr;
  const auto devices = by_type ? in.devices_per_node() : in.job.slurm.devices_per_node.value;
  if (!processes || !devices || *processes < 1 || *processes == *devices) return;
  const std::string starts = "starts " + count_text(*processes) + " processes a node";
  const std::string has = "a node has " + count_text(*devices) + " accelerators";
  if (*processes > *devices) {
    report.at(processes, {std::string(starter), starts, has});
    return;
  }
  const JobSlurm& slurm = in.job.slurm;
  const bool meant = in.job.command.visible.stated || slurm.tasks_per_node.value_or(1) > 1 ||
                     in.job.kind == JobKind::HyperpodJob ||
                     (in.job.environment != nullptr && in.job.environment->has("CUDA_VISIBLE_DEVICES"));
  if (meant || (by_type && has_trainium(in, *in.instance()))) return;
  Finding& finding = report.at(processes, {std::string(starter), starts, has});
  finding.severity = Severity::Warning;
  finding.message += fmt::format(": {} are idle", *devices - *processes);
  finding.fix = "start one process for each accelerator";
}

void command_beside_job(const CheckInput& in, Report& report) {
  const JobCommand& c = in.job.command;
  if (in.job.started.launches.size() == 1) {
    const LauncherCall& call = in.job.started.launches.front();
    processes_beside_devices(in, call.program->title, started_a_node(call), report);
  }
  if (c.program.empty()) return;
  const Count nodes = nodes_of_job(in);
  if (nodes && c.least_nodes && c.most_nodes && (*nodes < *c.least_nodes || *nodes > *c.most_nodes)) {
    const std::string told = *c.least_nodes == *c.most_nodes
                                 ? count_text(*c.least_nodes)
                                 : count_text(*c.least_nodes) + " to " + count_text(*c.most_nodes);
    report.at(c.least_nodes, {c.program, "waits for " + told + " nodes", "the job has " + count_text(*nodes)});
  }
  processes_beside_devices(in, c.program, c.processes, report);
  const auto devices = in.instance() != nullptr ? in.devices_per_node() : in.job.slurm.devices_per_node.value;
  const Count& processes = c.processes;
  if (processes && c.visible && *processes <= devices.value_or(*processes)) {
    const std::int64_t seen = devices_seen(*c.visible, devices.value_or(std::numeric_limits<std::int64_t>::max()));
    if (*processes > seen) {
      report.at(c.visible, {c.program, "starts " + count_text(*processes) + " processes a node",
                            "CUDA_VISIBLE_DEVICES shows " + count_text(seen)});
    }
  }
  const Count& tasks = in.job.slurm.tasks_per_node;
  if (tasks && *tasks > 1 && processes && *processes > 1) {
    report.at(tasks, {"srun", "starts --ntasks-per-node " + count_text(*tasks),
                      "each is a " + c.program + " of " + count_text(*processes) + " processes"});
  }
}

bool is_this_machine(std::string_view address) {
  const std::string_view host = address.substr(0, address.find(':'));
  return host == "localhost" || host == "127.0.0.1";
}

/// What keeps the nodes of one run from each other. Only where all of them run the same command.
void nodes_apart(const CheckInput& in, Report& report) {
  const Job& job = in.job;
  if (job.slurm.late) {
    Finding& finding = report.at(*job.slurm.late, {"Slurm reads no directive behind the first command"});
    const bool waits = job.slurm.nodes.value_or(1) < job.command.least_nodes.value_or(1);
    if (!waits) finding.severity = Severity::Warning;
    finding.fix = "move it to the top";
  }
  const std::int64_t nodes = std::max(nodes_of_job(in).value_or(1), job.command.least_nodes.value_or(1));
  if (job.command.program.empty() || nodes < 2) return;
  const LauncherCall* torchrun = only_call(job.started, "torchrun");
  const auto told = [&](std::string_view name) { return torchrun == nullptr ? nullptr : option_of(*torchrun, name); };
  const std::string of = fmt::format("of the {} nodes ", nodes);
  if (const Node* alone = told("standalone"); is_not_off(alone)) {
    report.at(*alone, {of + "each runs by itself with --standalone, and waits for the others"});
  }
  const bool by_slurm = job.slurm.nodes.value_or(1) > 1;
  if (by_slurm && !job.slurm.by_srun && !job.slurm.by_others) {
    report.at(job.command.where,
              {of + "one runs the script alone: nothing starts " + job.command.program + " on the others"});
  }
  if (!job.slurm.by_srun && job.kind != JobKind::HyperpodJob && !job.submitted()) return;
  const Node* endpoint = told("rdzv-endpoint");
  const Node* master = endpoint != nullptr ? endpoint : told("master-addr");
  if (master != nullptr && is_this_machine(master->text)) {
    report.at(*master, {of + "each takes itself for the one to meet at: " + quote(master->text)});
  }
  const Node* rank = told("node-rank");
  if (rank != nullptr && endpoint == nullptr && integer_from(rank->text)) {
    report.at(*rank, {of + "each has the rank " + rank->text});
  }
}

std::string spelled_option(const std::string& name) { return (name.starts_with('-') ? "" : "--") + name; }

void unknown_option(const LauncherCall& launch, const Node& option, const SettingSection& section, Report& report) {
  std::vector<std::string> known;
  for (const FrameworkSetting& setting : section.settings) {
    known.push_back(setting.name);
    known.insert(known.end(), setting.also.begin(), setting.also.end());
  }
  Finding& finding =
      report.at(option, {std::string(launch.program->title), spelled_option(option.key), "is none of its options"});
  const auto near = nearest_names(option.key, known, 1);
  if (!near.empty()) finding.fix = "did you mean " + spelled_option(near.front()) + "?";
}

void judge_options(const LauncherCall& launch, Report& report) {
  const FrameworkTable& table = *framework_table(launch.program->table);
  const SettingSection& section = *table.find(launch.program->section);
  for (const Node& option : launch.options.items) {
    const FrameworkSetting* setting = section.find(option.key);
    if (setting == nullptr) {
      unknown_option(launch, option, section, report);
      continue;
    }
    if (option.text.find_first_of("$`") != std::string::npos) continue;  // the shell fills it in
    const auto fault = value_fault(option, *setting, section, true);
    if (!fault) continue;
    const std::string is = option.is_string() ? ", is " + shown_value(option) : std::string();
    Finding& finding = report.at(
        option, {std::string(launch.program->title), spelled_option(option.key), "must be " + fault->expected + is});
    finding.severity = fault->severity;
    finding.fix = fault->fix.empty() ? "write " + fault->expected : fault->fix;
    finding.source = table.source;
  }
}

void options_of_launchers(const CheckInput& in, Report& report) {
  for (const LauncherCall& launch : in.job.started.launches) {
    judge_options(launch, report);
    const FrameworkCombinations* known = framework_combinations(launch.program->launcher);
    if (known == nullptr) continue;
    for (const BrokenCombination& broken : broken_combinations(*known, launch.options)) {
      const Node& option = broken.at == nullptr ? launch.options : *broken.at;
      Finding& finding =
          report.at(option, {std::string(launch.program->title), spelled_option(option.key), broken.row->says});
      finding.fix = broken.row->fix;
      finding.source = known->source;
    }
  }
}

void parameter_server_multi_gpu(const CheckInput& in, Report& report) {
  const auto devices = in.devices_per_node();
  if (in.job.launcher.parameter_server.is(true) && devices && *devices > 1) {
    report.at(in.job.launcher.parameter_server, {count_text(*devices)});
  }
}

void parameter_server_pytorch(const CheckInput& in, Report& report) {
  if (in.job.launcher.parameter_server.is(true) && in.pytorch()) report.at(in.job.launcher.parameter_server);
}

void mirrored_strategy(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  if (!l.multi_worker_mirrored.is(true)) return;
  if (in.pytorch()) report.at(l.multi_worker_mirrored, {"the framework is PyTorch"});
  if (in.job.framework == Framework::TensorFlow && below(in.job.framework_version, "2.9")) {
    report.at(l.multi_worker_mirrored, {"TensorFlow is " + *in.job.framework_version});
  }
  if (l.smddp.is(true) || l.smp.is(true)) report.at(l.multi_worker_mirrored, {"smdistributed is on too"});
  if (l.parameter_server.is(true)) report.at(l.multi_worker_mirrored, {"the parameter server is on too"});
}

void xla_without_compiler(const CheckInput& in, Report& report) {
  const Node* d = distribution_of(in.job);
  const Node* xla = d == nullptr ? nullptr : d->find("pytorchxla");
  if (xla == nullptr || (in.job.compiler != nullptr && !in.job.compiler->is_null())) return;
  Finding& finding = report.at(*xla);
  const Node* on = xla->find("enabled");
  if (on == nullptr || truth_of(*on) == false) finding.edits = {{Edit::Kind::Remove, xla->where.path, ""}};
}

constexpr Rule kLauncherRules[] = {
    {"C046", Severity::Error, "Unknown distribution", "a key of distribution is none that the SDK reads",
     "{} is taken without a word and starts nothing: one process a node, {} accelerators of every node idle and billed",
     "use torch_distributed, smdistributed, mpi or another key that the SDK reads", kSdk2, kEstimator, Need::Nothing,
     unknown_key},
    {"C047", Severity::Warning, "Unknown key of a launcher",
     "a launcher's dictionary holds a key that the SDK does not read",
     "{} is taken without a word and dropped: of this launcher the SDK reads {}",
     "drop it; DeepSpeed is the script's: call deepspeed.initialize, or give TrainingArguments its deepspeed file",
     kSdk2, kEstimator, Need::Nothing, unknown_inner_key},
    {"C048", Severity::Error, "No launcher",
     "the job has more accelerators than nodes and nothing starts a process for each (a warning where the entry point "
     "does not lie beside the job and its name says that it starts some, and for Hugging Face on one node; TensorFlow "
     "drives one node "
     "by one process)",
     "nothing launches: {} processes start for {} accelerators",
     "torch_distributed: {\"enabled\": true} (in a request: hyperparameter sagemaker_torch_distributed_enabled "
     "\"true\")",
     kToolkit, kSubmitted, Need::Nothing, no_launcher},
    {"C049", Severity::Error, "Two smdistributed strategies", "dataparallel and modelparallel stand together",
     "smdistributed takes dataparallel or modelparallel, not both",
     "keep one; version 2 of the model-parallel library uses SMDDP's AllGather by its own backend", kSdk2, kEstimator,
     Need::Nothing, both_smdistributed},
    {"C050", Severity::Error, "pytorchddp beside smdistributed", "both keys are present",
     "pytorchddp and smdistributed exclude each other", "keep one of them", kSdk2, kEstimator, Need::Nothing,
     pytorchddp_with_smdistributed},
    {"C054", Severity::Error, "torchrun without accelerators",
     "torch_distributed on an instance without GPU or Trainium", "torch_distributed does not start on {}",
     "use a p, g or trn type, or plain processes", kSdk2, kRequest | kEstimator, Need::Nothing, torchrun_on_cpu},
    {"C055", Severity::Error, "Entry point of torchrun", "torch_distributed with an entry point that is no Python file",
     "torch_distributed takes a .py entry point, not {}", "start from Python, or use SourceCode(command=...) of SDK v3",
     kSdk2, kEstimator | kRequest, Need::Nothing, torchrun_entry_point},
    {"C057", Severity::Error, "Launcher on Trainium", "Trainium with a launcher other than torch_distributed",
     "{} is launched by torch_distributed alone", "torch_distributed: {\"enabled\": true}", kSdk2, kSubmitted,
     Need::Nothing, trainium_launcher},
    {"C059", Severity::Warning, "Number of Neuron cores", "NEURON_RT_NUM_CORES names fewer cores than the node has",
     "{} cores are used of a {}, which has {} (chips are not cores)", "leave it unset, or give the number of cores",
     kToolkit, kSubmitted, Need::Nothing, neuron_cores},
    {"C060", Severity::Warning, "Processes a node",
     "the processes of a node are fewer than its accelerators, or left open to MPI", "{}; the node has {} accelerators",
     "give one process for each accelerator", kToolkit, kSubmitted | kAccelerate, Need::Nothing, mpi_processes},
    {"C061", Severity::Error, "Too many processes",
     "the processes of a node are more than its accelerators, or than "
     "CUDA_VISIBLE_DEVICES shows",
     "{} processes share {} accelerators", "give one process for each accelerator", kJudgement, kSubmitted,
     Need::Nothing, mpi_too_many},
    {"C235", Severity::Error, "Launcher beside the job",
     "the command that starts torchrun, deepspeed or `accelerate launch` names other nodes than the job has, or more "
     "processes than a node has accelerators or shows (a warning of fewer), or Slurm starts several of it a node",
     "{} {}, and {}", "give both the same numbers",
     "PyTorch documentation, torchrun; Slurm documentation, sbatch; DeepSpeed 0.19.8; accelerate 1.15.0", kAnyKind,
     Need::Nothing, command_beside_job},
    {"C240", Severity::Error, "Option of a launcher",
     "a job starts torchrun, torch.distributed.launch, hyperpodrun, `accelerate launch` or `deepspeed` with an option "
     "before its script that the launcher "
     "does "
     "not have, with a value that it refuses (a warning of a word that a plugin may bring), or with options that it "
     "refuses together",
     "{}'s {} {}", "delete it, or write it behind the script if it is the script's",
     "catalogs/data/frameworks, read by scripts/refresh; catalogs/data/combinations", kAnyKind, Need::Nothing,
     options_of_launchers},
    {"C245", Severity::Error, "Nodes that do not meet",
     "a Slurm directive stands behind the first command (a warning, unless fewer nodes are left than torchrun waits "
     "for), or several nodes do not find each other: the "
     "script starts "
     "torchrun on one of them, each is to meet at itself, runs alone or has the same rank",
     "{}", "start torchrun by srun, and let all nodes meet at the first one's name",
     "PyTorch 2.15.0, torch/distributed/run.py; Slurm documentation, sbatch", kAnyKind, Need::Nothing, nodes_apart},
    {"C062", Severity::Warning, "Parameter server on several GPUs",
     "parameter_server on instances with more than one GPU",
     "the parameter server runs one worker a node: {} accelerators share it",
     "use MultiWorkerMirroredStrategy or mpi, or instances with one GPU", kSdk2, kSubmitted, Need::Nothing,
     parameter_server_multi_gpu},
    {"C063", Severity::Warning, "Parameter server for PyTorch", "parameter_server with PyTorch",
     "no PyTorch container implements the parameter server", "torch_distributed: {\"enabled\": true}", kSdk2,
     kSubmitted, Need::Nothing, parameter_server_pytorch},
    {"C064", Severity::Error, "MultiWorkerMirroredStrategy",
     "it is on with TensorFlow below 2.9, without TensorFlow, or beside smdistributed or the parameter server",
     "multi_worker_mirrored_strategy needs TensorFlow 2.9 or later and no other strategy: {}",
     "keep one strategy; use TensorFlow 2.9 or later", kSdk2, kSubmitted, Need::Nothing, mirrored_strategy},
    {"C065", Severity::Error, "pytorchxla without the compiler",
     "the key is present, even switched off, without compiler_config",
     "the mere key pytorchxla is refused without a Training Compiler", "delete the key", kSdk2, kEstimator,
     Need::Nothing, xla_without_compiler},
};

}  // namespace

std::span<const Rule> launcher_rules() { return kLauncherRules; }

}  // namespace smplan
