#include "models/rollout/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "models/job/strategy.hpp"
#include "models/layers/flops.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/collectives.hpp"

namespace smplan {
namespace {

constexpr double kHalfBytes = 2;  ///< of a 16-bit value
constexpr double kStateBytes = 4;
/// Fewer sequences than this part of the most are the tail.
constexpr double kTail = 1.0 / 8;
/// Of more sequences than this, and than so many waves, a part is simulated.
constexpr std::int64_t kMostSimulated = 4096;
constexpr std::int64_t kMostWaves = 16;

double number(std::int64_t n) { return static_cast<double>(n); }

/// Values that the attention of a layer reads of a token, on one rank.
double cached_values(const Architecture& a, const LayerSpec& spec, std::int64_t tensor) {
  if (a.has_latent_attention()) return number(a.latent.kv_lora_rank + a.latent.qk_rope_head_dim);
  const AttentionWidths widths = attention_widths(a, spec);
  const std::int64_t heads = (widths.n_kv_heads + tensor - 1) / tensor;
  return 2 * number(heads * widths.head_dim);
}

/// What a layer with a state mixer remembers of a sequence, on one rank.
Bytes state_bytes(const StateMixer& m, std::int64_t tensor) {
  const double state = number(m.values() * m.state_dim) * kStateBytes;
  const double convolution = number((m.conv_kernel - 1) * (2 * m.keys() + m.values())) * kHalfBytes;
  return Bytes((state + std::max(0.0, convolution)) / number(tensor));
}

/// Blocks for further tokens are not run where responses are generated.
bool runs(const LayerRun& run) { return !run.spec.further_token; }

double layer_parameters_of(const LayerStack& layers) {
  double sum = 0;
  for (const LayerRun& run : layers) {
    if (runs(run)) sum += number(run.count) * number(run.parameters.total()) / number(run.sharing);
  }
  return sum;
}

/// FLOPs of one query and one key, both products. With a latent the query is taken to its width, so that the cache is
/// read as it is (DeepSeek-V2, 2405.04434, section 2.1.2).
double decode_flops_per_key(const Architecture& a, const LayerSpec& spec) {
  if (a.has_latent_attention()) {
    return 2 * number(a.n_heads) * number(2 * a.latent.kv_lora_rank + a.latent.qk_rope_head_dim);
  }
  return 4 * number(attention_widths(a, spec).queries());
}

FlopsPerSecond product_rate(const Accelerator& accelerator, double weight_bytes) {
  if (weight_bytes <= 1 && accelerator.supports(Precision::Fp8)) return accelerator.peak_rate(Precision::Fp8);
  for (const Precision precision : {Precision::Bf16, Precision::Fp16}) {
    if (accelerator.supports(precision)) return accelerator.peak_rate(precision);
  }
  return accelerator.peak_rate(Precision::Fp32);
}

/// Tokens that a layer attends to, summed over `iterations` of which the first has `context`.
double attended_tokens(std::int64_t window, double context, double iterations) {
  const auto ascending = [](double first, double n) { return n * first + n * (n - 1) / 2; };
  const double w = number(window);
  if (window == 0 || context + iterations - 1 <= w) return ascending(context, iterations);
  if (context >= w) return iterations * w;
  const double growing = w - context + 1;
  return ascending(context, growing) + (iterations - growing) * w;
}

/// What one rank reads and multiplies, in coefficients: set once, asked for every stretch of iterations.
class Replica {
 public:
  Replica(const RolloutModel& model, const Cluster& cluster, const RolloutSpeed& speed);

  /// Bytes read and FLOPs of attention.
  struct Attended {
    double bytes = 0;
    double flops = 0;
    void add(const Attended& each, double times) {
      bytes += each.bytes * times;
      flops += each.flops * times;
    }
  };
  /// Layers that attend to as much.
  struct Attention {
    std::int64_t window = 0;
    double layers = 0;
    Attended token;  ///< that one layer attends to
  };
  [[nodiscard]] const std::vector<Attention>& attention() const { return attention_; }

  /// `attended` is what attention takes for all sequences in all layers.
  [[nodiscard]] DecodeIteration iteration(double sequences, const Attended& attended) const;
  /// One chunk of prefill over whole prompts of `length`.
  [[nodiscard]] Seconds prefill(double tokens, std::int64_t length) const;

 private:
  struct Experts {
    double layers = 0;
    double bytes = 0;      ///< of all of a layer
    double untouched = 0;  ///< part of them that one token does not touch
  };
  [[nodiscard]] double weights_read(double tokens) const;
  [[nodiscard]] Seconds all_reduces(double tokens) const;

  const Architecture& a_;
  const Cluster& cluster_;
  RolloutSpeed speed_;
  LayerStack layers_;
  double tensor_;
  GroupShape group_;
  BytesPerSecond bandwidth_;
  FlopsPerSecond rate_;
  std::vector<Attention> attention_;
  std::vector<Experts> experts_;
  double fixed_bytes_ = 0;  ///< weights that every iteration reads, on one rank
  double token_flops_ = 0;  ///< of products with weights, on one rank
  double state_bytes_ = 0;  ///< read and written, of one sequence
  double parts_ = 0;        ///< mixers and MLPs
};

Replica::Replica(const RolloutModel& model, const Cluster& cluster, const RolloutSpeed& speed)
    : a_(model.architecture),
      cluster_(cluster),
      speed_(speed),
      layers_(layer_stack(model.architecture)),
      tensor_(model.tensor_parallel),
      bandwidth_(cluster.accelerator.memory_bandwidth * speed.bandwidth_share),
      rate_(product_rate(cluster.accelerator, model.weight_bytes) * speed.peak_share) {
  Strategy placed;
  placed.tensor_parallel = model.tensor_parallel;
  placed.data_parallel = static_cast<std::int32_t>(std::max<std::int64_t>(1, cluster.gpus() / model.tensor_parallel));
  group_ = group_shapes(placed, cluster).tensor;
  const double head = number(a_.vocab) * number(a_.hidden);
  fixed_bytes_ = head * kHalfBytes / tensor_;
  token_flops_ = 2 * head / tensor_;
  for (const LayerRun& run : layers_) {
    if (!runs(run)) continue;
    const double layers = number(run.count);
    fixed_bytes_ += layers * number(run.parameters.total() - run.parameters.experts) * model.weight_bytes / tensor_;
    token_flops_ += layers * 2 * number(run.active_matmul) / tensor_;
    parts_ += layers * run.spec.parts();
    if (run.spec.moe) {
      const double untouched = 1 - number(a_.moe.top_k) / number(a_.moe.n_experts);
      experts_.push_back({layers, number(run.parameters.experts) * model.weight_bytes / tensor_, untouched});
    }
    if (run.spec.mixer == Mixer::Attention) {
      attention_.push_back(
          {.window = run.spec.window,
           .layers = layers,
           .token = {.bytes = cached_values(a_, run.spec, model.tensor_parallel) * model.engine.cache_bytes.value,
                     .flops = decode_flops_per_key(a_, run.spec) / tensor_}});
    }
    if (run.spec.mixer == Mixer::State) {
      state_bytes_ += 2 * layers * state_bytes(a_.state, model.tensor_parallel).value();
      token_flops_ += layers * attention_core_flops(a_, run.spec, 1, AttentionCounting::CausalHalf).value() / tensor_;
    }
  }
}

double Replica::weights_read(double tokens) const {
  double bytes = fixed_bytes_;
  for (const Experts& e : experts_) bytes += e.layers * e.bytes * (1 - std::pow(e.untouched, tokens));
  return bytes;
}

Seconds Replica::all_reduces(double tokens) const {
  if (group_.ranks <= 1) return {};
  const Bytes buffer(tokens * number(a_.hidden) * kHalfBytes);
  return parts_ * collective_time(CollectiveKind::AllReduce, buffer, group_, cluster_, Collectives::Nccl).time;
}

DecodeIteration Replica::iteration(double sequences, const Attended& attended) const {
  const Bytes bytes(weights_read(sequences) + sequences * state_bytes_ + attended.bytes);
  const Flops flops(sequences * token_flops_ + attended.flops);
  return {std::max(bytes / bandwidth_, flops / rate_), all_reduces(sequences),
          speed_.iteration + sequences * speed_.sequence};
}

Seconds Replica::prefill(double tokens, std::int64_t length) const {
  double core = 0;
  for (const LayerRun& run : layers_) {
    if (!runs(run) || run.spec.mixer != Mixer::Attention) continue;
    core += number(run.count) * attention_core_flops(a_, run.spec, length, AttentionCounting::CausalHalf).value();
  }
  // The head makes one token of a prompt.
  const double head = 2 * number(a_.vocab) * number(a_.hidden) / tensor_;
  const double each = token_flops_ - head * (1 - 1 / number(length)) + core / tensor_;
  const Seconds device = std::max(Flops(tokens * each) / rate_, Bytes(weights_read(tokens)) / bandwidth_);
  return device + all_reduces(tokens) + speed_.iteration;
}

/// Sequences that started together and end together.
struct Cohort {
  std::int64_t end = 0;  ///< iteration after the last
  std::int64_t start = 0;
  double count = 0;
  friend bool operator>(const Cohort& a, const Cohort& b) { return a.end > b.end; }
};

/// The cohorts that decode, the next to end in front.
class Running {
 public:
  [[nodiscard]] bool empty() const { return cohorts_.empty(); }
  [[nodiscard]] double sequences() const { return sequences_; }
  [[nodiscard]] std::int64_t next_end() const { return cohorts_.front().end; }

  void start(const Cohort& cohort) {
    sequences_ += cohort.count;
    starts_ += cohort.count * number(cohort.start);
    cohorts_.push_back(cohort);
    std::push_heap(cohorts_.begin(), cohorts_.end(), std::greater<>());
  }
  void end_until(std::int64_t now) {
    while (!cohorts_.empty() && cohorts_.front().end <= now) {
      std::pop_heap(cohorts_.begin(), cohorts_.end(), std::greater<>());
      sequences_ -= cohorts_.back().count;
      starts_ -= cohorts_.back().count * number(cohorts_.back().start);
      cohorts_.pop_back();
    }
  }
  /// Tokens that all of them attend to in one layer, summed over `iterations` from `now` on.
  [[nodiscard]] double attended(std::int64_t window, std::int64_t prompt, std::int64_t now,
                                std::int64_t iterations) const {
    const double first = number(prompt + 1);
    if (window == 0) {
      const double contexts = sequences_ * (first + number(now)) - starts_;
      return number(iterations) * contexts + sequences_ * number(iterations) * number(iterations - 1) / 2;
    }
    double sum = 0;
    for (const Cohort& c : cohorts_) {
      sum += c.count * attended_tokens(window, first + number(now - c.start), number(iterations));
    }
    return sum;
  }

 private:
  std::vector<Cohort> cohorts_;
  double sequences_ = 0;
  double starts_ = 0;  ///< sum of the starts, by sequence
};

/// Groups that wait, in an order that mixes lengths: steps of the golden ratio, so that every stretch has its share of
/// each.
class Queue {
 public:
  explicit Queue(std::vector<LengthGroup> groups) : groups_(std::move(groups)), left_(groups_.size()) {
    step_ = std::max<std::size_t>(1, static_cast<std::size_t>(0.618 * static_cast<double>(left_)));
    while (std::gcd(step_, left_) != 1) ++step_;
  }
  [[nodiscard]] bool empty() const { return left_ == 0; }
  /// Of the next group at most so many.
  LengthGroup take(std::int64_t most) {
    LengthGroup& front = groups_[at_];
    const LengthGroup taken{std::min(most, front.count), front.tokens};
    front.count -= taken.count;
    if (front.count == 0) {
      at_ = (at_ + step_) % groups_.size();
      --left_;
    }
    return taken;
  }

 private:
  std::vector<LengthGroup> groups_;
  std::size_t left_;
  std::size_t step_;
  std::size_t at_ = 0;
};

}  // namespace

Bytes sequence_cache(const Architecture& a, std::int64_t tokens, double value_bytes, std::int64_t tensor_parallel) {
  Bytes sum;
  for (const LayerRun& run : layer_stack(a)) {
    if (!runs(run)) continue;
    if (run.spec.mixer == Mixer::State) sum += number(run.count) * state_bytes(a.state, tensor_parallel);
    if (run.spec.mixer != Mixer::Attention || run.spec.borrows_keys) continue;
    const double values = cached_values(a, run.spec, tensor_parallel);
    const std::int64_t kept = run.spec.window > 0 ? std::min(tokens, run.spec.window) : tokens;
    sum += Bytes(number(run.count) * values * value_bytes * number(kept));
  }
  return sum;
}

Bytes rollout_weights(const RolloutModel& model) {
  const double layers = layer_parameters_of(layer_stack(model.architecture));
  const double ends = number(count_parameters(model.architecture).total()) - layers;
  return Bytes((layers * model.weight_bytes + std::max(0.0, ends) * kHalfBytes) / model.tensor_parallel);
}

RolloutMemory rollout_memory(const RolloutModel& model, const RolloutWork& work, Bytes device_memory, Bytes taken) {
  const Architecture& a = model.architecture;
  const RolloutEngine& engine = model.engine;
  double most = std::min(engine.most_sequences.value, number(work.sequences));
  if (work.at_once > 0) most = std::min(most, number(work.at_once));
  RolloutMemory m;
  m.weights = rollout_weights(model);
  m.graphs = engine.graphs();
  m.context = engine.context();
  // Input, normed input, three projections' worth and output of a mixer; gate, up and their product of an MLP.
  constexpr double kMixerWidths = 6;
  constexpr double kMlpWidths = 3;
  double mlp = 0;
  for (const LayerRun& run : layer_stack(a)) {
    const double routed = run.spec.moe ? number(a.moe.top_k * a.moe.expert_ffn_hidden) : number(run.spec.ffn_hidden);
    mlp = std::max(mlp, routed);
  }
  const double widths = kMixerWidths * number(a.hidden) + kMlpWidths * mlp / model.tensor_parallel;
  // Logits and their probabilities, in 32 bits.
  const double logits = 2 * 4 * most * number(a.vocab);
  m.activations = Bytes(engine.prefill_tokens.value * widths * kHalfBytes + logits);
  const Bytes beside = m.activations + m.graphs + m.context;
  const Bytes share =
      std::min(device_memory, device_memory * engine.memory_share.value + (engine.share_holds_all ? Bytes() : beside));
  const Bytes room = share - taken;
  const auto cache_of = [&](double tokens) {
    return sequence_cache(a, static_cast<std::int64_t>(std::ceil(tokens)), engine.cache_bytes.value,
                          model.tensor_parallel);
  };
  m.longest = cache_of(number(work.prompt_length + work.lengths.limit));
  m.cache = std::max(Bytes(), room - m.weights - beside);
  const Bytes mean = cache_of(number(work.prompt_length) + work.lengths.mean);
  const double held = mean > Bytes() ? m.cache / mean : most;
  m.running = static_cast<std::int64_t>(std::min(most, held));
  if (m.running == 0 && m.cache >= m.longest && work.sequences > 0) m.running = 1;
  return m;
}

RolloutSpeed rollout_speed(const RolloutEngine& engine, Outlook outlook) {
  const auto share = [&](const SourcedNumber& n) {
    return outlook == Outlook::Fast ? n.high : outlook == Outlook::Slow ? n.low : n.value;
  };
  const auto time = [&](const SourcedNumber& n) {
    return microseconds(outlook == Outlook::Fast ? n.low : outlook == Outlook::Slow ? n.high : n.value);
  };
  return {share(engine.bandwidth_share), share(engine.peak_share), time(engine.iteration_us), time(engine.sequence_us)};
}

DecodeIteration decode_iteration(const RolloutModel& model, double sequences, double context, const Cluster& cluster,
                                 const RolloutSpeed& speed) {
  const Replica replica(model, cluster, speed);
  Replica::Attended attended;
  for (const Replica::Attention& kind : replica.attention()) {
    attended.add(kind.token, kind.layers * sequences * attended_tokens(kind.window, context, 1));
  }
  return replica.iteration(sequences, attended);
}

RolloutTime rollout_time(const RolloutModel& model, const RolloutWork& work, std::int64_t running,
                         const Cluster& cluster, const RolloutSpeed& speed) {
  RolloutTime time;
  if (work.sequences == 0) return time;
  const Replica replica(model, cluster, speed);

  const double sharing = model.engine.shares_prompts ? number(work.samples) : 1;
  const double prompt_tokens = number(work.sequences) / sharing * number(work.prompt_length);
  const double chunk = std::min(model.engine.prefill_tokens.value, std::max(1.0, prompt_tokens));
  if (work.prompt_length > 0) time.prefill = prompt_tokens / chunk * replica.prefill(chunk, work.prompt_length);

  const std::int64_t room = std::clamp<std::int64_t>(running, 1, work.sequences);
  const std::int64_t simulated = std::min(work.sequences, std::max(kMostSimulated, kMostWaves * room));
  Queue queue(length_groups(work.lengths, simulated));
  Running decoding;
  double most = 0;
  std::int64_t now = 0;
  RolloutTime filled;   // while sequences wait
  RolloutTime drained;  // when none does
  while (!queue.empty() || !decoding.empty()) {
    while (!queue.empty() && decoding.sequences() < number(room)) {
      const LengthGroup next = queue.take(room - std::llround(decoding.sequences()));
      time.tokens += number(next.count * next.tokens);
      // The prompt gives the first token.
      if (next.tokens > 1) decoding.start({now + next.tokens - 1, now, number(next.count)});
    }
    if (decoding.empty()) continue;
    most = std::max(most, decoding.sequences());
    const std::int64_t iterations = decoding.next_end() - now;
    const double n = number(iterations);
    Replica::Attended attended;
    for (const Replica::Attention& kind : replica.attention()) {
      const double tokens = kind.layers * decoding.attended(kind.window, work.prompt_length, now, iterations);
      attended.add(kind.token, tokens / n);
    }
    const DecodeIteration mean = replica.iteration(decoding.sequences(), attended);
    RolloutTime& part = queue.empty() ? drained : filled;
    part.device += n * mean.device;
    part.communication += n * mean.communication;
    part.host += n * mean.host;
    part.iterations += iterations;
    if (queue.empty() && decoding.sequences() < kTail * most) drained.tail += n * mean.total();
    now += iterations;
    decoding.end_until(now);
  }
  // What was not simulated takes as long as what was, while sequences waited.
  const double more = simulated == work.sequences ? 1 : number(work.sequences - room) / number(simulated - room);
  time.tokens *= number(work.sequences) / number(simulated);
  time.device = more * filled.device + drained.device;
  time.communication = more * filled.communication + drained.communication;
  time.host = more * filled.host + drained.host;
  time.tail = drained.tail;
  time.iterations = std::llround(more * number(filled.iterations)) + drained.iterations;
  return time;
}

Seconds scoring_time(const Architecture& a, double sequences, std::int64_t length, const Cluster& cluster,
                     double peak_share) {
  double flops = 0;  // of a token
  for (const LayerRun& run : layer_stack(a)) {
    if (!runs(run)) continue;
    const double core = attention_core_flops(a, run.spec, length, AttentionCounting::CausalHalf).value();
    flops += number(run.count) * (2 * number(run.active_matmul) + core);
  }
  const FlopsPerSecond rate = product_rate(cluster.accelerator, kHalfBytes) * (peak_share * number(cluster.gpus()));
  return Flops(sequences * number(length) * flops) / rate;
}

}  // namespace smplan
