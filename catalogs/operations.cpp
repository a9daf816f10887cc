#include "catalogs/operations.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

/// AWS bills storage by the average month.
constexpr double kHoursPerMonth = 730;
constexpr double kMonthSeconds = kHoursPerMonth * kSecondsPerHour;
constexpr double kDay = kSecondsPerDay;

constexpr std::array<OperationParameter, 20> kParameters = {{
    {"gpu_hours_between_failures", 1, 1e9, [](Operations& o, double v) { o.failures_apart_per_gpu = hours(v); }},
    {"failure_detection_s", 0, kDay, [](Operations& o, double v) { o.failure_detection = Seconds(v); }},
    {"provisioning_s", 0, kDay, [](Operations& o, double v) { o.provisioning = Seconds(v); }},
    {"image_pull_s", 0, kDay, [](Operations& o, double v) { o.image_pull = Seconds(v); }},
    {"model_init_s", 0, kDay, [](Operations& o, double v) { o.model_init = Seconds(v); }},
    {"first_step_s", 0, kDay, [](Operations& o, double v) { o.first_step = Seconds(v); }},
    {"warm_start_s", 0, kDay, [](Operations& o, double v) { o.warm_start = Seconds(v); }},
    {"spot_wait_s", 0, 30 * kDay, [](Operations& o, double v) { o.spot_wait = Seconds(v); }},
    {"checkpointless_recovery_s", 0, kDay, [](Operations& o, double v) { o.checkpointless_recovery = Seconds(v); }},
    {"spot_monthly_interruption", 0, 0.999, [](Operations& o, double v) { o.spot_monthly = v; }},
    {"checkpoints_kept", 1, 1e6, [](Operations& o, double v) { o.checkpoints_kept = v; }},
    {"plan_reclaim_s", 0, kDay, [](Operations& o, double v) { o.plan_reclaim = Seconds(v); }},
    {"price_drift_per_sqrt_year", 0, 10, [](Operations& o, double v) { o.price_drift = v; }},
    {"spot_price_spread", 0, 10, [](Operations& o, double v) { o.spot_price_spread = v; }},
    {"token_bytes", 0.1, 1e6, [](Operations& o, double v) { o.token_bytes = Bytes(v); }},
    {"loader_mb_per_s_per_worker", 1e-3, 1e6,
     [](Operations& o, double v) { o.loader_per_worker = BytesPerSecond(v * 1e6); }},
    {"jpeg_mb_per_s_per_worker", 1e-3, 1e6,
     [](Operations& o, double v) { o.jpeg_per_worker = BytesPerSecond(v * 1e6); }},
    {"text_mb_per_s_per_worker", 1e-3, 1e6,
     [](Operations& o, double v) { o.text_per_worker = BytesPerSecond(v * 1e6); }},
    {"jpeg_kb", 0.1, 1e6, [](Operations& o, double v) { o.jpeg_bytes = Bytes(v * 1e3); }},
    {"text_bytes_per_token", 0.1, 100, [](Operations& o, double v) { o.text_bytes_per_token = Bytes(v); }},
}};

/// `low <= value <= high`, where the range is given.
void read_range(ObjectReader& reader, double value, double min, double max, double& low, double& high) {
  Diagnostics& out = reader.diagnostics();
  const std::size_t faults = out.size();
  low = read_number_or(reader, "low", min, max, value);
  high = read_number_or(reader, "high", min, max, value);
  if (out.size() == faults && (low > value || high < value)) {
    out.push_back({"bad-range", reader.location("low"),
                   fmt::format("{} is not between low {} and high {}", value, low, high),
                   "give low <= value <= high, or leave the range out"});
  }
}

}  // namespace

std::span<const OperationParameter> operation_parameters() { return kParameters; }

Operations OperationFacts::values() const {
  Operations values;
  for (const OperationFact& fact : figures) {
    for (const OperationParameter& parameter : kParameters) {
      if (fact.key == parameter.key) parameter.set(values, fact.value);
    }
  }
  return values;
}

const StorageService* OperationFacts::storage(std::string_view key) const {
  const auto at = std::find_if(storages.begin(), storages.end(), [&](const StorageService& s) { return s.key == key; });
  return at == storages.end() ? nullptr : &*at;
}

double OperationFacts::spot_monthly(std::string_view instance, std::string_view region) const {
  constexpr std::string_view kPrefix = "ml.";
  std::string_view family = instance;
  if (family.substr(0, kPrefix.size()) == kPrefix) family.remove_prefix(kPrefix.size());
  family = family.substr(0, family.find('.'));
  const SpotInterruption* best = nullptr;
  int best_rank = 0;
  for (const SpotInterruption& s : spot) {
    const bool here = s.region == region;
    if (!here && !s.region.empty()) continue;
    const int rank = (s.types == instance ? 3 : s.types == family ? 1 : 0) + (here ? 1 : 0);
    if (rank <= (here ? 1 : 0) || rank <= best_rank) continue;
    best = &s;
    best_rank = rank;
  }
  return best != nullptr ? best->monthly : values().spot_monthly;
}

OperationFact read_operation_fact(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  OperationFact fact;
  const std::size_t faults = out.size();
  fact.key = read_name(reader, "key");
  const bool named = out.size() == faults;
  const auto parameter = std::find_if(kParameters.begin(), kParameters.end(),
                                      [&](const OperationParameter& p) { return p.key == fact.key; });
  const bool known = parameter != kParameters.end();
  if (named && !known) {
    std::vector<std::string> names;
    for (const OperationParameter& p : kParameters) names.emplace_back(p.key);
    out.push_back(unknown_name("operations figure", fact.key, reader.location("key"), names));
  }
  const double min = known ? parameter->min : 0;
  const double max = known ? parameter->max : 1e18;
  fact.value = reader.number("value", min, max);
  read_range(reader, fact.value, min, max, fact.low, fact.high);
  fact.provenance = read_provenance(reader);
  reader.finish();
  return fact;
}

StorageService read_storage_service(const JsonValue& value, Diagnostics& out) {
  constexpr double kMaxRate = 1e5;  // GB/s
  ObjectReader reader(value, out);
  StorageService s;
  s.key = read_name(reader, "key");
  s.read_per_node = gb_per_s(reader.number("read_gb_per_s_per_node", 0, kMaxRate));
  s.write_per_node = gb_per_s(reader.number("write_gb_per_s_per_node", 0, kMaxRate));
  s.throughput_per_tib = gb_per_s(read_number_or(reader, "gb_per_s_per_tib", 0, kMaxRate, 0));
  s.read_total = gb_per_s(read_number_or(reader, "read_gb_per_s", 0, kMaxRate, 0));
  s.write_total = gb_per_s(read_number_or(reader, "write_gb_per_s", 0, kMaxRate, 0));
  s.min_capacity = gib(read_number_or(reader, "min_capacity_gib", 0, 1e9, 0));
  s.capacity_step = gib(read_number_or(reader, "capacity_step_gib", 0, 1e9, 0));
  s.storage = UsdPerByteSecond(reader.number("usd_per_gb_month", 0, 1000) / 1e9 / kMonthSeconds);
  s.put = Usd(read_number_or(reader, "usd_per_1000_puts", 0, 1000, 0) / 1000);
  s.get = Usd(read_number_or(reader, "usd_per_1000_gets", 0, 1000, 0) / 1000);
  s.other_region = UsdPerByte(read_number_or(reader, "usd_per_gb_to_other_region", 0, 1000, 0) / 1e9);
  s.open_file = Seconds(read_number_or(reader, "open_file_ms", 0, 1e6, 0) / 1000);
  s.provenance = read_provenance(reader);
  reader.finish();
  return s;
}

std::vector<SpotInterruption> read_spot_interruptions(const JsonValue& value, Diagnostics& out) {
  constexpr double kMost = 0.999;
  ObjectReader reader(value, out);
  std::vector<std::string> types = read_strings(reader, "instances");
  if (types.empty()) {
    types.push_back(read_name(reader, "family"));
  } else if (value.find("family")) {
    out.push_back({"conflict", reader.location("family"), "stands beside instances", "give one of the two"});
    reader.ignore("family");
  }
  SpotInterruption s;
  s.region = read_optional_name(reader, "region");
  s.monthly = reader.number("monthly", 0, kMost);
  read_range(reader, s.monthly, 0, kMost, s.low, s.high);
  s.provenance = read_provenance(reader);
  reader.finish();
  std::vector<SpotInterruption> all;
  for (std::string& name : types) {
    s.types = std::move(name);
    all.push_back(s);
  }
  return all;
}

}  // namespace smplan
