#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_reader.hpp"
#include "base/result.hpp"
#include "models/job/dimensions.hpp"
#include "models/layers/adapters.hpp"
#include "models/layers/stated_model.hpp"
#include "models/machine/stated_machine.hpp"
#include "planner/answer/uncertainty.hpp"

namespace smplan {

/// What a figure of peak memory counts.
enum class MemoryKind : std::int8_t {
  Unstated,   ///< what the stack writes itself, or nvidia-smi shows
  Allocated,  ///< by tensors: torch.cuda.max_memory_allocated
  Reserved,   ///< by the allocator, its free blocks too: torch.cuda.max_memory_reserved
  Device,     ///< by the process, its context and libraries too: nvidia-smi, NVML
};
std::string_view to_string(MemoryKind kind);

/// What a rate of FLOPs counts.
enum class FlopsKind : std::int8_t {
  Model,     ///< forward and backward once
  Hardware,  ///< what is recomputed too
};
std::string_view to_string(FlopsKind kind);

/// How the weights of a run are trained, as its row states it.
struct TrainedPart {
  FineTune mode = FineTune::Full;
  const AdapterMethod* adapters = nullptr;  ///< of PEFT, other than plain LoRA
};

/// One row of a table of measured training runs: the configuration as stated, nothing filled in. Columns and their
/// values are documented in docs/validation.md; what a row does not state is nullopt, empty or not in `states()`.
struct MeasuredRun {
  std::size_t line = 0;
  std::string id, source;
  StatedModel model;
  StatedMachine machine;
  std::string stack;      ///< of the catalog, looked up by resolve_run()
  std::string framework;  ///< a label beside `stack`; a name of a stack without it

  std::optional<std::int64_t> seq_len, mean_seq_len, global_batch, grad_accum;
  std::optional<bool> packing;
  std::optional<Precision> precision;
  std::optional<Optimizer> optimizer;
  std::optional<TrainedPart> trained;
  std::optional<std::int64_t> lora_rank;
  std::optional<LinearLayers> lora_targets;
  std::optional<bool> lora_embeddings;
  std::optional<std::int64_t> virtual_tokens;   ///< of methods that train prompts
  std::optional<TrainedLayers> trained_layers;  ///< of full training that freezes the rest
  const TrainingLoss* loss = nullptr;           ///< other than that of the next token; pairs count as two sequences
  std::optional<Reference> reference;
  Program program = Program::Unknown;
  bool ieee_fp32 = false;      ///< products in fp32, not in TF32
  bool fp32_adapters = false;  ///< beside weights in 16 bits

  std::int64_t devices_per_gpu = 1;  ///< devices of the catalog behind each GPU of the measured figures

  /// The strategy and its execution as far as the row states them; of the rest the plain values.
  Strategy strategy;
  std::array<bool, kDimensionCount> stated_dimensions{};
  [[nodiscard]] bool states(Dimension d) const { return stated_dimensions[static_cast<std::size_t>(d)]; }

  MemoryKind memory_kind = MemoryKind::Unstated;
  FlopsKind flops_kind = FlopsKind::Model;
  // Measured: for the error report and calibration alone.
  std::optional<double> step_time_s, tokens_per_s_per_gpu, samples_per_s, tflops_per_gpu, mfu_pct, hfu_pct,
      peak_mem_gib_per_gpu;
  /// Of each step: waiting for data, the passes, the update. A program that times them says so.
  std::optional<double> data_s, forward_s, backward_s, optimizer_s;
  std::optional<bool> ran_out;  ///< of device memory, before or in its first steps

  /// Cells that hold no value of their column (`tp: 'eight'`); the row is invalid if any.
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

}  // namespace smplan
