#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/job/strategy.hpp"

namespace smplan {

/// What can be chosen of a Strategy, in the order in which its short form names it. One row of dimensions() each:
/// flags, requests, plan files, CSV, comparisons, columns of batches and Python's keywords walk that table.
enum class Dimension : std::uint8_t {
  Tensor,
  Pipeline,
  VirtualPipeline,
  Context,
  Expert,
  ExpertTensor,
  Data,
  SequenceParallel,
  Sharding,
  ShardDegree,
  MicroBatch,
  Schedule,
  Recompute,
  RecomputeLayers,
  Offload,
  Collectives,
  // Execution: what software is told, or left to the framework's default.
  Compile,
  FlashAttention,
  AttentionKernel,
  LossKernel,
  LigerKernels,
  TensorOverlap,
  GradientOverlap,
  ContextExchange,
  MoeDispatcher,
  MoeRouter,
  ExpertOverlap,
  FusedRouting,
  CudaGraphs,
  RecomputeModules,
  PureHalf,
  HalfGradients,
  HalfMoments,
  HalfLayers,
  VocabMultiple,
  EmptyCache,
  ReentrantCheckpoint,
  ReduceBucket,
  ReleaseGradients,
  UpdateInBackward,
  UnshardedGradients,
  FusedOptimizer,
  PagedOptimizer,
  BaseFormat,
  DoubleQuantization,
  WideEmbeddings,
  HostThreads,
  SoftwareRelease,
};
inline constexpr std::size_t kDimensionCount = 48;

/// Values of all dimensions are kept as numbers: a degree itself, 0 or 1 of a switch, the place of an enumerator, the
/// bits of an Offload or of LayerModules.
template <typename T>
constexpr std::int32_t dimension_value(const T& value) {
  if constexpr (std::is_same_v<T, Offload>) {
    return (value.optimizer ? 1 : 0) | (value.parameters ? 2 : 0) | (value.activations ? 4 : 0) |
           (value.to_nvme ? 8 : 0);
  } else if constexpr (std::is_same_v<T, LayerModules>) {
    return value.bits;
  } else {
    return static_cast<std::int32_t>(value);
  }
}
template <typename T>
constexpr T from_dimension_value(std::int32_t value) {
  if constexpr (std::is_same_v<T, Offload>) {
    return {(value & 1) != 0, (value & 2) != 0, (value & 4) != 0, (value & 8) != 0};
  } else if constexpr (std::is_same_v<T, LayerModules>) {
    return {static_cast<std::uint8_t>(value)};
  } else {
    return static_cast<T>(value);
  }
}

/// What programs and people call a value of a dimension: `FULL_SHARD`, `ZeRO-3`.
struct DimensionSynonym {
  std::string_view letters;  ///< letters and digits alone, in lower case: `fullshard`
  std::int32_t value = 0;
};

/// What people write for the values of a dimension that has names, not numbers.
struct DimensionWords {
  std::string (*name)(std::int32_t value);
  std::optional<std::int32_t> (*exact)(std::string_view name);
  std::vector<std::int32_t> values;  ///< all there are
  std::size_t listed = 0;            ///< so many of the first are named in help
  /// Flags, files, columns and Python take them too; answers never show them.
  std::vector<DimensionSynonym> synonyms;

  /// A value by its name or a synonym, in any case and with any marks between their letters.
  [[nodiscard]] std::optional<std::int32_t> parse(std::string_view word) const;
};

struct DimensionRow {
  enum class Kind : std::uint8_t { Degree, Switch, Words };
  /// What an estimate takes where the request leaves the dimension open.
  enum class Open : std::uint8_t {
    Plain,      ///< the plain value
    Fastest,    ///< the fastest that fits
    Framework,  ///< the framework's default
  };

  Dimension dimension;
  std::string_view keyword;  ///< of a request; the flag has `-` for `_`
  std::string_view path;     ///< in a plan of plan.json
  std::string_view column;   ///< of a CSV of plans
  /// Of the short form: before a number or a name; alone of a switch. A number without one ends the word before it.
  std::string_view label;
  std::string_view title;  ///< in sentences
  std::string_view help;
  Kind kind = Kind::Degree;
  std::int32_t least = 1;  ///< of a request
  std::int32_t most = 1;
  Open open = Open::Plain;
  bool one_in_estimate = true;  ///< an estimate takes no list of values
  bool zero_follows = false;    ///< 0 is the value that follows from the others, in columns of a batch
  bool of_execution = false;    ///< a member of Strategy::execution
  bool is_offered = false;      ///< frameworks differ in what they can be told: Stack::offers
  /// Where the request leaves it open a plan tries what the framework offers of the values from this on; 0: none.
  std::int32_t tried_from = 0;
  std::int32_t (*get)(const Strategy&) = nullptr;
  void (*set)(Strategy&, std::int32_t) = nullptr;
  /// Value that the short form need not name.
  std::int32_t (*plain)(const Strategy&) = nullptr;
  /// Whether it means anything here: the schedule does not without a pipeline. Files have null where it does not.
  bool (*applies)(const Strategy&) = nullptr;
  /// Of Kind::Words; nullptr else.
  const DimensionWords* words = nullptr;

  [[nodiscard]] std::string flag() const;
  /// The value that an execution has of it, of a row `of_execution`.
  [[nodiscard]] std::int32_t told(const Execution& execution) const;
  /// The value as people write it: `8`, `true`, `fsdp-full`.
  [[nodiscard]] std::string text(std::int32_t value) const;
  /// The names that help lists, of Kind::Words.
  [[nodiscard]] std::vector<std::string> names() const;
};

/// A row for each Dimension, in their order.
std::span<const DimensionRow> dimensions();
const DimensionRow& row_of(Dimension dimension);

}  // namespace smplan
