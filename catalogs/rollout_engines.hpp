#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// A number with its source. Where it is no setting, `low` and `high` are the 10th and 90th percentile of what engines
/// do; else all three are the same.
struct SourcedNumber {
  double value = 0;
  double low = 0;
  double high = 0;
  Provenance provenance;
};

/// What a sleeping engine does with its weights. The cache is dropped in any case.
enum class SleepingWeights {
  Device,   ///< stay where they are
  Host,     ///< go to the host's memory and come back
  Dropped,  ///< are sent again by the trainer
};

struct SleepLevel {
  std::string name;
  SleepingWeights weights = SleepingWeights::Dropped;
  Provenance provenance;
};

/// An engine that generates responses.
/// Source: catalogs/data/finetuning/rollout_engines.json, each number with its own.
struct RolloutEngine {
  std::string name;   ///< `vllm`
  std::string title;  ///< `vLLM`
  /// Part of the device's memory that it takes where it is alone.
  SourcedNumber memory_share;
  /// The share holds activations, graphs and context too; else weights and cache alone, and the rest must fit beside.
  bool share_holds_all = true;
  std::string share_setting;     ///< the engine's own name of the share
  SourcedNumber context_gib;     ///< device context and NCCL's buffers
  SourcedNumber graphs_gib;      ///< captured graphs
  SourcedNumber asleep_gib;      ///< what stays on the device of an engine that sleeps
  SourcedNumber most_sequences;  ///< that run at once
  SourcedNumber prefill_tokens;  ///< of one iteration
  bool shares_prompts = false;   ///< samples of a prompt compute it once
  SourcedNumber cache_bytes;     ///< of a cached value
  /// Parts of the data sheet's memory bandwidth in decoding, and of its peak rate in matrix products.
  SourcedNumber bandwidth_share;
  SourcedNumber peak_share;
  SourcedNumber iteration_us;  ///< host time of a decode iteration
  SourcedNumber sequence_us;   ///< and what each sequence adds to it
  SourcedNumber sleep_s;       ///< to fall asleep, and to wake up, beside what travels to and from the host
  SourcedNumber wake_s;
  SourcedNumber sync_share;  ///< part of the wires' rate at which new weights arrive
  std::vector<SleepLevel> sleep_levels;

  [[nodiscard]] Bytes context() const { return gib(context_gib.value); }
  [[nodiscard]] Bytes graphs() const { return gib(graphs_gib.value); }
  [[nodiscard]] Bytes asleep() const { return gib(asleep_gib.value); }
  /// Whether some level lays the weights aside in host memory.
  [[nodiscard]] bool keeps_weights_on_host() const;
};

/// By its letters and digits, in any case. Null for an engine that is not known.
const RolloutEngine* rollout_engine(std::string_view name);
/// All of them, in the order of the file.
const std::vector<RolloutEngine>& rollout_engines();

/// What a reinforcement-learning algorithm asks of a step.
/// Source: catalogs/data/finetuning/rl_algorithms.json, each row with its own.
struct RlAlgorithm {
  std::string name;
  std::string title;
  bool critic = false;            ///< a model of values is trained beside the policy
  bool reference = false;         ///< a KL term compares with a frozen copy
  std::int64_t samples = 1;       ///< responses to a prompt
  std::int64_t passes = 1;        ///< over the responses of a step
  std::int64_t mini_batches = 1;  ///< optimizer steps of a pass
  double generated = 1;           ///< responses generated for each that is trained on
  Provenance provenance;
};

/// As rollout_engine().
const RlAlgorithm* rl_algorithm(std::string_view name);
const std::vector<RlAlgorithm>& rl_algorithms();

}  // namespace smplan
