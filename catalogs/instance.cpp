#include "catalogs/instance.hpp"

#include <fmt/format.h>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<FabricKind, 6> kFabrics = {{{FabricKind::None, "none"},
                                                {FabricKind::Pcie, "pcie"},
                                                {FabricKind::NvlinkMesh, "nvlink-mesh"},
                                                {FabricKind::FullMesh, "full-mesh"},
                                                {FabricKind::Nvswitch, "nvswitch"},
                                                {FabricKind::NeuronLink, "neuronlink"}}};
constexpr EnumNames<NetworkKind, 5> kNetworks = {{{NetworkKind::Ethernet, "ethernet"},
                                                  {NetworkKind::Efa, "efa"},
                                                  {NetworkKind::Infiniband, "infiniband"},
                                                  {NetworkKind::RoCE, "roce"},
                                                  {NetworkKind::OmniPath, "omni-path"}}};
constexpr EnumNames<TrainingSupport, 5> kSupport = {{{TrainingSupport::OnDemand, "on-demand"},
                                                     {TrainingSupport::PlanOnly, "plan-only"},
                                                     {TrainingSupport::Retired, "retired"},
                                                     {TrainingSupport::NotSupported, "not-supported"},
                                                     {TrainingSupport::Reference, "reference"}}};

constexpr double kMaxGbPerS = 1e5;
constexpr double kMaxGbitPerS = 1e5;
/// What is there moves something: a rate of nothing would make a step without end.
constexpr double kMinRate = 1e-3;
constexpr double kMinHostSpeed = 0.1;
constexpr double kMaxHostSpeed = 10;
constexpr std::int64_t kLargestSale = 4096;
/// Each count is tried against each size.
constexpr std::size_t kMostSales = 16;

IntraNodeFabric read_fabric(ObjectReader& parent) {
  IntraNodeFabric fabric;
  const auto object = parent.optional_value("fabric");
  if (!object) return fabric;
  ObjectReader reader(*object, parent.diagnostics());
  fabric.kind = read_enum(reader, "kind", kFabrics);
  fabric.generation = reader.optional_string("generation").value_or("");
  fabric.bandwidth_per_accelerator = gb_per_s(reader.number("gb_per_s_per_accelerator", 0, kMaxGbPerS));
  fabric.domain_size = static_cast<int>(reader.integer("domain_size", 1, 1 << 20));
  reader.finish();
  return fabric;
}

Network read_network(ObjectReader& parent) {
  Network network;
  const auto object = parent.value("network");
  if (!object) return network;
  ObjectReader reader(*object, parent.diagnostics());
  network.kind = read_enum(reader, "kind", kNetworks);
  network.version = reader.optional_string("version").value_or("");
  network.bandwidth_per_node = gbit_per_s(reader.number("gbit_per_s", kMinRate, kMaxGbitPerS));
  network.interfaces = static_cast<int>(read_integer_or(reader, "interfaces", 1, 1024, 1));
  network.gpudirect_rdma = reader.optional_bool("gpudirect_rdma").value_or(false);
  reader.finish();
  return network;
}

void read_accelerators(ObjectReader& reader, InstanceType& instance) {
  instance.accelerator_count = static_cast<int>(reader.integer("accelerator_count", 0, 4096));
  instance.accelerator = read_optional_name(reader, "accelerator");
  instance.accelerator_memory = Bytes(kMiB * read_number_or(reader, "accelerator_memory_mib", 0, 1e8, 0));
  if (instance.accelerator_count == 0) return;
  if (instance.accelerator.empty() || instance.accelerator_memory.value() == 0) {
    reader.diagnostics().push_back({"missing-key", reader.location("accelerator"),
                                    fmt::format("{} has accelerators without a key or memory", instance.name),
                                    "give accelerator and accelerator_memory_mib"});
  }
}

void read_storage(ObjectReader& reader, InstanceType& instance) {
  instance.local_nvme = Bytes(1e9 * read_number_or(reader, "local_nvme_gb", 0, 1e7, 0));
  instance.local_nvme_read = gb_per_s(read_rate_or_zero(reader, "local_nvme_read_gb_per_s", kMinRate, kMaxGbPerS));
  instance.local_nvme_write = gb_per_s(read_rate_or_zero(reader, "local_nvme_write_gb_per_s", kMinRate, kMaxGbPerS));
  instance.ebs_bandwidth = gbit_per_s(read_rate_or_zero(reader, "ebs_gbit_per_s", kMinRate, kMaxGbitPerS));
}

void read_sold_in(ObjectReader& reader, InstanceType& instance) {
  const auto list = reader.optional_value("sold_in");
  if (!list) return;
  Diagnostics& out = reader.diagnostics();
  std::int64_t last = 0;
  for (const JsonValue& size : list->as_array(out)) {
    const std::int64_t n = size.as_integer(out);
    if (n <= last || n > kLargestSale) {
      out.push_back({"out-of-range", size.location(),
                     fmt::format("must be a number of instances from {} to {}, is {}", last + 1, kLargestSale, n),
                     "list each size once, the smallest first"});
      return;
    }
    instance.sold_in.push_back(static_cast<std::int32_t>(n));
    last = n;
  }
  if (instance.sold_in.empty() || instance.sold_in.size() > kMostSales) {
    out.push_back({"bad-list", reader.location("sold_in"),
                   fmt::format("sold_in has {} sizes, not 1 to {}", instance.sold_in.size(), kMostSales),
                   "name the smallest, or leave the key out where instances are sold one by one"});
  }
}

void read_support(ObjectReader& reader, InstanceType& instance) {
  instance.support = read_enum(reader, "training_support", kSupport);
  instance.support_reason = reader.optional_string("support_reason").value_or("");
  if (instance.support != TrainingSupport::OnDemand && instance.support_reason.empty()) {
    reader.diagnostics().push_back(
        {"missing-key", reader.location("support_reason"),
         fmt::format("{} is {} without a reason", instance.name, to_string(instance.support)),
         "say why in support_reason"});
  }
  instance.smddp = reader.optional_bool("smddp").value_or(false);
  instance.smp_v2 = reader.optional_bool("smp_v2").value_or(false);
  instance.training_plan = reader.optional_bool("training_plan").value_or(false);
  instance.scarce = reader.optional_bool("scarce").value_or(false);
  read_sold_in(reader, instance);
  instance.regions = read_names(reader, "regions");
}

}  // namespace

std::string_view to_string(FabricKind kind) { return name_of(kFabrics, kind); }
std::string_view to_string(NetworkKind kind) { return name_of(kNetworks, kind); }
std::string_view to_string(TrainingSupport support) { return name_of(kSupport, support); }

bool InstanceType::is_scarce() const {
  return scarce || fabric.kind == FabricKind::Nvswitch || fabric.kind == FabricKind::NeuronLink ||
         fabric.kind == FabricKind::FullMesh;
}

bool InstanceType::sells(std::int32_t count) const {
  if (sold_in.empty()) return true;
  if (count < 1) return false;
  std::vector<bool> sum(static_cast<std::size_t>(count) + 1);
  sum[0] = true;
  for (std::size_t n = 1; n < sum.size(); ++n) {
    for (const std::int32_t size : sold_in) {
      const auto step = static_cast<std::size_t>(size);
      sum[n] = sum[n] || (step <= n && sum[n - step]);
    }
  }
  return sum.back();
}

InstanceType read_instance(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  InstanceType instance;
  instance.name = read_name(reader, "name");
  instance.vcpus = static_cast<int>(read_integer_or(reader, "vcpus", 0, 100000, 0));
  instance.host_memory = gib(read_number_or(reader, "host_memory_gib", 0, 1e6, 0));
  read_accelerators(reader, instance);
  instance.fabric = read_fabric(reader);
  const bool linked = instance.accelerator_count > 1 || instance.fabric.domain_size > 1;
  if (linked && instance.fabric.bandwidth_per_accelerator < gb_per_s(kMinRate)) {
    out.push_back({"missing-bandwidth", reader.location("fabric"),
                   fmt::format("{} has several accelerators and no bandwidth between them", instance.name),
                   "give fabric.gb_per_s_per_accelerator; of PCIe, that of the slot"});
  }
  instance.network = read_network(reader);
  instance.host_link = gb_per_s(read_rate_or_zero(reader, "host_link_gb_per_s", kMinRate, kMaxGbPerS));
  read_storage(reader, instance);
  instance.blocking_launches = reader.optional_bool("blocking_launches").value_or(false);
  instance.host_speed = read_number_or(reader, "host_speed", kMinHostSpeed, kMaxHostSpeed, 1);
  read_support(reader, instance);
  instance.note = reader.optional_string("note").value_or("");
  instance.provenance = read_provenance(reader);
  reader.finish();
  return instance;
}

}  // namespace smplan
