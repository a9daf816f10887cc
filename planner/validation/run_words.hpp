#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/instance.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/stack.hpp"
#include "models/strategy.hpp"
#include "models/workload.hpp"

namespace smplan {

// Cells of a table of runs as people write them. nullopt: the words say nothing that is known.

/// `zero1`, `ZeRO-3`, `stage 2`, `2`, `FULL_SHARD`, `hsdp`, `ddp`, `distributed optimizer`. `fsdp` alone shards all
/// that it can, its default.
std::optional<Sharding> sharding_in(std::string_view words);
/// `SHARD_GRAD_OP` or `HSDP` among other words, where they say no other strategy beside it and do not deny it.
std::optional<Sharding> fsdp_strategy_in(std::string_view text);
/// The stage that a framework is called with: `HF + DeepSpeed ZeRO-1`.
std::optional<Sharding> zero_stage_in(std::string_view framework);

/// The one stage that notes speak of: `DeepSpeed ZeRO-2`, but not `ZeRO-2 and ZeRO-3`.
std::optional<Sharding> zero_stage_said(std::string_view notes);

/// `none`, `no recompute`, `selective (core attn)`, `full`, `uniform`, `yes`, `0`, or modules of Megatron Core, which
/// are selective.
std::optional<Recompute> recompute_in(std::string_view words);
/// `mla_up_proj,mlp`, each once, and none that a block of experts holds beside that block.
std::vector<LayerModule> modules_in(std::string_view list);

/// Whether a kernel of attention keeps no scores, by its name: `FA2`, `flash-attn 2.5`, `sdpa`, `cuDNN`, `xformers` do
/// not, `eager`, `unfused`, `sdpa (math)` do.
std::optional<bool> flash_attention_in(std::string_view words);

/// `1f1b`, `interleaved 1F1B`, `GPipe`, `zero-bubble`.
std::optional<Schedule> schedule_in(std::string_view words);

std::optional<Optimizer> optimizer_in(std::string_view words);
/// `optimizer+params`, `params (CPU)`, `cpu`, and what an optimizer's or a sharding's cell says of the host.
std::optional<Offload> offload_in(std::string_view words);
/// `bfloat16`, `bf16-mixed`, `mxfp8`.
std::optional<Precision> precision_in(std::string_view words);

/// `EFAv2`, `IB NDR`, `HDR200`, `RoCE`, `100GbE`: the network between nodes.
std::optional<NetworkKind> network_in(std::string_view words);
/// Gbit/s of a node: `8x400Gb/s`, `100GbE`, `EFA 3200 Gbps`, `50 GB/s`. A rate of InfiniBand or RoCE that is not
/// multiplied is one card's, which says nothing of how many there are, unless no card is so fast.
std::optional<double> network_gbps_in(std::string_view words);

/// What a figure of peak memory counts.
enum class MemoryKind {
  Unstated,   ///< what the stack writes itself, or nvidia-smi shows
  Allocated,  ///< by tensors: torch.cuda.max_memory_allocated
  Reserved,   ///< by the allocator, its free blocks too: torch.cuda.max_memory_reserved
  Device,     ///< by the process, its context and libraries too: nvidia-smi, NVML
};
/// `max_allocated`, `torch.cuda.max_memory_reserved`, `peak active`, `nvidia-smi`. Empty and `unknown` are Unstated.
std::optional<MemoryKind> memory_kind_in(std::string_view words);

/// What a rate of FLOPs counts.
enum class FlopsKind {
  Model,     ///< forward and backward once
  Hardware,  ///< what is recomputed too
};
/// `model`, `hardware`, `HFU`. Empty and `unknown` are Model.
std::optional<FlopsKind> flops_kind_in(std::string_view words);

/// `swiglu`, `GeGLU`: whether a gate stands beside the up projection.
bool is_gated(std::string_view mlp);

}  // namespace smplan
