#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/json_writer.hpp"
#include "catalogs/import/import.hpp"

namespace smplan {
namespace {
/// As AWS writes it: the division by an hour and back leaves dust behind the tenth decimal.
double decimal(double value) { return std::round(value * 1e10) / 1e10; }

Json price_json(const Price& p) {
  Json out;
  out["instance"] = p.instance;
  out["region"] = p.region;
  out["market"] = std::string(to_string(p.market));
  out["usd_per_hour"] = decimal(in_usd_per_hour(p.rate));
  out["basis"] = std::string(to_string(p.basis));
  if (!p.formula.empty()) out["formula"] = p.formula;
  if (p.high > UsdPerSecond()) {
    out["low_usd_per_hour"] = decimal(in_usd_per_hour(p.low));
    out["high_usd_per_hour"] = decimal(in_usd_per_hour(p.high));
  }
  out["source"] = p.provenance.source;
  out["as_of"] = p.provenance.as_of;
  return out;
}

Json instance_json(const InstanceType& i) {
  Json out;
  out["name"] = i.name;
  out["vcpus"] = i.vcpus;
  out["host_memory_gib"] = decimal(in_gib(i.host_memory));
  out["accelerator_count"] = i.accelerator_count;
  if (i.accelerator_count > 0) {
    out["accelerator"] = i.accelerator;
    out["accelerator_memory_mib"] = decimal(i.accelerator_memory.value() / kMiB);
  }
  if (i.fabric.kind != FabricKind::None) {
    Json fabric;
    fabric["kind"] = std::string(to_string(i.fabric.kind));
    if (!i.fabric.generation.empty()) fabric["generation"] = i.fabric.generation;
    fabric["gb_per_s_per_accelerator"] = decimal(i.fabric.bandwidth_per_accelerator.value() / 1e9);
    fabric["domain_size"] = i.fabric.domain_size;
    out["fabric"] = fabric;
  }
  Json network;
  network["kind"] = std::string(to_string(i.network.kind));
  if (!i.network.version.empty()) network["version"] = i.network.version;
  network["gbit_per_s"] = decimal(i.network.bandwidth_per_node.value() * 8 / 1e9);
  network["interfaces"] = i.network.interfaces;
  network["gpudirect_rdma"] = i.network.gpudirect_rdma;
  out["network"] = network;
  const auto positive = [&out](const char* key, double value) {
    if (value > 0) out[key] = decimal(value);
  };
  positive("host_link_gb_per_s", i.host_link.value() / 1e9);
  if (i.host_speed != 1) out["host_speed"] = decimal(i.host_speed);
  if (i.blocking_launches) out["blocking_launches"] = true;
  positive("local_nvme_gb", i.local_nvme.value() / 1e9);
  positive("local_nvme_read_gb_per_s", i.local_nvme_read.value() / 1e9);
  positive("local_nvme_write_gb_per_s", i.local_nvme_write.value() / 1e9);
  positive("ebs_gbit_per_s", i.ebs_bandwidth.value() * 8 / 1e9);
  out["training_support"] = std::string(to_string(i.support));
  if (!i.support_reason.empty()) out["support_reason"] = i.support_reason;
  if (i.smddp) out["smddp"] = true;
  if (i.smp_v2) out["smp_v2"] = true;
  if (i.scarce) out["scarce"] = true;
  if (i.training_plan) out["training_plan"] = true;
  if (!i.sold_in.empty()) out["sold_in"] = i.sold_in;
  if (!i.regions.empty()) out["regions"] = i.regions;
  if (!i.note.empty()) out["note"] = i.note;
  out["source"] = i.provenance.source;
  out["as_of"] = i.provenance.as_of;
  return out;
}

/// Types of a region and band share an entry.
Json spot_json(std::vector<SpotInterruption> spot) {
  const auto group = [](const SpotInterruption& s) { return std::tie(s.region, s.low, s.high); };
  std::stable_sort(spot.begin(), spot.end(),
                   [&](const SpotInterruption& a, const SpotInterruption& b) { return group(a) < group(b); });
  Json out = Json::array();
  for (std::size_t i = 0; i < spot.size(); ++i) {
    if (i == 0 || group(spot[i - 1]) != group(spot[i])) {
      Json entry;
      entry["region"] = spot[i].region;
      entry["instances"] = Json::array();
      entry["monthly"] = decimal(spot[i].monthly);
      entry["low"] = decimal(spot[i].low);
      entry["high"] = decimal(spot[i].high);
      entry["source"] = spot[i].provenance.source;
      entry["as_of"] = spot[i].provenance.as_of;
      out.push_back(std::move(entry));
    }
    out.back()["instances"].push_back(spot[i].types);
  }
  return out;
}

}  // namespace

std::string overlay_of(const ImportedFacts& facts) {
  std::vector<Price> prices = facts.prices;
  std::sort(prices.begin(), prices.end(), [](const Price& a, const Price& b) {
    return std::tie(a.instance, a.region, a.market) < std::tie(b.instance, b.region, b.market);
  });
  std::vector<InstanceType> instances = facts.instances;
  std::sort(instances.begin(), instances.end(),
            [](const InstanceType& a, const InstanceType& b) { return a.name < b.name; });
  Json out;
  out["schema"] = "smplan.catalog/1";
  if (!instances.empty()) out["instances"] = Json::array();
  for (const InstanceType& i : instances) out["instances"].push_back(instance_json(i));
  if (!prices.empty()) out["prices"] = Json::array();
  for (const Price& p : prices) out["prices"].push_back(price_json(p));
  if (!facts.spot.empty()) out["spot_interruptions"] = spot_json(facts.spot);
  return out.dump(2) + "\n";
}

}  // namespace smplan
