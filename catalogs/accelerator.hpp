#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/provenance.hpp"
#include "catalogs/vendor.hpp"

namespace smplan {

/// What one accelerator (as the framework sees one device) can do on paper, and what its driver
/// really offers. Rates are dense: no structured sparsity.
struct Accelerator {
  std::string key;                   ///< `A100-40GB`, the name that instances refer to
  std::string name;                  ///< vendor's name
  std::vector<std::string> aliases;  ///< other names, as measured runs and users spell them
  std::string architecture;          ///< `Ampere GA100`
  std::string compute_capability;    ///< `8.0`; empty where it has none or nobody has published it
  Bytes marketing_memory;
  /// What the device reports as total (nvidia-smi or torch), before any CUDA context.
  Bytes device_memory;
  BytesPerSecond memory_bandwidth;
  Vendor vendor = Vendor::Nvidia;
  int sm_count = 0;          ///< streaming multiprocessors; 0 where unknown
  int cores_per_device = 1;  ///< physical cores of a logical one, which the catalog counts as a device (Trainium2)
  /// Power cap in watts; 0 where unknown. What it costs is told by the energy of a FLOP in the profile.
  double power_limit_w = 0;
  Bytes l2_cache;
  /// Peak dense rate by Precision; zero where the device has no such unit.
  std::array<FlopsPerSecond, kPrecisionCount> peak{};
  std::vector<std::string> unverified_fields;
  std::string note;
  Provenance provenance;

  [[nodiscard]] FlopsPerSecond peak_rate(Precision p) const { return peak[static_cast<std::size_t>(p)]; }
  /// Ten times the compute capability: 80 for 8.0; 0 where it is empty.
  [[nodiscard]] int capability() const;
  /// The chip's design; Blackwell's is one beside x86 hosts and another beside Grace in racks.
  [[nodiscard]] std::string silicon() const;
  [[nodiscard]] bool supports(Precision p) const { return peak_rate(p).value() > 0; }
  friend bool operator==(const Accelerator&, const Accelerator&) = default;
};

Accelerator read_accelerator(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
