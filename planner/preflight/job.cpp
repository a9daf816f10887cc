#include "planner/preflight/job.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_command.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/torchtitan_arguments.hpp"
#include "planner/preflight/verl_configuration.hpp"

namespace smplan {
namespace {

struct KindNames {
  JobKind kind;
  std::string_view name;
  std::string_view words;
  void (*read)(const Node&, Job&);
};

constexpr std::array<KindNames, kJobKindCount> kKinds = {{
    {JobKind::CreateTrainingJob, "create-training-job", "a CreateTrainingJob request", read_create_training_job},
    {JobKind::Estimator, "estimator", "estimator arguments", read_estimator},
    {JobKind::ModelTrainer, "model-trainer", "ModelTrainer arguments", read_model_trainer},
    {JobKind::HyperpodRecipe, "hyperpod-recipe", "a HyperPod recipe", read_hyperpod_recipe},
    {JobKind::DeepSpeed, "deepspeed", "a DeepSpeed configuration", read_deepspeed},
    {JobKind::Accelerate, "accelerate", "an accelerate configuration", read_accelerate},
    {JobKind::Megatron, "megatron", "Megatron arguments", read_megatron},
    {JobKind::TorchTitan, "torchtitan", "a TorchTitan configuration", read_torchtitan},
    {JobKind::Smp, "smp", "parameters of the model-parallel library", read_smp},
    {JobKind::Torchrun, "torchrun", "a script that starts torchrun, accelerate or deepspeed", read_torchrun},
    {JobKind::Axolotl, "axolotl", "an axolotl configuration", read_axolotl},
    {JobKind::LlamaFactory, "llama-factory", "a LLaMA-Factory configuration", read_llama_factory},
    {JobKind::Torchtune, "torchtune", "a torchtune configuration", read_torchtune},
    {JobKind::Trl, "trl", "arguments of TRL or transformers' Trainer", read_trl},
    {JobKind::Verl, "verl", "a verl configuration", read_verl},
    {JobKind::NemoRl, "nemo-rl", "a NeMo-RL configuration", read_nemo_rl},
    {JobKind::HyperpodJob, "hyperpod-job", "a HyperPodPyTorchJob", read_hyperpod_job},
}};

const KindNames& names_of(JobKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

/// A kind and keys at its root that tell it; the kind with most of them present wins, of two the first. Tools that
/// share keys share them here: what decides is what only one has.
struct Marks {
  JobKind kind;
  std::initializer_list<std::string_view> keys;
  std::size_t least = 1;  ///< that must be there: words such as `data` or `optim` alone tell nothing
  std::size_t own = 0;    ///< of the first so many keys, one must be there: others have the rest
};

const Marks kMarks[] = {
    {JobKind::Axolotl,
     {"base_model", "sequence_len", "micro_batch_size", "num_epochs", "adapter", "lora_r", "lora_target_linear",
      "sample_packing", "datasets", "dataset_prepared_path", "val_set_size", "load_in_4bit", "load_in_8bit", "fsdp",
      "fsdp_config", "deepspeed", "rl", "gradient_accumulation_steps", "plugins"},
     2},
    {JobKind::Trl,
     {"model_name_or_path",
      "dataset_name",
      "per_device_train_batch_size",
      "gradient_accumulation_steps",
      "num_train_epochs",
      "max_length",
      "max_seq_length",
      "use_peft",
      "lora_r",
      "lora_target_modules",
      "optim",
      "lr_scheduler_type",
      "output_dir",
      "attn_implementation",
      "num_generations",
      "deepspeed",
      "fsdp",
      "fsdp_config",
      "load_in_4bit",
      "gradient_checkpointing"},
     2},
    {JobKind::LlamaFactory,
     {"model_name_or_path",
      "per_device_train_batch_size",
      "gradient_accumulation_steps",
      "num_train_epochs",
      "lr_scheduler_type",
      "output_dir",
      "deepspeed",
      "stage",
      "finetuning_type",
      "cutoff_len",
      "template",
      "do_train",
      "dataset_dir",
      "lora_rank",
      "lora_target",
      "quantization_bit",
      "flash_attn",
      "enable_liger_kernel",
      "model_class",
      "dist_config",
      "peft_config",
      "train_dataset",
      "sample_backend"},
     2},
    {JobKind::Torchtune,
     {"tokenizer", "checkpointer", "model", "dataset", "loss", "optimizer", "metric_logger", "batch_size", "epochs",
      "max_steps_per_epoch", "enable_activation_checkpointing", "enable_activation_offloading", "dtype", "compile",
      "profiler"},
     2},
    {JobKind::CreateTrainingJob,
     {"TrainingJobName", "AlgorithmSpecification", "ResourceConfig", "InputDataConfig", "OutputDataConfig",
      "StoppingCondition", "HyperParameters", "RoleArn", "EnableManagedSpotTraining", "CheckpointConfig", "Environment",
      "VpcConfig", "ServerlessJobConfig"}},
    {JobKind::Estimator,
     {"class", "instance_type", "instance_count", "distribution", "framework_version", "entry_point", "py_version",
      "use_spot_instances", "max_run", "instance_groups", "image_uri", "train_instance_type"}},
    {JobKind::ModelTrainer,
     {"training_image", "source_code", "compute", "distributed", "stopping_condition", "base_job_name",
      "training_input_mode", "output_data_config", "networking"},
     2},
    {JobKind::HyperpodRecipe,
     {"trainer", "run", "exp_manager", "use_smp_model", "distributed_backend", "training_config", "recipes", "model",
      "cluster"},
     1,
     7},
    {JobKind::HyperpodRecipe, {"hydra", "cluster"}, 2},
    {JobKind::NemoRl,
     {"policy", "grpo", "ppo", "dpo", "sft", "rm", "distillation", "loss_fn", "checkpointing", "logger", "data_plane",
      "defaults", "data", "eval", "generation"},
     2},
    {JobKind::Verl,
     {"actor_rollout_ref", "algorithm", "critic", "reward_model", "custom_reward_function", "data", "trainer",
      "partial_pretrain", "defaults", "ulysses_sequence_parallel_size", "use_remove_padding"},
     2},
    {JobKind::HyperpodJob, {"apiVersion", "kind", "metadata", "spec"}, 3},
    {JobKind::HyperpodJob,
     {"tasks_per_node", "replica_count", "node_count", "pull_policy", "deep_health_check_passed_nodes_only",
      "accelerators", "accelerators_limit", "job_name", "image", "namespace", "command", "args", "environment",
      "instance_type", "queue_name"},
     4,
     7},
    {JobKind::DeepSpeed,
     {"zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
      "gradient_clipping", "zero_allow_untested_optimizer", "activation_checkpointing", "steps_per_print"}},
    {JobKind::Accelerate,
     {"compute_environment", "distributed_type", "num_machines", "num_processes", "machine_rank", "mixed_precision",
      "fsdp_config", "parallelism_config", "downcast_bf16"}},
    {JobKind::TorchTitan, {"parallelism", "training", "activation_checkpoint", "job", "metrics", "compile"}},
    {JobKind::Smp,
     {"hybrid_shard_degree", "sm_activation_offloading", "tensor_parallel_degree", "context_parallel_degree",
      "expert_parallel_degree", "partitions", "microbatches", "pipeline_parallel_degree", "placement_strategy",
      "sharded_data_parallel_degree", "shard_optimizer_state", "offload_activations"}},
};

/// Requests of other calls that train, by a member that no CreateTrainingJob request has.
/// Source: botocore 1.44.8, sagemaker/2017-07-24/service-2.json.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOtherCalls = {
    {{"TrainingSessionName", "CreateTrainingSession"},
     {"JobConfigDocument", "CreateJob"},
     {"HyperParameterTuningJobName", "CreateHyperParameterTuningJob"},
     {"ProcessingJobName", "CreateProcessingJob"},
     {"TransformJobName", "CreateTransformJob"}}};

/// The call that the document is a request of, where it is none that is checked; empty otherwise.
std::string_view other_call(const Node& document) {
  for (const auto& [member, call] : kOtherCalls) {
    if (document.has(member)) return call;
  }
  return {};
}

std::size_t marks_in(const Node& document, const Marks& marks) {
  std::size_t found = 0;
  for (const std::string_view key : marks.keys) found += document.has(key) ? 1 : 0;
  return found;
}

bool has_own(const Node& document, const Marks& marks) {
  const auto* end = marks.keys.begin() + marks.own;
  return marks.own == 0 ||
         std::any_of(marks.keys.begin(), end, [&](std::string_view key) { return document.has(key); });
}

std::size_t marks_of(const Node& document, JobKind kind) {
  for (const Marks& marks : kMarks) {
    if (marks.kind == kind) return marks_in(document, marks);
  }
  return 0;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

/// Kinds that are files or command lines.
bool also_command(JobKind kind) {
  return kind == JobKind::Trl || kind == JobKind::Verl || kind == JobKind::LlamaFactory || kind == JobKind::NemoRl ||
         kind == JobKind::TorchTitan;
}

/// A line of a shell, which as YAML would be a text: a program, behind variables that are set for it.
bool starts_command(std::string_view text) {
  constexpr std::array<std::string_view, 11> kPrograms = {
      "trl ",    "accelerate launch ", "python -m ", "python3 -m ", "torchrun ", "llamafactory-cli ",
      "uv run ", "deepspeed ",         "srun ",      "export ",     "./"};
  constexpr std::string_view kBlank = " \t\r\n";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    const std::size_t equals = std::min(text.find('='), text.size());
    if (!is_shell_name(text.substr(0, equals))) break;
    text.remove_prefix(std::min(equals + 1, text.size()));
    const std::string_view closing = text.starts_with('"') ? "\"" : text.starts_with('\'') ? "'" : kBlank;
    text.remove_prefix(std::min(text.find_first_of(closing, 1), text.size()));
    if (closing != kBlank && !text.empty()) text.remove_prefix(1);
  }
  return std::any_of(kPrograms.begin(), kPrograms.end(), [&](std::string_view p) { return text.starts_with(p); });
}

/// Overrides of Hydra, which parse_argument_nodes() makes a tree of.
bool has_overrides(const Node& arguments) {
  return std::any_of(arguments.items.begin(), arguments.items.end(), [](const Node& item) { return item.is_object(); });
}

/// LLaMA-Factory's program, or options that only its script has.
bool starts_llama_factory(const Node& arguments, const StartedPrograms& started) {
  return starts(started, "llamafactory-cli") ||
         (arguments.has("stage") && (arguments.has("finetuning-type") || arguments.has("cutoff-len")));
}

/// The file that a program takes all its settings from (`llamafactory-cli train FILE`), where it could take them as
/// options too; empty where none does.
std::string file_of_command(const StartedPrograms& started) {
  for (const StartedProgram& program : started.programs) {
    const std::string_view name = base_name(program.name);
    if ((name != "llamafactory-cli" && name != "axolotl") || program.words.size() < 2) continue;
    const std::string& file = program.words[1].text;
    if (ends_with_any(file, {".yaml", ".yml", ".json"})) return file;
  }
  return {};
}

/// A value of a command line as the file would have it.
Node as_file_value(Node value) {
  if (!value.is_string()) return value;
  const std::string word = lower_case(value.text);
  if (word != "true" && word != "false") return value;
  value.kind = Node::Kind::Bool;
  value.truth = word == "true";
  return value;
}

/// Options of a command line as a file would state them: with underscores, and without the words of a shell behind
/// the last of them.
Node as_file(Node arguments) {
  constexpr std::array<std::string_view, 4> kLists = {"report_to", "label_names", "fsdp", "include_for_metrics"};
  for (Node& option : arguments.items) {
    std::replace(option.key.begin(), option.key.end(), '-', '_');
    const bool list = std::find(kLists.begin(), kLists.end(), option.key) != kLists.end();
    if (option.is_array() && !list && !option.items.empty()) {
      Node first = option.items.front();
      first.key = option.key;
      first.where = option.where;
      option = std::move(first);
    }
    option = as_file_value(std::move(option));
  }
  return arguments;
}

/// Options of TrainingArguments that scripts with a training loop of their own do not take over with the others: these
/// have none of them in huggingface/transformers 00661e3, examples/pytorch/language-modeling/run_clm_no_trainer.py, and
/// in the examples of huggingface/accelerate.
bool is_of_trainer_alone(std::string_view option) {
  constexpr std::array<std::string_view, 14> kNames = {"do-train",
                                                       "do-eval",
                                                       "do-predict",
                                                       "load-best-model-at-end",
                                                       "save-total-limit",
                                                       "logging-steps",
                                                       "save-steps",
                                                       "eval-steps",
                                                       "max-steps",
                                                       "bf16",
                                                       "optim",
                                                       "warmup-ratio",
                                                       "fsdp",
                                                       "max-grad-norm"};
  return option.ends_with("-strategy") || option.starts_with("dataloader-") ||
         std::find(kNames.begin(), kNames.end(), option) != kNames.end();
}

/// TRL's program, or options of transformers' Trainer, of which other scripts have some too.
bool starts_trainer(const Node& arguments, const StartedPrograms& started) {
  constexpr std::array<std::string_view, 8> kOfTrainer = {
      "model-name-or-path", "per-device-train-batch-size", "num-train-epochs", "dataset-name",
      "output-dir",         "gradient-accumulation-steps", "use-peft",         "lr-scheduler-type"};
  const auto found =
      std::count_if(kOfTrainer.begin(), kOfTrainer.end(), [&](std::string_view name) { return arguments.has(name); });
  return found > 1 || !trl_command(started).empty();
}

/// A program of Megatron's examples: `pretrain_gpt.py`.
bool pretrains(const StartedPrograms& started) {
  return std::any_of(started.programs.begin(), started.programs.end(), [](const StartedProgram& program) {
    return base_name(program.name).starts_with("pretrain_") && program.name.ends_with(".py");
  });
}

/// Processes of a node, or the launcher's name, and not the options that every Megatron run has: one alone of these
/// other scripts have too.
bool starts_torchrun(const Node& arguments, const StartedPrograms& started) {
  constexpr std::array<std::string_view, 6> kOfMegatron = {"num-layers",        "hidden-size", "micro-batch-size",
                                                           "global-batch-size", "seq-length",  "train-iters"};
  const auto found =
      std::count_if(kOfMegatron.begin(), kOfMegatron.end(), [&](std::string_view name) { return arguments.has(name); });
  const bool megatron = found > 1 || arguments.has("tensor-model-parallel-size") || (found == 1 && pretrains(started));
  if (arguments.has("nproc-per-node")) return !megatron && !has_trainer_options(arguments, started);
  return found == 0 && starts_torchrun(started) && !starts_trainer(arguments, started) &&
         !starts_llama_factory(arguments, started);
}

std::size_t keys_known(const Node& object, std::string_view framework) {
  const FrameworkTable* table = framework_table(framework);
  const SettingSection* section = table == nullptr ? nullptr : table->find("");
  return section == nullptr
             ? 0
             : static_cast<std::size_t>(std::count_if(object.items.begin(), object.items.end(), [&](const Node& key) {
                 return section->find(key.key) != nullptr;
               }));
}

/// Options of which most are Megatron's. Megatron-DeepSpeed, which went its own way, is told by its option.
bool starts_megatron(const Node& arguments, const StartedPrograms& started) {
  if (arguments.has("deepspeed")) return false;
  const std::size_t known = keys_known(arguments, "megatron");
  // One option that a program happens to have too tells nothing, and of another's there are more.
  const bool enough = known > 1 || arguments.text.empty();
  const std::size_t least = started.programs.empty() ? 2 : 3;
  return pretrains(started) || (enough && 4 * known >= least * arguments.items.size());
}

Job job_from(JobKind kind, const std::string& name, Node document, StartedPrograms started = {}) {
  Job job;
  job.started = std::move(started);
  job.kind = kind;
  job.file = name;
  job.document = std::make_shared<const Node>(std::move(document));
  names_of(kind).read(job.root(), job);
  return job;
}

/// The text's document; of several, which objects of Kubernetes may stand in, the job.
Result<Node> one_document(std::string_view text, const std::string& name, Syntax syntax) {
  if (syntax != Syntax::Yaml || text.size() > kMaxJobBytes) return parse_document(text, name, syntax);
  Result<std::vector<Node>> documents = parse_yaml_documents(text, name);
  if (!documents) return tl::unexpected<Diagnostics>(documents.error());
  if (documents->size() == 1) return std::move(documents->front());
  return kubernetes_job_of(std::move(*documents), name);
}

/// `a, b or c`.
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return out;
}

}  // namespace

std::string_view to_string(JobKind kind) { return names_of(kind).name; }
std::string_view in_words(JobKind kind) { return names_of(kind).words; }

std::optional<JobKind> job_kind_from(std::string_view name) {
  for (const KindNames& names : kKinds) {
    if (names.name == name) return names.kind;
  }
  return std::nullopt;
}

std::vector<std::string> job_kind_names() {
  std::vector<std::string> names;
  for (const KindNames& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Syntax syntax_of(std::optional<JobKind> kind, std::string_view file, std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const char first = start == std::string_view::npos ? '\0' : text[start];
  const bool either = !kind || also_command(*kind);
  const bool names_shell = first == '#' && text.substr(start).starts_with("#!");
  const bool commands =
      ends_with_any(file, {".sh", ".sbatch", ".slurm", ".sub", ".args", ".txt"}) ||
      (!ends_with_any(file, {".yaml", ".yml", ".json", ".toml"}) && (names_shell || starts_command(text)));
  const bool toml = ends_with_any(file, {".toml"}) || (kind == JobKind::TorchTitan && !commands);
  if (toml && first != '{') return Syntax::Toml;
  if (first == '{' || (first == '[' && !ends_with_any(file, {".yaml", ".yml"}))) return Syntax::Json;
  if (kind == JobKind::Megatron || kind == JobKind::Torchrun || (either && commands) ||
      (!kind && first == '-' && text.substr(start).starts_with("--") && !text.substr(start).starts_with("---"))) {
    return Syntax::Arguments;
  }
  if (kind == JobKind::TorchTitan) return Syntax::Toml;
  return ends_with_any(file, {".json"}) ? Syntax::Json : Syntax::Yaml;
}

bool has_trainer_options(const Node& arguments, const StartedPrograms& started) {
  constexpr int kEnough = 4;
  constexpr int kOfEach = 3;  // known ones beside each that the program brings itself
  const FrameworkTable* table = framework_table("trl");
  const SettingSection* all = table == nullptr ? nullptr : table->find("");
  int known = 0;
  int unknown = 0;
  bool batch = false;
  bool alone = false;
  for (const Node& option : arguments.items) {
    if (all == nullptr || started.before_program.contains({option.key, option.where.line})) continue;
    std::string name = option.key;
    std::replace(name.begin(), name.end(), '-', '_');
    const FrameworkSetting* setting = all->find(name);
    // DeepSpeed's own switch, of programs that parse it themselves (deepspeed.add_config_arguments), has no value.
    if (name == "deepspeed" && option.kind == Node::Kind::Bool) return false;
    ++(setting != nullptr && setting->last.empty() ? known : unknown);
    batch = batch || option.key == "per-device-train-batch-size";
    alone = alone || is_of_trainer_alone(option.key);
  }
  return known >= kEnough && ((batch && alone) || unknown <= std::max(1, known / kOfEach));
}

std::optional<JobKind> detect_kind(const Node& document, Syntax syntax, const StartedPrograms& started) {
  if (syntax == Syntax::Arguments || document.is_array()) {
    if (titan_program(started) != nullptr) return JobKind::TorchTitan;
    if (starts_nemo_rl(document)) return JobKind::NemoRl;
    if (has_overrides(document)) return JobKind::Verl;
    if (starts_torchrun(document, started)) return JobKind::Torchrun;
    if (starts_llama_factory(document, started)) return JobKind::LlamaFactory;
    if (starts_trainer(document, started)) return JobKind::Trl;
    if (starts_megatron(document, started)) return JobKind::Megatron;
    // The launcher of DeepSpeed or accelerate, with a script that is nobody's else.
    return started.launches.empty() ? std::nullopt : std::optional(JobKind::Torchrun);
  }
  const Node* class_name = document.find("class");
  if (class_name != nullptr && class_name->text.ends_with("Trainer")) return JobKind::ModelTrainer;
  std::optional<JobKind> best;
  std::size_t most = 0;
  for (const Marks& marks : kMarks) {
    const std::size_t found = marks_in(document, marks);
    if (found > most && found >= marks.least && has_own(document, marks)) {
      most = found;
      best = marks.kind;
    }
  }
  // Many others have some of the same keys.
  return best == JobKind::Trl && 2 * keys_known(document, "trl") < document.items.size() ? std::nullopt : best;
}

namespace {

/// A text's document, and what it starts where it is a command line.
struct Parsed {
  Node document;
  StartedPrograms started;
  bool arguments = false;
};

/// The words of a command line, which are a document of TorchTitan's TOML where they start that.
Result<Parsed> parse_words(const std::vector<ShellWord>& words, const std::string& name, std::optional<JobKind> kind,
                           Result<Node> options) {
  Parsed parsed{{}, started_by(words, ""), true};
  if (const std::string settings = file_of_command(parsed.started); !settings.empty()) {
    return fail("other-file", name, fmt::format("starts the training that {} describes", printable(settings, 60)),
                fmt::format("check that file: smplan check {}", printable(settings, 60)));
  }
  if (kind == JobKind::TorchTitan && titan_program(parsed.started) == nullptr) {
    parsed.started.programs.push_back({std::string(kTitanProgram), words});  // its arguments alone
  }
  if ((!kind || kind == JobKind::TorchTitan) && titan_program(parsed.started) != nullptr) {
    parsed.document = titan_settings(parsed.started, {});
    return parsed;
  }
  if (!options) return tl::unexpected<Diagnostics>(options.error());
  parsed.document = std::move(*options);
  return parsed;
}

Result<Parsed> parse_job(std::string_view text, const std::string& name, Syntax syntax, std::optional<JobKind> kind) {
  Result<Node> document = one_document(text, name, syntax);
  if (syntax == Syntax::Arguments && text.size() <= kMaxJobBytes) {
    const Result<std::vector<ShellWord>> words = split_words(text, name);
    if (words) return parse_words(*words, name, kind, std::move(document));
  }
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  const bool list = document->is_array() && (!kind || *kind == JobKind::Megatron || also_command(*kind));
  if (!list) return Parsed{std::move(*document), {}, syntax == Syntax::Arguments};
  std::vector<ShellWord> words;
  for (const Node& word : document->items) words.push_back({word.text, word.where.line, false, true, true});
  return parse_words(words, name, kind, argument_nodes_of(*document, name));
}

}  // namespace

Result<Job> read_job(std::string_view text, std::string_view file, std::optional<JobKind> kind) {
  const std::string name = file == "-" ? "<stdin>" : std::string(file);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool is_json = start != std::string_view::npos && text[start] == '{';
  if (ends_with_any(file, {".py"}) && !is_json) {  // the Python side hands over JSON under the script's name
    return fail("python-script", name, "is a Python script, which this program never reads",
                fmt::format("`python -m smplan check {}` finds its estimator call without running it", name));
  }
  const Syntax syntax = syntax_of(kind, file, text);
  Result<Parsed> parsed = parse_job(text, name, syntax, kind);
  if (!parsed) return tl::unexpected<Diagnostics>(parsed.error());
  auto& [document, started, arguments] = *parsed;
  if (const std::string_view call = other_call(document);
      !call.empty() && (!kind || *kind == JobKind::CreateTrainingJob)) {
    return fail("other-call", name, fmt::format("is a request of {}, which is not checked", call),
                "what is checked is a CreateTrainingJob request, such as the definition inside a tuning job");
  }
  if (const std::string other = unread_kubernetes_kind(document);
      !other.empty() && (!kind || *kind == JobKind::HyperpodJob)) {
    return fail("other-object", name, fmt::format("is Kubernetes' {}, which is not checked", printable(other, 60)),
                "what is checked is a HyperPodPyTorchJob or a PyTorchJob");
  }
  if (const std::string other = unread_hyperpod_template(text, document);
      !other.empty() && (!kind || *kind == JobKind::HyperpodJob)) {
    return fail("other-object", name,
                fmt::format("is a configuration of HyperPod's command line for {}, which is not checked", other),
                "what is checked is one of hyp-pytorch-job");
  }
  const std::optional<JobKind> looks = is_hyperpod_template(text, document)
                                           ? JobKind::HyperpodJob
                                           : detect_kind(document, arguments ? Syntax::Arguments : syntax, started);
  if (!kind) {
    kind = looks;
  } else if (document.is_object() && looks && looks != kind && marks_of(document, *kind) == 0 &&
             !(arguments && also_command(*kind))) {
    return fail("wrong-kind", name,
                fmt::format("holds no key of {}, it looks like {}", in_words(*kind), in_words(*looks)),
                fmt::format("check it with --kind {}", to_string(*looks)));
  }
  if (!document.is_object()) {
    return fail("wrong-kind", name, fmt::format("must hold an object, holds {}", kind_name(document.kind)),
                "give the settings of one job");
  }
  if (document.items.empty()) {
    return fail("empty-job", name, "holds no setting", "give the settings of one job");
  }
  if (!kind) {
    return fail("unknown-kind", name, "is of no kind that can be recognised",
                "say which: --kind " + listed(job_kind_names()));
  }
  if (arguments && kind == JobKind::LlamaFactory) document = as_file(std::move(document));
  // A command may give what a file leaves out.
  if (kind == JobKind::Verl) document.open = document.plus < 0 || !verl_configuration(document).whole;
  if (kind == JobKind::NemoRl) document.open = document.open || !nemo_rl_configuration(document).whole;
  Job job = job_from(*kind, name, std::move(document), std::move(started));
  if (syntax == Syntax::Arguments) {
    read_launched(job.started, {}, job.command);
    read_script_lines(text, job);
  }
  return job;
}

Job reread_job(const Job& job, Node document) {
  if (job.kind == JobKind::NemoRl) document.open = document.open || !nemo_rl_configuration(document).whole;
  Job reread = job_from(job.kind, job.file, std::move(document), job.started);
  reread.command = job.command;
  reread.slurm = job.slurm;
  return reread;
}

}  // namespace smplan
