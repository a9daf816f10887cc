// HyperPod recipes, Megatron's arguments, TorchTitan's TOML, and recipes that an estimator starts.
#include <algorithm>
#include <array>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

std::string_view run_model_type(const CheckInput& in) {
  const Node* type = in.job.root().at({"run", "model_type"});
  return type == nullptr ? std::string_view() : std::string_view(type->text);
}

/// A recipe for the NeMo adapter, whose schema is the one that is known.
const Node* adapter_model(const CheckInput& in) {
  const Node& root = in.job.root();
  const bool adapter =
      root.has("use_smp_model") || root.has("distributed_backend") || root.at({"trainer", "num_nodes"});
  // The model section of NeMo's own recipes is NeMo's.
  const bool nemo = root.has("strategy") || root.at({"model", "mcore_gpt"}) != nullptr;
  // The Neuron recipes train with NeuronX Distributed and have a model section of their own.
  const bool neuron = root.has("distributed_strategy") || run_model_type(in).starts_with("neuron");
  const Node* model = root.find("model");
  return adapter && !nemo && !neuron && model != nullptr && model->is_object() ? model : nullptr;
}

bool is_absent(const Node* node) {
  return node == nullptr || node->is_null() || (node->is_string() && node->text.empty());
}

void recipe_keys(const CheckInput& in, Report& report) {
  const Node* model = adapter_model(in);
  if (model == nullptr) return;
  for (const Node& entry : model->items) {
    if (contains(in.limits.recipe_model, entry.key)) continue;
    const auto near = nearest_names(entry.key, in.limits.recipe_model, 1);
    Finding& finding = report.at(entry, {"model has no key " + quote(entry.key)});
    finding.fix = near.empty() ? "delete it" : "did you mean " + near.front() + "?";
  }
  const Node* finetune = model->find("do_finetune");
  if (finetune != nullptr && truth_of(*finetune) == true && is_absent(model->find("hf_model_name_or_path"))) {
    report.at(*finetune, {"do_finetune needs hf_model_name_or_path"}).fix = "name the model, or set do_finetune: false";
  }
  const Node* data = model->find("data");
  const Node* synthetic = data == nullptr ? nullptr : data->find("use_synthetic_data");
  if (data != nullptr && data->is_object() && is_absent(data->find("train_dir")) &&
      !(synthetic != nullptr && truth_of(*synthetic) == true)) {
    const Node* train = data->find("train_dir");
    report.at(train == nullptr ? *data : *train, {"data.train_dir is missing and the data is not synthetic"}).fix =
        "give train_dir, or set use_synthetic_data: true";
  }
  const InstanceType* type = in.instance();
  if (type != nullptr && !model->has("fp8") && compute_capability(in, *type).value_or(90) < 89) {
    report.at(*model, {"fp8 is on by default, and " + type->name + " has no FP8 units"}).fix = "set fp8: false";
  }
}

void recipe_nodes(const CheckInput& in, Report& report) {
  const Node* nodes = in.job.root().at({"recipe_overrides", "trainer", "num_nodes"});
  const auto n = nodes == nullptr ? std::nullopt : integer_of(*nodes);
  if (n && in.job.instance_count && *n != *in.job.instance_count) {
    report.at(*nodes, {count_text(*n), count_text(*in.job.instance_count)});
  }
}

struct Nova {
  std::string_view model;
  std::vector<std::int64_t> replicas;  ///< of all instances together, which a recipe does not name
};
/// Source: comments of recipes_collection/recipes/{fine-tuning,training}/nova, aws/sagemaker-hyperpod-recipes, v1.5.1
/// and HEAD of 2026-11.
const std::array<Nova, 3> kNova = {
    {{"nova-micro", {1, 2, 4, 8, 16, 32}}, {"nova-lite", {1, 4, 8, 16, 32}}, {"nova-pro", {6, 12, 24}}}};
constexpr std::array<std::int64_t, 5> kNovaBatches = {16, 32, 64, 128, 256};

void nova(const CheckInput& in, Report& report) {
  const std::string_view type = run_model_type(in);
  // Evaluations ship with one replica. Source: recipes_collection/recipes/evaluation/nova, read 2026-11-22.
  if (type.find("nova") == std::string_view::npos || in.job.root().has("evaluation")) return;
  const Node* replicas = in.job.root().at({"run", "replicas"});
  // 0 where it is not stated, which no recipe allows and no finding is about.
  const std::int64_t n = replicas == nullptr ? 0 : integer_of(*replicas).value_or(0);
  for (const Nova& known : kNova) {
    // Version 2 has other sizes, which its recipes do not list.
    if (type.find(known.model) == std::string_view::npos || type.find("nova-2") != std::string_view::npos) continue;
    if (n == 0 || std::find(known.replicas.begin(), known.replicas.end(), n) != known.replicas.end()) continue;
    std::vector<std::string> allowed;
    for (const std::int64_t count : known.replicas) allowed.push_back(count_text(count));
    report.at(*replicas, {count_text(n) + " replicas", list_text(allowed)});
  }
  const Node* batch = in.job.root().at({"training_config", "global_batch_size"});
  const std::int64_t g = batch == nullptr ? 0 : integer_of(*batch).value_or(0);
  if (g != 0 && std::find(kNovaBatches.begin(), kNovaBatches.end(), g) == kNovaBatches.end()) {
    report.at(*batch, {"a global batch of " + count_text(g), "16, 32, 64, 128 or 256"});
  }
}

void titan_expert_tensor(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.expert_tensor || s.expert.value_or(1) <= 1) return;
  const std::int64_t tp = s.tensor.value_or(1);
  if (*s.expert_tensor != 1 && *s.expert_tensor != tp) {
    report.at(s.expert_tensor, {count_text(*s.expert_tensor), count_text(tp)});
  }
}

/// A table of the file, and its keys between blanks.
struct TitanSection {
  std::string_view path;
  std::string_view keys;
};
/// Source: TorchTitan v0.2.2, config/job_config.py.
constexpr TitanSection kTitan[] = {
    {"",
     "job profiling metrics model optimizer lr_scheduler training parallelism checkpoint activation_checkpoint"
     " compile quantize comm memory_estimation fault_tolerance experimental validation debug"},
    {"activation_checkpoint",
     "mode selective_ac_option per_op_sac_force_recompute_mm_shapes_by_fqns early_stop memory_budget "
     "visualize_memory_budget_pareto preserve_rng_state determinism_check debug"},
    {"checkpoint",
     "enable enable_ft_dataloader_checkpoints folder interval initial_load_path initial_load_model_only "
     "initial_load_in_hf initial_load_in_hf_quantized last_save_model_only last_save_in_hf export_dtype "
     "async_mode keep_latest_k load_step exclude_from_loading enable_first_step_checkpoint "
     "create_seed_checkpoint load_only"},
    {"comm",
     "init_timeout_seconds train_timeout_seconds trace_buf_size save_traces_folder save_traces_file_prefix "
     "mode"},
    {"compile", "enable components backend"},
    {"debug", "seed deterministic deterministic_warn_only moe_force_load_balance"},
    {"experimental", "custom_import custom_args_module"},
    {"fault_tolerance",
     "enable process_group process_group_timeout_ms replica_id group_size min_replica_size semi_sync_method"},
    {"job", "config_file dump_folder description print_config save_config_file custom_config_module"},
    {"lr_scheduler", "warmup_steps total_steps decay_ratio decay_type min_lr_factor"},
    {"memory_estimation", "enable disable_fake_mode"},
    {"metrics", "log_freq enable_tensorboard disable_color_printing save_tb_folder save_for_all_ranks enable_wandb"},
    {"model", "name flavor hf_assets_path tokenizer_path converters print_after_conversion"},
    {"optimizer", "name lr beta1 beta2 eps weight_decay implementation early_step_in_backward"},
    {"parallelism",
     "data_parallel_replicate_degree data_parallel_shard_degree fsdp_reshard_after_forward "
     "tensor_parallel_degree disable_loss_parallel enable_async_tensor_parallel pipeline_parallel_degree "
     "module_fqns_per_model_part pipeline_parallel_first_stage_less_layers "
     "pipeline_parallel_last_stage_less_layers pipeline_parallel_layers_per_stage pipeline_parallel_schedule "
     "pipeline_parallel_schedule_csv pipeline_parallel_microbatch_size "
     "pipeline_parallel_expert_parallel_overlap context_parallel_degree context_parallel_load_balancer "
     "context_parallel_rotate_method expert_parallel_degree expert_tensor_parallel_degree "
     "expert_parallel_comm_backend"},
    {"profiling",
     "enable_profiling save_traces_folder profile_freq profiler_active profiler_warmup enable_memory_snapshot "
     "save_memory_snapshot_folder"},
    {"quantize", "linear grouped_mm"},
    {"quantize.grouped_mm", "float8 mx"},
    {"quantize.grouped_mm.float8", "fqns"},
    {"quantize.grouped_mm.mx", "recipe_name fqns"},
    {"quantize.linear", "float8 mx"},
    {"quantize.linear.float8",
     "enable_fsdp_float8_all_gather precompute_float8_dynamic_scale_for_fsdp recipe_name filter_fqns emulate"},
    {"quantize.linear.mx", "mxfp8_dim1_cast_kernel_choice recipe_name filter_fqns"},
    {"training",
     "dataset dataset_path local_batch_size global_batch_size seq_len max_norm steps enable_cpu_offload dtype "
     "mixed_precision_param mixed_precision_reduce gc_freq gc_debug dataloader"},
    {"training.dataloader", "num_workers persistent_workers pin_memory prefetch_factor"},
    {"validation", "enable dataset dataset_path local_batch_size seq_len freq steps dataloader"},
    {"validation.dataloader", "num_workers persistent_workers pin_memory prefetch_factor"},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// config/manager.py refuses fields that the dataclasses lack.
void titan_keys(const Node& section, const std::string& path, Report& report) {
  const auto known = std::find_if(std::begin(kTitan), std::end(kTitan), [&](const auto& s) { return s.path == path; });
  if (known == std::end(kTitan) || !section.is_object()) return;
  const std::vector<std::string> keys = words(known->keys);
  for (const Node& entry : section.items) {
    if (contains(keys, entry.key)) {
      titan_keys(entry, path.empty() ? entry.key : path + '.' + entry.key, report);
      continue;
    }
    // Whole sections may be brought by --job.custom_config_module on the command line.
    const auto slip = [&](const std::string& key) { return one_slip_apart(entry.key, key); };
    if (path.empty() && std::none_of(keys.begin(), keys.end(), slip)) continue;
    Finding& finding =
        report.at(entry, {(path.empty() ? "there is no section " : path + " has no key ") + quote(entry.key)});
    const auto near = nearest_names(entry.key, keys, 1);
    finding.fix = near.empty() ? "delete it" : "did you mean " + near.front() + "?";
  }
}

void titan_values(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const Node* mode = root.at({"activation_checkpoint", "mode"});
  static const std::vector<std::string> kModes = {"selective", "full", "memory_budget", "none"};
  if (mode != nullptr && !is_placeholder(mode->text) && !contains(kModes, mode->text)) {
    report.at(*mode, {"there is no mode " + quote(mode->text)}).fix = "use one of " + list_text(kModes);
  }
  static const std::vector<std::string> kConverters = {"quantize.linear.float8", "quantize.grouped_mm.float8",
                                                       "quantize.linear.mx", "quantize.grouped_mm.mx"};
  const Node* converters = root.at({"model", "converters"});
  // A module of one's own may register others.
  if (converters != nullptr && !root.at({"experimental", "custom_import"})) {
    for (const Node& converter : converters->items) {
      if (!contains(kConverters, converter.text)) {
        report.at(converter, {"there is no converter " + quote(converter.text)}).fix =
            "use one of " + list_text(kConverters);
      }
    }
  }
}

/// Models whose attention cannot be cut by context raise NotImplementedError. Source: TorchTitan v0.2.2,
/// models/deepseek_v3/infra/parallelize.py, models/llama4/model/args.py, models/gpt_oss/model/args.py.
void titan_context(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const Node* name = in.job.root().at({"model", "name"});
  const Node* flavor = in.job.root().at({"model", "flavor"});
  if (s.context.value_or(1) <= 1 || name == nullptr || flavor == nullptr) return;
  const bool flex = (name->text == "deepseek_v3" && flavor->text != "debugmodel") ||
                    (name->text == "llama4" && flavor->text.ends_with("_irope")) || name->text == "gpt_oss";
  if (!flex) return;
  report
      .at(s.context, {name->text + " " + flavor->text + " has no context parallelism: its attention is FlexAttention"})
      .fix = "use context_parallel_degree = 1, and tensor or pipeline ranks";
}

/// The default is a fixture of 2000 rows. Its loader reads any folder that a path names.
void titan_data(const CheckInput& in, Report& report) {
  const Node* training = in.job.root().find("training");
  if (training == nullptr || in.job.root().at({"experimental", "custom_import"}) != nullptr) return;
  const Node* dataset = training->find("dataset");
  if (training->find("dataset_path") != nullptr) return;
  if (dataset != nullptr && dataset->text != "c4_test") return;
  Finding& finding =
      report.at(dataset == nullptr ? *training : *dataset, {"training reads c4_test, a fixture of 2000 rows"});
  finding.severity = Severity::Warning;
  finding.fix = "name the dataset and its dataset_path";
}

void titan_file(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const bool extended = root.at({"experimental", "custom_args_module"}) || root.at({"job", "custom_config_module"});
  if (!extended) titan_keys(root, "", report);
  titan_values(in, report);
  titan_context(in, report);
  titan_data(in, report);
}

void titan_version(const CheckInput& in, Report& report) {
  const std::string& version = *in.facts.torchtitan;
  if (version == "HEAD" || version == "main" || version_before("0.2.2", version)) {
    report.at(in.job.root().where, {version});
  }
}

bool flag(const CheckInput& in, std::string_view name) {
  const Node* node = in.job.root().find(name);
  return node != nullptr && truth_of(*node) != false;
}

void distributed_optimizer(const CheckInput& in, Report& report) {
  const bool optimizer = flag(in, "use-distributed-optimizer");
  if (flag(in, "overlap-param-gather") && (!optimizer || !flag(in, "overlap-grad-reduce"))) {
    report.at(*in.job.root().find("overlap-param-gather"),
              {"overlap-param-gather",
               std::string("needs ") + (optimizer ? "--overlap-grad-reduce" : "--use-distributed-optimizer")});
  }
  for (const std::string_view name : {"fp8-param-gather", "fp4-param-gather"}) {
    const bool sharded = optimizer || flag(in, "use-torch-fsdp2") || flag(in, "use-megatron-fsdp");
    if (flag(in, name) && !sharded) {
      report.at(*in.job.root().find(name), {std::string(name), "needs --use-distributed-optimizer"});
    }
  }
}

/// TransformerConfig.__post_init__ raises on both.
void offloaded_activations(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.activation_offload.is(true)) return;
  const auto exclude = [&](const char* what, const char* fix) {
    report.at(s.activation_offload, {"cpu-offloading-num-layers", what}).fix = fix;
  };
  if (s.pipeline.value_or(1) > 1) exclude("excludes a pipeline", "drop it, or use --pipeline-model-parallel-size 1");
  if (s.recompute && *s.recompute != "none") exclude("excludes recomputation", "keep one of them");
}

/// The offloaded optimizer is built on the precision-aware one, and that on the distributed one.
void offloaded_optimizer(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (flag(in, "optimizer-cpu-offload") && !flag(in, "use-precision-aware-optimizer")) {
    report.at(*root.find("optimizer-cpu-offload"), {"optimizer-cpu-offload", "needs --use-precision-aware-optimizer"});
  }
  if (flag(in, "use-precision-aware-optimizer") && !flag(in, "use-distributed-optimizer") &&
      !flag(in, "use-megatron-fsdp")) {
    report.at(*root.find("use-precision-aware-optimizer"),
              {"use-precision-aware-optimizer", "needs --use-distributed-optimizer"});
  }
}

void recomputation(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const Node* granularity = root.find("recompute-granularity");
  if (granularity == nullptr || is_placeholder(granularity->text)) return;
  const auto fault = [&](std::string text, std::string fix) {
    report.at(*granularity, {"recompute-granularity", std::move(text)}).fix = std::move(fix);
  };
  const bool method = root.has("recompute-method");
  const bool layers = root.has("recompute-num-layers");
  if (granularity->text == "full") {
    if (!method) fault("full needs --recompute-method", "add --recompute-method uniform or block");
    if (!layers) fault("full needs --recompute-num-layers", "add --recompute-num-layers 1");
  } else if (granularity->text == "selective") {
    if (layers) fault("selective excludes --recompute-num-layers", "drop the number of layers");
  } else {
    fault("must be full or selective, is " + quote(granularity->text), "write full or selective");
  }
}

void sequence_of_positions(const CheckInput& in, Report& report) {
  const Node* positions = in.job.root().find("max-position-embeddings");
  const auto n = positions == nullptr ? std::nullopt : integer_of(*positions);
  const Count& length = in.job.strategy.sequence_length;
  if (!n || !length || *n >= *length) return;
  report.at(*positions, {"max-position-embeddings", count_text(*n) + " is below --seq-length " + count_text(*length)})
      .fix = "raise it to the sequence length";
}

/// Options that stand in most argument lists, each longer than a slip. No other option of Megatron-LM d98e8a6 is one
/// letter away from one of them.
constexpr std::array<std::string_view, 52> kCommonOptions = {"attention-backend",
                                                             "attention-dropout",
                                                             "context-parallel-size",
                                                             "cpu-offloading-num-layers",
                                                             "data-path",
                                                             "disable-bias-linear",
                                                             "distributed-backend",
                                                             "expert-model-parallel-size",
                                                             "expert-tensor-parallel-size",
                                                             "ffn-hidden-size",
                                                             "global-batch-size",
                                                             "group-query-attention",
                                                             "hidden-dropout",
                                                             "hidden-size",
                                                             "kv-channels",
                                                             "max-position-embeddings",
                                                             "micro-batch-size",
                                                             "moe-ffn-hidden-size",
                                                             "moe-grouped-gemm",
                                                             "moe-router-topk",
                                                             "moe-token-dispatcher-type",
                                                             "multi-latent-attention",
                                                             "normalization",
                                                             "num-attention-heads",
                                                             "num-distributed-optimizer-instances",
                                                             "num-experts",
                                                             "num-layers",
                                                             "num-query-groups",
                                                             "num-virtual-stages-per-pipeline-rank",
                                                             "optimizer-cpu-offload",
                                                             "optimizer-offload-fraction",
                                                             "overlap-grad-reduce",
                                                             "overlap-param-gather",
                                                             "pipeline-model-parallel-layout",
                                                             "pipeline-model-parallel-size",
                                                             "position-embedding-type",
                                                             "recompute-granularity",
                                                             "recompute-method",
                                                             "recompute-num-layers",
                                                             "rotary-base",
                                                             "rotary-percent",
                                                             "save-interval",
                                                             "seq-length",
                                                             "sequence-parallel",
                                                             "tensor-model-parallel-size",
                                                             "tokenizer-model",
                                                             "tokenizer-type",
                                                             "train-iters",
                                                             "transformer-impl",
                                                             "untie-embeddings-and-output-weights",
                                                             "use-distributed-optimizer",
                                                             "use-precision-aware-optimizer"};

void misspelt_options(const CheckInput& in, Report& report) {
  for (const Node& option : in.job.root().items) {
    const std::string_view meant = one_slip_from(option.key, kCommonOptions);
    // What ends in a digit (--data-path2) or in a shell's bracket is no slip.
    const bool ends_in_letter = !option.key.empty() && option.key.back() >= 'a' && option.key.back() <= 'z';
    if (meant.empty() || !ends_in_letter) continue;
    report.at(option, {option.key, "is no option of Megatron"}).fix = "did you mean --" + std::string(meant) + "?";
  }
}

void repeated_options(const CheckInput& in, Report& report) {
  for (const Node& option : in.job.root().items) {
    if (option.overridden_line == 0) continue;
    Finding& finding = report.at(option, {option.key, "overrides that of line " + count_text(option.overridden_line)});
    finding.severity = Severity::Warning;
    finding.fix = "keep one of them";
  }
}

void megatron_options(const CheckInput& in, Report& report) {
  distributed_optimizer(in, report);
  offloaded_activations(in, report);
  offloaded_optimizer(in, report);
  recomputation(in, report);
  sequence_of_positions(in, report);
  misspelt_options(in, report);
  repeated_options(in, report);
}

void ignored_with_recipe(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (is_absent(root.find("training_recipe"))) return;
  for (const std::string_view name : {"entry_point", "hyperparameters", "distribution"}) {
    const Node* node = root.find(name);
    if (!is_absent(node)) report.at(*node, {std::string(name)});
  }
}

constexpr Rule kRules[] = {
    {"C175", Severity::Error, "Recipe",
     "a key of the model is unknown, or fine-tuning, data or FP8 lack what they need", "recipe: {}",
     "see the adapter's schema", "HyperPod training adapter for NeMo 1.4.0, config_schemas.py, executed 2026-11-20",
     kRecipe, Need::Nothing, recipe_keys},
    {"C176", Severity::Warning, "Nodes of a recipe", "instance_count and the recipe's trainer.num_nodes differ",
     "trainer.num_nodes {} is ignored: the job has {} instances", "make them agree",
     "SageMaker Python SDK v2.257.6, pytorch/estimator.py", kEstimator, Need::Nothing, recipe_nodes},
    {"C177", Severity::Error, "Nova recipe", "replicas or global batch are not in the recipe's lists",
     "{} is not allowed; {} are", "use an allowed value",
     "aws/sagemaker-hyperpod-recipes, recipes/fine-tuning/nova (2026)", kRecipe, Need::Nothing, nova},
    {"C178", Severity::Error, "Expert tensor degree",
     "TorchTitan's expert tensor degree is neither 1 nor the tensor degree",
     "an expert tensor degree of {} is neither 1 nor the tensor degree {}", "use 1, or the tensor degree",
     "TorchTitan v0.2.2, parallel_dims.py", kTorchTitan, Need::Nothing, titan_expert_tensor},
    {"C179", Severity::Warning, "TOML for a newer TorchTitan", "the TOML is for a TorchTitan after v0.2.x",
     "TorchTitan {} reads no TOML: its configurations are Python since 2026", "pin v0.2.2",
     "pytorch/torchtitan, HEAD of 2026-08", kTorchTitan, Need::TorchTitanVersion, titan_version},
    {"C180", Severity::Error, "Options of Megatron",
     "an option lacks another that it needs (overlapped or low-precision gathering, an offloaded optimizer, full "
     "recomputation), activations are offloaded in a pipeline or beside recomputation, the sequence is longer than the "
     "positions, a name is misspelt, or an option stands twice (a warning)",
     "--{} {}", "add the option", "Megatron-LM d98e8a6 (2026-08-22), arguments.py and transformer_config.py", kMegatron,
     Need::Nothing, megatron_options},
    {"C181", Severity::Warning, "Arguments beside a recipe",
     "training_recipe stands with entry_point, hyperparameters or distribution", "{} is ignored beside training_recipe",
     "put it into recipe_overrides, or drop the recipe", "SageMaker Python SDK v2.257.6, pytorch/estimator.py",
     kEstimator, Need::Nothing, ignored_with_recipe},
    {"C212", Severity::Error, "Keys of TorchTitan",
     "a section, key, mode or converter is none of TorchTitan's, the model cannot be cut by context, or (a warning) no "
     "data set is named",
     "{}", "see TorchTitan's job_config.py", "TorchTitan v0.2.2, config/job_config.py and models", kTorchTitan,
     Need::Nothing, titan_file},
};

}  // namespace

std::span<const Rule> trainer_file_rules() { return kRules; }

}  // namespace smplan
