#include "planner/preflight/job_request.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/units.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"
#include "models/layers/adapters.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/launcher_options.hpp"
#include "planner/preflight/started_programs.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

/// The place of a setting that a flag gives.
Where flag(std::string_view name) { return {"--" + std::string(name), 0}; }

/// Only where the file says nothing, and only one value: a list is a question, not a job.
void fill(Count& field, const std::optional<std::string>& text, std::string_view name) {
  if (field.stated || !text) return;
  const Result<std::int64_t> n = parse_integer_count(*text, name);
  if (n) field = derived(*n, flag(name));
}

void fill(Count& field, std::int64_t value, std::string_view name) {
  if (!field.stated && value > 0) field = derived(value, flag(name));
}

void fill_architecture(JobStrategy& s, const Architecture& a) {
  fill(s.heads, a.n_heads, "model");
  fill(s.kv_heads, a.n_kv_heads, "model");
  fill(s.hidden, a.hidden, "model");
  fill(s.ffn, a.is_moe() ? a.moe.expert_ffn_hidden : a.ffn_hidden, "model");
  fill(s.layers, a.n_layers, "model");
  fill(s.experts, a.is_moe() ? a.moe.n_experts : 0, "model");
}

void fill_precision(JobStrategy& s, const std::string& dtype) {
  if (s.bf16.stated || s.fp16.stated || s.fp8.stated || s.fp4.stated || s.fp32.stated) return;
  const Switch on = derived(true, flag("dtype"));
  if (dtype == "bf16") s.bf16 = on;
  if (dtype == "fp16") s.fp16 = on;
  if (dtype == "fp8") s.fp8 = on;
  if (dtype == "fp4") s.fp4 = on;
  if (dtype == "fp32") s.fp32 = on;
}

/// The value of a degree for the request; nothing where the job leaves it open.
void state(std::optional<std::string>& field, const Count& value) {
  if (!field && value && *value >= 1) field = std::to_string(*value);
}

/// Dimensions that files state as counts, by the same name in every format.
struct CountedDimension {
  Dimension dimension;
  Count JobStrategy::*count;
};
constexpr std::array<CountedDimension, 8> kCounted{{{Dimension::Data, &JobStrategy::data},
                                                    {Dimension::Tensor, &JobStrategy::tensor},
                                                    {Dimension::Pipeline, &JobStrategy::pipeline},
                                                    {Dimension::VirtualPipeline, &JobStrategy::virtual_pipeline},
                                                    {Dimension::Context, &JobStrategy::context},
                                                    {Dimension::Expert, &JobStrategy::expert},
                                                    {Dimension::ExpertTensor, &JobStrategy::expert_tensor},
                                                    {Dimension::MicroBatch, &JobStrategy::micro_batch}}};

/// Most underscores between digits that are tried as points: `qwen2_5_0_5b` has three.
constexpr std::size_t kMostPoints = 4;

/// torchtune writes points as underscores, and underscores too: `llama3_1_8b` is Llama 3.1 8B, `qwen2_1_5b` Qwen2 1.5B.
/// AWS's names of runs have hyphens for points: `llama-3-3-70b`.
/// The one model that the catalog has by any such reading; nullptr where there is none or several.
const ModelPreset* find_with_points(const std::string& name, const Catalog& catalog) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    const bool divides = name[i] == '_' || name[i] == '-';
    if (divides && digit(name[i - 1]) && digit(name[i + 1])) places.push_back(i);
  }
  if (places.size() > kMostPoints) return nullptr;
  const ModelPreset* only = nullptr;
  for (std::size_t points = 0; points < std::size_t{1} << places.size(); ++points) {
    std::string read = name;
    for (std::size_t i = 0; i < places.size(); ++i) read[places[i]] = (points >> i & 1) != 0 ? '.' : '-';
    const ModelPreset* found = catalog.find_model(read);
    if (found == nullptr || found == only) continue;
    if (only != nullptr) return nullptr;
    only = found;
  }
  return only;
}

std::optional<std::string> dtype_of(const JobStrategy& s) {
  if (s.fp8.is(true)) return "fp8";
  if (s.bf16.is(true)) return "bf16";
  if (s.fp16.is(true)) return "fp16";
  if (s.fp32.is(true)) return "fp32";
  return std::nullopt;
}

std::optional<LoraTargets> lora_targets_of(const JobStrategy& s) {
  if (const auto named = lora_targets_from(s.lora_targets.value_or(""))) return named;
  const auto layers = linear_layers_from(s.lora_targets.value_or(""));
  return layers ? std::optional(lora_targets_of(*layers)) : std::nullopt;
}

/// Sequences of a step where the job gives them as micro-batch x accumulation of every data rank.
Count global_batch_of(const JobStrategy& s, const std::vector<Machines>& machines) {
  if (s.global_batch || machines.size() != 1 || machines.front().instance == nullptr || !machines.front().count) {
    return s.global_batch;
  }
  const std::int64_t world = times(*machines.front().count, machines.front().instance->accelerator_count);
  const std::int64_t split = times(times(s.tensor.value_or(1), s.pipeline.value_or(1)), s.context.value_or(1));
  if (!s.micro_batch || !s.accumulation || split < 1 || world % split != 0) return {};
  return derived(times(times(*s.micro_batch, *s.accumulation), world / split), s.accumulation.where);
}

/// What is kept on the host, by the words of --offload; empty where the file says nothing of it.
std::optional<std::string> offload_of(const Job& job, const JobStrategy& s) {
  // FSDP moves the optimizer's states with the parameters, by one switch.
  const bool fsdp = job.kind == JobKind::Accelerate || job.kind == JobKind::TorchTitan ||
                    job.kind == JobKind::HyperpodRecipe || s.stack.is("fsdp") || s.stack.is("torchtune");
  const bool optimizer = s.optimizer_offload.is("cpu");
  std::string words;
  const auto add = [&](bool wanted, std::string_view word) {
    if (wanted) words += (words.empty() ? "" : "+") + std::string(word);
  };
  add(optimizer && !fsdp, "optimizer");
  add(optimizer && s.parameter_offload.is("cpu"), "params");
  add(s.activation_offload.is(true), "activations");
  return words.empty() ? std::nullopt : std::optional(words);
}

/// FSDP's strategy by our name; nullopt for those that have none. PyTorch shards over the node where it shards hybrid.
std::optional<std::string> fsdp_sharding(std::string_view name, const std::vector<Machines>& machines) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{{"FULL_SHARD", "fsdp-full"},
                                                                                    {"1", "fsdp-full"},
                                                                                    {"SHARD_GRAD_OP", "fsdp-grad-op"},
                                                                                    {"2", "fsdp-grad-op"},
                                                                                    {"NO_SHARD", "none"},
                                                                                    {"3", "none"},
                                                                                    {"HYBRID_SHARD", "fsdp-hybrid"},
                                                                                    {"4", "fsdp-hybrid"}}};
  const bool one_node = machines.size() == 1 && machines.front().count.is(1);
  for (const auto& [written, ours] : kNames) {
    if (written != name) continue;
    return std::string(ours == "fsdp-hybrid" && one_node ? "fsdp-full" : ours);
  }
  return std::nullopt;
}

const Stack* stack_of(const RequestSpec& spec, const Catalog& catalog) {
  return spec.stack ? catalog.find_stack(*spec.stack) : nullptr;
}

void state_sharding(RequestSpec& spec, const Job& job, const JobStrategy& s, const std::vector<Machines>& machines,
                    const Catalog& catalog) {
  if (spec.stack == "deepspeed" && !spec.zero_stage && !spec[Dimension::Sharding] && s.zero_stage) {
    spec.zero_stage = std::to_string(*s.zero_stage);
  }
  if (!spec[Dimension::Sharding] && !spec.zero_stage) state(spec[Dimension::ShardDegree], s.shard_degree);
  if (spec[Dimension::Sharding] || spec.zero_stage || !s.sharding) return;
  const Stack* stack = stack_of(spec, catalog);
  const bool ours = (stack != nullptr && stack->split_in_own_file) || (job.submitted() && job.launcher.smp.is(true));
  if (ours) spec[Dimension::Sharding] = *s.sharding;
  if ((spec.stack != "fsdp" && spec.stack != "torchtitan") || s.shard_degree) return;
  spec[Dimension::Sharding] = fsdp_sharding(*s.sharding, machines);
  if (spec[Dimension::Sharding] == "fsdp-hybrid" && !spec[Dimension::ShardDegree]) {
    state(spec[Dimension::ShardDegree], s.data_shard);
  }
  const bool known = !machines.empty() && machines.front().instance != nullptr;
  if (spec[Dimension::Sharding] == "fsdp-hybrid" && !spec[Dimension::ShardDegree] && known) {
    spec[Dimension::ShardDegree] = std::to_string(machines.front().instance->accelerator_count);
  }
}

void state_adapters(RequestSpec& spec, const JobStrategy& s) {
  if (!spec.adapters && s.adapters) spec.adapters = *s.adapters;
  if (s.adapter_count.value_or(1) > 1) state(spec.adapter_count, s.adapter_count);
  const AdapterMethod* kind = adapter_method(spec.adapters.value_or(""));
  if (kind != nullptr && kind->is_prompt()) return state(spec.virtual_tokens, s.virtual_tokens);
  state(spec.lora_rank, s.lora_rank);
  if (s.lora_embeddings.is(true)) spec.lora_embeddings = "on";
  const std::optional<LoraTargets> targets = lora_targets_of(s);
  if (targets && !spec.lora_targets) spec.lora_targets = to_string(*targets);
}

/// What is trained and how, where a script's settings use our names; its other words mean what only it knows.
void state_training(RequestSpec& spec, const JobStrategy& s, const RequestSpec& otherwise) {
  const std::optional<FineTune> mode = finetune_from(s.finetune.value_or(""));
  // Of a script `full` is every weight, from the model's own or from new ones: the plan beside the job knows which.
  const bool planned_full = otherwise.stack && otherwise.finetune.value_or("full") == "full";
  if (!spec.finetune && mode && (*mode != FineTune::Full || !planned_full)) {
    spec.finetune = *s.finetune;
    if (*mode != FineTune::Full) {
      state_adapters(spec, s);
    } else if (!spec.trained_layers && s.trained_layers) {
      spec.trained_layers = *s.trained_layers;
    }
  }
  const std::string optimizer = s.optimizer.value_or("");
  if (!spec.optimizer && optimizer_from(optimizer)) spec.optimizer = optimizer;
  const std::optional<Recompute> recompute = recompute_from(s.recompute.value_or(""));
  if (!spec[Dimension::Recompute] && !spec[Dimension::RecomputeLayers] && recompute) {
    spec[Dimension::Recompute] = *s.recompute;
    if (*recompute == Recompute::Full) state(spec[Dimension::RecomputeLayers], s.recompute_layers);
  }
  if (spec.tokens || !spec.global_batch || !s.steps || *s.steps < 1 || !s.sequence_length) return;
  const Result<std::int64_t> batch = parse_integer_count(*spec.global_batch, "--global-batch");
  if (!batch) return;
  // Sequences of different lengths are trained with what they hold.
  const std::string mean = spec.mean_seq_len ? *spec.mean_seq_len : otherwise.mean_seq_len.value_or("");
  const Result<std::int64_t> length = parse_integer_count(mean, "--mean-seq-len");
  const std::int64_t of_step = times(*batch, length ? *length : *s.sequence_length);
  const std::int64_t tokens = times(*s.steps, of_step);
  spec.tokens = std::to_string(tokens);
  // Steps are whole: those of the plan beside the job are its tokens, rounded up.
  const Result<std::int64_t> planned = parse_integer_count(otherwise.tokens.value_or("0"), "");
  if (planned && *planned <= tokens && tokens - *planned < of_step) spec.tokens = otherwise.tokens;
}

/// A preference loss compares pairs, which its trainers count as one: two sequences each.
void state_loss(RequestSpec& spec, const RequestSpec& flags, const JobStrategy& s) {
  const TrainingLoss* loss = training_loss(s.loss.value_or("sft"));
  if (loss == nullptr || flags.loss) return;
  spec.loss = loss->name;
  const auto count_sequences = [&](std::optional<std::string>& field, bool by_flag) {
    const Result<std::int64_t> examples = parse_integer_count(field.value_or(""), "");
    if (examples && !by_flag) field = std::to_string(times(*examples, loss->sequences));
  };
  count_sequences(spec.global_batch, flags.global_batch.has_value());
  count_sequences(spec[Dimension::MicroBatch], flags[Dimension::MicroBatch].has_value());
}

/// What the job tells software, as far as the stack can be told so. Where the stack is open, those that can are meant.
void state_execution(RequestSpec& spec, const Execution& told, const Catalog& catalog) {
  const Stack* stack = spec.stack ? catalog.find_stack(*spec.stack) : nullptr;
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution || spec[row.dimension] || row.told(told) == 0) continue;
    Strategy only;
    row.set(only, row.told(told));
    if (stack != nullptr && broken_rule("execution-offered", only, {}, *stack)) continue;
    spec[row.dimension] = row.text(row.told(told));
  }
}

/// With the degrees of the model-parallel library, which a job that is submitted states among its launcher's
/// parameters.
JobStrategy whole_strategy(const Job& job) {
  JobStrategy s = job.strategy;
  const Node* parameters = job.submitted() ? job.launcher.smp_node() : nullptr;
  if (parameters == nullptr) return s;
  Job library;
  read_smp(*parameters, library);
  const JobStrategy& stated = library.strategy;
  for (const auto field : {&JobStrategy::tensor, &JobStrategy::pipeline, &JobStrategy::context, &JobStrategy::expert,
                           &JobStrategy::shard_degree}) {
    if ((stated.*field).stated) s.*field = stated.*field;
  }
  if (stated.activation_offload.stated) s.activation_offload = stated.activation_offload;
  const Node* optimizer = parameters->find("shard_optimizer_state");
  if (optimizer != nullptr && truth_of(*optimizer) == true)
    s.sharding = derived(std::string("zero1"), optimizer->where);
  return s;
}

/// What neither file nor flag says, by the plan beside the job. Of another stack than the plan's its division of the
/// work means nothing.
void state_otherwise(RequestSpec& spec, const RequestSpec& plan) {
  if (!plan.stack) return;
  fill_open(spec, plan, {RequestGroup::Work, RequestGroup::Operation, RequestGroup::Launch});
  if (spec.global_batch_tokens) spec.global_batch.reset();
  if (spec.stack != plan.stack) return;
  RequestSpec rest = plan;
  const bool sharding_said = spec[Dimension::Sharding] || spec.zero_stage || spec[Dimension::ShardDegree];
  if (sharding_said && spec[Dimension::Sharding] != plan[Dimension::Sharding]) rest[Dimension::ShardDegree].reset();
  if (sharding_said) rest[Dimension::Sharding].reset();
  if (spec[Dimension::Recompute] && spec[Dimension::Recompute] != plan[Dimension::Recompute]) {
    rest[Dimension::RecomputeLayers].reset();
  }
  if (spec[Dimension::RecomputeLayers]) rest[Dimension::Recompute].reset();
  if (spec.fused_loss) rest[Dimension::LossKernel].reset();
  fill_open(spec, rest, {RequestGroup::Dimension, RequestGroup::Execution});
}

/// How it is bought: a file that is submitted says spot or does not.
std::optional<std::string> market_of(const Job& job, const RequestSpec& otherwise) {
  if (job.spot.is(true)) return "spot";
  if (otherwise.market == "spot" && job.submitted()) return "on-demand";
  return otherwise.market;
}

/// Ranks that a script starts on one node, unless a flag, a request or Slurm may say more of them.
void fill_launched(Job& job, const CheckOptions& options) {
  JobStrategy& s = job.strategy;
  const JobSlurm& slurm = job.slurm;
  const bool others = slurm.nodes.stated || slurm.by_srun || slurm.by_others;
  const bool by_script = !job.submitted() && job.kind != JobKind::HyperpodJob && !others;
  const LauncherCall* torchrun = only_call(job.started, "torchrun");
  const bool one_node = torchrun != nullptr && !torchrun->options.open && option_of(*torchrun, "nnodes") == nullptr;
  if (!by_script || !one_node || !job.command.processes || options.n_gpus || options.request.count) return;
  if (job.instance_count.stated || s.nodes.stated || s.world.stated) return;
  s.nodes = derived(std::int64_t{1}, job.command.where);
  if (!s.devices_per_node.stated) s.devices_per_node = job.command.processes;
}

}  // namespace

const Result<PlanRequest>& resolved(const RequestSpec& spec, const Catalog& catalog, const CheckOptions& options,
                                    Purpose purpose) {
  const std::string key = (purpose == Purpose::Plan ? "plan " : "estimate ") + request_key(spec);
  return options.cache->requests.get(key, [&] { return resolve(spec, catalog, options.environment_region, purpose); });
}

bool names_model(const RequestSpec& spec) { return spec.params || spec.model || spec.hf_config || spec.arch; }

std::optional<std::string> stack_of(const Job& job) {
  if (job.strategy.stack) return *job.strategy.stack;
  switch (job.kind) {
    case JobKind::DeepSpeed:
      return "deepspeed";
    case JobKind::Accelerate:
      return "fsdp";
    case JobKind::Megatron:
      return "megatron";
    case JobKind::TorchTitan:
      return "torchtitan";
    case JobKind::HyperpodRecipe:
      if (!job.strategy.shard_degree.stated) return std::nullopt;
      return switch_field(job.root().find("use_smp_model")).is(false) ? "hyperpod-adapter" : "smp-v2";
    case JobKind::CreateTrainingJob:
    case JobKind::Estimator:
    case JobKind::ModelTrainer:
    case JobKind::Smp:
    case JobKind::Torchrun:
    case JobKind::Axolotl:
    case JobKind::LlamaFactory:
    case JobKind::Torchtune:
    case JobKind::Trl:
    case JobKind::Verl:
    case JobKind::NemoRl:
    case JobKind::HyperpodJob:
      break;
  }
  if (job.launcher.smp.is(true)) return job.launcher.torchrun.is(true) ? "smp-v2" : "smp-v1";
  // The names of our own scripts and of TrainingArguments.
  const bool deepspeed =
      job.hyperparameters != nullptr && first_of(*job.hyperparameters, {"deepspeed_config", "deepspeed"}) != nullptr;
  return deepspeed ? std::optional<std::string>("deepspeed") : std::nullopt;
}

RequestSpec same_work(RequestSpec spec) {
  spec.launchable.reset();
  return without(std::move(spec),
                 {RequestGroup::Hardware, RequestGroup::Software, RequestGroup::Dimension, RequestGroup::Execution,
                  RequestGroup::Memory, RequestGroup::Goal, RequestGroup::Facts, RequestGroup::Answer});
}

RequestSpec request_of(const Job& job, const std::vector<Machines>& machines, const Catalog& catalog,
                       std::string_view region, RequestSpec spec, const RequestSpec& otherwise) {
  const JobStrategy s = whole_strategy(job);
  const RequestSpec flags = spec;
  if (machines.size() == 1 && machines.front().instance != nullptr) spec.instances = machines.front().instance->name;
  if (machines.size() == 1 && machines.front().count) spec.count = std::to_string(*machines.front().count);
  if (!region.empty()) spec.region = std::string(region);
  if (!spec.market) spec.market = market_of(job, otherwise);
  // Accelerate runs FSDP, DeepSpeed or neither: the plan knows which.
  if (!spec.stack && job.kind == JobKind::Accelerate) spec.stack = otherwise.stack;
  if (!spec.stack) spec.stack = stack_of(job);
  if (!spec.stack) spec.stack = otherwise.stack;
  // The job is there: whoever starts it can, with a script of its own.
  if (!spec.launchable) spec.launchable = "any";
  if (!spec.dtype) spec.dtype = dtype_of(s);
  for (const CountedDimension& c : kCounted) {
    const bool of_experts = c.dimension == Dimension::ExpertTensor;
    if (!of_experts || s.experts.value_or(1) > 1) state(spec[c.dimension], s.*c.count);
  }
  state(spec.seq_len, s.sequence_length);
  if (!spec.global_batch_tokens) state(spec.global_batch, global_batch_of(s, machines));
  state_loss(spec, flags, s);
  state_training(spec, s, otherwise);
  state_sharding(spec, job, s, machines, catalog);
  if (!spec[Dimension::Offload]) spec[Dimension::Offload] = offload_of(job, s);
  Execution told = s.execution;
  // What the plan tells the script of it stands in no file.
  if (otherwise.stack && spec.stack == otherwise.stack) told.unsharded_gradients = Toggle::Default;
  state_execution(spec, told, catalog);
  if (!spec[Dimension::SequenceParallel] && s.sequence_parallel)
    spec[Dimension::SequenceParallel] = *s.sequence_parallel ? "true" : "false";
  if (!spec.platform && job.kind == JobKind::HyperpodJob) spec.platform = to_string(Platform::HyperPodEks);
  state_otherwise(spec, otherwise);
  // Limits judge the prediction; they do not shape it.
  return without(std::move(spec), {RequestGroup::Goal, RequestGroup::Facts});
}

std::optional<std::string> model_of(const Job& job, const Catalog& catalog) {
  if (!job.model || job.model->empty()) {
    const ModelPreset* known = job.run_name ? find_with_points(*job.run_name, catalog) : nullptr;
    return known == nullptr ? std::nullopt : std::optional(known->architecture.name);
  }
  const std::string& name = *job.model;
  // What lies in a folder may be anything.
  if (name.find_first_of("/.~$") == 0) return std::nullopt;
  const ModelPreset* preset =
      job.kind == JobKind::Torchtune ? find_with_points(name, catalog) : catalog.find_model(name);
  // Mirrors keep the name that the publisher gave: `NousResearch/Meta-Llama-3-8B`.
  constexpr std::string_view kPublisher = "Meta-";
  const std::string own = name.substr(name.rfind('/') + 1);
  if (preset == nullptr && own.starts_with(kPublisher)) preset = catalog.find_model(own.substr(kPublisher.size()));
  return preset == nullptr ? std::nullopt : std::optional(preset->architecture.name);
}

Result<void> complete_job(Job& job, const Catalog& catalog, const CheckOptions& options) {
  const RequestSpec& spec = options.request;
  JobStrategy& s = job.strategy;
  fill_launched(job, options);
  if (options.n_gpus && !job.instance_count && !s.nodes) fill(s.world, *options.n_gpus, "n-gpus");
  for (const CountedDimension& c : kCounted) fill(s.*c.count, spec[c.dimension], row_of(c.dimension).flag().substr(2));
  fill(s.sequence_length, spec.seq_len, "seq-len");
  fill(s.global_batch, spec.global_batch, "global-batch");
  if (!s.sequence_parallel.stated && spec[Dimension::SequenceParallel] == "true") {
    s.sequence_parallel = derived(true, flag("sequence-parallel"));
  }
  if (spec.dtype) fill_precision(s, *spec.dtype);
  if (!names_model(spec)) return {};
  RequestSpec work = same_work(spec);
  // What flags say of adapters is judged with what the job says of them.
  if (!work.finetune) {
    for (auto* field : {&work.adapters, &work.lora_rank, &work.lora_targets, &work.lora_embeddings,
                        &work.virtual_tokens, &work.adapter_count}) {
      field->reset();
    }
  }
  // The plan beside the job goes before the model's usual length.
  if (!work.seq_len) work.seq_len = options.otherwise.seq_len;
  const Result<PlanRequest>& request = resolved(work, catalog, options);
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  fill_architecture(s, request->workload.architecture);
  const std::optional<std::string> own = model_of(job, catalog);
  // A flag may ask of another model than the file's; one of so many parameters has no classes.
  if (!spec.params && (!own || *own == request->workload.architecture.name)) {
    job.architecture = std::make_shared<const Architecture>(request->workload.architecture);
  }
  job.length_assumed = !s.sequence_length.stated && !work.seq_len;
  fill(s.sequence_length, request->workload.seq_len, "seq-len");
  return {};
}

}  // namespace smplan
