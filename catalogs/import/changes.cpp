#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catalogs/import/import.hpp"

namespace smplan {
namespace {

std::string text_of(const Price& p) {
  return fmt::format("{} ({}, {})", format_usd_per_hour(p.rate), to_string(p.basis), p.provenance.as_of);
}

void compare_prices(const Catalog& before, const Catalog& after, std::vector<CatalogChange>& out) {
  const auto name = [](const Price& p) {
    return fmt::format("prices/{} {} {}", p.instance, p.region, to_string(p.market));
  };
  for (const Price& p : before.prices()) {
    const Price* now = after.find_price(p.instance, p.region, p.market);
    if (now == nullptr) {
      out.push_back({name(p), text_of(p), {}, std::nullopt});
    } else if (*now != p) {
      out.push_back({name(p), text_of(p), text_of(*now), now->rate / p.rate});
    }
  }
  for (const Price& p : after.prices()) {
    if (before.find_price(p.instance, p.region, p.market) == nullptr) {
      out.push_back({name(p), {}, text_of(p), std::nullopt});
    }
  }
}

/// The members of an instance type that an import can change.
struct InstanceFigure {
  const char* name;
  std::string (*text)(const InstanceType&);
};
constexpr InstanceFigure kFigures[] = {
    {"vCPUs", [](const InstanceType& i) { return std::to_string(i.vcpus); }},
    {"host memory", [](const InstanceType& i) { return format_bytes(i.host_memory); }},
    {"accelerators", [](const InstanceType& i) { return fmt::format("{} x {}", i.accelerator_count, i.accelerator); }},
    {"NVMe", [](const InstanceType& i) { return format_bytes(i.local_nvme); }},
    {"EBS bandwidth", [](const InstanceType& i) { return format_bandwidth(i.ebs_bandwidth); }},
    {"network", [](const InstanceType& i) { return format_bandwidth(i.network.bandwidth_per_node); }},
    {"training", [](const InstanceType& i) { return std::string(to_string(i.support)); }},
};

void compare_instances(const Catalog& before, const Catalog& after, std::vector<CatalogChange>& out) {
  for (const InstanceType& i : before.instances()) {
    const InstanceType* now = after.find_instance(i.name);
    if (now == nullptr || *now == i) continue;
    for (const InstanceFigure& figure : kFigures) {
      const std::string was = figure.text(i);
      const std::string is = figure.text(*now);
      if (was != is) out.push_back({fmt::format("instances/{} {}", i.name, figure.name), was, is, std::nullopt});
    }
  }
  for (const InstanceType& i : after.instances()) {
    if (before.find_instance(i.name) == nullptr) {
      out.push_back({"instances/" + i.name, {}, kFigures[2].text(i), std::nullopt});
    }
  }
}

void compare_operations(const Catalog& before, const Catalog& after, std::vector<CatalogChange>& out) {
  for (const OperationFact& was : before.operations().figures) {
    for (const OperationFact& is : after.operations().figures) {
      if (is.key != was.key || is.value == was.value) continue;
      const std::optional<double> ratio = was.value > 0 ? std::optional(is.value / was.value) : std::nullopt;
      out.push_back({"operations/" + was.key, format_shortest(was.value), format_shortest(is.value), ratio});
    }
  }
}

void compare_spot(const Catalog& before, const Catalog& after, std::vector<CatalogChange>& out) {
  const auto percent = [](double part) { return format_shortest(std::round(part * 1e4) / 100) + "% a month"; };
  for (const SpotInterruption& is : after.operations().spot) {
    const auto& known = before.operations().spot;
    const auto was = std::find_if(known.begin(), known.end(), [&](const SpotInterruption& s) {
      return s.types == is.types && s.region == is.region;
    });
    const std::string name =
        fmt::format("spot_interruptions/{}{}{}", is.types, is.region.empty() ? "" : " ", is.region);
    if (was == known.end()) {
      out.push_back({name, {}, percent(is.monthly), std::nullopt});
    } else if (was->monthly != is.monthly) {
      out.push_back({name, percent(was->monthly), percent(is.monthly),
                     was->monthly > 0 ? std::optional(is.monthly / was->monthly) : std::nullopt});
    }
  }
}

}  // namespace

std::vector<CatalogChange> catalog_changes(const Catalog& before, const Catalog& after) {
  std::vector<CatalogChange> out;
  compare_instances(before, after, out);
  compare_prices(before, after, out);
  compare_operations(before, after, out);
  compare_spot(before, after, out);
  return out;
}

}  // namespace smplan
