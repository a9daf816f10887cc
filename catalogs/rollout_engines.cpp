#include "catalogs/rollout_engines.hpp"

#include <algorithm>
#include <array>

#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr double kMostGib = 64;
constexpr double kMostMicroseconds = 1e6;
constexpr double kMostTokens = 1e6;
constexpr double kMostSeconds = 3600;
constexpr std::int64_t kMostSamples = 4096;
constexpr double kMostGenerated = 100;

constexpr EnumNames<SleepingWeights, 3> kSleepingWeights{
    {{SleepingWeights::Device, "device"}, {SleepingWeights::Host, "host"}, {SleepingWeights::Dropped, "dropped"}}};
constexpr EnumNames<bool, 2> kShareHolds{{{true, "all"}, {false, "weights and cache"}}};

SourcedNumber read_number(ObjectReader& reader, std::string_view key, double min, double max) {
  SourcedNumber n;
  const auto value = reader.value(key);
  if (!value) return n;
  ObjectReader own(*value, reader.diagnostics());
  n.value = own.number("value", min, max);
  n.low = read_number_or(own, "low", min, n.value, n.value);
  n.high = read_number_or(own, "high", n.value, max, n.value);
  n.provenance = read_provenance(own);
  own.finish();
  return n;
}

SleepLevel read_level(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SleepLevel level;
  level.name = read_text(reader, "name");
  level.weights = read_enum(reader, "weights", kSleepingWeights);
  level.provenance = read_provenance(reader);
  reader.finish();
  return level;
}

RolloutEngine read_engine(const JsonValue& value, Diagnostics& out) {
  constexpr double kLeastShare = 0.01;
  ObjectReader reader(value, out);
  RolloutEngine e;
  e.name = read_name(reader, "name");
  e.title = read_text(reader, "title");
  e.memory_share = read_number(reader, "memory_share", kLeastShare, 1);
  e.share_holds_all = read_enum(reader, "share_holds", kShareHolds);
  e.share_setting = read_name(reader, "share_setting");
  e.context_gib = read_number(reader, "context_gib", 0, kMostGib);
  e.graphs_gib = read_number(reader, "graphs_gib", 0, kMostGib);
  e.asleep_gib = read_number(reader, "asleep_gib", 0, kMostGib);
  e.most_sequences = read_number(reader, "most_sequences", 1, kMostTokens);
  e.prefill_tokens = read_number(reader, "prefill_tokens", 1, kMostTokens);
  e.shares_prompts = reader.boolean("shares_prompts");
  e.cache_bytes = read_number(reader, "cache_bytes", 0.5, 4);
  e.bandwidth_share = read_number(reader, "bandwidth_share", kLeastShare, 1);
  e.peak_share = read_number(reader, "peak_share", kLeastShare, 1);
  e.iteration_us = read_number(reader, "iteration_us", 0, kMostMicroseconds);
  e.sequence_us = read_number(reader, "sequence_us", 0, kMostMicroseconds);
  e.sleep_s = read_number(reader, "sleep_s", 0, kMostSeconds);
  e.wake_s = read_number(reader, "wake_s", 0, kMostSeconds);
  e.sync_share = read_number(reader, "sync_share", kLeastShare, 1);
  for (const JsonValue& level : reader.array("sleep_levels")) e.sleep_levels.push_back(read_level(level, out));
  reader.finish();
  return e;
}

RlAlgorithm read_algorithm(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  RlAlgorithm a;
  a.name = read_name(reader, "name");
  a.title = read_text(reader, "title");
  a.critic = reader.boolean("critic");
  a.reference = reader.boolean("reference");
  a.samples = reader.integer("samples", 1, kMostSamples);
  a.passes = reader.integer("passes", 1, kMostSamples);
  a.mini_batches = reader.integer("mini_batches", 1, kMostSamples);
  a.generated = reader.number("generated", 1, kMostGenerated);
  a.provenance = read_provenance(reader);
  reader.finish();
  return a;
}

}  // namespace

bool RolloutEngine::keeps_weights_on_host() const {
  return std::any_of(sleep_levels.begin(), sleep_levels.end(),
                     [](const SleepLevel& level) { return level.weights == SleepingWeights::Host; });
}

const std::vector<RolloutEngine>& rollout_engines() {
  static const std::vector<RolloutEngine> kEngines = finetuning_rows("rollout_engines", read_engine);
  return kEngines;
}

const RolloutEngine* rollout_engine(std::string_view name) { return row_named(rollout_engines(), name); }

const std::vector<RlAlgorithm>& rl_algorithms() {
  static const std::vector<RlAlgorithm> kAlgorithms = finetuning_rows("rl_algorithms", read_algorithm);
  return kAlgorithms;
}

const RlAlgorithm* rl_algorithm(std::string_view name) { return row_named(rl_algorithms(), name); }

}  // namespace smplan
