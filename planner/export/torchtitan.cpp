#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

// Names of keys: pytorch/torchtitan v0.2.2, torchtitan/config/job_config.py. Later versions read Python, not TOML.

namespace smplan {
namespace {
struct Flavor {
  std::string_view preset;
  std::string_view model;
  std::string_view flavor;
};

/// Models whose attention (FlexAttention, sinks) raises where a context is cut. Source: torchtitan v0.2.2,
/// models/deepseek_v3/infra/parallelize.py and gpt_oss/model/args.py.
constexpr std::string_view kWholeContexts[] = {"deepseek_v3", "gpt_oss"};

/// Presets that TorchTitan names itself. Source: torchtitan v0.2.2, models/*/__init__.py.
constexpr Flavor kFlavors[] = {
    {"llama-3-8b", "llama3", "8B"},
    {"llama-3.1-8b", "llama3", "8B"},
    {"llama-3-70b", "llama3", "70B"},
    {"llama-3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3", "405B"},
    {"llama-4-scout", "llama4", "17bx16e"},
    {"llama-4-maverick", "llama4", "17bx128e"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3", "32B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B"},
    {"gpt-oss-20b", "gpt_oss", "20b"},
    {"gpt-oss-120b", "gpt_oss", "120b"},
};

/// Families whose layers one of its models has, so that a flavor of the right widths is all that is missing.
constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
    {"llama", "llama3"},    {"mistral", "llama3"},          {"qwen3", "qwen3"},
    {"qwen3_moe", "qwen3"}, {"deepseek_v3", "deepseek_v3"}, {"gpt_oss", "gpt_oss"}};

constexpr std::string_view kOwnFlavor = "smplan";

/// Whether TorchTitan's llama3 model is the plan's, once it is given the plan's widths.
bool is_plain_llama(const Architecture& a) {
  const bool biased = a.qkv_bias || a.attention_output_bias || a.mlp_bias || a.qk_norm;
  return a.norm == NormKind::RmsNorm && a.positions == PositionEncoding::Rope && a.rotary_base > 0 && a.gated_mlp &&
         !a.is_moe() && !biased && !a.tied_embeddings && !a.has_latent_attention() && !a.has_state_mixer() &&
         a.head_dim * a.n_heads == a.hidden && a.sliding_window == 0;
}

/// The same of its qwen3 model: a norm on queries and keys, any width of heads, experts in every layer or in none.
bool is_plain_qwen3(const Architecture& a) {
  const bool biased = a.qkv_bias || a.attention_output_bias || a.mlp_bias;
  const bool experts = !a.is_moe() || (a.moe.n_shared_experts == 0 && a.moe.layer_stride == 1 && !a.moe.expert_bias &&
                                       a.moe.n_leading_dense_layers == 0 && a.moe.latent_hidden == 0);
  return a.norm == NormKind::RmsNorm && a.positions == PositionEncoding::Rope && a.rotary_base > 0 && a.gated_mlp &&
         a.qk_norm && !biased && experts && !a.has_latent_attention() && !a.has_state_mixer() && a.sliding_window == 0;
}

std::string register_qwen3(const Architecture& a) {
  std::string text =
      "from torchtitan.models.moe import MoEArgs\n"
      "from torchtitan.models.qwen3 import Qwen3ModelArgs, qwen3_args\n\n";
  text += fmt::format(
      "qwen3_args[\"{}\"] = Qwen3ModelArgs(\n"
      "    dim={}, n_layers={}, n_heads={}, n_kv_heads={}, head_dim={}, hidden_dim={}, vocab_size={},\n"
      "    rope_theta={:g}, qk_norm=True, enable_weight_tying={},\n",
      kOwnFlavor, a.hidden, a.n_layers, a.n_heads, a.n_kv_heads, a.head_dim,
      a.is_moe() && a.ffn_hidden == 0 ? a.moe.expert_ffn_hidden : a.ffn_hidden, a.vocab, a.rotary_base,
      a.tied_embeddings ? "True" : "False");
  if (a.is_moe()) {
    text += fmt::format(
        "    moe_enabled=True, moe_inter_dim={},\n"
        "    moe_args=MoEArgs(num_experts={}, num_shared_experts=0, top_k={}, score_func=\"softmax\", "
        "route_norm=True,\n"
        "                     score_before_experts=False),\n",
        a.moe.expert_ffn_hidden, a.moe.n_experts, a.moe.top_k);
  }
  return text + ")\n";
}

/// Python that registers a flavor of llama3 with the plan's widths. TorchTitan derives the width of the MLP from that
/// of the model, rounded up to a multiple: half of the plan's, rounded up to the plan's.
std::string register_flavor(const TrainingPlan& plan) {
  const Architecture& a = plan.model;
  return fmt::format(
      "from torchtitan.models.llama3 import TransformerModelArgs, llama3_args\n"
      "from torchtitan.models.llama3.model.args import RoPEScalingArgs\n\n"
      "llama3_args[\"{}\"] = TransformerModelArgs(\n"
      "    dim={}, n_layers={}, n_heads={}, n_kv_heads={}, vocab_size={},\n"
      "    multiple_of={}, ffn_dim_multiplier=3 * {} / (16 * {}),\n"
      "    rope_theta={:g}, rope_scaling_args=RoPEScalingArgs(scaling_factor=1.0),\n)\n",
      kOwnFlavor, a.hidden, a.n_layers, a.n_heads, a.n_kv_heads, a.vocab, a.ffn_hidden, a.ffn_hidden, a.hidden,
      a.rotary_base);
}

Json model_section(const TrainingPlan& plan, Export& out, Diagnostics& faults) {
  Json model;
  for (const Flavor& known : kFlavors) {
    if (known.preset != plan.model.name) continue;
    model["name"] = known.model;
    model["flavor"] = known.flavor;
  }
  for (const auto& family : kFamilies) {
    if (!model.empty() || family.first != plan.model.model_type()) continue;
    model["name"] = family.second;
    if ((family.second == "llama3" && is_plain_llama(plan.model)) ||
        (family.second == "qwen3" && is_plain_qwen3(plan.model))) {
      model["flavor"] = kOwnFlavor;
      continue;
    }
    model["flavor"] = "REPLACE-ME-flavor";
    out.placeholders.push_back(
        {"REPLACE-ME-flavor",
         fmt::format("a flavor that you register with {} layers of width {}, {} heads, {} key-value heads",
                     plan.model.n_layers, plan.model.hidden, plan.model.n_heads, plan.model.n_kv_heads)});
  }
  if (model.empty()) {
    faults.push_back({"not-expressible", "--target",
                      fmt::format("torchtitan implements no {} model", plan.model.model_type()),
                      "export to fsdp or megatron"});
  }
  const std::string name = model["name"].is_string() ? model["name"].text() : "";
  if (plan.strategy.context_parallel > 1 &&
      std::find(std::begin(kWholeContexts), std::end(kWholeContexts), name) != std::end(kWholeContexts)) {
    faults.push_back({"not-expressible", "--target",
                      fmt::format("torchtitan has no context parallelism for {}", plan.model.name),
                      "plan with --cp 1, or export to megatron"});
  }
  model["hf_assets_path"] = "REPLACE-ME-tokenizer";
  out.placeholders.push_back({"REPLACE-ME-tokenizer", "folder of the tokenizer's files"});
  // The names of the converters' registry (components/quantization/float8.py); upstream's own TOMLs keep older ones.
  model["converters"] = plan.precision == Precision::Fp8 ? Json::array({"quantize.linear.float8"}) : Json::array();
  return model;
}

/// Cut over whole tensor groups, experts lie over the sharding ranks; whole, over those and the tensor ranks. There is
/// nothing between (parallel_dims.py).
std::int64_t expert_tensor(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  const std::int64_t ranks = s.shard_degree;
  const std::int64_t split = std::int64_t{s.context_parallel} * s.tensor_parallel;
  const bool over_shards = s.expert_parallel % s.context_parallel == 0 && ranks % s.expert_parallel == 0;
  const bool over_all = s.expert_parallel % split == 0 && ranks * s.tensor_parallel % s.expert_parallel == 0;
  if (s.expert_tensor() == s.tensor_parallel && over_shards) return s.tensor_parallel;
  if (s.expert_tensor() == 1 && over_all) return 1;
  faults.push_back({"not-expressible", "--target",
                    fmt::format("torchtitan cannot lay {} expert ranks, each expert cut over {}, over sharding {} x "
                                "context {} x tensor {}",
                                s.expert_parallel, s.expert_tensor(), ranks, s.context_parallel, s.tensor_parallel),
                    "plan with --etp as large as --tp and a --shard-degree that is a multiple of --ep, or with an --ep "
                    "that is a multiple of --cp x --tp"});
  return 1;
}

std::string_view schedule_name(const Strategy& s) {
  switch (s.schedule) {
    case Schedule::GPipe:
      return "GPipe";
    case Schedule::Interleaved:
      return "Interleaved1F1B";
    case Schedule::ZeroBubble:
      return "ZBVZeroBubble";
    case Schedule::OneFOneB:
      break;
  }
  return "1F1B";
}

/// TorchTitan weighs embedding and head as a layer each, and derives the stages from the layers of one, rounded up
/// (distributed/pipeline_parallel.py). Where the layers divide, the plan counts on equal stages: weights of nothing.
void add_stages(const TrainingPlan& plan, Json& out, Diagnostics& faults) {
  const std::int64_t chunks = std::int64_t{plan.strategy.pipeline_parallel} * plan.strategy.virtual_pipeline;
  const bool even = plan.model.n_layers % chunks == 0;
  if (even) {
    out["pipeline_parallel_first_stage_less_layers"] = 0;
    out["pipeline_parallel_last_stage_less_layers"] = 0;
  }
  if (plan.strategy.virtual_pipeline == 1) return;
  const std::int64_t weight = plan.model.n_layers + (even ? 0 : 2);
  const std::int64_t per_stage = (weight + chunks - 1) / chunks;
  const std::int64_t stages = (weight + per_stage - 1) / per_stage;
  if (stages != chunks) {
    faults.push_back(
        {"not-expressible", "--target",
         fmt::format("torchtitan cuts {} layers into {} stages, not into {}", plan.model.n_layers, stages, chunks),
         "plan with --vpp 1, or with a --vpp that divides the layers of a stage"});
  }
  out["pipeline_parallel_layers_per_stage"] = per_stage;
}

Json parallelism(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  Json out;
  // TorchTitan shards over the context ranks too, and names only what comes on top of them.
  const std::int64_t shard = std::max(s.shard_degree, s.context_parallel);
  if (shard % s.context_parallel != 0) {
    faults.push_back({"not-expressible", "--target",
                      fmt::format("torchtitan shards over all {} context ranks, the plan over {}", s.context_parallel,
                                  s.shard_degree),
                      "plan with a --shard-degree that is a multiple of --cp"});
  }
  out["data_parallel_replicate_degree"] = plan.replicas() / shard;
  out["data_parallel_shard_degree"] = shard / s.context_parallel;
  out["fsdp_reshard_after_forward"] = s.sharding == Sharding::FsdpGradOp ? "never" : "always";
  out["tensor_parallel_degree"] = s.tensor_parallel;
  out["context_parallel_degree"] = s.context_parallel;
  out["pipeline_parallel_degree"] = s.pipeline_parallel;
  if (s.pipeline_parallel > 1) {
    out["pipeline_parallel_schedule"] = schedule_name(s);
    out["pipeline_parallel_microbatch_size"] = s.micro_batch;
    add_stages(plan, out, faults);
  }
  out["expert_parallel_degree"] = s.expert_parallel;
  if (s.expert_parallel > 1) out["expert_tensor_parallel_degree"] = expert_tensor(plan, faults);
  return out;
}

Json training(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  Json out;
  // The loader of its tests reads any folder, that of `c4` only a copy of allenai/c4 (hf_datasets/text_datasets.py).
  out["dataset"] = "c4_test";
  out["dataset_path"] = folders_of(plan).data;
  // A pipeline cuts the local batch into micro-batches; without one, TorchTitan accumulates up to the global batch.
  out["local_batch_size"] = s.pipeline_parallel > 1 ? s.micro_batch * plan.gradient_accumulation : s.micro_batch;
  out["global_batch_size"] = plan.global_batch;
  out["seq_len"] = plan.seq_len;
  out["steps"] = plan.steps();
  const bool full = plan.precision == Precision::Fp32;
  out["mixed_precision_param"] = full ? "float32" : "bfloat16";
  out["mixed_precision_reduce"] = "float32";
  out["enable_cpu_offload"] = s.offload.parameters;
  return out;
}

Json configuration(const TrainingPlan& plan, Export& out, Diagnostics& faults) {
  const Execution& e = plan.strategy.execution;
  Json config;
  config["job"]["dump_folder"] = folders_of(plan).model;
  config["model"] = model_section(plan, out, faults);
  config["optimizer"] = Json{{"name", "AdamW"}, {"lr", learning_rate(plan)}};
  config["training"] = training(plan);
  config["parallelism"] = parallelism(plan, faults);
  const Recompute r = plan.strategy.recompute;
  config["activation_checkpoint"]["mode"] = std::string(to_string(r));
  if (r == Recompute::Selective) config["activation_checkpoint"]["selective_ac_option"] = "op";
  config["compile"]["enable"] = e.compile != Compile::Off;
  if (e.compile == Compile::Layers) config["compile"]["components"] = {"model"};
  if (e.compile == Compile::LayersAndLoss) config["compile"]["components"] = {"model", "loss"};
  if (e.tensor_overlap == TensorOverlap::Async) config["parallelism"]["enable_async_tensor_parallel"] = true;
  config["checkpoint"] =
      Json{{"enable", true}, {"folder", folders_of(plan).checkpoints}, {"interval", plan.save_steps()}};
  return config;
}

}  // namespace

void check_torchtitan(const TrainingPlan& plan, Diagnostics& faults) {
  if (plan.strategy.tensor_parallel > 1 && !plan.strategy.sequence_parallel) {
    faults.push_back({"not-expressible", "--target", "torchtitan's tensor parallelism is always sequence parallel",
                      "plan with --sequence-parallel"});
  }
  if (plan.optimizer != Optimizer::AdamW) {
    faults.push_back({"not-expressible", "--target",
                      fmt::format("torchtitan has no optimizer {}", to_string(plan.optimizer)),
                      "plan with --optimizer adamw"});
  }
  const Execution& e = plan.strategy.execution;
  if (e.loss_kernel == LossKernel::Linear) {
    faults.push_back({"not-expressible", "--target", "torchtitan 0.2.2 has no loss that keeps no logits",
                      "plan with --fused-loss off"});
  }
  Export unused;
  configuration(plan, unused, faults);
}

void write_torchtitan(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const Json config = configuration(plan, out, faults);
  out.said = {Dimension::Compile, Dimension::TensorOverlap};
  out.files.push_back({"torchtitan.toml", commented(provenance_lines(job)) +
                                              "# For torchtitan 0.2.2; later versions read Python instead of TOML.\n" +
                                              toml_tables(config)});
  const bool own = config["model"]["flavor"] == Json(kOwnFlavor);
  out.files.push_back(
      framework_entry((!own                                       ? std::string()
                       : config["model"]["name"] == Json("qwen3") ? register_qwen3(plan.model)
                                                                  : register_flavor(plan)) +
                      "sys.argv = [\"torchtitan.train\", \"--job.config_file\", str(here / \"torchtitan.toml\")]\n"
                      "runpy.run_module(\"torchtitan.train\", run_name=\"__main__\")\n"));
  add_requirement(out, "torchtitan==0.2.2");
  out.notes.emplace_back(
      "requirements.txt installs torchtitan. The learning rate in [optimizer] is the usual one: choose yours.");
  out.notes.emplace_back(
      "c4_test is the loader that reads any folder: here the channel `train`, files with a column `text`, all of them "
      "before the first step. Register a loader that streams in torchtitan.hf_datasets.text_datasets for large data.");
}

}  // namespace smplan
