#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/result.hpp"
#include "catalogs/catalog.hpp"
#include "models/machine/collectives.hpp"
#include "models/machine/compute.hpp"
#include "models/machine/stated_machine.hpp"

namespace smplan {

/// A kernel or transfer and its median time.
template <typename Shape>
struct Probed {
  Shape shape;
  Seconds time;
};
struct ProbedProduct {
  GemmShape gemm;
  Precision precision = Precision::Bf16;
};
struct ProbedAttention {
  AttentionShape shape;
  Pass pass = Pass::Forward;
  Precision precision = Precision::Bf16;
  AttentionKernel kernel = AttentionKernel::Flash2;
};
struct ProbedCollective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Bytes size;
};

/// What scripts/probe.py measured on one machine, as far as the models of kernels and collectives have a place for it:
/// products, attention and copies too large for launches and caches to count, collectives of all its ranks.
struct Probe {
  StatedMachine machine;
  std::string made_on;  ///< YYYY-MM-DD
  std::vector<Probed<ProbedProduct>> products;
  std::vector<Probed<ProbedAttention>> attention;
  std::vector<Probed<Bytes>> copies;
  std::vector<Probed<ProbedCollective>> collectives;
};

/// Errors: another version of the file, a record that lacks a number or holds one that is out of range. Sections and
/// records that have no place are passed over, and so are those that failed.
Result<Probe> read_probe(const JsonValue& document);

/// One number of a profile, or several that move together.
struct ProbedNumber {
  std::string name;
  std::size_t records = 0;
  double before = 0;  ///< of the first of them
  double after = 0;
  double error_before = 0;  ///< mean of |predicted / measured - 1| over the records
  double error_after = 0;
};

struct ProbeFit {
  AcceleratorProfile accelerator;
  std::optional<FabricProfile> fabric, network;  ///< where ranks exchanged
  std::vector<ProbedNumber> numbers;
  std::vector<std::string> assumptions;
};

/// Moves what the device, its links and its network reach towards the probe. A number is held near the catalog's by a
/// prior of 10 %, and records of one kind err alike: ten or more count as ten. Errors: a device that the catalog lacks,
/// nothing measured that has a place.
Result<ProbeFit> fit_probe(const Probe& probe, const Catalog& catalog);

/// The moved profiles as an overlay that every command accepts by --calibration.
std::string probe_overlay(const ProbeFit& fit, const Probe& probe);

}  // namespace smplan
