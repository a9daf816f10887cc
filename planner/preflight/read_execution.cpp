// What the files of a job tell software: readers of catalogs/execution.hpp from each format.
#include <algorithm>
#include <string_view>
#include <vector>

#include "models/job/dimensions.hpp"
#include "planner/preflight/fields.hpp"

namespace smplan {
namespace {

/// The words of an argument, which is a list or one text.
std::vector<std::string_view> words_of(const Node* node) {
  std::vector<std::string_view> words;
  if (node == nullptr) return words;
  for (const Node& item : node->items) words.push_back(item.text);
  std::string_view text = node->text;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", "), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool names(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Names that are not known are passed over.
LayerModules modules_of(const Node* node) {
  LayerModules modules;
  for (const std::string_view name : words_of(node)) {
    if (const auto module = layer_module_from(name)) modules.add(*module);
  }
  return modules;
}

/// TrainingArguments' `fsdp`: `full_shard auto_wrap`.
bool trains_by_fsdp(const Node& h) {
  const Node* fsdp = h.find("fsdp");
  if (fsdp == nullptr || fsdp->is_null() || truth_of(*fsdp) == false) return false;
  return !fsdp->text.empty() || truth_of(*fsdp) == true || !fsdp->items.empty();
}

bool accumulates(const Node& h) {
  return count_field(first_of(h, {"gradient_accumulation_steps", "gradient_accumulation"})).value_or(1) > 1;
}

/// GradientAccumulationPlugin's `sync_each_batch`, in Accelerate's file or in TrainingArguments' `accelerator_config`,
/// which may be JSON in a string.
bool syncs_each_batch(const Node* config) {
  if (config == nullptr) return false;
  if (config->is_string()) {
    const Result<Node> inside = parse_document(config->text, "accelerator_config", Syntax::Json);
    return inside && inside->is_object() && syncs_each_batch(&*inside);
  }
  const Node* own = config->at({"gradient_accumulation_kwargs", "sync_each_batch"});
  if (own == nullptr) own = config->find("sync_each_batch");
  return own != nullptr && truth_of(*own) == true;
}

CudaGraphs graphs_of(const Node& root) {
  const Text kind = text_field(root.find("cuda-graph-impl"));
  const std::vector<std::string_view> scope = words_of(root.find("cuda-graph-scope"));
  if (!kind || *kind == "none") return CudaGraphs::Default;
  if (names(scope, "full_iteration")) return CudaGraphs::Iteration;
  return names(scope, "moe_router") ? CudaGraphs::Router : CudaGraphs::Layers;
}

}  // namespace

/// NVIDIA/Megatron-LM d98e8a6, megatron/training/arguments.py. An argument list says all: what it leaves out is off.
Execution megatron_execution(const Node& root) {
  Execution e;
  const auto flag = [&](std::string_view name) { return is_not_off(root.find(name)); };
  const auto word = [&](std::string_view name) { return text_field(root.find(name)); };
  if (!flag("overlap-grad-reduce")) e.gradient_overlap = Toggle::Off;
  const Count tensor = count_field(root.find("tensor-model-parallel-size"));
  if (tensor.value_or(1) > 1 && !flag("tp-comm-overlap")) e.tensor_overlap = TensorOverlap::Off;
  if (flag("cross-entropy-loss-fusion")) e.loss_kernel = LossKernel::Fused;
  if (word("attention-backend").is("unfused")) e.flash_attention = Toggle::Off;
  if (word("attention-backend").is("flash")) e.flash_attention = Toggle::On;
  if (word("cp-comm-type").is("a2a")) e.context_exchange = ContextExchange::AllToAll;
  if (word("moe-token-dispatcher-type").is("flex") || flag("moe-enable-deepep"))
    e.moe_dispatcher = MoeDispatcher::DeepEp;
  if (flag("overlap-moe-expert-parallel-comm")) e.expert_overlap = Toggle::On;
  if (flag("moe-router-force-load-balancing")) e.moe_router = MoeRouter::Balanced;
  if (flag("moe-router-fusion") && flag("moe-permute-fusion")) e.fused_routing = Toggle::On;
  e.cuda_graphs = graphs_of(root);
  e.recompute_modules = modules_of(root.find("recompute-modules"));
  if (flag("grad-reduce-in-bf16")) e.half_gradients = Toggle::On;
  const Text moments = word("exp-avg-dtype");
  if (moments.is("bf16") || moments.is("fp16")) e.half_moments = Toggle::On;
  const Count multiple = count_field(root.find("make-vocab-size-divisible-by"));
  if (multiple && *multiple > 0 && *multiple <= 1 << 20) e.vocab_multiple = static_cast<std::int32_t>(*multiple);
  return e;
}

/// The names of our own scripts, then TrainingArguments of transformers 4.5x.
Execution script_execution(const Node& h) {
  Strategy said;
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution) continue;
    if (row.kind == DimensionRow::Kind::Degree) {
      const Count count = count_field(h.find(row.keyword));
      if (count && *count >= row.least && *count <= row.most) row.set(said, static_cast<std::int32_t>(*count));
    } else if (const Text word = unquoted(text_field(h.find(row.keyword)))) {
      if (const auto value = row.words->parse(*word)) row.set(said, *value);
    }
  }
  Execution& e = said.execution;
  if (const Node* compile = h.find("torch_compile")) {
    if (const auto wanted = truth_of(*compile)) e.compile = *wanted ? Compile::Layers : Compile::Off;
  }
  if (is_not_off(first_of(h, {"use_liger_kernel", "use_liger"}))) {
    e.liger_kernels = Toggle::On;
    e.loss_kernel = LossKernel::Linear;
  }
  const Count steps = count_field(h.find("torch_empty_cache_steps"));
  if (steps && *steps > 0) e.empty_cache = Toggle::On;
  if (const Text attention = text_field(first_of(h, {"attn_implementation", "attn-implementation"}))) {
    if (attention.is("eager")) e.flash_attention = Toggle::Off;
    const DimensionRow& kernel = row_of(Dimension::AttentionKernel);
    if (const auto named = kernel.words->parse(*attention)) kernel.set(said, *named);
  }
  if (trains_by_fsdp(h) && accumulates(h) && !syncs_each_batch(h.find("accelerator_config"))) {
    e.unsharded_gradients = Toggle::On;
  }
  const Node* reentrant = h.at({"gradient_checkpointing_kwargs", "use_reentrant"});
  if (reentrant != nullptr && truth_of(*reentrant) == true) e.reentrant_checkpoint = Toggle::On;
  return e;
}

/// pytorch/torchtitan v0.2.2, config/job_config.py.
Execution torchtitan_execution(const Node& root) {
  Execution e;
  const Node* compile = root.find("compile");
  const bool compiles = compile != nullptr && is_not_off(compile->find("enable"));
  e.compile = compiles ? Compile::Default : Compile::Off;
  if (compiles) {
    const std::vector<std::string_view> components = words_of(compile->find("components"));
    if (!components.empty()) e.compile = names(components, "loss") ? Compile::LayersAndLoss : Compile::Layers;
  }
  if (is_not_off(root.at({"parallelism", "enable_async_tensor_parallel"}))) e.tensor_overlap = TensorOverlap::Async;
  return e;
}

/// huggingface/accelerate 1.x: `dynamo_config` of its configuration file. Micro-batches before the last of a step run
/// under no_sync, so that every rank of FSDP holds whole gradients; without accumulation that changes nothing.
Execution accelerate_execution(const Node& root) {
  Execution e;
  const Count steps = count_field(root.find("gradient_accumulation_steps"));
  if (text_field(root.find("distributed_type")).is("FSDP") && steps.value_or(2) > 1 && !syncs_each_batch(&root)) {
    e.unsharded_gradients = Toggle::On;
  }
  const Text backend = text_field(root.at({"dynamo_config", "dynamo_backend"}));
  if (backend) e.compile = *backend == "NO" || *backend == "no" ? Compile::Off : Compile::Layers;
  return e;
}

/// DeepSpeed 0.19.5, `zero_optimization`.
Execution deepspeed_execution(const Node& root) {
  constexpr std::int64_t kMost = 2'000'000'000;
  Execution e;
  const Count bucket = count_field(root.at({"zero_optimization", "reduce_bucket_size"}));
  if (bucket && *bucket > 0 && *bucket <= kMost) e.reduce_bucket = static_cast<std::int32_t>(*bucket);
  return e;
}

}  // namespace smplan
