#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "catalogs/recovery_features.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

/// Where a cluster's file system is mounted, and where the image keeps the code.
constexpr std::string_view kFileSystem = "/fsx";
constexpr std::string_view kCode = "/opt/smplan";
/// Restarts that AWS's walkthrough allows a job. Source: aws/sagemaker-hyperpod-cli@011ca92,
/// examples/end_to_end_walkthrough/01-training-job-submission.
constexpr int kRetries = 100;
/// Workers save within it when they are told to stop; a save takes seconds, and as much again for the slowest.
constexpr double kLeastShutdownSeconds = 120;

/// Arguments of the program for what a training job's container would say.
void use_file_system(const ExportJob& job, Launch& launch) {
  if (!brings_program(job, stack_export(job.plan)->program)) return;
  const JobFolders folders = folders_of(job.plan);
  launch.hyperparameters.emplace_back("output_dir", json_string(folders.model));
  launch.hyperparameters.emplace_back("data", json_string(folders.data));
}

/// Of a device with `ranks` in place of the plan's, at most: states that all ranks share are spread over fewer.
double most_gib(const TrainingPlan& plan, std::int64_t ranks) {
  const bool shared_by_all = plan.strategy.shard_degree == plan.replicas();
  if (plan.strategy.sharding == Sharding::None || !shared_by_all) return plan.prediction.peak_gib;
  constexpr double kFrozen = 2;
  constexpr double kTrained = 16;  // weight, gradient and two moments in fp32, the most that FSDP keeps
  const double bytes = plan.finetune == FineTune::Full ? kTrained : kFrozen;
  const double states = bytes * static_cast<double>(plan.parameters());
  const double more = states / static_cast<double>(ranks) - states / static_cast<double>(plan.world_size());
  return plan.prediction.peak_gib + in_gib(Bytes(more));
}

/// Counts of instances that keep the global batch, which divides by their ranks and the micro-batch, hold whole copies
/// of the states, and still fit.
std::vector<std::int32_t> elastic_counts(const TrainingPlan& plan) {
  constexpr double kUsable = 0.95;
  std::vector<std::int32_t> counts;
  for (std::int32_t n = 1; n <= plan.instance_count; ++n) {
    const std::int64_t ranks = std::int64_t{n} * plan.devices_per_instance();
    const bool all_share = plan.strategy.shard_degree == plan.replicas();
    const bool whole = all_share || ranks % plan.strategy.shard_degree == 0;
    const bool divides = whole && plan.global_batch % (ranks * plan.strategy.micro_batch) == 0;
    const bool fits = most_gib(plan, ranks) <= kUsable * plan.prediction.limit_gib;
    if (n == plan.instance_count || (divides && fits)) counts.push_back(n);
  }
  return counts;
}

Json command(const TrainingPlan& plan, const Launch& launch, const std::vector<std::int32_t>& counts) {
  const std::int32_t least = plan.recovery.mode == RecoveryMode::Elastic ? counts.front() : plan.instance_count;
  Json words = Json::array();
  words.push_back("hyperpodrun");
  words.push_back(fmt::format("--nnodes={}:{}", least, plan.instance_count));
  words.push_back(fmt::format("--nproc-per-node={}", plan.devices_per_instance()));
  // The program saves at this signal. HyperPod's agent sends SIGKILL unless told otherwise.
  words.push_back("--shutdown-signal=SIGTERM");
  const double save = plan.save_interval ? kLeastShutdownSeconds : 15;
  words.push_back(fmt::format("--shutdown-timeout={:.0f}", save));
  words.push_back(fmt::format("{}/{}", kCode, launch.script));
  if (launch.script == "smplan_entry.py") return words;
  for (const auto& [name, value] : launch.hyperparameters) {
    words.push_back("--" + name);
    const Json setting = Json::parse(value);
    words.push_back(setting.is_string() ? setting.text() : value);
  }
  return words;
}

Json resources(const TrainingPlan& plan) {
  const bool neuron = plan.stack->is_built_for(Vendor::Aws);
  Json out;
  // Devices and EFA interfaces are taken whole: requests and limits are the same.
  out[neuron ? "aws.amazon.com/neuron" : "nvidia.com/gpu"] = plan.devices_per_instance();
  const Network& network = plan.instance->network;
  if (network.kind == NetworkKind::Efa) out["vpc.amazonaws.com/efa"] = std::max(1, network.interfaces);
  return Json{{"requests", out}, {"limits", out}};
}

Json environment(const Launch& launch) {
  Json out = Json::array();
  for (const auto& [name, value] : launch.environment) out.push_back(Json{{"name", name}, {"value", value}});
  return out;
}

/// Shared memory for loaders and NCCL, and the file system by its claim.
void add_volumes(Json& pod, Json& container, Export& out) {
  constexpr std::string_view kClaim = "REPLACE-ME-fsx-claim";
  Json memory = Json{{"name", "shm"}};
  memory["emptyDir"]["medium"] = "Memory";
  Json files = Json{{"name", "fsx"}};
  files["persistentVolumeClaim"]["claimName"] = std::string(kClaim);
  pod["volumes"] = Json::array({memory, files});
  container["volumeMounts"] = Json::array({Json{{"name", "shm"}, {"mountPath", "/dev/shm"}},
                                           Json{{"name", "fsx"}, {"mountPath", std::string(kFileSystem)}}});
  out.placeholders.push_back({std::string(kClaim), "the claim of the cluster's FSx for Lustre (kubectl get pvc)"});
}

/// Evictions come with task governance: the team's queue, and a priority in it.
Json metadata(const ExportJob& job, const std::string& name, Export& out) {
  Json meta = Json{{"name", name}, {"namespace", "REPLACE-ME-namespace"}};
  out.placeholders.push_back({"REPLACE-ME-namespace", "the team's namespace, hyperpod-ns-TEAM under task governance"});
  if (job.plan.recovery.preempted_every > Seconds()) {
    meta["labels"] = Json{{"kueue.x-k8s.io/queue-name", "REPLACE-ME-queue"},
                          {"kueue.x-k8s.io/priority-class", "REPLACE-ME-priority"}};
    out.placeholders.push_back({"REPLACE-ME-queue", "the team's queue, hyperpod-ns-TEAM-localqueue"});
    out.placeholders.push_back({"REPLACE-ME-priority", "a priority class of the cluster's policy (NAME-priority)"});
  }
  return meta;
}

Json manifest(const ExportJob& job, const Launch& launch, const std::string& name, Export& out) {
  const TrainingPlan& plan = job.plan;
  const std::vector<std::int32_t> counts = elastic_counts(plan);
  const Json meta = metadata(job, name, out);
  Json container = Json{{"name", "training"}, {"image", launch.image_uri}};
  container["command"] = command(plan, launch, counts);
  container["env"] = environment(launch);
  container["resources"] = resources(plan);
  Json pod;
  pod["nodeSelector"] = Json{{"node.kubernetes.io/instance-type", plan.instance->name}};
  add_volumes(pod, container, out);
  pod["containers"] = Json::array({container});
  Json replicas = Json{{"name", "pod"}, {"replicas", plan.instance_count}};
  if (plan.recovery.spares > 0) replicas["spares"] = plan.recovery.spares;
  replicas["template"] = Json{{"metadata", meta}, {"spec", pod}};
  Json spec;
  spec["nprocPerNode"] = fmt::format("{}", plan.devices_per_instance());
  spec["replicaSpecs"] = Json::array({replicas});
  if (plan.recovery.mode == RecoveryMode::Elastic) {
    spec["replicaSpecs"][0]["maxReplicas"] = plan.instance_count;
    spec["elasticPolicy"] = Json{{"minReplicas", counts.front()},
                                 {"maxReplicas", plan.instance_count},
                                 {"replicaDiscreteValues", counts},
                                 {"gracefulShutdownTimeoutInSeconds", static_cast<int>(kLeastShutdownSeconds)}};
  }
  spec["runPolicy"] = Json{{"cleanPodPolicy", "None"}, {"jobMaxRetryCount", kRetries}};
  return Json{
      {"apiVersion", "sagemaker.amazonaws.com/v1"}, {"kind", "HyperPodPyTorchJob"}, {"metadata", meta}, {"spec", spec}};
}

std::string dockerfile(const ExportJob& job, const std::string& base, const Export& out) {
  std::string text = commented(provenance_lines(job)) + fmt::format("FROM {}\n", base);
  text += fmt::format("COPY src {}\nWORKDIR {}\n", kCode, kCode);
  std::string packages = "hyperpod-elastic-agent==1.1.3";
  const bool listed = std::any_of(out.files.begin(), out.files.end(),
                                  [](const ExportFile& f) { return f.path == "src/requirements.txt"; });
  if (listed) packages += fmt::format(" -r {}/requirements.txt", kCode);
  return text + fmt::format("RUN pip install --no-cache-dir {}\n", packages);
}

}  // namespace

void check_hyperpod_job(const TrainingPlan& plan, Diagnostics& faults) {
  if (plan.recovery.mode == RecoveryMode::Elastic && elastic_counts(plan).size() < 2) {
    faults.push_back({"not-expressible", "--recovery",
                      fmt::format("no fewer than {} instances keep the global batch of {} and fit", plan.instance_count,
                                  plan.global_batch),
                      "plan with a --global-batch that fewer instances divide too, or with more --min-headroom"});
  }
}

void write_hyperpod_job(const ExportJob& job, Export& out, Diagnostics& faults) {
  Launch launch = prepare_processes(job, out, faults);
  const std::string name = job.options.job_name.value_or(job_name_of(job));
  choose_image(job, launch, faults);
  const std::string base = launch.image_uri;
  const TrainingPlan& plan = job.plan;
  const bool elastic = plan.recovery.mode == RecoveryMode::Elastic;
  const bool brought = brings_program(job, stack_export(plan)->program);
  if (plan.checkpoint_storage == CheckpointTarget::Memory && !job.options.script) {
    faults.push_back({"not-expressible", "--script",
                      "the exported program saves to a file system, not to the memory tier",
                      "bring a script that saves by amzn-sagemaker-checkpointing, or plan with --checkpoint-storage "
                      "fsx-lustre"});
  }
  use_file_system(job, launch);
  if (elastic && brought) launch.hyperparameters.emplace_back("planned_ranks", fmt::format("{}", plan.world_size()));
  launch.image_uri = fmt::format("111122223333.dkr.ecr.{}.amazonaws.com/REPLACE-ME-repository:{}", plan.region, name);
  out.placeholders.push_back({launch.image_uri, "where you push the image that Dockerfile builds"});
  std::string text = commented(provenance_lines(job)) + yaml_block(manifest(job, launch, name, out));
  out.files.insert(out.files.begin(), {"Dockerfile", dockerfile(job, base, out)});
  out.files.insert(out.files.begin(), {"job.yaml", std::move(text)});
  out.notes.push_back("Image: " + launch.image_note + ".");
  out.notes.emplace_back("Build and push the image (docker build, docker push), then: kubectl apply -f job.yaml.");
  if (plan.checkpoint_storage == CheckpointTarget::Memory && plan.s3_interval) {
    out.notes.push_back(fmt::format("The plan counts on a save in memory every {} and one in S3 every {}.",
                                    format_duration(plan.save_interval.value_or(Seconds())),
                                    format_duration(*plan.s3_interval)));
  }
}

void write_hyperpod_slurm(const ExportJob& job, Export& out, Diagnostics& faults) {
  Launch launch = prepare_processes(job, out, faults);
  const std::string name = job.options.job_name.value_or(job_name_of(job));
  use_file_system(job, launch);
  const std::string start = launch_script(job, launch, "src/", /*by_accelerate=*/false, has_requirements(out));
  std::string text = "#!/bin/bash\n" + commented(provenance_lines(job));
  text += fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n#SBATCH --exclusive\n",
                      name, job.plan.instance_count);
  text += "set -eu\n";
  text += "export MASTER_ADDR=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\"\n";
  text += "# HyperPod replaces a faulty instance and starts the step again.\n";
  text += "srun --auto-resume=1 sh -c 'NODE_RANK=\"$SLURM_NODEID\" exec sh ./launch.sh'\n";
  out.files.insert(out.files.begin(), {"launch.sh", start});
  out.files.insert(out.files.begin(), {"job.sbatch", std::move(text)});
  out.notes.push_back(fmt::format("Copy the folder to {} and submit it there: sbatch job.sbatch.", kFileSystem));
}

}  // namespace smplan
