#include <algorithm>

#include <fmt/format.h>

#include "cli/render/catalog_page.hpp"

namespace smplan::cli {
namespace {

std::string text(std::string_view view) { return std::string(view); }

std::string rate(FlopsPerSecond r) { return r.value() > 0 ? fmt::format("{:g}", r.value() / 1e12) : "-"; }

template <typename Entry>
void summarise(Listing& listing, const char* kind, const std::vector<Entry>& entries) {
  std::string first;
  std::string last;
  for (const Entry& entry : entries) {
    const std::string& date = entry.provenance.as_of;
    if (first.empty() || date < first) first = date;
    last = std::max(last, date);
  }
  listing.table.rows.push_back({kind, std::to_string(entries.size()), first, last});
  listing.rows.push_back({{"kind", kind}, {"entries", entries.size()}, {"oldest", first}, {"newest", last}});
}

std::string features(const Stack& s) {
  std::string names;
  const auto add = [&](bool has, const char* name) {
    if (has) names += (names.empty() ? "" : " ") + std::string(name);
  };
  add(s.tensor_parallel, "tp");
  add(s.sequence_parallel, "sp");
  add(s.pipeline_parallel, "pp");
  add(s.context_parallel, "cp");
  add(s.expert_parallel, "ep");
  return names.empty() ? "dp only" : names;
}

std::string shardings(const Stack& s) {
  std::string names;
  for (const Sharding sharding : s.shardings) names += (names.empty() ? "" : " ") + text(to_string(sharding));
  return names;
}

std::string vendors(const Stack& s) {
  std::string names;
  for (const Vendor vendor : s.vendors) names += (names.empty() ? "" : ", ") + text(to_string(vendor));
  return names;
}

}  // namespace

Listing catalog_summary(const Catalog& catalog) {
  Listing list;
  list.table.columns = {{"KIND"}, {"ENTRIES", Align::Right}, {"OLDEST"}, {"NEWEST"}};
  summarise(list, "instances", catalog.instances());
  summarise(list, "accelerators", catalog.accelerators());
  summarise(list, "prices", catalog.prices());
  summarise(list, "models", catalog.models());
  summarise(list, "stacks", catalog.stacks());
  return list;
}

Listing accelerator_list(const Catalog& catalog) {
  Listing list;
  list.table.columns = {{"ACCELERATOR"},           {"NAME", Align::Left, 3, 30},   {"MEMORY GiB", Align::Right},
                        {"GB/s", Align::Right, 1}, {"BF16 TFLOP/s", Align::Right}, {"FP16", Align::Right, 1},
                        {"FP8", Align::Right, 1},  {"SOURCE", Align::Left, 4, 30}, {"AS OF", Align::Left, 2}};
  for (const Accelerator& a : catalog.accelerators()) {
    list.table.rows.push_back({a.key, a.name, fmt::format("{:.1f}", in_gib(a.device_memory)),
                               fmt::format("{:g}", a.memory_bandwidth.value() / 1e9),
                               rate(a.peak_rate(Precision::Bf16)), rate(a.peak_rate(Precision::Fp16)),
                               rate(a.peak_rate(Precision::Fp8)), a.provenance.source, a.provenance.as_of});
    list.rows.push_back({{"key", a.key},
                         {"name", a.name},
                         {"architecture", a.architecture},
                         {"device_memory_gib", in_gib(a.device_memory)},
                         {"marketing_memory_gib", in_gib(a.marketing_memory)},
                         {"memory_gb_per_s", a.memory_bandwidth.value() / 1e9},
                         {"bf16_tflops", a.peak_rate(Precision::Bf16).value() / 1e12},
                         {"fp16_tflops", a.peak_rate(Precision::Fp16).value() / 1e12},
                         {"fp8_tflops", a.peak_rate(Precision::Fp8).value() / 1e12},
                         {"source", a.provenance.source},
                         {"as_of", a.provenance.as_of}});
  }
  return list;
}

Listing instance_list(const Catalog& catalog, bool reference) {
  Listing list;
  list.table.columns = {{"INSTANCE"},
                        {"ACCELERATORS"},
                        {"MEMORY GiB", Align::Right},
                        {"FABRIC", Align::Left, 1},
                        {"NETWORK Gbit/s", Align::Right},
                        {"HOST GiB", Align::Right, 1},
                        {"TRAINING"},
                        {"WHY", Align::Left, 3, 30}};
  for (const InstanceType& i : catalog.instances()) {
    if (i.support == TrainingSupport::Reference && !reference) continue;
    const double network = i.network.bandwidth_per_node.value() * 8 / 1e9;
    const std::string devices =
        i.accelerator_count > 0 ? fmt::format("{} x {}", i.accelerator_count, i.accelerator) : std::string("-");
    list.table.rows.push_back({i.name, devices, fmt::format("{:.1f}", in_gib(i.accelerator_memory)),
                               text(to_string(i.fabric.kind)), fmt::format("{:g}", network),
                               fmt::format("{:g}", in_gib(i.host_memory)), text(to_string(i.support)),
                               i.support_reason});
    list.rows.push_back({{"name", i.name},
                         {"accelerator", i.accelerator},
                         {"accelerator_count", i.accelerator_count},
                         {"accelerator_memory_gib", in_gib(i.accelerator_memory)},
                         {"fabric", to_string(i.fabric.kind)},
                         {"fabric_gb_per_s_per_accelerator", i.fabric.bandwidth_per_accelerator.value() / 1e9},
                         {"network", to_string(i.network.kind)},
                         {"network_gbit_per_s", network},
                         {"vcpus", i.vcpus},
                         {"host_memory_gib", in_gib(i.host_memory)},
                         {"training", to_string(i.support)},
                         {"training_reason", i.support_reason},
                         {"source", i.provenance.source},
                         {"as_of", i.provenance.as_of}});
  }
  return list;
}

Listing price_list(const Catalog& catalog, const std::optional<std::string>& region, std::optional<Market> market) {
  Listing list;
  list.table.columns = {{"INSTANCE"},
                        {"REGION"},
                        {"MARKET"},
                        {"USD/h", Align::Right},
                        {"BASIS"},
                        {"AS OF"},
                        {"SOURCE", Align::Left, 2, 30},
                        {"FORMULA", Align::Left, 3, 30}};
  for (const Price& p : catalog.prices()) {
    if ((region && p.region != *region) || (market && p.market != *market)) continue;
    const double hourly = hourly_usd(p);
    list.table.rows.push_back({p.instance, p.region, text(to_string(p.market)), fmt::format("{:.4f}", hourly),
                               text(to_string(p.basis)), p.provenance.as_of, p.provenance.source, p.formula});
    list.rows.push_back({{"instance", p.instance},
                         {"region", p.region},
                         {"market", to_string(p.market)},
                         {"usd_per_hour", hourly},
                         {"basis", to_string(p.basis)},
                         {"formula", p.formula},
                         {"source", p.provenance.source},
                         {"as_of", p.provenance.as_of}});
  }
  return list;
}

Listing stack_list(const Catalog& catalog) {
  Listing list;
  list.table.columns = {
      {"STACK"},   {"NAME", Align::Left, 2, 30},      {"SPLITS"}, {"SHARDING"}, {"DEVICES", Align::Left, 1},
      {"PLANNED"}, {"LIMITATION", Align::Left, 3, 30}};
  for (const Stack& s : catalog.stacks()) {
    list.table.rows.push_back({s.id, s.name, features(s), shardings(s), vendors(s),
                               s.supported_for_planning ? "yes" : "when named", s.limitation});
    list.rows.push_back({{"id", s.id},
                         {"name", s.name},
                         {"splits", features(s)},
                         {"sharding", shardings(s)},
                         {"devices", vendors(s)},
                         {"planned", s.supported_for_planning},
                         {"versions", s.versions},
                         {"limitation", s.limitation},
                         {"source", s.provenance.source},
                         {"as_of", s.provenance.as_of}});
  }
  return list;
}

}  // namespace smplan::cli
