// HyperPod recipes. Five trainers read files of their own schemas: the NeMo adapter (`model.shard_degree`), NeMo 2 with
// checkpointless training (`strategy`), llmft (`training_config.training_args`), verl (`run.model_type: verl`) and that
// of multi-turn reinforcement learning (`run.model_type: mtrl`). Source: aws/sagemaker-hyperpod-recipes,
// recipes_collection of v1.5.1 and of 2631995 (2026-06-23).
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

constexpr std::string_view kEvaluation = "this recipe evaluates a model and trains none";

constexpr std::string_view kNova = "the architecture of the Nova models is not published";

/// In the order in which they decide.
constexpr UnmodelledRow kHyperpodRecipeUnmodelled[] = {
    {"evaluation", "", kEvaluation},
    {"llm_as_judge", "", kEvaluation},
    {"eval_metrics_config", "", kEvaluation},
    {"run.model_type", "nova", kNova},
    {"model.model_name", "nova-textgeneration", kNova},
    {"training_config.actor_rollout_ref", "", kReinforcement},
    {"training_config.algorithm", "", kReinforcement},
    {"training_config.rollout", "", kReinforcement},
    {"ppo_actor_train", "", kReinforcement},
    {"rollout", "", kReinforcement},
    {"run.model_type", "mtrl", kReinforcement},
    {"training_config.model_config.quantization_config", "", "quantization by llmft is not modelled"},
    {"training_config.training_args.uneven_batch", "", "uneven batches are not modelled"},
};

/// The adapters of any schema: `peft_type` and `rank`, `peft_scheme` and `dim`, `peft_type` and `r`.
void read_adapters(const Node* peft, Job& job) {
  if (peft == nullptr) return;
  JobStrategy& s = job.strategy;
  const Node* named = peft->is_object() ? first_of(*peft, {"peft_type", "peft_scheme"}) : nullptr;
  if (named == nullptr || named->is_null()) return;
  const std::string kind = lower_case(named->text);
  if (kind != "lora" && kind != "dora" && !kind.starts_with("qlora")) {
    job.not_modelled = "adapters of this kind are not modelled: " + named->text;
    return;
  }
  s.adapter_count = count_field(peft->find("n_adapters"));
  if (kind == "dora") s.adapters = derived(kind, named->where);
  if (const Node* dora = peft->find("use_dora"); dora != nullptr) read_adapter_kind(*dora, "dora", job);
  s.finetune = derived(std::string(kind.starts_with("qlora") ? "qlora" : "lora"), named->where);
  s.lora_rank = count_field(first_of(*peft, {"rank", "r", "dim"}));
}

/// Where a recipe says that it learns from pairs; nullptr where it does not.
const Node* loss_of(const Node& root) {
  const Node* trainer = root.at({"training_config", "training_args", "trainer_type"});
  if (trainer != nullptr && lower_case(trainer->text) == "dpo") return trainer;
  const Node* enabled = root.at({"model", "dpo", "enabled"});
  if (enabled != nullptr && truth_of(*enabled) == true) return enabled;
  const Node* data = root.at({"training_config", "data", "_target_"});
  return data != nullptr && data->text.find("DPO") != std::string::npos ? data : nullptr;
}

/// Without adapters, what starts from a base trains all its weights.
void read_full(const Node* starts_from_base, JobStrategy& s) {
  if (starts_from_base == nullptr || s.finetune.stated || truth_of(*starts_from_base) == false) return;
  s.finetune = derived(std::string("full"), starts_from_base->where);
}

/// `true` recomputes whole layers; NeMo also knows `selective`.
void read_recompute(const Node* on, JobStrategy& s) {
  if (on == nullptr || on->is_null()) return;
  const auto truth = truth_of(*on);
  if (truth) s.recompute = derived(std::string(*truth ? "full" : "none"), on->where);
  if (!truth && (on->text == "full" || on->text == "selective")) s.recompute = derived(on->text, on->where);
}

/// Of the NeMo adapter, and of NeMo 1, whose names it took over.
void read_adapter_model(const Node& m, Job& job) {
  JobStrategy& s = job.strategy;
  s.tensor = count_field(first_of(m, {"tensor_model_parallel_degree", "tensor_model_parallel_size"}));
  s.pipeline = count_field(first_of(m, {"pipeline_model_parallel_degree", "pipeline_model_parallel_size"}));
  s.virtual_pipeline = count_field(m.find("virtual_pipeline_model_parallel_size"));
  s.context = count_field(first_of(m, {"context_parallel_degree", "context_parallel_size"}));
  s.expert = count_field(first_of(m, {"expert_model_parallel_degree", "expert_model_parallel_size"}));
  s.shard_degree = count_field(m.find("shard_degree"));
  s.sharding = text_field(m.find("sharding_strategy"));
  s.micro_batch = count_field(first_of(m, {"train_batch_size", "micro_batch_size"}));
  s.global_batch = count_field(m.find("global_batch_size"));
  s.sequence_length = count_field(first_of(m, {"max_context_width", "encoder_seq_length", "seq_length"}));
  s.heads = count_field(m.find("num_attention_heads"));
  s.kv_heads = count_field(first_of(m, {"num_key_value_heads", "num_query_groups"}));
  s.hidden = count_field(m.find("hidden_size"));
  s.ffn = count_field(first_of(m, {"intermediate_size", "ffn_hidden_size"}));
  s.vocabulary = count_field(m.find("vocab_size"));
  s.layers = count_field(first_of(m, {"num_hidden_layers", "num_layers"}));
  s.experts = count_field(first_of(m, {"num_local_experts", "num_experts", "num_moe_experts"}));
  s.fp8 = switch_field(m.find("fp8"));
  if (!s.fp8.is(true)) s.fp8 = {};
  s.sequence_parallel = switch_field(m.find("sequence_parallel"));
  read_recompute(m.find("activation_checkpointing"), s);
  s.activation_offload = switch_field(m.find("offload_activations"));
  read_adapters(m.find("peft"), job);
  read_full(m.find("do_finetune"), s);
  // The adapter has no accumulation: every data rank reads one micro-batch a step.
  if (s.shard_degree.stated && !s.global_batch.stated && s.micro_batch) {
    s.accumulation = derived(std::int64_t{1}, s.micro_batch.where);
  }
}

/// A run that starts from a base and has no section of adapters may train either way: AWS ships both, whose titles say
/// which.
void read_title(const Node* title, Job& job) {
  const std::string words = title == nullptr ? std::string() : lower_case(title->text);
  const bool lora = words.find("lora") != std::string::npos;
  if (!lora && words.find("full") == std::string::npos) {
    job.adapters_unknown = "the recipe starts from a base and does not say whether it trains adapters: give --finetune";
    return;
  }
  job.strategy.finetune = derived(std::string(lora ? "lora" : "full"), title->where);
  note_unread(*title,
              lora ? "says that adapters are trained, and not of what rank" : "says that all weights are trained", job);
}

/// NeMo 2, which trains by Megatron.
void read_nemo(const Node& root, const Node& st, Job& job) {
  JobStrategy& s = job.strategy;
  s.tensor = count_field(st.find("tensor_model_parallel_size"));
  s.pipeline = count_field(st.find("pipeline_model_parallel_size"));
  s.virtual_pipeline = count_field(st.find("virtual_pipeline_model_parallel_size"));
  s.context = count_field(st.find("context_parallel_size"));
  s.expert = count_field(st.find("expert_model_parallel_size"));
  s.expert_tensor = count_field(st.find("expert_tensor_parallel_size"));
  if (!s.expert_tensor.stated) s.expert_tensor = s.tensor;  // as in Megatron
  s.sequence_parallel = switch_field(st.find("sequence_parallel"));
  s.micro_batch = count_field(root.at({"data", "micro_batch_size"}));
  s.global_batch = count_field(root.at({"data", "global_batch_size"}));
  s.sequence_length = count_field(root.at({"data", "seq_length"}));
  s.stack = derived(std::string("megatron"), st.where);
  if (const Node* sharded = root.at({"optim", "config", "use_distributed_optimizer"})) {
    s.sharding = derived(std::string(truth_of(*sharded) == true ? "zero1" : "none"), sharded->where);
  }
  const Node* recompute = root.at({"model", "config", "recompute_granularity"});
  read_recompute(recompute, s);
  // Which modules are recomputed beside attention decides the memory.
  if (root.at({"model", "config", "recompute_modules"}) != nullptr) s.recompute = {};
  const Node* peft = root.at({"model", "peft"});
  const Node* base = root.at({"resume", "restore_config"});
  if (peft == nullptr && base != nullptr) read_title(root.find("display_name"), job);
  read_adapters(peft, job);
  read_full(base, s);
}

void read_llmft(const Node& config, const Node& args, Job& job) {
  JobStrategy& s = job.strategy;
  s.global_batch = count_field(args.find("train_batch_size"));
  s.micro_batch = count_field(args.find("micro_train_batch_size"));
  s.sequence_length = count_field(args.find("max_len"));
  s.epochs = count_field(args.find("max_epochs"));
  for (const std::string_view name : {"ulysses_sequence_parallel_size", "ring_attn_size"}) {
    if (!s.context || *s.context == 1) s.context = count_field(args.find(name));
  }
  // AWS's files have a number there that no data set reaches.
  constexpr std::int64_t kAllSamples = 100'000'000;
  const Count samples = count_field(args.find("max_samples"));
  if (samples && *samples < kAllSamples && s.global_batch && *s.global_batch > 0) {
    s.steps = derived(times((*samples + *s.global_batch - 1) / *s.global_batch, s.epochs.value_or(1)), samples.where);
  }
  read_recompute(args.find("gradient_checkpointing"), s);
  read_adapters(config.at({"model_config", "peft_config"}), job);
  if (const Node* scratch = args.find("pretrain_mode"); scratch == nullptr || truth_of(*scratch) == false) {
    read_full(&args, s);
  }
  if (const Node* attention = config.at({"model_config", "attn_implementation"})) read_attention(*attention, job);
  const Node* fsdp = args.at({"strategy", "fsdp_config"});
  if (fsdp == nullptr || !fsdp->is_object()) return;
  s.stack = derived(std::string("fsdp"), fsdp->where);
  s.sharding = text_field(fsdp->find("sharding_strategy"));
  if (const Node* offload = fsdp->find("cpu_offload"); offload != nullptr && switch_field(offload).is(true)) {
    s.parameter_offload = derived(std::string("cpu"), offload->where);
    s.optimizer_offload = s.parameter_offload;
  }
}

/// Elastic recipes name counts; the kind of a checkpointless one says it.
void read_recovery(const Node& root, Job& job) {
  const Node* type = root.at({"run", "model_type"});
  if (type != nullptr && type->text.find("checkpointless") != std::string::npos) {
    job.checkpointless = derived(true, type->where);
  }
  const Node* policy = root.find("elastic_policy");
  if (policy == nullptr || !policy->is_object()) return;
  job.elastic.on = switch_field(policy->find("is_elastic"));
  job.elastic.least = count_field(policy->find("min_nodes"));
  job.elastic.most = count_field(policy->find("max_nodes"));
}

/// The launcher has models of AWS's hub by the names of their runs: launcher/recipe_templatization,
/// jumpstart_model-id_map.json.
void read_run_name(const Node* name, Job& job) {
  if (name == nullptr || !name->is_string() || name->text.empty()) return;
  job.run_name = text_field(name);
  note_unread(*name, "stands for the model, of which nothing else is said, where it is the name of one", job);
}

}  // namespace

void read_hyperpod_recipe(const Node& root, Job& job) {
  read_recovery(root, job);
  JobStrategy& s = job.strategy;
  s.devices_per_node = count_field(root.at({"trainer", "devices"}));
  s.nodes = count_field(root.at({"trainer", "num_nodes"}));
  s.steps = count_field(root.at({"trainer", "max_steps"}));
  if (s.steps && *s.steps < 1) s.steps = {};
  s.epochs = count_field(root.at({"trainer", "max_epochs"}));
  const Node* plugin = root.at({"plugins", "precision"});  // NeMo 2
  read_precision(plugin != nullptr ? plugin : root.at({"trainer", "precision"}), s);
  job.instance_type = text_field(first_of(root, {"instance_type"}));
  if (const Node* backend = root.find("distributed_backend"); names_word(backend, "smddp")) {
    job.launcher.smddp = derived(true, backend->where);
  }
  const Node* path = root.at({"training_config", "model_config", "model_name_or_path"});
  for (const Node* name : {path, root.at({"model", "hf_model_name_or_path"})}) {
    if (!job.model && name != nullptr && !name->text.empty()) job.model = text_field(name);
  }
  const Node* m = root.find("model");
  if (m != nullptr && m->is_object()) read_adapter_model(*m, job);
  const Node* st = root.find("strategy");
  if (st != nullptr && st->is_object()) read_nemo(root, *st, job);
  const Node* config = root.find("training_config");
  const Node* args = config == nullptr ? nullptr : config->find("training_args");
  if (args != nullptr && args->is_object()) read_llmft(*config, *args, job);
  const bool verl = names_word(root.at({"run", "model_type"}), "verl");
  if (verl && config != nullptr && config->is_object()) read_verl(*config, job);
  const bool trains = root.find("eval_metrics_config") == nullptr;
  if (trains && names_word(root.at({"run", "model_type"}), "mtrl")) read_mtrl(root, job);
  if (const Node* pairs = loss_of(root)) s.loss = derived(std::string("dpo"), pairs->where);
  const bool has_no_place = st != nullptr && st->is_object() && !s.hidden.stated;
  if (!job.model && (has_no_place || path != nullptr)) read_run_name(root.at({"run", "name"}), job);
  const std::string of_adapters = std::move(job.not_modelled);
  job.not_modelled.clear();
  read_unmodelled(root, kHyperpodRecipeUnmodelled, job);
  state_unmodelled(of_adapters, job);
}

}  // namespace smplan
