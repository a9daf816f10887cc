// Reinforcement learning by verl. Names and values: verl 0.9.1 of 2026-09 (PyPI), trainer/config and workers/config;
// aws/sagemaker-hyperpod-recipes 2631995 (2026-06-23), recipes verl-grpo-*.
#include "planner/rl/verl_job.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/layers/layers.hpp"
#include "planner/export/hub_name.hpp"
#include "planner/export/tuning.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

/// How verl keeps the policy close to the frozen copy.
enum class Kl { None, InLoss, InReward };

/// How verl says an algorithm. Clipping and filter of DAPO: Yu et al. 2025, arXiv 2503.14476, sections 3.1 and 3.2.
struct VerlAlgorithm {
  std::string_view name;
  std::string_view estimator;  ///< verl.trainer.ppo.core_algos.AdvantageEstimator
  Kl kl = Kl::None;
  double clip_high = 0.2;
  bool filters_groups = false;
};
constexpr std::array<VerlAlgorithm, 4> kAlgorithms{{{"grpo", "grpo", Kl::InLoss},
                                                    {"ppo", "gae", Kl::InReward},
                                                    {"rloo", "rloo", Kl::InReward},
                                                    {"dapo", "grpo", Kl::None, 0.28, true}}};

const VerlAlgorithm* verl_algorithm(const RlRequest& request) {
  const auto known = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                  [&](const VerlAlgorithm& a) { return a.name == request.algorithm.name; });
  return known == kAlgorithms.end() ? nullptr : &*known;
}

/// What verl's engines can be told of the execution; a release of software is no setting.
constexpr std::array kFsdpSays{Dimension::Compile,      Dimension::LossKernel,      Dimension::PureHalf,
                               Dimension::LigerKernels, Dimension::FusedOptimizer,  Dimension::UnshardedGradients,
                               Dimension::HostThreads,  Dimension::SoftwareRelease, Dimension::FlashAttention};
constexpr std::array kMegatronSays{Dimension::RecomputeModules, Dimension::HalfMoments,     Dimension::HalfGradients,
                                   Dimension::HostThreads,      Dimension::SoftwareRelease, Dimension::FlashAttention};

bool is_megatron(const Plan& plan) { return plan.stack->id == "megatron"; }
bool has_adapters(const RlJob& job) { return job.request.training.workload.finetune != FineTune::Full; }
bool is_split(const RlJob& job) { return job.plan.placement != RlPlacement::Colocated; }
std::int64_t training_devices(const RlJob& job) {
  return std::int64_t{job.plan.training_instances} * job.plan.instance->accelerator_count;
}
/// Prompts of an optimizer step.
std::int64_t mini_batch(const RlJob& job) { return job.request.prompts / job.request.algorithm.mini_batches; }
bool offloads_between(const RlJob& job) { return job.plan.offloads; }

/// Whole hundredths, so that the engine takes no more than planned.
double memory_share(const RlJob& job) {
  return std::max(0.01, std::floor(100 * job.plan.engine_share(*job.request.engine)) / 100);
}

/// Collects what verl cannot say of one plan.
class Refusals {
 public:
  Refusals(const RlJob& job, Diagnostics& faults) : job_(job), faults_(faults) {}

  void run() {
    policy();
    work();
    placement();
    models();
  }

 private:
  void refuse(std::string message, std::string hint) {
    faults_.push_back({"not-expressible", "--export", std::move(message), std::move(hint)});
  }

  void policy() {
    const Workload& w = job_.request.training.workload;
    engine(job_.plan.training, "the policy");
    if (job_.plan.critic) {
      engine(*job_.plan.critic, "the critic");
      if (job_.plan.critic->stack->id != job_.plan.training.stack->id) {
        refuse(fmt::format("verl trains policy and critic by one engine, the plan by {} and {}",
                           job_.plan.training.stack->id, job_.plan.critic->stack->id),
               "plan with --stack fsdp, or --stack megatron");
      }
    }
    if (w.optimizer != Optimizer::AdamW) {
      refuse(fmt::format("this writer knows no optimizer {} of verl", to_string(w.optimizer)),
             "plan with --optimizer adamw");
    }
    if (w.finetune == FineTune::Full) return;
    if (w.finetune == FineTune::Qlora) refuse("verl quantizes no base", "plan with --finetune lora");
    if (w.lora.method != nullptr) refuse("verl trains LoRA alone, not " + w.lora.method->name, "leave --adapters out");
    if (w.lora.train_embeddings) refuse("verl trains no embeddings beside adapters", "leave --lora-embeddings out");
    if (w.lora.targets == LoraTargets::NonExpert) {
      refuse("this writer has no list of names that leaves out the routed experts alone",
             "plan with --lora-targets linear or attention");
    }
    if (is_megatron(job_.plan.training) && w.lora.targets == LoraTargets::QueryValue) {
      refuse("Megatron holds queries, keys and values in one layer", "plan with --lora-targets linear or attention");
    }
    if (!is_megatron(job_.plan.training) && job_.plan.training.strategy.execution.pure_half != Toggle::On) {
      refuse("verl's FSDP holds adapters and base in one format, the plan in two", "plan with --framework verl");
    }
  }

  /// What trains: FSDP or Megatron.
  void engine(const Plan& plan, std::string_view who) {
    const Strategy& s = plan.strategy;
    if (plan.stack->id != "fsdp" && !is_megatron(plan)) {
      refuse(fmt::format("verl trains {} by FSDP or Megatron, the plan by {}", who, plan.stack->id),
             "plan with --stack fsdp or megatron");
      return;
    }
    if (plan.precision != Precision::Bf16 && plan.precision != Precision::Fp16) {
      refuse(fmt::format("verl trains {} in bf16 or fp16, the plan in {}", who, to_string(plan.precision)),
             "plan with --dtype bf16");
    }
    if (s.collectives == Collectives::Smddp) refuse("verl communicates by NCCL", "plan with --collectives nccl");
    if (s.offload.to_nvme) refuse("verl offloads nothing to disks", "plan without nvme in --offload");
    if (s.execution.flash_attention == Toggle::Off) {
      refuse("verl packs sequences, which takes fused attention", "plan with --flash-attention on");
    }
    is_megatron(plan) ? megatron(s) : fsdp(s);
    for (const DimensionRow& row : dimensions()) {
      if (!row.of_execution || !row.applies(s) || says(plan, row.dimension)) continue;
      refuse(fmt::format("verl is not told of {} {}", row.title, row.text(row.get(s))),
             fmt::format("plan with {} default, or with --framework verl", row.flag()));
    }
  }

  static bool says(const Plan& plan, Dimension dimension) {
    const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), dimension) != list.end(); };
    return is_megatron(plan) ? among(kMegatronSays) : among(kFsdpSays);
  }

  void fsdp(const Strategy& s) {
    const Execution& e = s.execution;
    if (s.recompute == Recompute::Selective || s.recompute_layers > 0) {
      refuse("verl's FSDP recomputes all layers or none", "plan with --framework verl, or --recompute full");
    }
    if (!is_fsdp(s.sharding)) {
      refuse(fmt::format("verl's FSDP has no sharding {}", to_string(s.sharding)), "plan with --sharding fsdp-full");
    }
    if (s.offload.optimizer && !s.offload.parameters) {
      refuse("FSDP offloads the optimizer with the parameters alone", "plan with --offload params, or none");
    }
    if (e.compile != Compile::Default && e.compile != Compile::Off) {
      refuse("verl compiles no layers", "plan with --framework verl, or --compile off");
    }
    if (e.loss_kernel == LossKernel::Whole || e.loss_kernel == LossKernel::Fused) {
      refuse("verl writes gradients over 16-bit logits, or keeps no logits",
             "plan with --loss-kernel in-place or linear");
    }
    const Architecture& a = job_.request.training.workload.architecture;
    if (s.context_parallel > 1 && a.n_heads % s.context_parallel != 0) {
      refuse(fmt::format("verl's context ranks divide {} heads, and {} of them do not", a.n_heads, s.context_parallel),
             "plan with --cp 1");
    }
    if (job_.request.sequences() % training_devices(job_) != 0) {
      refuse(fmt::format("verl divides the {} responses of a step among {} devices, which leaves a rest",
                         job_.request.sequences(), training_devices(job_)),
             "plan with other --prompts or --samples");
    }
  }

  void megatron(const Strategy& s) {
    if (s.offload.parameters || s.offload.activations) {
      refuse("verl's Megatron offloads the optimizer alone while it trains", "plan with --offload optimizer or none");
    }
    if (s.schedule != Schedule::OneFOneB && s.schedule != Schedule::Interleaved) {
      refuse(fmt::format("verl's Megatron has no schedule {}", to_string(s.schedule)), "plan with --schedule 1f1b");
    }
    if (s.sharding != Sharding::None && s.sharding != Sharding::Zero1) {
      refuse(fmt::format("verl's Megatron has no sharding {}", to_string(s.sharding)), "plan with --sharding zero1");
    }
  }

  void work() {
    const RlRequest& r = job_.request;
    if (verl_algorithm(r) == nullptr) {
      refuse(fmt::format("this writer knows no algorithm {} of verl", r.algorithm.name), "plan with --algorithm grpo");
    }
    if (r.prompts % r.algorithm.mini_batches != 0) {
      refuse(fmt::format("verl divides prompts into mini-batches, and {} do not divide into {}", r.prompts,
                         r.algorithm.mini_batches),
             "plan with a --mini-batches that divides --prompts");
    }
  }

  void placement() {
    if (!is_split(job_)) return;
    if (has_adapters(job_)) {
      refuse("verl sends whole weights to engines on other instances, the plan adapters",
             "plan with --placement colocated");
    }
    if (job_.request.reward_model) {
      refuse("verl has no room for a reward model beside a policy that trains all the time",
             "plan with --placement colocated, or --reward-seconds for a model that runs elsewhere");
    }
  }

  void models() {
    const RlRequest& r = job_.request;
    if (!r.reward_model) return;
    if (r.algorithm.generated > 1) {
      refuse("verl filters groups before a reward model on the same devices has scored them",
             "plan with --reward-seconds, or --algorithm grpo");
    }
    const double weights =
        2 * static_cast<double>(count_parameters(*r.reward_model).total()) / job_.plan.rollout_tensor;
    const Bytes share = memory_share(job_) * job_.plan.memory.limit;
    if (Bytes(weights) < share) return;
    refuse(fmt::format("an engine scores with {} in its turn, and {} of weights a device do not fit into {}",
                       r.reward_model->name, format_bytes(Bytes(weights)), format_bytes(share)),
           "plan with a higher --rollout-tp, or a smaller --reward-model");
  }

  const RlJob& job_;
  Diagnostics& faults_;
};

/// FSDP's part of policy, reference or critic.
Json fsdp_engine(const Strategy& s, bool between_phases) {
  const Execution& e = s.execution;
  const std::int64_t replicas = std::int64_t{s.data_parallel} * s.context_parallel;
  Json f;
  f["fsdp_size"] = s.shard_degree >= replicas ? -1 : s.shard_degree;
  f["model_dtype"] = e.pure_half == Toggle::On ? "bf16" : "fp32";
  f["param_offload"] = between_phases;
  f["optimizer_offload"] = between_phases;
  f["offload_policy"] = s.offload.parameters;
  f["reshard_after_forward"] = s.sharding != Sharding::FsdpGradOp;
  f["use_no_sync_for_gradient_accumulation"] = e.unsharded_gradients == Toggle::On;
  f["ulysses_sequence_parallel_size"] = s.context_parallel;
  return f;
}

/// `core_attn+mlp` as a list.
Json module_names(LayerModules modules) {
  const std::string text = to_string(modules);
  Json names = Json::array();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('+', from), text.size());
    names.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return names;
}

Json megatron_engine(const Strategy& s, bool between_phases) {
  Json m;
  m["tensor_model_parallel_size"] = s.tensor_parallel;
  m["pipeline_model_parallel_size"] = s.pipeline_parallel;
  m["virtual_pipeline_model_parallel_size"] = s.virtual_pipeline > 1 ? Json(s.virtual_pipeline) : Json(nullptr);
  m["context_parallel_size"] = s.context_parallel;
  m["expert_model_parallel_size"] = s.expert_parallel;
  m["expert_tensor_parallel_size"] = s.expert_parallel > 1 ? Json(s.expert_tensor()) : Json(nullptr);
  m["sequence_parallel"] = s.sequence_parallel;
  m["use_distributed_optimizer"] = s.sharding == Sharding::Zero1;
  m["param_offload"] = between_phases;
  m["optimizer_offload"] = between_phases;
  Json& layers = m["override_transformer_config"];
  layers["recompute_granularity"] = s.recompute == Recompute::None ? Json(nullptr) : Json(to_string(s.recompute));
  if (s.recompute == Recompute::Full) {
    layers["recompute_method"] = s.recompute_layers > 0 ? "block" : "uniform";
    layers["recompute_num_layers"] = std::max(1, s.recompute_layers);
  }
  if (!s.execution.recompute_modules.empty()) {
    layers["recompute_modules"] = module_names(s.execution.recompute_modules);
  }
  return m;
}

Json fsdp_optimizer(const Strategy& s) {
  Json o;
  o["optimizer"] = "AdamW";
  if (s.execution.fused_optimizer == Toggle::On) o["override_optimizer_config"] = Json{{"fused", true}};
  return o;
}

/// Moments and gradients in 16 bits, and the optimizer on the host, are Megatron Core's own settings.
Json megatron_optimizer(const Strategy& s) {
  Json o;
  o["optimizer"] = "adam";
  const bool moments = s.execution.half_moments == Toggle::On;
  const bool gradients = s.execution.half_gradients == Toggle::On;
  o["use_precision_aware_optimizer"] = moments || gradients || s.offload.optimizer;
  if (moments) {
    o["exp_avg_dtype"] = "bf16";
    o["exp_avg_sq_dtype"] = "bf16";
  }
  if (gradients) o["main_grads_dtype"] = "bf16";
  if (s.offload.optimizer) {
    o["override_optimizer_config"] = Json{
        {"optimizer_cpu_offload", true}, {"optimizer_offload_fraction", 1.0}, {"overlap_cpu_optimizer_d2h_h2d", true}};
  }
  return o;
}

/// Puts engine and optimizer of a plan into policy or critic. Their sections have other names.
void add_engine(const Plan& plan, std::string_view fsdp_section, bool between_phases, Json& out) {
  const Strategy& s = plan.strategy;
  const bool megatron = is_megatron(plan);
  out["strategy"] = megatron ? "megatron" : "fsdp2";
  out["optim"] = megatron ? megatron_optimizer(s) : fsdp_optimizer(s);
  if (megatron) {
    out["megatron"] = megatron_engine(s, between_phases);
  } else {
    out[fsdp_section] = fsdp_engine(s, between_phases);
  }
}

/// Sequences of a pass, counted by hand: the plan's micro-batch is what its memory was computed with.
void add_micro_batches(const Plan& plan, Json& out) {
  out["use_dynamic_bsz"] = false;
  out["ppo_micro_batch_size_per_gpu"] = plan.strategy.micro_batch;
}

/// Megatron's names of the layers that carry adapters.
Json megatron_targets(LoraTargets targets) {
  Json names = Json::array({"linear_qkv", "linear_proj"});
  if (targets != LoraTargets::Linear) return names;
  names.push_back("linear_fc1");
  names.push_back("linear_fc2");
  return names;
}

void add_adapters(const RlJob& job, const TrainingPlan& whole, Json& model) {
  if (!has_adapters(job)) return;
  if (is_megatron(job.plan.training)) {
    model["lora"] = Json{{"rank", whole.lora_rank},
                         {"alpha", 2 * whole.lora_rank},
                         {"target_modules", megatron_targets(whole.lora_targets)}};
    return;
  }
  model["lora_rank"] = whole.lora_rank;
  model["lora_alpha"] = 2 * whole.lora_rank;
  model["target_modules"] = peft_targets(whole);
}

/// The name on the hub of a model beside the policy, or a placeholder.
std::string name_of(const Architecture& model, const ExportJob& whole, const std::string& placeholder,
                    const std::string& meaning, Export& out) {
  TrainingPlan plan = whole.plan;
  plan.model = model;
  return hub_name_or({plan, whole.options, whole.catalog}, placeholder, meaning, out);
}

Json model_of(const RlJob& job, const ExportJob& whole, Export& out) {
  const Strategy& s = job.plan.training.strategy;
  Json m;
  m["path"] = weights_of(whole, out);
  m["enable_gradient_checkpointing"] = s.recompute == Recompute::Full;
  m["enable_activation_offload"] = s.offload.activations;
  m["use_remove_padding"] = true;
  m["use_liger"] = s.execution.liger_kernels == Toggle::On;
  m["use_fused_kernels"] = s.execution.loss_kernel == LossKernel::Linear;
  if (s.execution.flash_attention == Toggle::On) m["override_config"] = fused_attention(whole.plan.model);
  add_adapters(job, whole.plan, m);
  return m;
}

/// Where the algorithm has its KL term, unless the request says that there is one or none.
Kl kl_of(const RlJob& job) {
  const Kl usual = verl_algorithm(job.request)->kl;
  if (!job.request.algorithm.reference) return Kl::None;
  return usual == Kl::None ? Kl::InLoss : usual;
}

Json actor_of(const RlJob& job) {
  const VerlAlgorithm& a = *verl_algorithm(job.request);
  Json actor;
  add_engine(job.plan.training, "fsdp_config", offloads_between(job), actor);
  actor["ppo_mini_batch_size"] = mini_batch(job);
  add_micro_batches(job.plan.training, actor);
  actor["ppo_epochs"] = job.request.algorithm.passes;
  actor["clip_ratio_low"] = 0.2;
  actor["clip_ratio_high"] = a.clip_high;
  actor["loss_agg_mode"] = "token-mean";
  actor["entropy_coeff"] = 0;
  actor["use_kl_loss"] = kl_of(job) == Kl::InLoss;
  return actor;
}

/// The frozen copy waits in host memory.
Json reference_of(const RlJob& job) {
  Json ref;
  ref["log_prob_micro_batch_size_per_gpu"] = job.plan.training.strategy.micro_batch;
  ref[is_megatron(job.plan.training) ? "megatron" : "fsdp_config"] = Json{{"param_offload", true}};
  return ref;
}

Json rollout_of(const RlJob& job) {
  const RlRequest& r = job.request;
  Json out;
  out["name"] = r.engine->name;
  out["n"] = r.algorithm.samples;
  out["tensor_model_parallel_size"] = job.plan.rollout_tensor;
  out["gpu_memory_utilization"] = memory_share(job);
  out["max_num_seqs"] = job.plan.engine.running;
  out["max_num_batched_tokens"] = std::llround(r.engine->prefill_tokens.value);
  out["max_model_len"] = r.prompt_length + r.lengths.limit;
  out["free_cache_engine"] = !is_split(job);
  out["log_prob_micro_batch_size_per_gpu"] = job.plan.training.strategy.micro_batch;
  if (r.rollout_weight_bytes < 2) out["quantization"] = "fp8";
  if (has_adapters(job)) out["load_format"] = "safetensors";
  if (is_split(job)) {
    out["nnodes"] = job.plan.rollout_instances;
    out["n_gpus_per_node"] = job.plan.instance->accelerator_count;
    out["checkpoint_engine"] = Json{{"backend", "nccl"}};
  }
  return out;
}

Json algorithm_of(const RlJob& job) {
  const VerlAlgorithm& a = *verl_algorithm(job.request);
  Json out;
  out["adv_estimator"] = a.estimator;
  out["use_kl_in_reward"] = kl_of(job) == Kl::InReward;
  if (a.filters_groups) {
    const auto at_once = static_cast<std::int64_t>(std::ceil(job.request.algorithm.generated));
    out["filter_groups"] = Json{{"enable", true}, {"metric", "reward"}, {"max_inflight_gen_batches", at_once}};
  }
  return out;
}

Json critic_of(const RlJob& job, const ExportJob& whole, Export& out) {
  Json critic;
  critic["enable"] = job.plan.critic.has_value();
  if (!job.plan.critic) return critic;
  const Strategy& s = job.plan.critic->strategy;
  add_engine(*job.plan.critic, "fsdp", offloads_between(job), critic);
  add_micro_batches(*job.plan.critic, critic);
  critic["model"] = Json{{"path", name_of(*job.request.critic, whole, "REPLACE-ME-critic",
                                          "folder of the critic's weights, or its name on the Hugging Face hub", out)},
                         {"enable_gradient_checkpointing", s.recompute == Recompute::Full},
                         {"use_remove_padding", true}};
  return critic;
}

Json reward_of(const RlJob& job, const ExportJob& whole, Export& out) {
  const RlRequest& r = job.request;
  Json model;
  model["enable"] = r.reward_model.has_value();
  if (!r.reward_model) return Json{{"reward_model", model}};
  model["model_path"] = name_of(*r.reward_model, whole, "REPLACE-ME-reward-model",
                                "folder of the reward model's weights, or its name on the Hugging Face hub", out);
  model["rollout"] = Json{{"name", r.engine->name},
                          {"tensor_model_parallel_size", job.plan.rollout_tensor},
                          {"gpu_memory_utilization", memory_share(job)},
                          {"prompt_length", r.prompt_length + r.lengths.limit},
                          {"response_length", r.lengths.limit}};
  return Json{{"reward_model", model}};
}

/// Split, verl generates one batch ahead, or none; weights move after all mini-batches.
Json mode_of(const RlJob& job) {
  if (!is_split(job)) return Json{{"trainer_mode", "sync"}};
  const int ahead = job.plan.placement == RlPlacement::Split ? 1 : 0;
  return Json{{"trainer_mode", "separate_async"},
              {"separate_async",
               Json{{"num_warmup_batches", ahead}, {"parameter_sync_step", job.request.algorithm.mini_batches}}}};
}

Json trainer_of(const RlJob& job, const TrainingPlan& whole, const std::string& checkpoints) {
  Json t;
  t["nnodes"] = job.plan.training_instances;
  t["n_gpus_per_node"] = job.plan.instance->accelerator_count;
  t["total_training_steps"] = job.request.steps;
  t["total_epochs"] = job.request.steps;  // as many at most: the steps end the run
  t["save_freq"] = whole.save_steps();
  t["test_freq"] = -1;
  t["val_before_train"] = false;
  t["logger"] = Json::array({"console"});
  t["project_name"] = "smplan";
  t["experiment_name"] = whole.id();
  t["default_local_dir"] = checkpoints;
  t["resume_mode"] = "auto";
  t["device"] = "cuda";
  return t;
}

Json data_of(const RlJob& job, const VerlPaths& paths) {
  Json d;
  d["train_files"] = paths.train;
  d["val_files"] = paths.validation;
  d["train_batch_size"] = job.request.prompts;
  d["max_prompt_length"] = job.request.prompt_length;
  d["max_response_length"] = job.request.lengths.limit;
  d["filter_overlong_prompts"] = true;
  return d;
}

/// Members that verl's own settings say, or that decide money alone.
bool is_said_elsewhere(const RequestName& name) {
  constexpr std::array<std::string_view, 6> kSaid{"model", "instances", "finetune", "lora_rank", "count", "max_gpus"};
  constexpr std::array kOfMoney{RequestGroup::Purchase, RequestGroup::Goal, RequestGroup::Answer};
  return std::find(kSaid.begin(), kSaid.end(), name.name) != kSaid.end() ||
         std::find(kOfMoney.begin(), kOfMoney.end(), name.group) != kOfMoney.end();
}

/// What the prediction rests on and verl has no setting for, by the keywords of a request: rl_spec_of_job() reads it.
Json stated_beside(const RlJob& job) {
  const RlRequest& r = job.request;
  Json out;
  out["framework"] = to_string(RlFramework::Verl);
  out["instances"] = job.plan.instance->name;
  out["response_length"] = fmt::format("{:.0f}", r.lengths.mean);
  const std::array own{&RlSpec::length_variation, &RlSpec::length_shape, &RlSpec::reward_seconds, &RlSpec::concurrency,
                       &RlSpec::start_rate};
  for (const RlName& name : rl_names()) {
    const bool kept = std::find(own.begin(), own.end(), name.member) != own.end();
    if (kept && r.said.*name.member) out[keyword_of(name)] = *(r.said.*name.member);
  }
  for (const RequestName& name : request_names()) {
    const std::optional<std::string>& value = name.of(r.said.request);
    if (value && !is_said_elsewhere(name)) out[name.name] = *value;
  }
  return out;
}

}  // namespace

void check_verl_job(const RlJob& job, Diagnostics& faults) { Refusals(job, faults).run(); }

Json verl_config(const RlJob& job, const ExportJob& whole, const VerlPaths& paths, Export& out) {
  Json c;
  c["hydra"] = Json{{"searchpath", Json::array({"pkg://verl.trainer.config"})}};
  Json files = Json::array({"ppo_trainer"});
  if (is_megatron(job.plan.training)) files.push_back(Json{{"override model_engine", "megatron"}});
  files.push_back("_self_");
  c["defaults"] = files;
  c["smplan"] = stated_beside(job);
  c["algorithm"] = algorithm_of(job);
  c["data"] = data_of(job, paths);
  Json& policy = c["actor_rollout_ref"];
  policy["hybrid_engine"] = !is_split(job);
  policy["model"] = model_of(job, whole, out);
  policy["actor"] = actor_of(job);
  policy["ref"] = reference_of(job);
  policy["rollout"] = rollout_of(job);
  c["critic"] = critic_of(job, whole, out);
  c["reward"] = reward_of(job, whole, out);
  c["trainer"] = trainer_of(job, whole.plan, paths.checkpoints);
  c["trainer"]["v1"] = mode_of(job);
  return c;
}

void check_verl_recipe(const RlJob& job, Diagnostics& faults) {
  check_verl_job(job, faults);
  const auto refuse = [&](std::string message, std::string hint) {
    faults.push_back({"not-expressible", "--export", std::move(message), std::move(hint)});
  };
  const std::string& algorithm = job.request.algorithm.name;
  if (algorithm != "grpo") {
    refuse("HyperPod's recipes of verl learn by grpo, the plan by " + algorithm, "export to verl");
  }
  if (is_megatron(job.plan.training)) refuse("HyperPod's recipes of verl train by FSDP", "plan with --stack fsdp");
  if (is_split(job)) refuse("HyperPod's recipes generate on the devices that train", "plan with --placement colocated");
  if (job.request.reward_model) {
    refuse("HyperPod's recipes call a reward model elsewhere", "plan with --reward-seconds");
  }
}

Json verl_recipe(const RlJob& job, const ExportJob& whole, Export& out) {
  const InstanceType& type = *job.plan.instance;
  Json c;
  c["display_name"] = fmt::format("{} GRPO of {}", has_adapters(job) ? "LoRA" : "Full", whole.plan.model.name);
  c["instance_types"] = Json::array({type.name});
  // As AWS's recipes divide them: a head without devices, workers with all of theirs.
  c["ray_cluster"] = Json{{"head_node", Json{{"cpu", "16"}, {"gpu", "0"}, {"memory", "32Gi"}}},
                          {"worker_nodes", Json{{"gpu", std::to_string(type.accelerator_count)},
                                                {"replicas", job.plan.training_instances}}}};
  c["run"] =
      Json{{"model_type", "verl"}, {"name", job_name_of(whole)}, {"results_dir", "${base_results_dir}/${.name}"}};
  c["trainer"] = Json{{"devices", type.accelerator_count}, {"num_nodes", job.plan.training_instances}};
  Json& t = c["training_config"];
  t["algorithm"] = algorithm_of(job);
  t["data"] = data_of(job, {"REPLACE-ME-data", "REPLACE-ME-validation", ""});
  Json& policy = t["actor_rollout_ref"];
  policy["hybrid_engine"] = true;
  policy["model"] = model_of(job, whole, out);
  policy["actor"] = actor_of(job);
  policy["ref"] = reference_of(job);
  policy["rollout"] = rollout_of(job);
  t["trainer"] = trainer_of(job, whole.plan, "/opt/ml/model");
  t["smplan"] = stated_beside(job);
  return c;
}

}  // namespace smplan
