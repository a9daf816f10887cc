#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "catalogs/catalog.hpp"

// Facts that contradict each other. What a single entry must look like is checked where it is read.

namespace smplan {
namespace {

struct Report {
  Diagnostics& out;
  void add(std::string code, std::string location, std::string message, std::string hint) {
    out.push_back({std::move(code), std::move(location), std::move(message), std::move(hint)});
  }
};

/// False where no peak rate is known: such a part is listed, never planned.
bool computes(const Accelerator& a) {
  return std::any_of(a.peak.begin(), a.peak.end(), [](FlopsPerSecond rate) { return rate.value() > 0; });
}

void check_accelerator(const Accelerator& a, Report& report) {
  const std::string where = "accelerators/" + a.key;
  if (a.device_memory > a.marketing_memory) {
    report.add(
        "memory-contradiction", where,
        fmt::format("reports {} but is sold with {}", format_bytes(a.device_memory), format_bytes(a.marketing_memory)),
        "device_memory_mib is what the driver offers, never more than the chip has");
  }
  // A narrower format is never slower; absent ones are zero.
  constexpr Precision kNarrowing[] = {Precision::Fp32, Precision::Tf32, Precision::Bf16, Precision::Fp8,
                                      Precision::Fp4};
  Precision last = Precision::Fp32;
  for (const Precision p : kNarrowing) {
    if (!a.supports(p)) continue;
    if (a.peak_rate(p) < a.peak_rate(last)) {
      report.add("peak-order", where,
                 fmt::format("{} peak {} is under its {} peak {}", to_string(p), format_flops_rate(a.peak_rate(p)),
                             to_string(last), format_flops_rate(a.peak_rate(last))),
                 "give dense rates for both, in TFLOP/s");
    }
    last = p;
  }
  if (computes(a) && !(a.memory_bandwidth.value() > 0)) {
    report.add("missing-fact", where, "has peak rates but no memory bandwidth", "give memory_bandwidth_gb_per_s");
  }
}

void check_fabric(const InstanceType& i, const std::string& where, Report& report) {
  const IntraNodeFabric& f = i.fabric;
  if (i.accelerator_count > 1 && (f.kind == FabricKind::None || !(f.bandwidth_per_accelerator.value() > 0))) {
    report.add("missing-fact", where, fmt::format("has {} accelerators and no fabric", i.accelerator_count),
               "give fabric kind and gb_per_s_per_accelerator");
  }
  if (i.accelerator_count > 1 && f.domain_size < i.accelerator_count) {
    report.add("fabric-contradiction", where,
               fmt::format("domain of {} is smaller than its {} accelerators", f.domain_size, i.accelerator_count),
               "domain_size counts every accelerator that reaches the others at fabric speed");
  }
}

void check_instance(const Catalog& catalog, const InstanceType& i, Report& report) {
  const std::string where = "instances/" + i.name;
  if (i.support == TrainingSupport::OnDemand && !i.support_reason.empty()) {
    report.add("support-contradiction", where, "is on-demand and gives a reason why not", "drop support_reason");
  }
  if (!(i.network.bandwidth_per_node.value() > 0)) {
    report.add("missing-fact", where, "has no network bandwidth", "give network.gbit_per_s");
  }
  if (i.accelerator_count == 0) return;
  check_fabric(i, where, report);
  const Accelerator* a = catalog.find_accelerator(i.accelerator);
  if (a == nullptr) return;  // refused at load
  // Driver versions and hosts differ by a few per cent, another part by much more.
  constexpr double kTolerance = 0.05;
  if (std::abs(i.accelerator_memory / a->device_memory - 1) > kTolerance) {
    report.add("memory-contradiction", where,
               fmt::format("has {} per accelerator, {} reports {}", format_bytes(i.accelerator_memory), a->key,
                           format_bytes(a->device_memory)),
               "correct the one that is wrong, or name another accelerator");
  }
}

/// The EC2 price that a formula such as `EC2 on-demand 55.04 x 1.15` starts from.
std::optional<double> ec2_price_in(const std::string& formula) {
  constexpr std::string_view kPrefix = "EC2 on-demand ";
  if (formula.compare(0, kPrefix.size(), kPrefix) != 0) return std::nullopt;
  double usd = 0;
  const auto parsed = std::from_chars(formula.data() + kPrefix.size(), formula.data() + formula.size(), usd);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return usd;
}

/// Tables on the web put EC2 prices under ml.* names. SageMaker charges more everywhere, so that no
/// price of a type is as low as the lowest EC2 price which the derived ones start from.
void check_ec2_prices(const Catalog& catalog, const InstanceType& i, Report& report) {
  std::optional<double> lowest;
  for (const Price& p : catalog.prices()) {
    if (p.instance != i.name || p.market != Market::OnDemand) continue;
    const auto ec2 = ec2_price_in(p.formula);
    if (ec2 && (!lowest || *ec2 < *lowest)) lowest = ec2;
  }
  for (const Price& p : catalog.prices()) {
    if (!lowest || p.instance != i.name || p.market != Market::OnDemand) continue;
    if (in_usd_per_hour(p.rate) > *lowest * 1.0001) continue;
    report.add("ec2-price", fmt::format("prices/{} {}", p.instance, p.region),
               fmt::format("{} is no more than EC2's own price {}", format_usd_per_hour(p.rate),
                           format_usd_per_hour(usd_per_hour(*lowest))),
               "SageMaker charges more than EC2: read the price from the AmazonSageMaker price list");
  }
}

void check_market(const Price& p, const InstanceType& i, const std::string& where, Report& report) {
  const bool sold_by_the_hour = i.support == TrainingSupport::OnDemand;
  if (p.market == Market::CapacityBlock ? !i.training_plan : !sold_by_the_hour) {
    report.add("market-contradiction", where,
               fmt::format("has a {} price and is {}{}", to_string(p.market), to_string(i.support),
                           i.training_plan ? "" : ", without training plans"),
               "drop the price or correct the instance type");
  }
}

void check_price(const Catalog& catalog, const Price& p, Report& report) {
  const std::string where = fmt::format("prices/{} {} {}", p.instance, p.region, to_string(p.market));
  const InstanceType* i = catalog.find_instance(p.instance);
  if (i == nullptr) return;  // refused at load
  check_market(p, *i, where, report);
  if (p.market == Market::OnDemand) return;
  const Price* on_demand = catalog.find_price(p.instance, p.region, Market::OnDemand);
  if (on_demand != nullptr && p.rate > on_demand->rate) {
    report.add("price-order", where,
               fmt::format("{} is above the on-demand price {}", format_usd_per_hour(p.rate),
                           format_usd_per_hour(on_demand->rate)),
               "check the unit: dollars per instance and hour");
  }
}

/// Regions differ by tens of per cent; a price per accelerator, per day or in cents by much more.
void check_price_spread(const Catalog& catalog, const InstanceType& i, Report& report) {
  constexpr double kMaxSpread = 2.5;
  const Price* low = nullptr;
  const Price* high = nullptr;
  for (const Price& p : catalog.prices()) {
    if (p.instance != i.name || p.market != Market::OnDemand) continue;
    if (low == nullptr || p.rate < low->rate) low = &p;
    if (high == nullptr || p.rate > high->rate) high = &p;
  }
  if (low == nullptr || high->rate <= kMaxSpread * low->rate) return;
  report.add("price-spread", "prices/" + i.name,
             fmt::format("costs {} in {} and {} in {}", format_usd_per_hour(low->rate), low->region,
                         format_usd_per_hour(high->rate), high->region),
             "check the unit and the age of both");
}

/// An accelerator that instance types have and that computes needs measured efficiencies.
void check_has_profile(const Catalog& catalog, const Accelerator& a, Report& report) {
  const bool used = std::any_of(catalog.instances().begin(), catalog.instances().end(),
                                [&](const InstanceType& i) { return i.accelerator == a.key; });
  if (used && computes(a) && catalog.find_accelerator_profile(a.key) == nullptr) {
    report.add("missing-profile", "accelerators/" + a.key, "has no accelerator profile",
               "add it to accelerator_profiles");
  }
}

void check_profile(const Catalog& catalog, const AcceleratorProfile& p, Report& report) {
  const Accelerator* a = catalog.find_accelerator(p.accelerator);
  if (a == nullptr) return;  // refused at load, as is a peak without an efficiency
  for (int k = 0; k < kPrecisionCount; ++k) {
    const auto precision = static_cast<Precision>(k);
    if (!(p.gemm_efficiency[static_cast<std::size_t>(k)] > 0) || a->supports(precision)) continue;
    report.add("profile-contradiction", "accelerator_profiles/" + p.accelerator,
               fmt::format("has a {0} efficiency, the accelerator no {0} peak", to_string(precision)),
               "give both or neither");
  }
}

void check_stack(const Stack& s, Report& report) {
  const std::string where = "stacks/" + s.id;
  if (s.sequence_parallel && !s.tensor_parallel) {
    report.add("stack-contradiction", where, "has sequence parallelism without tensor parallelism",
               "sequence parallelism splits over the tensor-parallel ranks");
  }
  if (s.profile.provenance.source.empty()) {
    report.add("missing-profile", where, "has no stack profile", "add it to stack_profiles");
  }
}

}  // namespace

Diagnostics check(const Catalog& catalog) {
  Diagnostics out;
  Report report{out};
  for (const Accelerator& a : catalog.accelerators()) {
    check_accelerator(a, report);
    check_has_profile(catalog, a, report);
  }
  for (const InstanceType& i : catalog.instances()) {
    check_instance(catalog, i, report);
    check_ec2_prices(catalog, i, report);
    check_price_spread(catalog, i, report);
  }
  for (const Price& p : catalog.prices()) check_price(catalog, p, report);
  for (const AcceleratorProfile& p : catalog.accelerator_profiles()) check_profile(catalog, p, report);
  for (const Stack& s : catalog.stacks()) check_stack(s, report);
  return out;
}

}  // namespace smplan
