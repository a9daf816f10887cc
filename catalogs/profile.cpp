#include "catalogs/profile.hpp"

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

// Wide enough for any fit, narrow enough to catch a wrong unit.
constexpr double kMaxEfficiency = 1.5;
constexpr double kMaxMicroseconds = 1e6;
constexpr double kMaxKib = 1 << 20;

Seconds read_microseconds(ObjectReader& reader, std::string_view key) {
  return microseconds(reader.number(key, 0, kMaxMicroseconds));
}

}  // namespace

AcceleratorProfile read_accelerator_profile(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  AcceleratorProfile profile;
  profile.accelerator = read_name(reader, "accelerator");
  profile.gemm_efficiency = read_by_precision(reader, "gemm_efficiency", kMaxEfficiency);
  profile.gemm_half_k = reader.number("gemm_half_k", 0, 1e5);
  profile.attention_forward_efficiency = read_by_precision(reader, "attention_forward_efficiency", kMaxEfficiency);
  profile.attention_backward_efficiency = read_by_precision(reader, "attention_backward_efficiency", kMaxEfficiency);
  profile.attention_half_seq = reader.number("attention_half_seq", 0, 1e6);
  profile.memory_efficiency = reader.number("memory_efficiency", 0, kMaxEfficiency);
  profile.kernel_floor = read_microseconds(reader, "kernel_floor_us");
  profile.provenance = read_provenance(reader);
  reader.finish();
  return profile;
}

FabricProfile read_fabric_profile(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FabricProfile profile;
  profile.fabric = read_name(reader, "fabric");
  profile.bandwidth_efficiency = reader.number("bandwidth_efficiency", 0, kMaxEfficiency);
  profile.step_latency = read_microseconds(reader, "step_latency_us");
  profile.base_latency = read_microseconds(reader, "base_latency_us");
  profile.half_size = Bytes(kKiB * reader.number("half_size_kib", 0, kMaxKib));
  profile.alltoall_efficiency = reader.number("alltoall_efficiency", 0, kMaxEfficiency);
  profile.switch_reduction_efficiency = read_number_or(reader, "switch_reduction_efficiency", 0, kMaxEfficiency, 0);
  profile.provenance = read_provenance(reader);
  reader.finish();
  return profile;
}

}  // namespace smplan
