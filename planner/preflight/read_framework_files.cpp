// Readers of the files that a job's script reads: they say how the work is split, not on what it runs.
#include <algorithm>

#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_command.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
void read_deepspeed(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  s.global_batch = count_field(root.find("train_batch_size"));
  s.micro_batch = count_field(root.find("train_micro_batch_size_per_gpu"));
  s.accumulation = count_field(root.find("gradient_accumulation_steps"));
  s.bf16 = switch_field(root.at({"bf16", "enabled"}));
  s.fp16 = switch_field(root.at({"fp16", "enabled"}));
  s.zero_stage = count_field(root.at({"zero_optimization", "stage"}));
  s.execution = deepspeed_execution(root);
  s.tensor = count_field(root.at({"tensor_parallel", "autotp_size"}));
  s.pipeline = count_field(first_of(root, {"pipeline_parallel_size"}));
  if (!s.pipeline.stated) s.pipeline = count_field(root.at({"pipeline", "stages"}));
  s.context = count_field(root.find("sequence_parallel_size"));
  s.optimizer_offload = text_field(root.at({"zero_optimization", "offload_optimizer", "device"}));
  s.parameter_offload = text_field(root.at({"zero_optimization", "offload_param", "device"}));
  s.optimizer_nvme_path = text_field(root.at({"zero_optimization", "offload_optimizer", "nvme_path"}));
  s.parameter_nvme_path = text_field(root.at({"zero_optimization", "offload_param", "nvme_path"}));
}

void read_accelerate(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  s.nodes = count_field(root.find("num_machines"));
  s.world = count_field(root.find("num_processes"));
  read_precision(root.find("mixed_precision"), s);
  s.execution = accelerate_execution(root);
  job.instance_type = text_field(root.find("ec2_instance_type"));
  job.framework_version = text_field(root.find("pytorch_version"));
  job.transformers_version = text_field(root.find("transformers_version"));
  job.py_version = text_field(root.find("py_version"));
  job.region = text_field(root.find("region"));
  // In its SageMaker mode accelerate makes an estimator of this, with smdistributed for DATA_PARALLEL.
  const Node* type = root.find("distributed_type");
  if (text_field(root.find("compute_environment")).is("AMAZON_SAGEMAKER") && names_word(type, "DATA_PARALLEL")) {
    job.launcher.smddp = derived(true, type->where);
  }
  if (const Node* f = root.find("fsdp_config"); f != nullptr && f->is_object()) {
    s.sharding = text_field(f->find("fsdp_sharding_strategy"));
    if (const Node* offload = f->find("fsdp_offload_params"); offload != nullptr && switch_field(offload).is(true)) {
      s.parameter_offload = derived(std::string("cpu"), offload->where);
      s.optimizer_offload = s.parameter_offload;
    }
  }
  // Of a job without a DeepSpeed file of its own.
  if (const Node* d = root.find("deepspeed_config"); d != nullptr && d->is_object()) {
    s.zero_stage = count_field(d->find("zero_stage"));
    s.accumulation = count_field(d->find("gradient_accumulation_steps"));
    s.optimizer_offload = text_field(d->find("offload_optimizer_device"));
    s.parameter_offload = text_field(d->find("offload_param_device"));
    s.stack = derived(std::string("deepspeed"), d->where);
  }
  const Node* p = root.find("parallelism_config");
  if (p != nullptr && p->is_object()) {
    s.data_replicate = count_field(first_of(*p, {"parallelism_config_dp_replicate_size", "dp_replicate_size"}));
    s.data_shard = count_field(first_of(*p, {"parallelism_config_dp_shard_size", "dp_shard_size"}));
    s.tensor = count_field(first_of(*p, {"parallelism_config_tp_size", "tp_size"}));
    s.context = count_field(first_of(*p, {"parallelism_config_cp_size", "cp_size"}));
    s.sequence_ranks = count_field(first_of(*p, {"parallelism_config_sp_size", "sp_size"}));
  }
}

namespace {

/// An argument list says all: what it leaves out is off.
void read_megatron_memory(const Node& root, JobStrategy& s) {
  s.recompute = text_field(root.find("recompute-granularity"));
  if (const Node* selective = root.find("recompute-activations"); !s.recompute.stated && is_not_off(selective)) {
    s.recompute = derived(std::string("selective"), selective->where);
  }
  if (!s.recompute.stated) s.recompute = derived(std::string("none"), root.where);
  // The other method, `uniform`, recomputes all layers in groups of this size.
  if (text_field(root.find("recompute-method")).is("block")) {
    s.recompute_layers = count_field(root.find("recompute-num-layers"));
  }
  // Of FSDP, and of an optimizer in several instances, the models of this stack know nothing.
  const Count instances = count_field(root.find("num-distributed-optimizer-instances"));
  if (!is_not_off(root.find("use-torch-fsdp2")) && !is_not_off(root.find("use-megatron-fsdp")) &&
      instances.value_or(1) == 1) {
    const Node* sharded = root.find("use-distributed-optimizer");
    s.sharding =
        derived(std::string(is_not_off(sharded) ? "zero1" : "none"), is_not_off(sharded) ? sharded->where : root.where);
  }
  if (const Node* optimizer = root.find("optimizer-cpu-offload"); is_not_off(optimizer)) {
    s.optimizer_offload = derived(std::string("cpu"), optimizer->where);
  }
  if (const Node* layers = root.find("cpu-offloading-num-layers"); layers != nullptr) {
    s.activation_offload = derived(integer_of(*layers).value_or(0) > 0, layers->where);
  }
}

/// A letter a layer, a bar before each pipeline chunk, after a slash what predicts further tokens.
void read_pattern(const Node& pattern, JobStrategy& s) {
  const std::string letters = text_of(pattern).value_or("");
  const std::string own = letters.substr(0, letters.find('/'));
  const auto bars = std::count(own.begin(), own.end(), '|');
  s.layers = derived(static_cast<std::int64_t>(own.size()) - bars, pattern.where);
  if (bars == 0) return;
  s.pipeline_layout = derived(true, pattern.where);
  if (s.pipeline && *s.pipeline > 0) s.virtual_pipeline = derived((bars + 1) / *s.pipeline, pattern.where);
}

}  // namespace

void read_megatron(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  const auto count = [&](std::initializer_list<std::string_view> names) { return count_field(first_of(root, names)); };
  s.nodes = count({"nnodes", "num-nodes"});
  s.devices_per_node = count({"nproc-per-node"});
  s.tensor = count({"tensor-model-parallel-size"});
  s.pipeline = count({"pipeline-model-parallel-size"});
  s.virtual_pipeline = count({"num-virtual-stages-per-pipeline-rank"});
  s.first_stage_layers = count({"decoder-first-pipeline-num-layers"});
  s.last_stage_layers = count({"decoder-last-pipeline-num-layers"});
  s.pipeline_layout =
      presence(first_of(root, {"pipeline-model-parallel-layout", "account-for-embedding-in-pipeline-split",
                               "account-for-loss-in-pipeline-split"}));
  if (const Node* pattern = root.find("hybrid-layer-pattern")) read_pattern(*pattern, s);
  s.context = count({"context-parallel-size"});
  s.expert = count({"expert-model-parallel-size"});
  s.expert_tensor = count({"expert-tensor-parallel-size"});
  if (!s.expert_tensor.stated) s.expert_tensor = s.tensor;  // Megatron's default
  s.sequence_parallel = switch_field(root.find("sequence-parallel"));
  s.micro_batch = count({"micro-batch-size"});
  s.global_batch = count({"global-batch-size"});
  s.sequence_length = count({"seq-length"});
  s.steps = count({"train-iters"});
  if (const Count samples = count({"train-samples"}); !s.steps.stated && samples && s.global_batch.value_or(0) > 0) {
    s.steps = derived((*samples + *s.global_batch - 1) / *s.global_batch, samples.where);
  }
  if (!s.layers.stated) s.layers = count({"num-layers"});
  s.heads = count({"num-attention-heads"});
  s.kv_heads = count({"num-query-groups"});
  s.hidden = count({"hidden-size"});
  s.ffn = count({"ffn-hidden-size"});
  s.vocabulary = count({"padded-vocab-size"});
  s.experts = count({"num-experts"});
  s.bf16 = switch_field(root.find("bf16"));
  s.fp16 = switch_field(root.find("fp16"));
  s.fp8 = presence(first_of(root, {"fp8-format", "fp8"}));
  s.fp4 = presence(first_of(root, {"fp4-format", "fp4"}));
  if (const Node* per_stage = root.find("num-layers-per-virtual-pipeline-stage")) {
    const Count stage = count_field(per_stage);
    if (stage && *stage > 0 && s.layers && s.pipeline && *s.pipeline > 0) {
      s.virtual_pipeline = derived(*s.layers / *s.pipeline / *stage, per_stage->where);
    }
  }
  if (const Node* flash = root.find("use-flash-attn")) s.attention = derived(std::string("flash"), flash->where);
  read_megatron_memory(root, s);
  s.execution = megatron_execution(root);
}

/// A pipeline cuts the local batch into micro-batches of their own size; else it is one.
void cut_local_batch(const Node& root, JobStrategy& s) {
  const Count local = s.micro_batch;
  if (s.pipeline.value_or(1) > 1) {
    s.micro_batch = count_field(root.at({"parallelism", "pipeline_parallel_microbatch_size"}));
    if (!s.micro_batch.stated) s.micro_batch = derived(std::int64_t{1}, local.stated ? local.where : s.pipeline.where);
  }
  // Without a global batch a step is one local batch a rank.
  if (s.global_batch || !local || !s.micro_batch || *s.micro_batch < 1 || *local % *s.micro_batch != 0) return;
  s.accumulation = derived(*local / *s.micro_batch, local.where);
}

namespace {

/// `llama3` and `8B` make `llama3-8B`. Flavors that differ in attention alone are one model. Source: TorchTitan v0.2.2,
/// models/llama3/__init__.py and models/llama4/__init__.py.
Text titan_model(const Node& root) {
  constexpr std::string_view kAttentions[] = {"_flex", "_varlen", "_irope"};
  const Text name = text_field(root.at({"model", "name"}));
  const Text flavor = text_field(root.at({"model", "flavor"}));
  if (!name || !flavor) return {};
  std::string model = *name + '-' + *flavor;
  std::replace(model.begin(), model.end(), '_', '-');
  for (const std::string_view attention : kAttentions) {
    if (flavor->ends_with(attention)) model.resize(model.size() - attention.size());
  }
  return derived(std::move(model), flavor.where);
}

/// Shards as FSDP names them. By default parameters stay whole between the two passes of a pipeline alone. Source:
/// TorchTitan v0.2.2, models/llama3/infra/parallelize.py, and distributed/parallel_dims.py for the replicas.
Text titan_sharding(const Node& root, const JobStrategy& s) {
  const Node* reshard = root.at({"parallelism", "fsdp_reshard_after_forward"});
  const Text named = text_field(reshard);
  const bool known = !named.stated || named.is("default") || named.is("always") || named.is("never");
  if (!known || (s.data_replicate.stated && !s.data_replicate)) return {};
  const Where where = reshard != nullptr ? reshard->where : root.where;
  if (s.data_replicate.value_or(1) > 1)
    return derived(std::string(s.data_shard.is(1) ? "NO_SHARD" : "HYBRID_SHARD"), where);
  const bool whole = named.is("never") || (!named.is("always") && s.pipeline.value_or(1) > 1);
  return derived(std::string(whole ? "SHARD_GRAD_OP" : "FULL_SHARD"), where);
}

/// Arguments whose file is not read: it may have other degrees beside them, by which the rest of the ranks are cut.
void leave_open(const Node& root, Job& job) {
  const Node* file = root.at({"job", "config_file"});
  const Node* function = root.find("config");
  if (file == nullptr && function != nullptr) {
    note_unread(*function, "is a function of TorchTitan's, whose settings are not read", job);
    state_unmodelled("the settings stand in a function of TorchTitan's, which is not read", job);
  } else {
    state_unread_base(file == nullptr ? root : *file, job);
  }
  JobStrategy& s = job.strategy;
  if (s.tensor.stated && s.pipeline.stated && s.context.stated) return;
  for (Count* count : {&s.data_shard, &s.data_replicate, &s.global_batch}) count->value.reset();
}

}  // namespace

void read_torchtitan(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  job.model = titan_model(root);
  JobCommand launched;
  read_launched(job.started, {}, launched);
  if (launched.least_nodes.value == launched.most_nodes.value) s.nodes = launched.least_nodes;
  s.devices_per_node = launched.processes;
  s.execution = torchtitan_execution(root);
  if (const Node* p = root.find("parallelism"); p != nullptr) {
    s.data_replicate = count_field(p->find("data_parallel_replicate_degree"));
    s.data_shard = count_field(p->find("data_parallel_shard_degree"));
    if (s.data_shard.is(-1)) s.data_shard.value.reset();  // whatever is left
    s.tensor = count_field(p->find("tensor_parallel_degree"));
    s.pipeline = count_field(p->find("pipeline_parallel_degree"));
    s.context = count_field(p->find("context_parallel_degree"));
    s.expert = count_field(p->find("expert_parallel_degree"));
    s.expert_tensor = count_field(p->find("expert_tensor_parallel_degree"));
    s.pipeline_layout = presence(first_of(*p, {"pipeline_parallel_split_points", "module_fqns_per_model_part"}));
  }
  s.sharding = titan_sharding(root, s);
  if (const Node* t = root.find("training"); t != nullptr) {
    s.micro_batch = count_field(t->find("local_batch_size"));
    s.global_batch = count_field(t->find("global_batch_size"));
    if (s.global_batch.is(-1)) s.global_batch.value.reset();
    s.sequence_length = count_field(t->find("seq_len"));
    s.steps = count_field(t->find("steps"));
    const Node* precision = t->find("mixed_precision_param");
    read_precision(precision, s);
    if (const Node* offload = t->find("enable_cpu_offload"); offload != nullptr && switch_field(offload).is(true)) {
      s.optimizer_offload = derived(std::string("cpu"), offload->where);
      s.parameter_offload = s.optimizer_offload;
    }
  }
  cut_local_batch(root, s);
  // Its tensor ranks always shard the sequence too.
  if (s.tensor.value_or(1) > 1) s.sequence_parallel = derived(true, s.tensor.where);
  s.recompute = text_field(root.at({"activation_checkpoint", "mode"}));
  if (!s.recompute.stated) s.recompute = derived(std::string("selective"), root.where);  // TorchTitan's default
  if (const Node* converters = root.at({"model", "converters"}); converters != nullptr) {
    for (const Node& converter : converters->items) {
      if (names_word(&converter, "float8")) s.fp8 = derived(true, converter.where);
      if (names_word(&converter, "mx")) s.fp4 = derived(true, converter.where);
    }
  }
  if (root.open) leave_open(root, job);
}

void read_smp(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  s.shard_degree = count_field(root.find("hybrid_shard_degree"));
  s.tensor = count_field(root.find("tensor_parallel_degree"));
  s.context = count_field(root.find("context_parallel_degree"));
  s.expert = count_field(root.find("expert_parallel_degree"));
  s.pipeline = count_field(first_of(root, {"pipeline_parallel_degree", "partitions"}));
  s.activation_offload = switch_field(first_of(root, {"sm_activation_offloading", "offload_activations"}));
  job.launcher.smp = derived(true, root.where);
  job.launcher.smp_parameters = &root;
  // The file is read by a job that is started as its version needs it.
  const bool second = s.shard_degree.stated || root.has("sm_activation_offloading");
  (second ? job.launcher.torchrun : job.launcher.mpi) = derived(true, root.where);
}

/// Options of torchrun, then the script and its own.
void read_processes(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  job.launcher.stated = true;
  job.launcher.where = root.where;
  job.launcher.torchrun = derived(true, root.where);
  s.nodes = count_field(root.find("nnodes"));
  s.devices_per_node = count_field(root.find("nproc-per-node"));
  job.launcher.processes_per_node = s.devices_per_node;
}

void read_torchrun(const Node& root, Job& job) {
  read_processes(root, job);
  for (const Node& option : root.items) {  // the script follows the value of the last option of torchrun
    if (!option.is_array()) continue;
    for (const Node& word : option.items) {
      if (word.text.ends_with(".py")) job.entry_point = text_field(&word);
    }
    break;
  }
  Node settings = root;  // argparse takes either spelling; the names of settings have underscores
  for (Node& option : settings.items) std::replace(option.key.begin(), option.key.end(), '-', '_');
  read_script_settings(settings, job);
}

}  // namespace smplan
