#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/rollout_engines.hpp"
#include "models/machine/cluster.hpp"
#include "models/rollout/lengths.hpp"

namespace smplan {

/// What one replica of an engine runs: a decoder over `tensor_parallel` devices.
struct RolloutModel {
  const Architecture& architecture;
  const RolloutEngine& engine;
  std::int32_t tensor_parallel = 1;
  double weight_bytes = 2;  ///< of a parameter of a layer: 1 in fp8. Embedding and head stay in 16 bits.
};

/// What one replica generates in a step.
struct RolloutWork {
  std::int64_t sequences = 0;
  std::int64_t samples = 1;  ///< responses to a prompt
  std::int64_t prompt_length = 0;
  ResponseLengths lengths;
  std::int64_t at_once = 0;  ///< most sequences at once, where fewer than the engine admits; 0: no such limit
};

/// What an engine remembers of one sequence of `tokens`, on one tensor rank: of attention keys and values of each head
/// that the rank has (heads fewer than ranks are on several), of latent attention the latent and the rotary key, whole
/// on each rank; of layers with a window the window's; of state mixers the state in 32 bits and the convolution's
/// inputs, however long the sequence is.
/// Sources: Ainslie et al. 2023 (2305.13245), DeepSeek-V2 (2405.04434, section 2.1), Dao & Gu 2024 (2405.21060).
Bytes sequence_cache(const Architecture& architecture, std::int64_t tokens, double value_bytes,
                     std::int64_t tensor_parallel);

/// Weights of one tensor rank.
Bytes rollout_weights(const RolloutModel& model);

/// Bytes on each device of an engine.
struct RolloutMemory {
  Bytes weights;
  Bytes cache;        ///< all that is left of what the engine may take
  Bytes activations;  ///< of the longest prefill iteration, and the logits of all sequences that run
  Bytes graphs;
  Bytes context;
  Bytes longest;             ///< cache of one sequence that reaches the limit
  std::int64_t running = 0;  ///< sequences at once
  [[nodiscard]] Bytes total() const { return weights + cache + activations + graphs + context; }
  /// One sequence must be able to reach the limit.
  [[nodiscard]] bool fits() const { return cache >= longest && running > 0; }
};

/// The engine on a device of `device_memory`, of which it and the `taken` bytes of others may fill its default share.
/// So many sequences run as the cache holds at their mean length: engines admit what fits now and take sequences back
/// when lengths grow beyond, which costs little as long as the means fit.
RolloutMemory rollout_memory(const RolloutModel& model, const RolloutWork& work, Bytes device_memory, Bytes taken);

/// How fast an engine runs. Nobody measured it for the model, the batch and the device at hand.
struct RolloutSpeed {
  double bandwidth_share = 0;
  double peak_share = 0;
  Seconds iteration;  ///< of the host
  Seconds sequence;   ///< of the host, each sequence of an iteration
};
enum class Outlook { Fast, Expected, Slow };
/// Fast and slow have every number of the engine at its better and worse end.
RolloutSpeed rollout_speed(const RolloutEngine& engine, Outlook outlook);

/// Where the seconds of generating go, of one replica.
struct RolloutTime {
  Seconds prefill;
  Seconds device;         ///< decoding: memory traffic or products, whichever takes longer
  Seconds communication;  ///< all-reduces of tensor ranks in decoding
  Seconds host;
  Seconds tail;  ///< part of the others: the queue is empty and fewer than an eighth of the most sequences are left
  std::int64_t iterations = 0;  ///< of decoding
  double tokens = 0;            ///< generated
  [[nodiscard]] Seconds total() const { return prefill + device + communication + host; }
};

/// One iteration of decoding.
struct DecodeIteration {
  Seconds device;
  Seconds communication;
  Seconds host;
  [[nodiscard]] Seconds total() const { return device + communication + host; }
};
/// With `sequences` that each have `context` tokens. Bytes of weights (of experts those that the batch touches, routed
/// evenly) and of the cache over the achieved bandwidth, or products over the achieved peak; and the all-reduces of
/// tensor ranks, two a layer; and the host.
/// Source: Pope et al. 2022 (2211.05102), section 2, for the roofline.
DecodeIteration decode_iteration(const RolloutModel& model, double sequences, double context, const Cluster& cluster,
                                 const RolloutSpeed& speed);

/// Continuous batching, simulated: sequences wait in an order that mixes lengths, `running` of them decode, one that
/// ends makes room for the next. Between two ends the batch is the same, so that a stretch of iterations is summed at
/// once. A prompt is computed when its sequence starts, once for its samples where the engine shares prompts, and gives
/// the first token. The tensor ranks of a replica are neighbours in the cluster. Of very many sequences (4,096, and
/// sixteen waves) a part is simulated, and its steady stretch taken as many times as there are others.
/// Source: Yu et al. 2022 (Orca, OSDI) for iteration-level scheduling.
RolloutTime rollout_time(const RolloutModel& model, const RolloutWork& work, std::int64_t running,
                         const Cluster& cluster, const RolloutSpeed& speed);

/// One forward pass of a model over whole sequences, as a reward model makes it: its products over the achieved peak of
/// all devices, among which sequences divide evenly.
Seconds scoring_time(const Architecture& architecture, double sequences, std::int64_t length, const Cluster& cluster,
                     double peak_share);

}  // namespace smplan
