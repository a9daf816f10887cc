// TorchTitan's TOML.
#include <algorithm>
#include <iterator>

#include "base/words.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

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

/// config/manager.py refuses fields that the dataclasses lack.
void titan_keys(const Node& section, const std::string& path, Report& report) {
  const auto known = std::find_if(std::begin(kTitan), std::end(kTitan), [&](const auto& s) { return s.path == path; });
  if (known == std::end(kTitan) || !section.is_object()) return;
  const std::vector<std::string_view> found = words_of(known->keys);
  const std::vector<std::string> keys(found.begin(), found.end());
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

constexpr Rule kRules[] = {
    {"C178", Severity::Error, "Expert tensor degree",
     "TorchTitan's expert tensor degree is neither 1 nor the tensor degree",
     "an expert tensor degree of {} is neither 1 nor the tensor degree {}", "use 1, or the tensor degree",
     "TorchTitan v0.2.2, parallel_dims.py", kTorchTitan, Need::Nothing, titan_expert_tensor},
    {"C179", Severity::Warning, "TOML for a newer TorchTitan", "the TOML is for a TorchTitan after v0.2.x",
     "TorchTitan {} reads no TOML: its configurations are Python since 2026", "pin v0.2.2",
     "pytorch/torchtitan, HEAD of 2026-08", kTorchTitan, &Facts::torchtitan, titan_version},
    {"C212", Severity::Error, "Keys of TorchTitan",
     "a section, key, mode or converter is none of TorchTitan's, the model cannot be cut by context, or (a warning) no "
     "data set is named",
     "{}", "see TorchTitan's job_config.py", "TorchTitan v0.2.2, config/job_config.py and models", kTorchTitan,
     Need::Nothing, titan_file},
};

}  // namespace

std::span<const Rule> torchtitan_rules() { return kRules; }

}  // namespace smplan
