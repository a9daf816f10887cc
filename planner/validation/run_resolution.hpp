#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"
#include "models/cluster.hpp"
#include "models/strategy.hpp"
#include "models/workload.hpp"
#include "planner/validation/measured_run.hpp"
#include "planner/validation/run_settings.hpp"
#include "planner/validation/run_words.hpp"

namespace smplan {

/// A measured run as the models take it.
struct ResolvedRun {
  Workload workload;
  Strategy strategy;
  Cluster cluster;
  Stack stack;  ///< executed
  RunSettings settings;
  MemoryKind memory_kind = MemoryKind::Unstated;  ///< of the row's figure of memory
  FlopsKind flops_kind = FlopsKind::Model;        ///< of its TFLOP/s
  /// Tokens of a sequence that steps compute on average, where batches are cut to their longest; the longest of all, of
  /// seq_len tokens, still decide on memory.
  std::optional<std::int64_t> mean_seq_len;
  /// Devices behind each one that the row counts: the cores of a chip, where it counts chips. Its rates and its memory
  /// are then those of a chip.
  double devices_per_counted = 1;
  /// What the row left open and an obvious default filled, in words.
  std::vector<std::string> assumptions;
};

/// Fills what has an obvious default and refuses what has none. The diagnostic's code is `invalid`
/// where the row contradicts itself and `unsupported` where the model cannot know enough.
/// Reads the configuration columns and the notes' settings. Of what was measured it reads one thing: whether a run in
/// fp32 is faster than the fp32 units can be, and so in tf32.
Result<ResolvedRun> resolve_run(const MeasuredRun& stated, const Catalog& catalog);

// The parts, each in a file of its own.
using Assumptions = std::vector<std::string>;
/// Entries of GPT-2's vocabulary, where a run states none and its model is no preset.
inline constexpr std::int64_t kGpt2Entries = 50257;

/// The catalog's model of the row's name; nullptr where it has none.
const ModelPreset* find_preset(const MeasuredRun& run, const Catalog& catalog);
Result<Architecture> resolve_architecture(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions);
/// nullptr where the catalog has none of that name.
const Accelerator* resolve_accelerator(const MeasuredRun& run, const Catalog& catalog);
/// The row with n_gpus and gpus_per_node in NeuronCores, the ranks that Trainium runs, where it counts chips.
MeasuredRun counted_in_cores(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions);
/// The chip's design; Blackwell's is one beside x86 hosts and another beside Grace in racks.
std::string silicon_generation(const Accelerator& accelerator);
Result<Cluster> resolve_cluster(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions);
Result<Stack> resolve_stack(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions);
/// How a row's weights are trained.
struct Method {
  std::string kind;                ///< `lora`, `qlora`, `oft` ...; empty: all of them
  bool trains_embeddings = false;  ///< embedding and head beside the adapters
  std::optional<std::int64_t> rank;
  friend bool operator==(const Method&, const Method&) = default;
};
/// `full`, `SFT`, `LoRA (r=16)`, `lora+emb/head trainable`; an empty cell says nothing and trains all. nullopt: no
/// method that is modelled.
std::optional<Method> method_in(std::string_view cell);
/// Whether frozen weights of that format have 4 bits: `bnb.nf4`, `int4 (GPTQ)`, `none`. nullopt: neither 4 nor 16.
std::optional<bool> four_bits_in(std::string_view quant);
/// By the method, the format of frozen weights, the flag and the words of the row, in this order.
FineTune trained_part(const MeasuredRun& run);
/// By its column, by the framework's name or by FSDP's strategy in the notes; nullopt where none says.
std::optional<Sharding> stated_sharding(const MeasuredRun& run);
/// A stage under the name that the stack has for it: people call FSDP's strategies by ZeRO's stages too.
Sharding sharding_under(const Stack& stack, Sharding sharding);
/// Whether states were cut, as one device cannot hold a replica's, though the row does not say so.
bool must_shard(const MeasuredRun& run, const Accelerator* accelerator, const Catalog& catalog);
/// Whether the vendor's recipe keeps moments in 16 bits, where the row names no optimizer.
bool recipe_halves_moments(const MeasuredRun& run, const Architecture& architecture);
/// Layers that the vendor's recipe for narrow formats keeps in 16 bits.
std::int64_t recipe_half_layers(const MeasuredRun& run, const Workload& workload);
bool is_nvidias_bert(const Workload& workload, const Stack& stack);
/// Tokens of a sequence that a script computes on average which cuts its batches to their longest.
std::optional<std::int64_t> binned_seq_len(const Workload& workload, const Stack& stack);
/// Sequences of a micro-batch and of a step; says which of the row's figures contradict each other.
Result<void> resolve_batch(const MeasuredRun& run, std::optional<std::int64_t> global_batch, const Cluster& cluster,
                           const Stack& stack, Workload& workload, Strategy& strategy, Assumptions& assumptions);
/// What vendors' tuned configurations set and their tables leave out.
void follow_recipes(const MeasuredRun& run, const Workload& workload, const Cluster& cluster, const Stack& stack,
                    Strategy& strategy, RunSettings& settings, Assumptions& assumptions);
/// Refuses cells that are no figures, and figures that no machine or model has, before anything is computed from them.
Result<void> check_limits(const MeasuredRun& run);
/// Refuses what the models have no answer for once the row is understood.
Result<void> check_resolved(const MeasuredRun& run, const Workload& workload, const Strategy& strategy,
                            const Stack& stack, Assumptions& assumptions);

}  // namespace smplan
