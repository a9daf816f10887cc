#include "planner/calibration/probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "catalogs/dates.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kProbeVersion = 1;
constexpr double kMostSeconds = 1e5;
constexpr double kMostSize = 1e15;
constexpr std::int64_t kMostWidth = 1 << 30;
/// Below these launches, caches and the ramps of kernels decide.
constexpr double kLeastFlops = 1e10;
constexpr double kLeastCopy = 128 * kMiB;
constexpr double kLeastMessage = 16 * kMiB;
constexpr std::int64_t kLeastKeys = 1024;

std::optional<Precision> product_format(const std::string& dtype) {
  if (dtype == "fp8_tensorwise") return Precision::Fp8;
  return precision_from(dtype);
}

Seconds median(ObjectReader& record) { return Seconds(record.number("median_s", 1e-9, kMostSeconds)); }

/// Products of layers and square ones: those with a vocabulary are misaligned as often as not, those of adapters small.
void read_product(ObjectReader& record, Probe& probe) {
  const std::string role = record.optional_string("role").value_or("");
  const std::optional<Precision> precision = product_format(record.string("dtype"));
  if ((role != "layer" && role != "square") || !precision || !record.has("m")) return;
  const GemmShape shape{.m = record.integer("m", 1, kMostWidth),
                        .n = record.integer("n", 1, kMostWidth),
                        .k = record.integer("k", 1, kMostWidth)};
  const Seconds time = median(record);
  if (shape.flops().value() >= kLeastFlops) probe.products.push_back({{shape, *precision}, time});
}

void read_attention(ObjectReader& record, Probe& probe) {
  const std::string backend = record.string("backend");
  const std::optional<Precision> precision = precision_from(record.string("dtype"));
  if ((backend != "flash" && backend != "cudnn") || !precision) return;
  AttentionShape shape{.batch = record.integer("batch", 1, kMostWidth),
                       .heads = record.integer("heads", 1, kMostWidth),
                       .kv_heads = record.integer("kv_heads", 1, kMostWidth)};
  shape.query_len = shape.key_len = record.integer("seq", 1, kMostWidth);
  shape.head_dim = shape.value_dim = record.integer("head_dim", 1, kMostWidth);
  shape.causal = record.boolean("causal");
  const bool backward = record.string("way") == "backward";
  const Seconds time = median(record);
  if (shape.key_len < kLeastKeys) return;
  probe.attention.push_back({{shape, backward ? Pass::Backward : Pass::Forward, *precision,
                              backend == "cudnn" ? AttentionKernel::Vendor : AttentionKernel::Flash2},
                             time});
}

void read_copy(ObjectReader& record, Probe& probe) {
  const std::string name = record.string("name");
  if (name != "copy" && name != "add") return;
  const Bytes moved(record.number("bytes", 0, kMostSize));
  const Seconds time = median(record);
  if (moved.value() >= kLeastCopy) probe.copies.push_back({moved, time});
}

/// Of all ranks: smaller groups lie wherever the launcher put them.
void read_collective(ObjectReader& record, Probe& probe) {
  std::optional<CollectiveKind> kind = collective_kind_from(record.string("name"));
  const std::int64_t ranks = record.integer("ranks", 1, kMostWidth);
  const Bytes size(record.number("bytes", 0, kMostSize));
  const Seconds time = median(record);
  if (!kind || *kind == CollectiveKind::PointToPoint || ranks != probe.machine.n_gpus) return;
  if (size.value() >= kLeastMessage) probe.collectives.push_back({{*kind, size}, time});
}

/// Records of a section; those that failed have an error in place of figures.
void read_section(const JsonValue& sections, std::string_view name, void (*read)(ObjectReader&, Probe&), Probe& probe,
                  Diagnostics& faults) {
  const std::optional<JsonValue> section = sections.is_object() ? sections.find(name) : std::nullopt;
  if (!section) return;
  ObjectReader reader(*section, faults);
  for (const JsonValue& item : reader.array("records")) {
    ObjectReader record(item, faults);
    if (record.has("error") || !record.has("median_s")) continue;
    read(record, probe);
  }
}

struct Moved {
  std::string name;
  std::size_t records = 0;
  std::function<double()> get;      ///< the number
  std::function<void(double)> set;  ///< it and what moves with it
  std::function<double(std::size_t)>
      log_error;  ///< log(predicted / measured) of a record under the profiles as they are
};

double mean_error(const Moved& m) {
  double sum = 0;
  for (std::size_t i = 0; i < m.records; ++i) sum += std::abs(std::exp(m.log_error(i)) - 1);
  return sum / static_cast<double>(m.records);
}

/// Efficiencies: time falls about as they rise, so that a few steps bring the mean error to where the prior holds it.
void move(const Moved& m, ProbeFit& fit) {
  constexpr std::size_t kFewest = 4;
  constexpr double kMostCounted = 10;
  constexpr int kSteps = 6;
  if (m.records < kFewest) return;
  ProbedNumber number{.name = m.name, .records = m.records, .before = m.get(), .error_before = mean_error(m)};
  // A prior of 10 % about the catalog's value, and as much of a record.
  const double counted = std::min(kMostCounted, static_cast<double>(m.records));
  double moved = 0;
  for (int step = 0; step < kSteps; ++step) {
    double mean = 0;
    for (std::size_t i = 0; i < m.records; ++i) mean += m.log_error(i) / static_cast<double>(m.records);
    moved += (counted * mean - moved) / (counted + 1);
    m.set(std::clamp(number.before * std::exp(moved), 2 * kMinEfficiency, 1.0));
  }
  number.error_after = mean_error(m);
  // Where shapes err both ways a level cannot help.
  if (number.error_after > number.error_before) {
    m.set(number.before);
    number.error_after = number.error_before;
  }
  number.after = m.get();
  fit.numbers.push_back(std::move(number));
}

template <typename T>
std::vector<const T*> chosen(const std::vector<T>& all, const std::function<bool(const T&)>& wanted) {
  std::vector<const T*> out;
  for (const T& item : all) {
    if (wanted(item)) out.push_back(&item);
  }
  return out;
}

void move_products(const Probe& probe, const Accelerator& device, ProbeFit& fit) {
  for (int f = 0; f < kPrecisionCount; ++f) {
    const auto format = static_cast<Precision>(f);
    const auto records = chosen<Probed<ProbedProduct>>(
        probe.products, [&](const Probed<ProbedProduct>& p) { return p.shape.precision == format; });
    double& efficiency = fit.accelerator.gemm_efficiency[static_cast<std::size_t>(f)];
    if (!device.supports(format) || efficiency <= 0) continue;
    move({"products in " + std::string(to_string(format)), records.size(), [&] { return efficiency; },
          [&](double value) { efficiency = value; },
          [&](std::size_t i) {
            const auto& [shape, time] = *records[i];
            return std::log(gemm_time(shape.gemm, shape.precision, device, fit.accelerator) / time);
          }},
         fit);
  }
}

void move_copies(const Probe& probe, const Accelerator& device, ProbeFit& fit) {
  move({"device memory", probe.copies.size(), [&] { return fit.accelerator.memory_efficiency; },
        [&](double value) { fit.accelerator.memory_efficiency = value; },
        [&](std::size_t i) {
          const auto& [bytes, time] = probe.copies[i];
          return std::log(streaming_time(bytes, device, fit.accelerator) / time);
        }},
       fit);
}

/// The level of a kernel in all formats of a pass: what differs between them is not probed.
void move_attention(const Probe& probe, const Accelerator& device, ProbeFit& fit) {
  for (const AttentionKernel kernel : {AttentionKernel::Flash2, AttentionKernel::Vendor}) {
    const bool vendor = kernel == AttentionKernel::Vendor;
    AttentionRates& rates = vendor ? fit.accelerator.vendor_attention : fit.accelerator.flash2;
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const bool forward = pass == Pass::Forward;
      auto& levels = forward ? rates.forward_efficiency : rates.backward_efficiency;
      double& first = levels[static_cast<std::size_t>(Precision::Bf16)];
      const auto records = chosen<Probed<ProbedAttention>>(probe.attention, [&](const Probed<ProbedAttention>& a) {
        return a.shape.kernel == kernel && a.shape.pass == pass && device.supports(a.shape.precision);
      });
      if (first <= 0) continue;
      move({fmt::format("{}, {}", vendor ? "the vendor's attention" : "FlashAttention-2",
                        forward ? "forward" : "backward"),
            records.size(), [&] { return first; },
            [&](double value) {
              const double factor = value / first;
              for (double& level : levels) level = std::min(1.0, factor * level);
            },
            [&](std::size_t i) {
              const auto& [a, time] = *records[i];
              return std::log(flash_attention_time(a.shape, a.pass, a.precision, device, fit.accelerator, a.kernel) /
                              time);
            }},
           fit);
    }
  }
}

/// Of the wires that bound a collective: those of a node alone, or the network's.
void move_links(const Probe& probe, Cluster cluster, ProbeFit& fit) {
  if (probe.collectives.empty()) return;
  const GroupShape all = whole_cluster(cluster);
  const bool crosses = all.domains() > 1;
  FabricProfile& profile = crosses ? cluster.network_profile : cluster.fabric_profile;
  for (const bool exchange : {false, true}) {
    const auto records = chosen<Probed<ProbedCollective>>(probe.collectives, [&](const Probed<ProbedCollective>& c) {
      return (c.shape.kind == CollectiveKind::AllToAll) == exchange;
    });
    double& efficiency = exchange ? profile.alltoall_efficiency : profile.bandwidth_efficiency;
    move({fmt::format("{}, {}", profile.fabric, exchange ? "all-to-all" : "rings and trees"), records.size(),
          [&] { return efficiency; },
          [&](double value) {
            const double factor = value / efficiency;
            efficiency = value;
            if (!exchange)
              profile.switch_reduction_efficiency = std::min(1.0, factor * profile.switch_reduction_efficiency);
          },
          [&](std::size_t i) {
            const auto& [c, time] = *records[i];
            return std::log(collective_time(c.kind, c.size, all, cluster, Collectives::Nccl).time / time);
          }},
         fit);
  }
  (crosses ? fit.network : fit.fabric) = profile;
}

/// Six significant digits, as fitted profiles have.
double rounded(double x) { return x == 0 ? 0 : std::stod(fmt::format("{:.6g}", x)); }

Json by_precision(const std::array<double, kPrecisionCount>& values) {
  Json out = Json::object();
  for (int f = 0; f < kPrecisionCount; ++f) {
    const double value = values[static_cast<std::size_t>(f)];
    if (value > 0) out[std::string(to_string(static_cast<Precision>(f)))] = rounded(value);
  }
  return out;
}

Json attention_json(const AttentionRates& r) {
  return {{"forward_efficiency", by_precision(r.forward_efficiency)},
          {"backward_efficiency", by_precision(r.backward_efficiency)},
          {"forward_overhead_keys", rounded(r.forward_overhead_keys)},
          {"backward_overhead_keys", rounded(r.backward_overhead_keys)},
          {"half_dim", rounded(r.half_dim)}};
}

Json accelerator_json(const AcceleratorProfile& p) {
  Json out = {{"accelerator", p.accelerator},
              {"gemm_efficiency", by_precision(p.gemm_efficiency)},
              {"gemm_half_k", rounded(p.gemm_half_k)},
              {"gemm_half_tile", rounded(p.gemm_half_tile)},
              {"gemm_wave_rounding", rounded(p.gemm_wave_rounding)},
              {"gemm_floor_us", rounded(p.gemm_floor.value() * 1e6)},
              {"memory_efficiency", rounded(p.memory_efficiency)},
              {"kernel_floor_us", rounded(p.kernel_floor.value() * 1e6)}};
  if (p.energy_per_flop_pj > 0) out["energy_per_flop_pj"] = rounded(p.energy_per_flop_pj);
  out["flash2"] = attention_json(p.flash2);
  out["vendor_attention"] = attention_json(p.vendor_attention);
  return out;
}

Json fabric_json(const FabricProfile& p) {
  return {{"fabric", p.fabric},
          {"bandwidth_efficiency", rounded(p.bandwidth_efficiency)},
          {"base_latency_us", rounded(p.base_latency.value() * 1e6)},
          {"step_latency_us", rounded(p.step_latency.value() * 1e6)},
          {"half_size_kib", rounded(p.half_size.value() / kKiB)},
          {"alltoall_efficiency", rounded(p.alltoall_efficiency)},
          {"switch_reduction_efficiency", rounded(p.switch_reduction_efficiency)}};
}

}  // namespace

Result<Probe> read_probe(const JsonValue& document) {
  Diagnostics faults;
  ObjectReader reader(document, faults);
  Probe probe;
  const std::int64_t version = reader.integer("probe_version", 0, 1 << 20);
  if (faults.empty() && version != kProbeVersion) {
    return fail("invalid", reader.location("probe_version"),
                fmt::format("is {}, this smplan reads {}", version, kProbeVersion),
                "measure with the script that `smplan probe` prints");
  }
  probe.made_on = reader.string("made_at").substr(0, 10);
  if (faults.empty() && !is_day(probe.made_on)) {
    return fail("invalid", reader.location("made_at"), "is no date", "measure with the script of `smplan probe`");
  }
  const auto facts = reader.value("facts");
  const auto sections = reader.value("sections");
  if (!facts || !sections) return tl::unexpected<Diagnostics>(std::move(faults));
  ObjectReader machine(*facts, faults);
  if (machine.string("device_type") != "cuda" && faults.empty()) {
    return fail("invalid", machine.location("device_type"), "is no accelerator",
                "measure where jobs run: a processor's figures say nothing of them");
  }
  probe.machine.gpu = machine.optional_string("device").value_or("");
  probe.machine.n_gpus = machine.integer("world_size", 1, 1 << 20);
  probe.machine.gpus_per_node = machine.integer("processes_on_node", 1, 1 << 10);
  read_section(*sections, "gemm", read_product, probe, faults);
  read_section(*sections, "attention", read_attention, probe, faults);
  read_section(*sections, "memory_bound", read_copy, probe, faults);
  read_section(*sections, "collectives", read_collective, probe, faults);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return probe;
}

Result<ProbeFit> fit_probe(const Probe& probe, const Catalog& catalog) {
  ProbeFit fit;
  const Result<Cluster> cluster = cluster_of(probe.machine, catalog, fit.assumptions);
  if (!cluster) return tl::unexpected<Diagnostics>(cluster.error());
  const Accelerator& device = cluster->accelerator;
  fit.accelerator = *catalog.find_accelerator_profile(device.key);
  move_products(probe, device, fit);
  move_copies(probe, device, fit);
  move_attention(probe, device, fit);
  move_links(probe, *cluster, fit);
  if (fit.numbers.empty()) {
    return fail("no-records", "calibrate --probe",
                "the probe has no kernel or collective that a profile has a place for",
                "let it run for three minutes or more, with all its sections");
  }
  return fit;
}

std::string probe_overlay(const ProbeFit& fit, const Probe& probe) {
  const auto told = [&](Json entry) {
    entry["source"] = fmt::format("smplan calibrate --probe, {} of {} ranks", fit.accelerator.accelerator,
                                  probe.machine.n_gpus.value_or(1));
    entry["as_of"] = probe.made_on;
    return entry;
  };
  Json overlay = {{"schema", "smplan.catalog/1"}};
  overlay["accelerator_profiles"] = Json::array();
  overlay["accelerator_profiles"].push_back(told(accelerator_json(fit.accelerator)));
  if (fit.fabric || fit.network) {
    overlay["fabric_profiles"] = Json::array();
    for (const std::optional<FabricProfile>& profile : {fit.fabric, fit.network}) {
      if (profile) overlay["fabric_profiles"].push_back(told(fabric_json(*profile)));
    }
  }
  return overlay.dump(2) + "\n";
}

}  // namespace smplan
