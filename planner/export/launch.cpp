#include "planner/export/launch.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_writer.hpp"
#include "catalogs/quotas.hpp"
#include "models/engines/engine.hpp"
#include "planner/export/program.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

constexpr std::string_view kUserScript = "train.py";

/// By how a job starts them: torchrun, a recipe, the launchers of the model parallel libraries, MPI.
constexpr StackExport kStacks[] = {
    {"megatron", LaunchMethod::Torchrun, "megatron", "smplan_entry.py"},
    {"fsdp", LaunchMethod::Torchrun, "fsdp", kUserScript, TrainingProgram::TorchFsdp},
    {"deepspeed", LaunchMethod::Torchrun, "deepspeed", kUserScript, TrainingProgram::TorchDeepSpeed},
    {"ddp", LaunchMethod::Torchrun, "", kUserScript, TrainingProgram::TorchDdp},
    {"torchtitan", LaunchMethod::Torchrun, "torchtitan", "smplan_entry.py"},
    {"hf-trainer", LaunchMethod::Torchrun, "", kUserScript, TrainingProgram::Trainer},
    {"torchtune", LaunchMethod::Torchrun, "", kUserScript},
    {"litgpt", LaunchMethod::Torchrun, "", kUserScript},
    {"neuron", LaunchMethod::Torchrun, "neuronx", kUserScript},
    {"hyperpod-adapter", LaunchMethod::Recipe, "hyperpod-recipe", ""},
    {"smp-v2", LaunchMethod::SmpV2, "smp-v2", kUserScript},
    {"smp-v1", LaunchMethod::SmpV1, "smp-v1", kUserScript},
    {"horovod", LaunchMethod::Mpi, "", kUserScript},
};

/// The same where each example counts.
constexpr StackExport kByExample[] = {
    {"fsdp", LaunchMethod::Torchrun, "accelerate", kUserScript, TrainingProgram::Trainer},
    {"deepspeed", LaunchMethod::Torchrun, "accelerate", kUserScript, TrainingProgram::Trainer},
};

const StackExport* find_stack(std::span<const StackExport> rows, std::string_view stack) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const StackExport& row) { return row.stack == stack; });
  return found == rows.end() ? nullptr : &*found;
}

/// Wall time above the prediction before SageMaker kills the job: the prediction's own error, slow data, retries.
constexpr double kTimeMargin = 1.25;
/// Managed spot waits for capacity and redoes what an interruption lost; below twice the run it gives up early.
constexpr double kSpotWait = 2.0;
/// Limits of one training job: 28 days of running, 30 of running and waiting.
/// Source: SageMaker API reference, StoppingCondition, read 2026-11-20.
constexpr std::int64_t kMaxRunSeconds = std::int64_t{28} * 86400;
constexpr std::int64_t kMaxWaitSeconds = std::int64_t{30} * 86400;
/// The last PyTorch that SMDDP supports in a deep learning container through the SDK, and the last of the model
/// parallel library v1. Source: SageMaker Developer Guide, SMDDP and SMP v1 support tables, read 2026-11-20.
constexpr std::string_view kSmddpPyTorch = "2.2.0";
constexpr std::string_view kSmpV1PyTorch = "2.0.0";

/// AWS's documentation account: matches the API's patterns, belongs to nobody.
constexpr std::string_view kPlaceholderRole = "arn:aws:iam::111122223333:role/REPLACE-ME-sagemaker-role";
constexpr std::string_view kPlaceholderBucket = "REPLACE-ME-bucket";

std::string given_or(const std::optional<std::string>& value, std::string_view placeholder, std::string_view meaning,
                     Export& out) {
  if (value) return *value;
  out.placeholders.push_back({std::string(placeholder), std::string(meaning)});
  return std::string(placeholder);
}

/// Seconds that the job may run, in whole ten minutes.
std::int64_t max_run_of(const ExportJob& job, Launch& launch) {
  const PlanPrediction& p = job.plan.prediction;
  const double slow = p.step.value() > 0 ? p.step_p90 / p.step : 1;
  Seconds longest = p.time_to_train;
  double wanted = longest.value() * std::max(kTimeMargin, slow);
  for (const InstanceChoice& other : job.options.fallbacks) {
    longest = std::max(longest, other.time_to_train);
    wanted = std::max(wanted, other.time_to_train.value() * std::max(kTimeMargin, other.slow));
  }
  if (wanted > static_cast<double>(kMaxRunSeconds)) {
    const double jobs = std::ceil(longest.value() / static_cast<double>(kMaxRunSeconds));
    launch.notes.push_back(fmt::format(
        "Predicted {} with a margin is over the 28 days of one job: max_run is 28 days, and {} jobs in a row "
        "each go on from the last checkpoint.",
        format_duration(longest), std::max(jobs, 2.0)));
    return kMaxRunSeconds;
  }
  constexpr double kStep = 600;
  return static_cast<std::int64_t>(std::ceil(std::max(wanted, kStep) / kStep) * kStep);
}

/// An image by the short tag that the SDK composes: for versions older than the support table.
std::string sdk_image(const ContainerFacts& facts, std::string_view version, std::string_view region) {
  for (const FrameworkVersion& known : facts.versions) {
    if (known.table != "pytorch" || known.version != version || known.pythons.empty()) continue;
    Container image;
    image.repository = known.repository;
    image.tag = fmt::format("{}-gpu-{}", known.version, known.pythons.front());
    return facts.image_uri(image, region);
  }
  return {};
}

}  // namespace

void choose_image(const ExportJob& job, Launch& launch, Diagnostics& faults) {
  if (launch.launcher == LaunchMethod::Recipe) {
    launch.image_note = "the one that the SDK keeps for recipes, of the model parallel library v2";
    return;
  }
  const ContainerFacts& facts = job.catalog.containers();
  const std::string& region = job.plan.region;
  const bool smp = launch.launcher == LaunchMethod::SmpV2;
  const bool old = launch.launcher == LaunchMethod::Smddp || launch.launcher == LaunchMethod::SmpV1;
  if (old) {
    const std::string_view version = launch.launcher == LaunchMethod::Smddp ? kSmddpPyTorch : kSmpV1PyTorch;
    launch.image_uri = sdk_image(facts, version, region);
    launch.image_note = fmt::format("PyTorch {}, the last with this library; past its end of patches", version);
  } else {
    const bool neuron = job.plan.stack->is_built_for(Vendor::Aws);
    const std::string_view kind = neuron ? "neuronx" : "gpu";
    const std::string_view repository = neuron ? "pytorch-training-neuronx"
                                        : smp  ? "smdistributed-modelparallel"
                                               : "pytorch-training";
    const Accelerator* device = job.catalog.find_accelerator(job.plan.instance->accelerator);
    const Container* image = facts.newest(repository, kind, device == nullptr ? 0 : device->capability());
    if (image != nullptr) {
      launch.image_uri = facts.image_uri(*image, region);
      const std::string support = image->patched_until.empty() ? std::string("end of patches not published")
                                  : image->patched_on(facts.as_of())
                                      ? "patched until " + image->patched_until
                                      : "past its end of patches " + image->patched_until;
      const bool newest = image == facts.newest(repository, kind);
      launch.image_note =
          fmt::format("PyTorch {}{}, {}, as of {}", image->version,
                      newest ? "" : ", the last with kernels for " + device->key, support, facts.as_of());
    }
  }
  if (launch.launcher == LaunchMethod::Mpi) {
    launch.notes.emplace_back(
        "The image comes without Horovod: src/requirements.txt compiles it at the start, or plan with --stack ddp.");
  }
  if (launch.image_uri.empty()) {
    faults.push_back({"no-image", "--region",
                      fmt::format("no training image of stack {} is served in {}", job.plan.stack->id, region),
                      "plan for another region, or add the registry to the catalog with --catalog"});
  }
}

JobFolders folders_of(const TrainingPlan& plan) {
  if (!is_standing(plan.recovery.platform))
    return {"/opt/ml/input/data/train", std::string(kCheckpointPath), "/opt/ml/model"};
  const std::string folder = "/fsx/smplan/" + plan.id();
  return {"/fsx/REPLACE-ME-data", folder + "/checkpoints", folder + "/model"};
}

Settings script_settings(const ExportJob& job) {
  const TrainingPlan& p = job.plan;
  const auto text = [](std::int64_t n) { return fmt::format("{}", n); };
  Settings out = {{"seq_len", text(p.seq_len)},
                  {"micro_batch", text(p.strategy.micro_batch)},
                  {"gradient_accumulation", text(p.gradient_accumulation)},
                  {"max_steps", text(p.steps())},
                  {"dtype", json_string(to_string(p.precision))},
                  {"optimizer", json_string(to_string(p.optimizer))},
                  {"finetune", json_string(to_string(p.finetune))},
                  {"activation_checkpointing", json_string(to_string(p.strategy.recompute))},
                  {"checkpoint_dir", json_string(folders_of(p).checkpoints)},
                  {"save_interval", text(p.save_steps())}};
  if (p.strategy.recompute_layers > 0) {
    out.emplace_back("activation_checkpointing_layers", text(p.strategy.recompute_layers));
  }
  if (p.lora_rank > 0) out.emplace_back("lora_rank", text(p.lora_rank));
  if (p.virtual_tokens > 0) out.emplace_back("virtual_tokens", text(p.virtual_tokens));
  if (p.adapter_count > 1) out.emplace_back("adapter_count", text(p.adapter_count));
  const std::vector<std::string> targets = lora_targets(p);
  if (p.lora_rank > 0 && !targets.empty()) {
    out.emplace_back("lora_targets", json_string(fmt::format("{}", fmt::join(targets, ","))));
  }
  if (p.adapters != nullptr) out.emplace_back("adapters", json_string(p.adapters->name));
  if (p.mean_seq_len > 0) out.emplace_back("packing", json_string("off"));
  if (p.loss != nullptr) out.emplace_back("loss", json_string(p.loss->name));
  if (p.loss != nullptr && p.loss->frozen == FrozenModel::Reference) {
    out.emplace_back("reference", json_string(to_string(p.reference)));
  }
  if (p.trained_layers) out.emplace_back("trained_layers", json_string(to_string(*p.trained_layers)));
  if (p.lora_embeddings) out.emplace_back("lora_embeddings", json_string("on"));
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution || !row.applies(p.strategy)) continue;
    const std::string value = row.text(row.get(p.strategy));
    out.emplace_back(std::string(row.keyword), row.kind == DimensionRow::Kind::Degree ? value : json_string(value));
  }
  return out;
}

namespace {

/// Of each rank, for the optimizer on the host: launchers would give one (torchrun). SageMaker's vCPUs are threads, two
/// a core, and a core streams no faster with both.
std::int32_t host_threads(const TrainingPlan& p) {
  constexpr std::int32_t kThreadsPerCore = 2;
  const std::int32_t told = p.strategy.execution.host_threads;
  const std::int32_t ranks = std::max(1, p.instance->accelerator_count);
  return told > 0 ? told : std::max(1, p.instance->vcpus / kThreadsPerCore / ranks);
}

}  // namespace

void set_environment(const ExportJob& job, Launch& launch) {
  const TrainingPlan& p = job.plan;
  const Network& network = p.instance->network;
  auto& env = launch.environment;
  const bool neuron = p.stack->is_built_for(Vendor::Aws);
  if (p.instance_count > 1 && network.kind == NetworkKind::Efa) {
    // Newer types are not in the container's own list, so that it would not set these.
    env.emplace_back("FI_PROVIDER", "efa");
    if (network.gpudirect_rdma || neuron) env.emplace_back("FI_EFA_USE_DEVICE_RDMA", "1");
  }
  if (neuron) return;
  if (updates_on_host(p.strategy)) env.emplace_back("OMP_NUM_THREADS", std::to_string(host_threads(p)));
  env.emplace_back("NCCL_DEBUG", "WARN");
  if (launch.launcher == LaunchMethod::Torchrun)
    env.emplace_back("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  const bool ordered = p.strategy.tensor_parallel > 1 || p.strategy.context_parallel > 1;
  if (p.stack->one_hardware_queue && ordered) env.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "1");
}

namespace {

void set_times(const ExportJob& job, Launch& launch, Diagnostics& faults) {
  launch.max_run_s = max_run_of(job, launch);
  const bool spot = job.plan.market == Market::Spot;
  if (spot) {
    const auto wait = static_cast<std::int64_t>(static_cast<double>(launch.max_run_s) * kSpotWait);
    launch.max_wait_s = std::min(wait, kMaxWaitSeconds);
  }
  // Ten minutes at least: a job of a series may start later than planned.
  std::optional<Seconds> kept = job.options.warm_pool;
  if (!kept && job.plan.warm_pool) kept = std::max(*job.plan.warm_pool, Seconds(600));
  if (!kept) return;
  if (spot) {
    faults.push_back({"conflict", "--warm-pool", "SageMaker keeps no warm pool of spot instances",
                      "plan with --market on-demand, or leave the warm pool out"});
    return;
  }
  // Source: SageMaker API reference, ResourceConfig.KeepAlivePeriodInSeconds, read 2026-11-20.
  constexpr double kMaxKeepAlive = 21600;
  const double seconds = kept->value();
  if (seconds < 1 || seconds > kMaxKeepAlive) {
    faults.push_back({"out-of-range", "--warm-pool",
                      fmt::format("{} is not between 1 s and 6 h", format_duration(*kept)),
                      "an hour is the usual quota"});
    return;
  }
  launch.keep_alive_s = static_cast<std::int64_t>(seconds);
  launch.notes.emplace_back("Idle minutes of a warm pool are billed.");
}

/// The volume that the bill counts: checkpoints on their way to S3, and the data where it is copied. The data comes on
/// top where the export copies what the plan streams. Types with NVMe take no volume.
void set_volume(const TrainingPlan& plan, Launch& launch, Diagnostics& faults) {
  if (plan.instance->local_nvme > Bytes()) return;
  launch.volume_gb = static_cast<std::int64_t>(std::ceil(plan.volume.value() / 1e9));
  const bool copied = launch.input_mode == "File" && launch.channels.front().file_system.empty();
  if (copied && plan.input_mode != InputMode::File) {
    if (plan.data_size) {
      launch.volume_gb += static_cast<std::int64_t>(std::ceil(plan.data_size->value() / 1e9 / kVolumeFill));
    } else {
      launch.notes.push_back(fmt::format(
          "The volume of {} GB has no room for data, whose size the plan does not know: plan with --dataset "
          "SIZE --input-mode file.",
          launch.volume_gb));
    }
  }
  if (Bytes(1e9 * static_cast<double>(launch.volume_gb)) > kLargestVolume) {
    faults.push_back({"too-large", "--input-mode",
                      fmt::format("{} GB of data and checkpoints are over the {} of a job's volume", launch.volume_gb,
                                  format_bytes(kLargestVolume)),
                      "stream the data with --input-mode FastFile, or read it from --file-system"});
  }
}

/// What SageMaker does with a list of types. Source: SageMaker Developer Guide, instance preferences, read 2026-11.
void note_fallbacks(const ExportJob& job, Launch& launch) {
  if (job.options.fallbacks.empty()) return;
  std::string types = fmt::format("{} x {}", job.plan.instance_count, job.plan.instance->name);
  for (const InstanceChoice& other : job.options.fallbacks) types += fmt::format(", {} x {}", other.count, other.type);
  launch.notes.push_back(fmt::format(
      "SageMaker takes the first of these types that has capacity: {}. max_run is that of the slowest.", types));
}

void note_quotas(const ExportJob& job, Launch& launch) {
  const TrainingPlan& plan = job.plan;
  const auto note = [&](const AccountQuota& quota, const std::string& type, double needed) {
    if (needed <= quota.new_account) return;
    launch.notes.push_back(
        fmt::format("Needs the quota \"{}\" of {:.0f}{}, a new account has {:.0f}: ask in the Service "
                    "Quotas console.",
                    quota.name(type), needed, quota.unit == "instances" ? "" : " " + quota.unit, quota.new_account));
  };
  const auto note_types = [&](std::string_view use) {
    note(account_quota(use), plan.instance->name, plan.instance_count);
    for (const InstanceChoice& other : job.options.fallbacks) note(account_quota(use), other.type, other.count);
  };
  if (launch.training_plan_arn.empty()) note_types(plan.market == Market::Spot ? "spot" : "training-job");
  if (launch.keep_alive_s > 0) note_types("warm-pool");
  const auto note_one = [&](std::string_view use, double needed) { note(account_quota(use), {}, needed); };
  note_one("run-time", static_cast<double>(launch.max_run_s));
  std::int64_t most = plan.instance_count;
  for (const InstanceChoice& other : job.options.fallbacks) most = std::max<std::int64_t>(most, other.count);
  note_one("instances", static_cast<double>(most));
  note_one("volume", static_cast<double>(launch.volume_gb));
}

void set_data(const ExportJob& job, Launch& launch, const std::string& bucket, Export& out, Diagnostics& faults) {
  const ExportOptions& options = job.options;
  const std::optional<InputMode> planned = job.plan.input_mode;
  const std::string mode = options.input_mode.value_or(planned == InputMode::File ? "File" : "FastFile");
  if (mode != "FastFile" && mode != "File") {
    faults.push_back({"unknown-input-mode", "--input-mode", fmt::format("unknown input mode {}", quote(mode)),
                      "FastFile streams, File copies first; Pipe cannot feed several processes of a node"});
  }
  launch.input_mode = mode;
  if (!options.file_system) {
    if (planned && !options.input_mode && *planned != InputMode::File && *planned != InputMode::FastFile) {
      launch.notes.push_back(
          fmt::format("The plan counts on {} for its data, this job streams it from S3 (FastFile){}.",
                      to_string(*planned), *planned == InputMode::FsxLustre ? ": export with --file-system" : ""));
    }
    launch.channels = {{"train", fmt::format("s3://{}/data/train/", bucket), "", ""}};
    return;
  }
  launch.input_mode = "File";
  launch.channels = {{"train", "", *options.file_system, "/REPLACE-ME-mount/train"}};
  launch.subnets = {"subnet-REPLACE-ME"};
  launch.security_groups = {"sg-REPLACE-ME"};
  out.placeholders.push_back({"/REPLACE-ME-mount/train", "mount name of the file system and the folder of the data"});
  out.placeholders.push_back({"subnet-REPLACE-ME", "the subnet of the file system, one availability zone"});
  out.placeholders.push_back(
      {"sg-REPLACE-ME", "a security group that allows all traffic to and from itself, and Lustre"});
}

void set_names(const ExportJob& job, Launch& launch, Export& out) {
  const ExportOptions& options = job.options;
  launch.job_name = options.job_name.value_or(job_name_of(job));
  launch.role = given_or(options.role, kPlaceholderRole, "ARN of the role that the job runs as", out);
  launch.tags = {{"smplan:plan-id", job.plan.id()}, {"smplan:version", job.plan.smplan_version}};
  if (job.plan.instance->support == TrainingSupport::PlanOnly || job.plan.market == Market::CapacityBlock) {
    launch.training_plan_arn =
        fmt::format("arn:aws:sagemaker:{}:111122223333:training-plan/REPLACE-ME", job.plan.region);
    out.placeholders.push_back({launch.training_plan_arn, "the training plan that reserves these instances"});
  }
}

/// The strategy file of the plan's stack, into src/, and what the script needs to find it.
void add_strategy(const ExportJob& job, const StackExport& stack, Launch& launch, Export& out, Diagnostics& faults) {
  if (stack.strategy_target.empty()) return;
  const auto target = find_export_target(stack.strategy_target, "--target");
  if (!target) return;
  Export strategy;
  (*target)->write(job, strategy, faults);
  for (ExportFile& file : strategy.files) {
    file.path = "src/" + file.path;
    out.files.push_back(std::move(file));
  }
  for (Placeholder& placeholder : strategy.placeholders) out.placeholders.push_back(std::move(placeholder));
  for (std::string& note : strategy.notes) out.notes.push_back(std::move(note));
  for (std::string& note : strategy.script_notes) out.script_notes.push_back(std::move(note));
  if (stack.strategy_target == "deepspeed") {
    launch.hyperparameters.emplace_back("deepspeed_config", json_string(kDeepSpeedFile));
  } else if (launch.launcher == LaunchMethod::SmpV1 || launch.launcher == LaunchMethod::SmpV2) {
    launch.library_parameters = smp_parameters(job);
  }
}

/// What the image lacks and the stack's script imports, where no strategy file says it.
void require_packages(const ExportJob& job, const Launch& launch, Export& out) {
  constexpr std::string_view kFile = "src/requirements.txt";
  const Stack& stack = *job.plan.stack;
  for (const std::string& package : stack.packages) add_requirement(out, package, kFile);
  const bool own_adapters = stack.own_adapters || launch.launcher == LaunchMethod::Recipe;
  if (own_adapters) return;
  if (job.plan.finetune != FineTune::Full) add_requirement(out, "peft", kFile);
  if (job.plan.finetune == FineTune::Qlora) add_requirement(out, "bitsandbytes", kFile);
  if (job.plan.strategy.execution.loss_kernel == LossKernel::Linear) add_requirement(out, "liger-kernel", kFile);
}

}  // namespace

LaunchMethod launcher_of(const TrainingPlan& plan, const StackExport& stack) {
  if (plan.strategy.collectives == Collectives::Smddp && stack.launcher == LaunchMethod::Torchrun)
    return LaunchMethod::Smddp;
  return stack.launcher;
}

bool StackExport::needs_script() const { return script == kUserScript && program == TrainingProgram::None; }

const StackExport* stack_export(std::string_view stack) { return find_stack(kStacks, stack); }

const StackExport* stack_export(const TrainingPlan& plan) {
  const bool by_example = plan.loss != nullptr || plan.mean_seq_len > 0;
  const StackExport* trainer = by_example ? find_stack(kByExample, plan.stack->id) : nullptr;
  return trainer != nullptr ? trainer : stack_export(plan.stack->id);
}

std::string_view to_string(LaunchMethod launcher) {
  switch (launcher) {
    case LaunchMethod::Torchrun:
      return "torchrun";
    case LaunchMethod::Smddp:
      return "SMDDP";
    case LaunchMethod::Mpi:
      return "MPI";
    case LaunchMethod::SmpV1:
      return "the model parallel library v1";
    case LaunchMethod::Recipe:
      return "a recipe";
    case LaunchMethod::Script:
      return "a script";
    case LaunchMethod::SmpV2:
      break;
  }
  return "the model parallel library v2";
}

std::string startable_stacks() {
  std::string names;
  for (const StackExport& entry : kStacks) names += (names.empty() ? "" : ", ") + std::string(entry.stack);
  return names;
}

std::string json_string(std::string_view text) { return Json(std::string(text)).dump(); }

std::string job_name_of(const ExportJob& job) {
  const TrainingPlan& plan = job.plan;
  std::string name;
  const std::string type = plan.instance->name.substr(plan.instance->name.find('.') + 1);
  for (const char c : plan.model.name + '-' + type.substr(0, type.find('.'))) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  // Room for the count, the id and the time stamp that the SDKs append.
  if (name.size() > 24) name.resize(24);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return fmt::format("{}-x{}-{}", name.empty() ? "job" : name, plan.instance_count, plan.id().substr(0, 8));
}

Launch prepare_processes(const ExportJob& job, Export& out, Diagnostics& faults) {
  const StackExport& stack = *stack_export(job.plan);
  Launch launch;
  launch.launcher = launcher_of(job.plan, stack);
  launch.processes_per_host = job.plan.devices_per_instance();
  const bool own_script = stack.script == kUserScript;
  launch.script = own_script ? job.options.script.value_or(std::string(kUserScript)) : std::string(stack.script);
  const bool brought = brings_program(job, stack.program);
  if (own_script && !job.options.script && !brought) {
    out.placeholders.push_back(
        {std::string(kUserScript), "your training script, in src/; it reads the hyperparameters as --name value"});
  }
  if (launch.launcher != LaunchMethod::Recipe) launch.hyperparameters = script_settings(job);
  add_strategy(job, stack, launch, out, faults);
  if (brought) {
    add_program(job, stack.program, "src/", out, launch.hyperparameters);
  } else {
    require_packages(job, launch, out);
  }
  set_environment(job, launch);
  return launch;
}

Launch prepare_start(const ExportJob& job) {
  Launch launch;
  launch.script = std::string(kUserScript);
  launch.hyperparameters = script_settings(job);
  for (auto& [name, value] : launch.hyperparameters) {
    if (name == "checkpoint_dir") value = json_string("checkpoints");
  }
  set_environment(job, launch);
  return launch;
}

void complete_launch(const ExportJob& job, Launch& launch, Export& out, Diagnostics& faults) {
  set_names(job, launch, out);
  choose_image(job, launch, faults);
  const std::string meaning = fmt::format("S3 bucket in {} for code, data, checkpoints and output", job.plan.region);
  const std::string bucket = given_or(job.options.bucket, kPlaceholderBucket, meaning, out);
  const std::string base = fmt::format("s3://{}/smplan/{}", bucket, launch.job_name);
  launch.code_uri = base + "/code/sourcedir.tar.gz";
  launch.checkpoint_uri = base + "/checkpoints/";
  launch.output_uri = base + "/output/";
  set_times(job, launch, faults);
  set_data(job, launch, bucket, out, faults);
  set_volume(job.plan, launch, faults);
  note_fallbacks(job, launch);
  note_quotas(job, launch);
  if (job.plan.checkpoint_storage != CheckpointTarget::S3) {
    launch.notes.push_back(fmt::format("The plan counts on {} for checkpoints, this job synchronises {} with S3.",
                                       to_string(job.plan.checkpoint_storage), kCheckpointPath));
  }
  launch.notes.insert(launch.notes.begin(), "Image: " + launch.image_note + ".");
}

Launch prepare_launch(const ExportJob& job, Export& out, Diagnostics& faults) {
  Launch launch = prepare_processes(job, out, faults);
  complete_launch(job, launch, out, faults);
  return launch;
}

}  // namespace smplan
