#include "catalogs/profile.hpp"

#include <array>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

// Wide enough for any fit, narrow enough to catch a wrong unit.
constexpr double kMaxEfficiency = 1.5;
constexpr double kMaxMicroseconds = 1e6;
constexpr double kMaxElements = 1e5;
constexpr double kMaxPicojoules = 100;
constexpr double kMaxKib = 1 << 20;

Seconds read_microseconds(ObjectReader& reader, std::string_view key) {
  return microseconds(reader.number(key, 0, kMaxMicroseconds));
}

AttentionRates read_attention_rates(ObjectReader& outer, std::string_view key) {
  AttentionRates rates;
  const auto value = outer.value(key);
  if (!value) return rates;
  ObjectReader reader(*value, outer.diagnostics());
  rates.forward_efficiency = read_by_precision(reader, "forward_efficiency", kMaxEfficiency);
  rates.backward_efficiency = read_by_precision(reader, "backward_efficiency", kMaxEfficiency);
  rates.forward_overhead_keys = reader.number("forward_overhead_keys", 0, kMaxElements);
  rates.backward_overhead_keys = reader.number("backward_overhead_keys", 0, kMaxElements);
  rates.half_dim = reader.number("half_dim", 0, kMaxElements);
  reader.finish();
  return rates;
}

}  // namespace

AcceleratorProfile read_accelerator_profile(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  AcceleratorProfile profile;
  profile.accelerator = read_name(reader, "accelerator");
  profile.gemm_efficiency = read_by_precision(reader, "gemm_efficiency", kMaxEfficiency);
  profile.gemm_half_k = reader.number("gemm_half_k", 0, kMaxElements);
  profile.gemm_half_tile = reader.number("gemm_half_tile", 0, kMaxElements);
  profile.gemm_wave_rounding = reader.number("gemm_wave_rounding", 0, 1);
  profile.gemm_floor = read_microseconds(reader, "gemm_floor_us");
  profile.flash2 = read_attention_rates(reader, "flash2");
  profile.vendor_attention = read_attention_rates(reader, "vendor_attention");
  profile.memory_efficiency = reader.number("memory_efficiency", kMinEfficiency, kMaxEfficiency);
  profile.kernel_floor = read_microseconds(reader, "kernel_floor_us");
  profile.energy_per_flop_pj = read_number_or(reader, "energy_per_flop_pj", 0, kMaxPicojoules, 0);
  profile.provenance = read_provenance(reader);
  reader.finish();
  return profile;
}

std::span<const DeviceParameter> device_parameters() {
  static constexpr std::array<DeviceParameter, 2> kParameters{{
      {"sustained_fraction", &SustainedRate::fraction, &AcceleratorProfile::sustained_fraction, 0.3, 1.2},
      {"sustained_attention", &SustainedRate::attention, &AcceleratorProfile::sustained_attention, 0.3, 2},
  }};
  return kParameters;
}

SustainedRate read_sustained_rate(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SustainedRate rate;
  rate.accelerator = read_name(reader, "accelerator");
  for (const DeviceParameter& p : device_parameters()) {
    rate.*p.rate = read_number_or(reader, p.key, p.low, p.high, 1);
  }
  rate.provenance = read_provenance(reader);
  reader.finish();
  return rate;
}

FabricProfile read_fabric_profile(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FabricProfile profile;
  profile.fabric = read_name(reader, "fabric");
  profile.bandwidth_efficiency = reader.number("bandwidth_efficiency", kMinEfficiency, kMaxEfficiency);
  profile.step_latency = read_microseconds(reader, "step_latency_us");
  profile.base_latency = read_microseconds(reader, "base_latency_us");
  profile.half_size = Bytes(kKiB * reader.number("half_size_kib", 0, kMaxKib));
  profile.alltoall_efficiency = reader.number("alltoall_efficiency", kMinEfficiency, kMaxEfficiency);
  profile.switch_reduction_efficiency = read_number_or(reader, "switch_reduction_efficiency", 0, kMaxEfficiency, 0);
  profile.provenance = read_provenance(reader);
  reader.finish();
  return profile;
}

}  // namespace smplan
