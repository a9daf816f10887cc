#include <utility>

#include <fmt/format.h>

#include "catalogs/model_modules.hpp"
#include "models/job/execution.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

// Written for torch.distributed.fsdp.fully_shard (FSDP2, public since PyTorch 2.6); SMDDP's last PyTorch has only
// FullyShardedDataParallel (FSDP1).

namespace smplan {
namespace {

std::string_view torch_dtype(Precision p) {
  switch (p) {
    case Precision::Fp16:
      return "torch.float16";
    case Precision::Fp32:
    case Precision::Tf32:
      return "torch.float32";
    default:
      return "torch.bfloat16";
  }
}

std::string_view strategy_name(const Strategy& s, std::int64_t replicas) {
  const bool hybrid = replicas > 1;
  if (s.sharding == Sharding::FsdpGradOp) return hybrid ? "_HYBRID_SHARD_ZERO2" : "SHARD_GRAD_OP";
  return hybrid ? "HYBRID_SHARD" : "FULL_SHARD";
}

/// The device type of the process. torch.accelerator came with PyTorch 2.6, SMDDP ended before and had CUDA only.
constexpr std::string_view kAnyAccelerator =
    "torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else \"cpu\"";
constexpr std::string_view kCudaOrCpu = "\"cuda\" if torch.cuda.is_available() else \"cpu\"";

/// Copies of the sharded states and the ranks that share one. An elastic job has fewer ranks at times: then fewer share
/// the only copy, or there are fewer copies.
std::pair<std::string, std::string> mesh_of(const TrainingPlan& plan) {
  const std::int64_t shards = plan.strategy.shard_degree;
  const std::int64_t copies = plan.replicas() / shards;
  const std::string ranks = fmt::format("int(os.environ.get(\"WORLD_SIZE\", \"{}\"))", plan.world_size());
  if (plan.recovery.mode != RecoveryMode::Elastic) return {fmt::format("{}", copies), fmt::format("{}", shards)};
  if (copies == 1) return {"1", ranks};
  return {fmt::format("{} // {}", ranks, shards), fmt::format("{}", shards)};
}

/// What mesh_of() needs.
std::string mesh_imports(const TrainingPlan& plan) {
  return plan.recovery.mode == RecoveryMode::Elastic ? "import os\n\n" : "";
}

std::string constants(const TrainingPlan& plan, std::string_view layer) {
  const bool smddp = plan.strategy.collectives == Collectives::Smddp;
  const auto [copies, shards] = mesh_of(plan);
  return fmt::format(
      "REPLICAS = {}  # copies of the sharded states\n"
      "SHARD_DEGREE = {}  # ranks that share one copy\n"
      "DEVICE = {}  # cuda, neuron, cpu\n"
      "MICRO_BATCH = {}\n"
      "GRADIENT_ACCUMULATION = {}  # with {} data-parallel ranks: {} sequences a step\n"
      "SAVE_INTERVAL = {}  # steps from one checkpoint to the next\n"
      "LAYER_CLASS = {}\n"
      "PARAM_DTYPE = {}\n",
      copies, shards, smddp ? kCudaOrCpu : kAnyAccelerator, plan.strategy.micro_batch, plan.gradient_accumulation,
      plan.strategy.data_parallel, plan.global_batch, plan.save_steps(), json_string(layer),
      torch_dtype(plan.precision));
}

constexpr std::string_view kMesh =
    "\n\ndef device_mesh():\n"
    "    if REPLICAS == 1:\n"
    "        return init_device_mesh(DEVICE, (SHARD_DEGREE,), mesh_dim_names=(\"shard\",))\n"
    "    return init_device_mesh(DEVICE, (REPLICAS, SHARD_DEGREE), mesh_dim_names=(\"replicate\", \"shard\"))\n"
    "\n\ndef is_layer(module):\n"
    "    return type(module).__name__ == LAYER_CLASS\n";

/// How the plan recomputes; applied before sharding, so that the wrapped layer is the unit.
std::string recompute(const Strategy& s) {
  if (s.recompute_layers > 0) {
    return fmt::format(
        "    recomputed = [module for module in model.modules() if is_layer(module)][:{}]\n"
        "    apply_activation_checkpointing(model, check_fn=lambda module: module in recomputed)\n",
        s.recompute_layers);
  }
  switch (s.recompute) {
    case Recompute::None:
      return "";
    case Recompute::Full:
      return "    apply_activation_checkpointing(model, check_fn=is_layer)\n";
    case Recompute::Selective:
      break;
  }
  return "    contexts = partial(create_selective_checkpoint_contexts, keep_matmuls)\n"
         "    wrapper = partial(checkpoint_wrapper, context_fn=contexts)\n"
         "    apply_activation_checkpointing(model, checkpoint_wrapper_fn=wrapper, check_fn=is_layer)\n";
}

std::string recompute_imports(Recompute mode) {
  if (mode == Recompute::None) return "";
  const std::string module =
      "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (\n"
      "    apply_activation_checkpointing,\n";
  if (mode == Recompute::Full) return module + ")\n";
  return "from functools import partial\n\n" + module +
         "    checkpoint_wrapper,\n)\n"
         "from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts\n";
}

constexpr std::string_view kKeepMatmuls =
    "\n\nMATMULS = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.bmm.default}\n"
    "\n\ndef keep_matmuls(context, op, *args, **kwargs):\n"
    "    return CheckpointPolicy.MUST_SAVE if op in MATMULS else CheckpointPolicy.PREFER_RECOMPUTE\n";

constexpr std::string_view kActivationOffload =
    "\n\ndef forward_context():\n"
    "    \"\"\"The plan keeps saved activations in host memory: run forward and backward inside this.\"\"\"\n"
    "    return torch.autograd.graph.save_on_cpu(pin_memory=True)\n";

std::string fsdp2(const TrainingPlan& plan, std::string_view layer) {
  const Strategy& s = plan.strategy;
  const bool fp8 = plan.precision == Precision::Fp8;
  const bool offload = s.offload.parameters;
  std::string text = mesh_imports(plan) + "import torch\n" + recompute_imports(s.recompute) +
                     "from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import ";
  text += offload ? "CPUOffloadPolicy, " : "";
  text += "MixedPrecisionPolicy, fully_shard\n";
  if (fp8) text += "from torchao.float8 import convert_to_float8_training\n";
  text += "\n" + constants(plan, layer) + std::string(kMesh);
  if (s.recompute == Recompute::Selective) text += kKeepMatmuls;
  if (s.offload.activations) text += kActivationOffload;
  text +=
      "\n\ndef apply(model):\n"
      "    \"\"\"Shards a model in place as planned; build the optimizer from its parameters afterwards.\"\"\"\n";
  if (fp8) text += "    convert_to_float8_training(model)\n";
  text += recompute(s);
  text += fmt::format(
      "    options = {{\n"
      "        \"mesh\": device_mesh(),\n"
      "        \"mp_policy\": MixedPrecisionPolicy(param_dtype=PARAM_DTYPE, reduce_dtype=PARAM_DTYPE),\n"
      "        \"reshard_after_forward\": {},\n{}"
      "    }}\n"
      "    layers = [module for module in model.modules() if is_layer(module)]\n"
      "    if not layers:\n"
      "        raise ValueError(f\"the model has no {{LAYER_CLASS}}: set LAYER_CLASS to the class of its layers\")\n"
      "    for layer in layers:\n{}"
      "        fully_shard(layer, **options)\n"
      "    fully_shard(model, **options)\n"
      "    return model\n",
      s.sharding == Sharding::FsdpGradOp ? "False" : "True",
      offload ? "        \"offload_policy\": CPUOffloadPolicy(),\n" : "",
      compiles_layers(s.execution) ? "        layer.compile()\n" : "");
  return text;
}

std::string fsdp1_smddp(const TrainingPlan& plan, std::string_view layer) {
  const Strategy& s = plan.strategy;
  return mesh_imports(plan) +
         "import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401, registers the backend\n"
         "import torch\n"
         "import torch.distributed as dist\n" +
         recompute_imports(s.recompute) +
         "from torch.distributed.device_mesh import init_device_mesh\n"
         "from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel, MixedPrecision, ShardingStrategy\n"
         "from torch.distributed.fsdp.wrap import CustomPolicy\n\n" +
         constants(plan, layer) + std::string(kMesh) +
         (s.offload.activations ? std::string(kActivationOffload) : std::string()) +
         fmt::format(
             "\n\ndef initialise():\n"
             "    \"\"\"Call first: collectives go over SMDDP.\"\"\"\n"
             "    dist.init_process_group(\"smddp\")\n"
             "\n\ndef apply(model):\n"
             "    \"\"\"The model, sharded as planned; build the optimizer from its parameters afterwards.\"\"\"\n"
             "    model = FullyShardedDataParallel(\n"
             "        model,\n"
             "        device_mesh=device_mesh(),\n"
             "        sharding_strategy=ShardingStrategy.{},\n"
             "        auto_wrap_policy=CustomPolicy(is_layer),\n"
             "        mixed_precision=MixedPrecision(param_dtype=PARAM_DTYPE, reduce_dtype=PARAM_DTYPE),\n"
             "        cpu_offload=CPUOffload(offload_params={}),\n"
             "        use_orig_params=True,\n"
             "        limit_all_gathers=True,\n"
             "    )\n{}"
             "    return model\n",
             strategy_name(s, plan.replicas() / s.shard_degree), s.offload.parameters ? "True" : "False", recompute(s));
}

}  // namespace

void write_fsdp(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  std::string_view layer = block_class_of(plan.model.model_type());
  if (layer.empty()) {
    layer = "REPLACE-ME-layer-class";
    out.placeholders.push_back({std::string(layer), "class of the model's layers, the unit of sharding"});
  }
  const bool smddp = plan.strategy.collectives == Collectives::Smddp;
  if (smddp && plan.strategy.recompute == Recompute::Selective) {
    faults.push_back({"not-expressible", "--target",
                      "PyTorch 2.2, the last with SMDDP, has no selective checkpointing (2.5 brought it)",
                      "plan with --recompute full or none, or with --collectives nccl"});
  }
  out.files.push_back(
      {"fsdp_strategy.py", commented(provenance_lines(job)) +
                               "# The training script calls apply(model) before it builds the optimizer.\n" +
                               (smddp ? fsdp1_smddp(plan, layer) : fsdp2(plan, layer))});
  if (plan.strategy.execution.compile == Compile::Layers && !smddp) out.said = {Dimension::Compile};
  out.script_notes.emplace_back(
      "The script imports fsdp_strategy and calls its apply(model) before it builds the optimizer.");
  if (plan.precision == Precision::Fp16) {
    out.script_notes.emplace_back("float16 overflows without a scaled loss: the script brings a gradient scaler.");
  }
  if (plan.finetune == FineTune::Qlora) {
    out.script_notes.emplace_back(
        "The script loads the weights in 4 bits, stored as the type they compute in (bnb_4bit_quant_storage): other "
        "storage cannot be sharded.");
  }
  if (plan.precision == Precision::Fp8) {
    add_requirement(out, pinned("torchao"));
  }
}

}  // namespace smplan
