#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/execution.hpp"
#include "planner/preflight/node.hpp"
#include "planner/preflight/started_programs.hpp"

namespace smplan {

struct Architecture;

/// The files that `check` understands.
enum class JobKind {
  CreateTrainingJob,
  Estimator,     ///< keyword arguments of the Python SDK v2
  ModelTrainer,  ///< keyword arguments of the Python SDK v3
  HyperpodRecipe,
  DeepSpeed,
  Accelerate,
  Megatron,
  TorchTitan,
  Smp,       ///< parameters of the SageMaker model-parallel library
  Torchrun,  ///< a shell script that starts a node's processes
  Axolotl,
  LlamaFactory,
  Torchtune,
  Trl,          ///< TRL, and any script of transformers' TrainingArguments: a file or a command line
  Verl,         ///< a file, or a command line of Hydra's overrides
  NemoRl,       ///< NVIDIA NeMo-RL
  HyperpodJob,  ///< HyperPodPyTorchJob of Kubernetes, or the configuration of HyperPod's command line for one
};
inline constexpr int kJobKindCount = 17;
std::string_view to_string(JobKind kind);
/// The name with an article, for sentences: `a DeepSpeed configuration`.
std::string_view in_words(JobKind kind);
std::optional<JobKind> job_kind_from(std::string_view name);
std::vector<std::string> job_kind_names();

/// Where settings whose value only the user knows are noted while a rule reads them, on this thread; nullptr: nowhere.
inline thread_local std::vector<std::string>* unknown_values = nullptr;

/// A setting and where it stands. A placeholder is stated and has no value: rules that ask for presence
/// see it, rules that judge the value do not.
template <typename T>
struct Field {
  std::optional<T> value;
  Where where;
  bool stated = false;

  explicit operator bool() const {
    if (stated && !value && unknown_values != nullptr) unknown_values->push_back(where.path);
    return value.has_value();
  }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
  [[nodiscard]] T value_or(T other) const { return *this ? *value : std::move(other); }
  [[nodiscard]] bool is(const T& other) const { return *this && *value == other; }
};
using Text = Field<std::string>;
using Count = Field<std::int64_t>;
using Switch = Field<bool>;
using Share = Field<double>;  ///< of a whole, 0 to 1

enum class Framework { Unknown, PyTorch, TensorFlow, HuggingFace, Other };

struct JobChannel {
  Where where;
  Text name, s3_uri, s3_type, distribution, input_mode;
  Text file_system_id, file_system_type, directory;
  Text compression, record_wrapper;
  const Node* attributes = nullptr;  ///< names of an augmented manifest's attributes
  std::vector<Text> groups;
  [[nodiscard]] bool on_file_system() const { return file_system_id.stated || file_system_type.stated; }
};

struct JobGroup {
  Where where;
  Text name, type;
  Count count;
};

/// One of the types that SageMaker tries in order (InstancePreferences); the job runs on exactly one.
struct JobPreference {
  Where where;
  Text type;
  Count count;
  const Node* training_plans = nullptr;
};
inline constexpr std::size_t kMaxPreferences = 5;

/// Who starts the training processes, and how many a node.
struct Launcher {
  Where where;          ///< of the setting that chooses it
  bool stated = false;  ///< the file says anything about launching
  Switch torchrun, mpi, smddp, smp, parameter_server, multi_worker_mirrored, xla, pytorchddp;
  Count processes_per_node;  ///< as stated
  Text mpi_options;
  const Node* smp_parameters = nullptr;    ///< inside the job's document
  std::optional<Node> own_smp_parameters;  ///< where they stood as JSON in a string
  std::vector<Text> groups;                ///< distribution.instance_groups

  [[nodiscard]] bool any() const {
    return torchrun.is(true) || mpi.is(true) || smddp.is(true) || smp.is(true) || parameter_server.is(true) ||
           multi_worker_mirrored.is(true) || xla.is(true) || pytorchddp.is(true);
  }
  [[nodiscard]] const Node* smp_node() const { return own_smp_parameters ? &*own_smp_parameters : smp_parameters; }
};

/// How the work is split, wherever the file (or a flag) says it.
struct JobStrategy {
  Count nodes, devices_per_node, world;
  Count tensor, pipeline, virtual_pipeline, context, expert, expert_tensor, sequence_ranks;
  Count data, data_replicate, data_shard, shard_degree;
  Count first_stage_layers, last_stage_layers;  ///< of a pipeline, where the file says that they are others
  Text sharding;                                ///< by the name that the format uses
  Switch sequence_parallel, pipeline_layout;
  Switch by_tokens;  ///< passes are filled up to a number of tokens: the micro-batch binds no other number
  Count micro_batch, global_batch, accumulation, sequence_length, steps, epochs;
  Text stack;                           ///< that a file of several trainers names, by the catalog's name
  Text finetune, recompute, optimizer;  ///< as the script names them
  Count save_interval;                  ///< in steps
  Text loss;                            ///< what is minimised: sft, dpo, orpo, kto, simpo or reward
  Switch packing;                       ///< several samples to a sequence, so that each is full
  Text split_file;                      ///< path of a DeepSpeed or accelerate file that says how states are split
  Count recompute_layers;               ///< of each pipeline chunk, where not all
  Count lora_rank;
  Switch lora_embeddings;
  Text trained_layers;  ///< of full training, in smplan's words: `last:8+head`
  Text lora_targets;    ///< what carries adapters: query-value, attention or linear
  Text adapters;        ///< kind of adapters, by smplan's name, where it is not LoRA
  Count virtual_tokens, adapter_count;
  Count heads, kv_heads, hidden, ffn, vocabulary, layers, experts;
  Switch bf16, fp16, fp8, fp4, fp32;
  Text attention;  ///< `flash_attention_2`, `sdpa`, ...
  Count zero_stage;
  Text optimizer_offload, parameter_offload, optimizer_nvme_path, parameter_nvme_path;
  Switch activation_offload;
  Execution execution;
};

/// What a tool of reinforcement learning says of a step: prompts are answered by a rollout engine, and the answers
/// train the policy.
struct JobReinforcement {
  Text algorithm;                        ///< as the tool names it: `grpo`, `gae`, `rloo`
  Count prompts;                         ///< of a step
  Count samples;                         ///< answers to each prompt
  Count prompt_tokens, response_tokens;  ///< the most of each
  Count trajectory_tokens;               ///< the most of a prompt and all turns, where `response_tokens` is of one
  Text rollout_engine;                   ///< `vllm`, `sglang`, `hf`
  Count rollout_tensor;                  ///< tensor-parallel ranks of the engine
  Share memory_share;                    ///< of a device's memory, for the engine's weights and cache
  Count mini_batch;                      ///< sequences or prompts of an optimizer step, as the tool counts them
  Count micro_batch;                     ///< sequences of a device's forward and backward pass
  Count passes;                          ///< over the answers of a step
  Count rollout_nodes;                   ///< that generate and do not train
  Count not_training;               ///< devices of the job that do not train; no value: some, nobody knows how many
  Text critic_model, reward_model;  ///< by the names that the file has for them, where it uses them
  Text placement;                   ///< by smplan's name
  Count replica_sequences;          ///< answers that a replica of the engine generates at once
  Count concurrency;                ///< answers at once on all replicas
  Field<double> start_rate;         ///< answers that start each second
  Count steps_ahead;                ///< how old answers may be, where engines go on while the policy is trained
  Switch reference;                 ///< a frozen copy of the policy is compared with
  bool drops_groups = false;        ///< of answers that are all as good, as DAPO does
  bool rollout_fp8 = false;
  /// What no tool has a setting for, where smplan wrote it into the file: names of RlSpec and of requests with texts.
  const Node* stated = nullptr;
  std::vector<std::string> left_open;  ///< what such a file does not say and a prediction must take
};

/// Counts of instances between which HyperPod may move an elastic job.
struct JobElastic {
  Switch on;
  Count least, most, step;
  std::vector<Count> counts;  ///< in place of a step
};

/// The launcher that the job's own command starts, and what it is told.
struct JobCommand {
  Where where;
  std::string program;  ///< `torchrun`, `hyperpodrun`; empty where the command starts neither
  Count least_nodes, most_nodes;
  Count processes;  ///< of a node
  Text visible;     ///< CUDA_VISIBLE_DEVICES, as the script leaves it
};

/// An option that a script gives to sbatch.
struct SlurmDirective {
  std::string name;  ///< without hyphens: `nodes`, `N`
  std::optional<std::string> value;
  int line = 0;
};

/// Directives of Slurm in a script.
struct JobSlurm {
  std::vector<SlurmDirective> directives;
  Count nodes, tasks_per_node, devices_per_node;
  bool by_srun = false;       ///< srun starts the tasks
  bool by_others = false;     ///< the script reaches the other nodes by ssh, MPI or their like
  std::optional<Where> late;  ///< a directive behind the first command, where Slurm reads none
};

/// A setting that was passed over, and why.
struct Unread {
  Where where;
  std::string why;
};

struct JobFolder;

struct Job;

/// A file that the job names, as a job of its own kind.
struct NamedFile {
  std::string path;  ///< from the job's folder
  std::shared_ptr<const Job> job;
};

/// A file that the job names and goes on from, which is there and does not count.
struct BrokenFile {
  Where where;       ///< where it is named, or its own place that is wrong
  std::string name;  ///< as it is named
  std::string why;
};

/// A job as rules see it: the settings that several formats share, each with its place, and the document
/// for what only one format has.
struct Job {
  JobKind kind = JobKind::CreateTrainingJob;
  std::string file;
  std::shared_ptr<const Node> document;

  Text class_name;  ///< estimator and model-trainer
  Framework framework = Framework::Unknown;
  Text framework_version, transformers_version, py_version, image, algorithm;
  Text region;
  Text name, role, input_mode, entry_point, output_uri, output_compression;
  Text instance_type;
  Count instance_count;
  std::vector<JobGroup> groups;
  std::vector<JobPreference> preferences;
  const Node* preference_list = nullptr;
  Count volume_gb, keep_alive_s;
  Text volume_kms_key, training_plan;
  const Node* placement = nullptr;
  Count max_run_s, max_wait_s, max_pending_s, retries;
  Switch spot, network_isolation, encrypt_traffic, infra_check;
  Text checkpoint_uri, checkpoint_path;
  const Node* checkpoint = nullptr;  ///< the whole setting
  std::vector<JobChannel> channels;
  const Node* channel_list = nullptr;
  const Node* hyperparameters = nullptr;
  const Node* environment = nullptr;            ///< variables by name
  std::shared_ptr<const Node> own_environment;  ///< where they stood as a list
  const Node* tags = nullptr;
  const Node* metrics = nullptr;
  const Node* subnets = nullptr;
  const Node* security_groups = nullptr;
  const Node* entrypoint_words = nullptr;
  const Node* argument_words = nullptr;
  const Node* debugger = nullptr;
  const Node* profiler = nullptr;
  const Node* compiler = nullptr;
  bool serverless = false;
  /// Why the models know nothing of this kind of training, in words; empty where they do.
  std::string not_modelled;
  /// Why it is not known whether adapters are trained, unless --finetune says it; empty where it is.
  std::string adapters_unknown;
  /// Why it is not known how states are split, unless --sharding or --zero-stage says it; empty where it is.
  std::string split_unknown;
  /// Whether the entry point starts processes by itself; nullopt where nobody has seen it.
  std::optional<bool> script_launches;
  /// Neither the file nor a flag or plan says the length of sequences: the model's own was taken.
  bool length_assumed = false;
  /// The model by the name that the file has for it: of a hub, of torchtune, or a folder.
  Text model;
  Text run_name;  ///< of a recipe that names no model, which AWS knows by it
  /// The catalog's, or the flags', where it is one model by name; complete_job() fills it.
  std::shared_ptr<const Architecture> architecture;
  /// In the order of the reader.
  std::vector<Unread> unread;
  Launcher launcher;
  JobStrategy strategy;
  JobElastic elastic;
  JobCommand command;
  StartedPrograms started;  ///< by its command, or by the script
  JobSlurm slurm;
  Count spares;           ///< instances that HyperPod holds for a failure
  Switch checkpointless;  ///< recovers from a replica's memory
  const Node* pod_resources = nullptr;
  std::shared_ptr<const Node> own_resources;  ///< where they stood in no list
  const Node* pod = nullptr;                  ///< its specification
  JobReinforcement reinforcement;
  std::vector<BrokenFile> broken_files;
  std::optional<NamedFile> split;     ///< the DeepSpeed file that it names, which lies beside it
  std::string source_without_script;  ///< the source that lies beside the job, where its entry point is not in it
  /// What lies beside it, where the job is a folder; nullptr where it is one file.
  std::shared_ptr<const JobFolder> folder;

  [[nodiscard]] const Node& root() const { return *document; }
  /// Submitted to SageMaker as it is (and not a configuration that a job's script reads).
  [[nodiscard]] bool submitted() const {
    return kind == JobKind::CreateTrainingJob || kind == JobKind::Estimator || kind == JobKind::ModelTrainer;
  }
};

/// Guesses the kind from the content, and of a script from what it starts; the file name only decides the syntax.
std::optional<JobKind> detect_kind(const Node& document, Syntax syntax, const StartedPrograms& started);
/// Whether the options of a program are transformers' or TRL's, all but slips and some of its own: nothing else says of
/// a program that is not TRL's that it reads them as those do.
bool has_trainer_options(const Node& arguments, const StartedPrograms& started);
/// The syntax that a kind is written in: the kind's own, JSON where the text starts like it.
Syntax syntax_of(std::optional<JobKind> kind, std::string_view file, std::string_view text);

/// Text to job. `kind` nullopt: guess. Fails on syntax, on a root that is no object, on an unknown kind.
Result<Job> read_job(std::string_view text, std::string_view file, std::optional<JobKind> kind);
/// The same job of another document: what its file goes on from was laid below it.
Job reread_job(const Job& job, Node document);

}  // namespace smplan
