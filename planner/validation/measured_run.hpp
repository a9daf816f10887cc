#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_reader.hpp"
#include "base/result.hpp"
#include "models/strategy.hpp"

namespace smplan {

/// One row of a table of measured training runs: the configuration as stated, nothing filled in.
/// Columns are documented in docs/validation.md; an empty cell is nullopt or an empty string.
struct MeasuredRun {
  std::size_t line = 0;
  std::string id, source, model, gpu, instance, network, framework, dtype, mlp, shard, recompute, schedule, offload,
      optimizer, tflops_kind, mem_kind, notes;
  /// Tables of fine-tuning memory: `full`, `lora`, `qlora`, ..., and the format of the frozen weights.
  std::string method, quant, lora_targets;
  std::optional<double> params_b;
  std::optional<std::int64_t> n_layers, hidden, ffn_hidden, n_heads, n_kv_heads, head_dim, vocab, seq_len, n_experts,
      top_k, expert_ffn_hidden;
  std::optional<std::int64_t> n_gpus, gpus_per_node;
  std::optional<double> internode_gbps_per_node;
  std::optional<std::int64_t> tp, pp, vpp, cp, ep, etp, dp, shard_degree, micro_batch, global_batch, grad_accum,
      recompute_layers, lora_rank;
  std::optional<bool> sequence_parallel, flash_attention, lora, packing;
  /// What software is told, by columns of the names of the flags; flash_attention is above, its cells have other words.
  Strategy stated;

  // Measured: for the error report only, but that a run in fp32 faster than the fp32 units is taken as tf32.
  std::optional<double> step_time_s, tokens_per_s_per_gpu, samples_per_s, tflops_per_gpu, mfu_pct, hfu_pct,
      peak_mem_gib_per_gpu;

  /// Cells that hold no number where one belongs (`tp: 'eight'`); the row is invalid if any.
  Diagnostics faults;
  /// The same in measured columns: such a cell counts as empty, the prediction stands.
  Diagnostics measured_faults;
};

/// Reads every row; a missing `id` column or an unreadable table fails the whole file. Unknown columns are passed over
/// (`unread_columns` tells of them), columns that are absent count as empty.
Result<std::vector<MeasuredRun>> read_measured_runs(const CsvTable& table, std::string_view where);

/// A column that no reader asks for, and the known one that it may mean; empty if none is near.
struct UnreadColumn {
  std::string name;
  std::string nearest;
};
std::vector<UnreadColumn> unread_columns(const CsvTable& table);

/// Measured tokens per second and accelerator: stated, or restated from step time, or from
/// samples; nullopt if the row has no speed in these units.
std::optional<double> measured_tokens_per_s_per_gpu(const MeasuredRun& run);

}  // namespace smplan
