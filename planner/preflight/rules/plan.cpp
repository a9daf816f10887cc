// Arithmetic of a plan: degrees, batch, model. What the frameworks assert at start, minutes into a billed job.
#include <algorithm>
#include <limits>

#include "models/job/strategy.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr double kUsualBatchTokens = 4e6;

/// Data-parallel degree as stated: by one number, or as replicas x shards.
std::optional<std::int64_t> stated_data(const Job& job) {
  const JobStrategy& s = job.strategy;
  if (s.data) return degree(s.data);
  // axolotl fills up what is not said, and shards of 1.
  if (job.kind == JobKind::Axolotl && (degree(s.data_shard) < 2 || !s.data_replicate.stated)) return std::nullopt;
  // Replicas that are not stated are one, in TorchTitan and in accelerate.
  if (s.data_shard && (s.data_replicate || !s.data_replicate.stated))
    return times(degree(s.data_replicate), degree(s.data_shard));
  return std::nullopt;
}

/// A degree is there whose value only the user knows, so that there may be more ranks of a model than are known.
bool has_unknown_degree(const JobStrategy& s) {
  const auto unknown = [](const Count& degree) { return degree.stated && !degree; };
  return unknown(s.tensor) || unknown(s.pipeline) || unknown(s.context);
}

/// Data-parallel ranks, stated or what is left of the world.
std::optional<std::int64_t> data_ranks(const CheckInput& in) {
  if (const auto stated = stated_data(in.job)) return stated;
  if (has_unknown_degree(in.job.strategy)) return std::nullopt;
  const auto world = in.world();
  const std::int64_t ranks = model_ranks(in.job.strategy);
  if (!world || *world % ranks != 0) return std::nullopt;
  return *world / ranks;
}

/// The job's numbers as the rule book takes them (models/job/strategy.hpp): what is not known stays 0, of degrees 1.
struct Stated {
  Strategy strategy;
  Workload workload;
};

std::int32_t rank_count(std::int64_t degree) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(degree, std::numeric_limits<std::int32_t>::max()));
}

Stated stated_of(const JobStrategy& s) {
  Stated out;
  out.strategy.tensor_parallel = rank_count(degree(s.tensor));
  out.strategy.pipeline_parallel = rank_count(degree(s.pipeline));
  out.strategy.context_parallel = rank_count(degree(s.context));
  out.strategy.expert_parallel = rank_count(degree(s.expert));
  out.strategy.expert_tensor_parallel = rank_count(degree(s.expert_tensor));
  Architecture& a = out.workload.architecture;
  a.n_heads = s.heads.value.value_or(0);
  a.n_kv_heads = s.kv_heads.value.value_or(0);
  a.moe.n_experts = s.experts.value.value_or(0);
  out.workload.seq_len = s.sequence_length.value.value_or(0);
  return out;
}

/// A rule about numbers alone: the stack has no part in it.
bool is_broken(std::string_view rule, const Stated& stated) {
  static const Stack kAny{};
  return broken_rule(rule, stated.strategy, stated.workload, kAny).has_value();
}

/// The model-parallel library's degrees have rules of their own for the product.
bool is_smp(const Job& job) {
  return job.kind == JobKind::Smp || (job.kind == JobKind::HyperpodRecipe && job.strategy.shard_degree.stated);
}

Where degrees_place(const Job& job) {
  const JobStrategy& s = job.strategy;
  for (const Count* c : {&s.data, &s.data_shard, &s.tensor, &s.pipeline, &s.context, &s.global_batch}) {
    if (c->stated) return c->where;
  }
  return job.root().where;
}

std::string product_text(const Job& job) {
  const JobStrategy& s = job.strategy;
  const std::string replicas = !stated_data(job) && degree(s.data_replicate) > 1
                                   ? "replicas " + count_text(degree(s.data_replicate)) + " x "
                                   : "";
  return replicas + "tensor " + count_text(degree(s.tensor)) + " x pipeline " + count_text(degree(s.pipeline)) +
         " x context " + count_text(degree(s.context));
}

/// The ranks that axolotl gives its mesh: shards, or replicas of stated shards, fill up what the others leave; ranks of
/// experts have no data of their own. Source: axolotl 0.19.0, utils/distributed.py (_get_parallel_config_kwargs) and
/// integrations/expert_parallel/plugin.py.
void world_of_axolotl(const CheckInput& in, std::int64_t world, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const std::int64_t experts = degree(s.expert);
  const std::int64_t shards = degree(s.data_shard);
  const std::int64_t replicas = degree(s.data_replicate);
  const std::int64_t stated = times(times(model_ranks(s), experts), times(shards, replicas));
  const auto on = [&](std::string_view name) {
    const Node* node = in.job.root().find(name);
    return node != nullptr && !node->is_null() && (!node->items.empty() || !node->text.empty());
  };
  const bool fills_shards = shards == 1 && ((!s.data_shard.stated && replicas == 1) || on("fsdp") || on("fsdp_config"));
  const bool fills = experts == 1 && (fills_shards || (shards > 1 && replicas == 1));
  if (fills ? world % stated == 0 : world == stated) return;
  const std::string of_experts = experts > 1 ? "experts " + count_text(experts) + " x " : "";
  report.at(degrees_place(in.job),
            {"data " + count_text(times(shards, replicas)) + " x " + of_experts + product_text(in.job),
             fills ? "does not divide" : "is not", count_text(world)});
}

void world_size(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const auto world = in.world();
  if (!world || is_smp(in.job)) return;
  const bool split = s.tensor.stated || s.pipeline.stated || s.context.stated || s.data.stated || s.data_shard.stated ||
                     s.data_replicate.stated || s.expert.stated || s.expert_tensor.stated;
  if (!split) return;
  if (in.job.kind == JobKind::Axolotl) return world_of_axolotl(in, *world, report);
  const auto data = stated_data(in.job);
  if (data && has_unknown_degree(s)) return;
  const bool fits = data ? times(*data, model_ranks(s)) == *world : *world % ranks_beside_shards(s) == 0;
  if (!fits) {
    report.at(degrees_place(in.job),
              {data ? "data " + count_text(*data) + " x " + product_text(in.job) : product_text(in.job),
               data ? "is not" : "does not divide", count_text(*world)});
    return;
  }
  // Experts are cut over ranks of their own, which fill the world once more.
  Stated stage = stated_of(s);
  stage.strategy.tensor_parallel = stage.strategy.context_parallel = 1;
  stage.strategy.data_parallel = rank_count(*world / degree(s.pipeline));
  if (is_broken("expert-groups-in-a-stage", stage)) {
    report.at(s.expert_tensor.stated ? s.expert_tensor.where : s.expert.where,
              {"expert tensor " + count_text(degree(s.expert_tensor)) + " x expert " + count_text(degree(s.expert)) +
                   " x pipeline " + count_text(degree(s.pipeline)),
               "does not divide", count_text(*world)});
  }
}

std::optional<std::int64_t> count_of(const Node* node) { return node == nullptr ? std::nullopt : integer_of(*node); }

/// DeepSpeed finds the micro-batch that is not stated: it must not come out below 1.
void unstated_micro_batch(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const auto world = in.world();
  if (in.job.kind != JobKind::DeepSpeed || s.micro_batch.stated || !s.global_batch || !world) return;
  if (s.tensor.stated || s.pipeline.stated || s.context.stated) return;  // fewer data ranks
  const std::int64_t by = times(*world, std::max<std::int64_t>(1, s.accumulation.value_or(1)));
  if (by < 1 || *s.global_batch % by == 0) return;
  report.at(s.global_batch, {count_text(*s.global_batch),
                             "a multiple of " + count_text(*world) + " data ranks" +
                                 (s.accumulation ? " x accumulation " + count_text(*s.accumulation) : "")});
}

/// GRPO generates whole groups of answers to a prompt. Source: TRL 1.16.0, trainer/grpo_config.py; axolotl 0.19.0,
/// utils/schemas/validation.py, which counts the answers of one rank.
void generation_batch(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const bool axolotl = in.job.kind == JobKind::Axolotl && in.job.reinforcement.algorithm.is("grpo");
  const Node* settings = axolotl ? in.job.root().find("trl") : &in.job.root();
  if ((in.job.kind != JobKind::Trl && !axolotl) || settings == nullptr) return;
  const auto count = [&](std::string_view name, std::string_view option) {
    const Node* node = settings->find(name);
    return count_of(node == nullptr ? settings->find(option) : node);
  };
  const auto samples = count("num_generations", "num-generations");
  if (!samples || *samples < 1) return;
  auto generated = count("generation_batch_size", "generation-batch-size");
  if (!generated) {
    const auto world = axolotl ? std::optional<std::int64_t>(1) : in.world();
    const auto steps = axolotl ? std::nullopt : count("steps_per_generation", "steps-per-generation");
    if (!world || !s.micro_batch) return;
    generated = times(times(*world, *s.micro_batch), steps ? *steps : s.accumulation.value_or(1));
  }
  if (*generated % *samples != 0) {
    report.at(s.micro_batch.stated ? s.micro_batch.where : in.job.root().where,
              {count_text(*generated) + " answers", "a multiple of num_generations " + count_text(*samples)});
  }
}

/// NeMo-RL cuts a step's answers into whole batches. Source: NVIDIA-NeMo/RL 7ea279a, nemo_rl/distributed/
/// batched_data_dict.py (shard_by_batch_size), and nemo_rl/algorithms/grpo.py (setup).
void answers_of_step(const CheckInput& in, Report& report) {
  const JobReinforcement& r = in.job.reinforcement;
  const Count& global = in.job.strategy.global_batch;
  if (in.job.kind != JobKind::NemoRl || !r.prompts || !r.samples || !global || *global < 1) return;
  const std::int64_t answers = times(*r.prompts, *r.samples);
  const std::string of_step = count_text(answers) + " answers of a step";
  const Node* one_batch = in.job.root().at({"loss_fn", "force_on_policy_ratio"});
  if (one_batch != nullptr && truth_of(*one_batch) == true && answers != *global) {
    report.at(global, {count_text(*global), "the " + of_step + ", which force_on_policy_ratio asks for"});
  } else if (answers % *global != 0) {
    report.at(global, {count_text(*global), "a part of the " + of_step});
  }
}

void batch(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  unstated_micro_batch(in, report);
  generation_batch(in, report);
  answers_of_step(in, report);
  if (s.by_tokens.is(true) || !s.global_batch || !s.micro_batch || *s.micro_batch < 1) return;
  const std::int64_t global = *s.global_batch;
  const auto data = data_ranks(in);
  const std::int64_t micro = times(*s.micro_batch, data ? *data : 1);
  const std::string ranks = data ? " x " + count_text(*data) + " data ranks" : std::string();
  if (s.accumulation && *s.accumulation >= 1) {
    const std::int64_t product = times(micro, *s.accumulation);
    const bool fits = data ? global == product : global % product == 0;
    if (!fits) {
      report.at(s.global_batch, {count_text(global), "micro-batch " + count_text(*s.micro_batch) + ranks +
                                                         " x accumulation " + count_text(*s.accumulation)});
    }
  } else if (global % micro != 0) {
    report.at(s.global_batch, {count_text(global), "a multiple of micro-batch " + count_text(*s.micro_batch) + ranks});
  }
}

/// Of a member of the rollout's settings: 1 where nothing is said, nothing where it is not known.
std::optional<std::int64_t> ranks_of(const Node* settings, std::string_view name) {
  const Node* node = settings == nullptr ? nullptr : settings->find(name);
  if (node == nullptr || node->is_null()) return 1;
  return integer_of(*node);
}

/// The settings of verl: of a file of its own, or of the part of a recipe; nullptr for other tools.
const Node* settings_of_verl(const Job& job) {
  if (job.kind == JobKind::Verl) return &job.root();
  const bool recipe = job.kind == JobKind::HyperpodRecipe && recipe_schema(job.root()) == "verl";
  return recipe ? job.root().find("training_config") : nullptr;
}

/// TRL's engine shares the devices that train, where the file says so: older versions asked a server.
bool colocates(const Job& job) {
  const Node* mode = first_of(job.root(), {"vllm_mode", "vllm-mode"});
  return mode != nullptr && mode->text == "colocate";
}

/// Devices of one engine; nothing where they are not known, or are not counted this way.
std::optional<std::int64_t> engine_ranks(const Job& job) {
  const JobReinforcement& r = job.reinforcement;
  if (!r.rollout_tensor || *r.rollout_tensor < 1) return std::nullopt;
  const Node* verl = settings_of_verl(job);
  if (verl == nullptr && !r.rollout_engine.is("vllm")) return std::nullopt;
  if (job.kind == JobKind::Trl) return colocates(job) ? r.rollout_tensor.value : std::nullopt;
  const Node* settings = verl != nullptr ? verl->at({"actor_rollout_ref", "rollout"})
                                         : job.root().at({"policy", "generation", "vllm_cfg"});
  const Node* apart = verl != nullptr && settings != nullptr ? settings->at({"disaggregation", "enabled"}) : nullptr;
  if (apart != nullptr && truth_of(*apart) != false) return std::nullopt;
  const auto pipeline = ranks_of(settings, verl != nullptr ? "pipeline_model_parallel_size" : "pipeline_parallel_size");
  const auto data = verl != nullptr ? ranks_of(settings, "data_parallel_size") : std::optional<std::int64_t>(1);
  if (!pipeline || !data || *pipeline < 1 || *data < 1) return std::nullopt;
  return times(times(*r.rollout_tensor, *pipeline), *data);
}

/// Devices that generate; nothing where they are not known.
std::optional<std::int64_t> generating(const CheckInput& in) {
  const Job& job = in.job;
  const JobReinforcement& r = job.reinforcement;
  if (job.kind == JobKind::Trl) return in.world();
  if (settings_of_verl(job) != nullptr && r.placement.stated && !r.placement.is("colocated")) return std::nullopt;
  const Node* apart = job.root().at({"policy", "generation", "colocated", "enabled"});
  if (r.not_training.stated) {
    // Those of a teacher or a reward model generate nothing.
    const bool engines = apart != nullptr && r.not_training.where == apart->where;
    return engines && r.not_training ? std::optional(*r.not_training) : std::nullopt;
  }
  const JobStrategy& s = job.strategy;
  return s.nodes && s.devices_per_node ? std::optional(times(*s.nodes, *s.devices_per_node)) : std::nullopt;
}

void rollout_engines(const CheckInput& in, Report& report) {
  const auto engine = engine_ranks(in.job);
  const auto devices = generating(in);
  if (!engine || !devices || *devices < 1 || *devices % *engine == 0) return;
  report.at(in.job.reinforcement.rollout_tensor, {count_text(*engine), count_text(*devices)});
}

void data_degree(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const auto data = stated_data(in.job);
  const auto world = in.world();
  if (!data || in.job.kind == JobKind::Axolotl) return;
  const std::int64_t cp = degree(s.context);
  const std::int64_t ep = degree(s.expert);
  const std::int64_t tp_pp = times(degree(s.tensor), degree(s.pipeline));
  const Where& where = degrees_place(in.job);
  if (world && cp > 1 && times(*data, tp_pp) == *world) {
    report.at(where, {count_text(*data), "context", count_text(*world / times(tp_pp, cp))});
  } else if (world && ep > 1 && times(times(*data, tp_pp), times(cp, ep)) == *world) {
    report.at(where, {count_text(*data), "expert", count_text(*world / times(tp_pp, cp))});
  } else if (cp > 1 && s.global_batch && s.micro_batch && s.accumulation &&
             *s.global_batch == times(times(*s.micro_batch, *s.accumulation), times(*data, cp))) {
    report.at(s.global_batch, {count_text(times(*data, cp)), "context", count_text(*data)});
  }
}

void divides(const Count& whole, std::int64_t by, std::string_view name, const Where& where, Report& report) {
  if (whole && by > 1 && *whole % by != 0)
    report.at(where, {std::string(name) + " " + count_text(*whole), count_text(by)});
}

/// Queries share keys in groups of one size; without its switch Megatron has no groups.
void groups_of_queries(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const bool grouped = in.job.kind != JobKind::Megatron || in.job.root().has("group-query-attention");
  if (!grouped || !s.heads || !s.kv_heads || *s.heads < 1 || *s.kv_heads < 1 || *s.heads % *s.kv_heads == 0) return;
  Finding& finding = report.at(s.kv_heads, {count_text(*s.heads), count_text(*s.kv_heads)});
  finding.message =
      count_text(*s.heads) + " attention heads are no multiple of " + count_text(*s.kv_heads) + " key-value heads";
  finding.fix = "give a divisor of the attention heads";
}

void heads(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  groups_of_queries(in, report);
  if (!s.heads || !is_broken("heads-by-tensor", stated_of(s))) return;
  report.at(s.tensor, {"the number of attention heads, " + count_text(*s.heads), count_text(degree(s.tensor))});
}

void kv_heads(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const std::int64_t tp = degree(s.tensor);
  if (s.kv_heads && tp > 1 && *s.kv_heads > 0 && *s.kv_heads % tp != 0) {
    Finding& finding = report.at(s.tensor, {count_text(*s.kv_heads), count_text(tp)});
    if (in.job.kind != JobKind::Megatron || !is_broken("key-value-heads-by-tensor", stated_of(s))) return;
    finding.severity = Severity::Error;
    finding.message = count_text(*s.kv_heads) + " key-value heads are neither a multiple nor a divisor of the " +
                      count_text(tp) + " tensor ranks, which Megatron refuses";
    finding.fix = "choose a tensor degree that divides them, or that they divide";
  }
}

void widths(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const std::int64_t tp = degree(s.tensor);
  divides(s.hidden, tp, "the hidden size,", s.tensor.where, report);
  divides(s.ffn, tp, "the feed-forward width,", s.tensor.where, report);
  divides(s.vocabulary, tp, "the padded vocabulary,", s.tensor.where, report);
}

/// Where the first or the last stage has layers of its own number, the others share what is left.
/// Source: Megatron-LM d98e8a6, megatron/core/transformer/transformer_config.py.
void middle_layers(const JobStrategy& s, Report& report) {
  std::int64_t left = s.layers.value_or(0);
  std::int64_t stages = degree(s.pipeline);
  if (left < 1 || stages < 2) return;
  const std::int64_t chunks = degree(s.virtual_pipeline);
  for (const Count* own : {&s.first_stage_layers, &s.last_stage_layers}) {
    if (!own->stated) continue;
    if (!*own || **own < 1) return;  // unknown, or told by another rule
    if (**own % chunks != 0) {
      report.at(own->where, {"the stage's " + count_text(**own), count_text(chunks)});
      return;
    }
    left -= **own;
    --stages;
  }
  const Count& last = s.last_stage_layers.stated ? s.last_stage_layers : s.first_stage_layers;
  const bool divides = stages == 0 ? left == 0 : left >= 0 && left % times(stages, chunks) == 0;
  if (divides) return;
  Finding& finding =
      report.at(last.where, {"the middle stages' " + count_text(left), count_text(times(stages, chunks))});
  if (stages == 0 || left < 0) {
    finding.message =
        "the stages' own layers are " + count_text(*s.layers - left) + ", the model has " + count_text(*s.layers);
  }
  finding.fix = "give the first and the last stage other numbers of layers, so that the other stages share the rest";
}

void layers(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (s.pipeline_layout.is(true)) return;
  if (s.first_stage_layers.stated || s.last_stage_layers.stated) return middle_layers(s, report);
  const std::int64_t chunks = times(degree(s.pipeline), degree(s.virtual_pipeline));
  if (s.layers && chunks > 1 && *s.layers % chunks != 0) {
    report.at(s.pipeline.stated ? s.pipeline.where : s.virtual_pipeline.where,
              {count_text(*s.layers), count_text(chunks)});
  }
}

void experts(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const std::int64_t ep = degree(s.expert);
  if (ep <= 1) return;
  if (s.experts && *s.experts > 1) {
    if (!is_broken("experts-by-expert-degree", stated_of(s))) return;
    report.at(s.expert, {"the number of experts, " + count_text(*s.experts), count_text(ep)});
  } else if (s.experts || s.layers) {  // a model that is described, without experts
    report.at(s.expert, {"a dense model, without experts,", count_text(ep)});
  }
}

void context_sequence(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const std::int64_t cp = degree(s.context);
  if (s.sequence_length && is_broken("sequence-by-context-and-tensor", stated_of(s))) {
    report.at(s.context, {count_text(*s.sequence_length), count_text(2 * cp)});
  }
}

void sequence_parallel(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.sequence_parallel.is(true)) return;
  Stated stated = stated_of(s);
  stated.strategy.sequence_parallel = true;
  stated.strategy.context_parallel = 1;
  if (s.sequence_length && is_broken("sequence-by-context-and-tensor", stated)) {
    report.at(s.sequence_parallel, {count_text(*s.sequence_length), count_text(degree(s.tensor))});
  }
}

/// Micro-batches that each data-parallel rank runs in a step.
std::optional<std::int64_t> micro_batches(const CheckInput& in) {
  const JobStrategy& s = in.job.strategy;
  if (s.accumulation) return *s.accumulation;
  if (s.by_tokens.is(true)) return std::nullopt;
  const auto data = data_ranks(in);
  if (!data || !s.global_batch || !s.micro_batch || *s.micro_batch < 1) return std::nullopt;
  return *s.global_batch / times(*s.micro_batch, *data);
}

void few_micro_batches(const CheckInput& in, Report& report) {
  const auto n = micro_batches(in);
  const std::int64_t pp = degree(in.job.strategy.pipeline);
  if (n && *n > 0 && pp > 1 && *n < pp) report.at(in.job.strategy.pipeline, {count_text(*n), count_text(pp)});
}

void interleaved(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (degree(s.virtual_pipeline) <= 1) return;
  const std::int64_t pp = degree(s.pipeline);
  const auto n = micro_batches(in);
  if (pp < 2) {
    report.at(s.virtual_pipeline, {"needs at least 2 pipeline stages"});
    return;
  }
  Stated stated = stated_of(s);
  stated.strategy.schedule = Schedule::Interleaved;
  stated.workload.global_batch = n.value_or(0);
  if (n && is_broken("micro-batches-by-pipeline", stated)) {
    report.at(s.virtual_pipeline,
              {"needs micro-batches (" + count_text(*n) + ") in multiples of the " + count_text(pp) + " stages"});
  }
}

void tensor_in_domain(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.tensor || is_smp(in.job)) return;
  std::int64_t domain = in.devices_per_node().value_or(0);
  if (domain < 1) return;
  if (const InstanceType* type = in.instance()) domain = std::max<std::int64_t>(domain, type->fabric.domain_size);
  if (*s.tensor <= domain) return;
  Finding& finding = report.at(s.tensor, {count_text(*s.tensor), count_text(domain)});
  if (in.plan_inside_domain != true) finding.severity = Severity::Warning;
}

bool on_instance_store(std::string_view path) { return path.starts_with("/tmp") || path.starts_with("/opt/ml"); }

void nvme(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const auto judge = [&](const Text& device, const Text& path) {
    if (!device.is("nvme")) return;
    const InstanceType* type = in.instance();
    if (type == nullptr) return;
    if (type->local_nvme.value() <= 0) {
      report.at(device, {type->name + " has no NVMe disk"});
    } else if (path && !on_instance_store(*path)) {
      report.at(path, {quote(*path) + " is not on the instance's NVMe disks"});
    }
  };
  judge(s.optimizer_offload, s.optimizer_nvme_path);
  judge(s.parameter_offload, s.parameter_nvme_path);
}

void token_budget(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  std::optional<std::int64_t> sequences = s.global_batch.value;
  Where where = s.global_batch.where;
  if (!sequences && is_smp(in.job) && s.micro_batch) {
    // The recipe adapter has no accumulation: every reader gives one micro-batch.
    const auto world = in.world();
    if (world) sequences = times(*world / times(degree(s.tensor), degree(s.context)), *s.micro_batch);
    where = s.micro_batch.where;
  }
  if (!sequences || !s.sequence_length) return;
  const double tokens = static_cast<double>(*sequences) * static_cast<double>(*s.sequence_length);
  if (tokens > kUsualBatchTokens) report.at(where, {format_count(tokens)});
}

void fewer_files_than_nodes(const CheckInput& in, Report& report) {
  const auto nodes = in.nodes();
  for (const JobChannel& c : in.job.channels) {
    if (!c.distribution.is("ShardedByS3Key") || !nodes) continue;
    for (const std::string& key : {c.s3_uri.value_or(""), c.name.value_or("")}) {
      const Facts::Dataset* d = said_of(in.facts.datasets, key);
      if (d == nullptr || !d->files) continue;
      if (*d->files < *nodes) report.at(c.distribution, {count_text(*d->files), count_text(*nodes)});
      break;
    }
  }
}

constexpr std::string_view kMegatronSource = "Megatron-LM d98e8a6 (2026-08-22), arguments.py";
constexpr Kinds kSplit = kAnyKind & ~kAccelerate & ~kDeepSpeed & ~kSmp;

constexpr Rule kPlanRules[] = {
    {"C131", Severity::Error, "World size",
     "data x tensor x pipeline x context is not the number of ranks, or the ranks of experts do not divide it",
     "{} {} the {} ranks", "choose degrees whose product is the number of accelerators",
     "Megatron-LM d98e8a6 arguments.py; TorchTitan v0.2.2 parallel_dims.py", kSplit, Need::Nothing, world_size},
    {"C238", Severity::Error, "Rollout engines",
     "engines that generate answers, of so many tensor, pipeline and data ranks each, do not divide the devices that "
     "generate",
     "an engine of {} devices does not divide the {} that generate", "choose ranks that divide the devices",
     "verl 0.9.1, workers/engine_workers.py; NVIDIA-NeMo/RL 7ea279a, "
     "nemo_rl/models/generation/vllm/vllm_generation.py; "
     "TRL 1.16.0, generation/vllm_generation.py",
     one(JobKind::Verl) | one(JobKind::NemoRl) | one(JobKind::Trl) | kRecipe, Need::Nothing, rollout_engines},
    {"C132", Severity::Error, "Batch",
     "the global batch is not micro-batch x data ranks x accumulation, or GRPO's generation batch holds no whole "
     "groups",
     "a global batch of {} is not {}", "change one of the factors", "DeepSpeed 0.19.5 config.py; Megatron-LM d98e8a6",
     kAnyKind, Need::Nothing, batch},
    {"C133", Severity::Error, "Data degree", "context or expert ranks are counted as data ranks",
     "a data degree of {} counts {} ranks too: it should be {}",
     "data = ranks / (tensor x pipeline x context); expert ranks are data ranks",
     "Megatron-LM d98e8a6; HyperPod training adapter, sagemaker_base_model.py", kSplit, Need::Nothing, data_degree},
    {"C134", Severity::Error, "Attention heads",
     "the heads do not divide by the tensor degree or by the key-value heads", "{} does not divide by tensor {}",
     "choose a divisor of the heads", kMegatronSource, kAnyKind, Need::Nothing, heads},
    {"C135", Severity::Warning, "Key-value heads",
     "the key-value heads do not divide by the tensor degree (an error for Megatron where neither divides the other)",
     "{} key-value heads are copied over {} tensor ranks: memory and time are not those of a clean split",
     "keep the tensor degree at the key-value heads or below", kMegatronSource, kAnyKind, Need::Nothing, kv_heads},
    {"C136", Severity::Error, "Widths",
     "hidden size, feed-forward width or vocabulary does not divide by the tensor degree",
     "{} does not divide by tensor {}", "pad the vocabulary, or choose another degree", kMegatronSource, kAnyKind,
     Need::Nothing, widths},
    {"C137", Severity::Error, "Layers", "the layers do not divide by the pipeline chunks and no layout is given",
     "{} layers do not divide by {} pipeline chunks", "give a layout of the stages, or another degree", kMegatronSource,
     kAnyKind, Need::Nothing, layers},
    {"C138", Severity::Error, "Experts", "the experts do not divide by the expert degree, or there are none",
     "{} does not divide by expert degree {}", "choose a divisor of the experts; 1 for a dense model", kMegatronSource,
     kAnyKind, Need::Nothing, experts},
    {"C139", Severity::Error, "Sequence and context", "the sequence does not divide by twice the context degree",
     "a sequence of {} does not divide by twice the context degree, {}", "pad the sequence", kMegatronSource,
     kMegatron | kRecipe | kTorchTitan | kSubmitted, Need::Nothing, context_sequence},
    {"C140", Severity::Error, "Sequence parallelism", "the sequence does not divide by the tensor degree",
     "a sequence of {} does not divide by tensor {}", "pad the sequence, or switch sequence parallelism off",
     kMegatronSource, kAnyKind, Need::Nothing, sequence_parallel},
    {"C141", Severity::Warning, "Micro-batches for the pipeline", "there are fewer micro-batches than pipeline stages",
     "{} micro-batches keep {} stages idle for more than half of the step",
     "use a smaller micro-batch, fewer data ranks or fewer stages", kJudgement, kAnyKind, Need::Nothing,
     few_micro_batches},
    {"C142", Severity::Error, "Interleaved schedule",
     "model chunks without a pipeline, or micro-batches that do not divide by its stages",
     "the interleaved schedule {}", "change the batch, or drop the model chunks", kMegatronSource, kAnyKind,
     Need::Nothing, interleaved},
    {"C143", Severity::Error, "Tensor parallelism outside the domain",
     "the tensor degree is above the accelerators of a node or NVLink domain (a warning unless a plan inside costs no "
     "more)",
     "tensor parallelism {} leaves the {} accelerators that reach each other directly",
     "use pipeline or context parallelism across nodes", kJudgement, kAnyKind, Need::Nothing, tensor_in_domain},
    {"C146", Severity::Error, "NVMe offload", "offload to NVMe without such a disk, or to a path that is not on it",
     "NVMe offload: {}", "use /tmp or /opt/ml on a type with NVMe disks", kJudgement, kAnyKind, Need::Nothing, nvme},
    {"C147", Severity::Info, "Tokens of a batch", "the global batch is above 4M tokens",
     "a batch of {} tokens: most training keeps below 4M, models of hundreds of billions of parameters take up to 67M",
     "raise tensor or context parallelism, or lower the data degree",
     "SageMaker developer guide, model-parallel-best-practices-v2; Kimi Team 2025", kAnyKind, Need::Nothing,
     token_budget},
    {"C148", Severity::Warning, "Files for the nodes", "a sharded channel has fewer files than the job has nodes",
     "{} files for {} nodes: some get nothing and are billed", "write more files, or replicate the channel", kApi,
     kSubmitted, &Facts::datasets, fewer_files_than_nodes},
};

}  // namespace

std::span<const Rule> plan_rules() { return kPlanRules; }

}  // namespace smplan
