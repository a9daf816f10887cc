#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/rollout_engines.hpp"
#include "models/rollout/lengths.hpp"
#include "planner/request/request.hpp"

namespace smplan {

/// Where responses are generated.
enum class RlPlacement {
  Colocated,  ///< on the devices that train, in turns: the engine sleeps while they do
  Split,      ///< on instances of their own, while the others train on the responses of the step before
  SplitSync,  ///< on instances of their own, which wait for the others, as those for them
};
std::string_view to_string(RlPlacement placement);
std::optional<RlPlacement> rl_placement_from(std::string_view name);

/// Which framework's words a plan keeps to.
enum class RlFramework {
  Any,
  Verl,  ///< so that rl_export() can write every plan
};
std::string_view to_string(RlFramework framework);
std::optional<RlFramework> rl_framework_from(std::string_view name);

/// A request for reinforcement learning as users write it: texts of flags. `request` says which policy, on which
/// hardware, with what the training is done; its work is what the other members make of it.
struct RlSpec {
  RequestSpec request;
  std::optional<std::string> algorithm, prompts, samples, prompt_length, response_length, response_limit,
      sequence_limit, length_variation, length_shape, mini_batches, passes, kl, steps, epochs, dataset_prompts, engine,
      rollout_tp, rollout_dtype, replica_sequences, concurrency, start_rate, reward_model, reward_seconds, critic,
      placement, framework;
  std::vector<std::string> left_open;  ///< what the file that this was read from does not say, and what is taken
};

/// A member beside those of a request: its flag, what stands for its value in help, its help. The only list of them.
struct RlName {
  std::string_view flag;
  std::string_view type;
  std::string_view help;
  std::optional<std::string> RlSpec::*member = nullptr;
};
std::span<const RlName> rl_names();
/// The flag's name with `_` for `-`: in Python and in files.
std::string keyword_of(const RlName& name);
/// Whether a member of a request means for reinforcement learning what it means elsewhere, so that its flag is taken.
bool is_rl_member(std::string_view request_name);

/// With every default filled in, checked against a catalog.
struct RlRequest {
  /// The policy's updates: one optimizer step is one mini-batch. Sequences are as long as prompt and limit in memory,
  /// as prompt and mean in time.
  PlanRequest training;
  RlAlgorithm algorithm;  ///< with what the request says otherwise
  std::int64_t prompts = 0;
  std::int64_t prompt_length = 0;
  ResponseLengths lengths;
  bool variation_stated = false;  ///< the spread of lengths is the request's, not an assumption
  std::int64_t steps = 0;
  const RolloutEngine* engine = nullptr;
  std::vector<std::int32_t> rollout_tensor;  ///< degrees that the engine may have; empty: any
  double rollout_weight_bytes = 2;
  std::int64_t replica_sequences = 0;  ///< responses that a replica generates at once; 0: as many as it admits
  std::int64_t concurrency = 0;        ///< responses at once on all replicas; 0: no limit
  double start_rate = 0;               ///< responses that start each second; 0: all of a step at once
  std::optional<Architecture> reward_model;
  Seconds reward;  ///< of the whole step, beside a model
  std::optional<Architecture> critic;
  std::vector<RlPlacement> placements;
  RlFramework framework = RlFramework::Any;
  std::vector<std::string> assumptions;
  RlSpec said;  ///< what it was resolved from

  /// Responses of a step that are trained on.
  [[nodiscard]] std::int64_t sequences() const { return prompts * algorithm.samples; }
  /// Those that are generated.
  [[nodiscard]] std::int64_t generated() const;
  /// Until the last response of a step has started.
  [[nodiscard]] Seconds starting() const;
};

/// Counts of instances that are tried where the request names none; of types that are sold in sizes those.
inline constexpr std::array<std::int32_t, 6> kRlCounts{1, 2, 4, 8, 16, 32};

/// Text to values. Collects every fault.
Result<RlRequest> resolve_rl(const RlSpec& spec, const Catalog& catalog,
                             const std::optional<std::string>& environment_region,
                             std::optional<Instant> now = std::nullopt);

}  // namespace smplan
