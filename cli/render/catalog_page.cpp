#include "cli/render/catalog_page.hpp"

#include <cmath>

#include <fmt/format.h>

#include "models/job/dimensions.hpp"

namespace smplan::cli {
namespace {

void add_bytes(FactSheet& sheet, const std::string& key, Bytes bytes) {
  if (bytes.value() > 0) sheet.add(key + "_gib", fmt::format("{:.2f}", in_gib(bytes)), in_gib(bytes));
}

void add_bandwidth(FactSheet& sheet, const std::string& key, BytesPerSecond rate) {
  const double gb = rate.value() / 1e9;
  if (gb > 0) sheet.add(key + "_gb_per_s", fmt::format("{:g}", gb), gb);
}

void add_text(FactSheet& sheet, const std::string& key, const std::string& text) {
  if (!text.empty()) sheet.add(key, text);
}

void add_switch(FactSheet& sheet, const std::string& key, bool value) { sheet.add(key, value ? "yes" : "no", value); }

void add_names(FactSheet& sheet, const std::string& key, const std::vector<std::string>& names) {
  if (!names.empty()) sheet.add(key, fmt::format("{}", fmt::join(names, ", ")), Json(names));
}

template <typename E>
std::vector<std::string> spelled(const std::vector<E>& values) {
  std::vector<std::string> names;
  for (const E value : values) names.emplace_back(to_string(value));
  return names;
}

void add_provenance(FactSheet& sheet, const Provenance& provenance) {
  sheet.add("source", provenance.source);
  sheet.add("as_of", provenance.as_of);
}

}  // namespace

double hourly_usd(const Price& price) { return std::round(in_usd_per_hour(price.rate) * 1e6) / 1e6; }

Listing accelerator_page(const Accelerator& a, const Catalog& catalog) {
  FactSheet sheet;
  sheet.add("accelerator", a.key);
  sheet.add("name", a.name);
  sheet.add("architecture", a.architecture);
  sheet.add("vendor", std::string(to_string(a.vendor)));
  add_text(sheet, "compute_capability", a.compute_capability);
  add_bytes(sheet, "device_memory", a.device_memory);
  add_bytes(sheet, "marketing_memory", a.marketing_memory);
  add_bandwidth(sheet, "memory", a.memory_bandwidth);
  for (const Precision p :
       {Precision::Fp32, Precision::Tf32, Precision::Fp16, Precision::Bf16, Precision::Fp8, Precision::Fp4}) {
    const double tflops = a.peak_rate(p).value() / 1e12;
    if (tflops > 0) sheet.add(fmt::format("peak_{}_tflops", to_string(p)), fmt::format("{:g}", tflops), tflops);
  }
  if (a.sm_count > 0) sheet.add("sm_count", std::int64_t{a.sm_count});
  if (a.cores_per_device > 1) sheet.add("cores_per_device", std::int64_t{a.cores_per_device});
  if (a.power_limit_w > 0) sheet.add("power_limit_w", fmt::format("{:g}", a.power_limit_w), a.power_limit_w);
  const double cache_mib = a.l2_cache.value() / kMiB;
  if (cache_mib > 0) sheet.add("l2_cache_mib", fmt::format("{:g}", cache_mib), cache_mib);
  std::vector<std::string> hosts;
  for (const InstanceType& i : catalog.instances()) {
    if (i.accelerator == a.key) hosts.push_back(i.name);
  }
  add_names(sheet, "instances", hosts);
  add_names(sheet, "unverified", a.unverified_fields);
  add_text(sheet, "note", a.note);
  add_provenance(sheet, a.provenance);
  return sheet.listing();
}

Listing instance_page(const InstanceType& i, const Catalog& catalog) {
  FactSheet sheet;
  sheet.add("instance", i.name);
  sheet.add("accelerator", i.accelerator);
  sheet.add("accelerator_count", std::int64_t{i.accelerator_count});
  add_bytes(sheet, "accelerator_memory", i.accelerator_memory);
  sheet.add("fabric", std::string(to_string(i.fabric.kind)));
  add_text(sheet, "fabric_generation", i.fabric.generation);
  add_bandwidth(sheet, "fabric_per_accelerator", i.fabric.bandwidth_per_accelerator);
  if (i.fabric.domain_size > i.accelerator_count) sheet.add("fabric_domain", std::int64_t{i.fabric.domain_size});
  sheet.add("network", std::string(to_string(i.network.kind)));
  add_text(sheet, "network_version", i.network.version);
  const double network = i.network.bandwidth_per_node.value() * 8 / 1e9;
  sheet.add("network_gbit_per_s", fmt::format("{:g}", network), network);
  sheet.add("network_interfaces", std::int64_t{i.network.interfaces});
  add_switch(sheet, "gpudirect_rdma", i.network.gpudirect_rdma);
  sheet.add("vcpus", std::int64_t{i.vcpus});
  add_bytes(sheet, "host_memory", i.host_memory);
  add_bandwidth(sheet, "host_link", i.host_link);
  if (i.host_speed != 1) sheet.add("host_speed", fmt::format("{:g}", i.host_speed), i.host_speed);
  if (i.blocking_launches) add_switch(sheet, "blocking_launches", true);
  add_bytes(sheet, "local_nvme", i.local_nvme);
  sheet.add("training", std::string(to_string(i.support)));
  add_text(sheet, "training_reason", i.support_reason);
  add_switch(sheet, "smddp", i.smddp);
  add_switch(sheet, "smp_v2", i.smp_v2);
  add_switch(sheet, "training_plan", i.training_plan);
  if (!i.sold_in.empty()) {
    sheet.add("sold_in", fmt::format("{}", fmt::join(i.sold_in, ", ")), Json(i.sold_in));
  }
  for (const Price& p : catalog.prices()) {
    if (p.instance != i.name) continue;
    const double hourly = hourly_usd(p);
    sheet.add(fmt::format("usd_per_hour_{}_{}", p.region, to_string(p.market)),
              fmt::format("{:.4f} ({}, {})", hourly, to_string(p.basis), p.provenance.as_of), hourly);
  }
  add_text(sheet, "note", i.note);
  add_provenance(sheet, i.provenance);
  return sheet.listing();
}

Listing stack_page(const Stack& s) {
  FactSheet sheet;
  sheet.add("stack", s.id);
  sheet.add("name", s.name);
  add_names(sheet, "aliases", s.aliases);
  add_switch(sheet, "tensor_parallel", s.tensor_parallel);
  add_switch(sheet, "sequence_parallel", s.sequence_parallel);
  add_switch(sheet, "pipeline_parallel", s.pipeline_parallel);
  add_switch(sheet, "context_parallel", s.context_parallel);
  add_switch(sheet, "expert_parallel", s.expert_parallel);
  add_names(sheet, "sharding", spelled(s.shardings));
  add_names(sheet, "recompute", spelled(s.recomputes));
  add_names(sheet, "schedules", spelled(s.schedules));
  add_names(sheet, "collectives", spelled(s.collectives));
  add_names(sheet, "offload", s.offloads);
  add_names(sheet, "dtypes", s.precisions);
  add_names(sheet, "vendors", spelled(s.vendors));
  add_switch(sheet, "flash_attention", s.flash_attention);
  for (const DimensionRow& row : dimensions()) {
    std::vector<std::string> offered;
    for (const Execution& offer : s.offers) {
      if (row.of_execution && row.told(offer) != 0) offered.push_back(row.text(row.told(offer)));
    }
    if (!offered.empty()) add_names(sheet, std::string(row.keyword), offered);
  }
  add_switch(sheet, "planned_by_default", s.supported_for_planning);
  add_text(sheet, "versions", s.versions);
  add_text(sheet, "limitation", s.limitation);
  sheet.add("profile_source", s.profile.provenance.source);
  add_provenance(sheet, s.provenance);
  return sheet.listing();
}

}  // namespace smplan::cli
