// Instances: storage, network, placement.
#include <set>

#include <fmt/format.h>

#include "catalogs/quotas.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kDefaultVolumeGb = 30;

/// Types that bring their own disks; the service sizes them and takes no volume.
bool has_nvme(const InstanceType& type) { return type.local_nvme.value() > 0; }

/// Without disks of its own, as far as the catalog and the lists of families tell.
bool is_ebs_only(const CheckInput& in, const Machines& m) {
  if (m.instance != nullptr) return !has_nvme(*m.instance);
  return in.limits.is_training_type(*m.type) && !contains(in.limits.disk_families, family_of(*m.type));
}

void volume_ignored(const CheckInput& in, Report& report) {
  const Count& volume = in.job.volume_gb;
  if (!volume.stated || in.machines.empty()) return;
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || !has_nvme(*m.instance)) return;
  }
  const InstanceType& type = *in.machines.front().instance;
  const std::string gb = volume ? count_text(*volume) + " GB are" : std::string("the volume is");
  Finding& finding = report.at(volume, {gb, type.name, format_bytes(type.local_nvme)});
  finding.edits = {{Edit::Kind::Remove, volume.where.path, ""}};
}

void key_on_nvme(const CheckInput& in, Report& report) {
  if (!in.job.volume_kms_key.stated) return;
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || !has_nvme(*m.instance)) continue;
    report.at(in.job.volume_kms_key, {spelled(in.job.kind, "VolumeKmsKeyId"), m.instance->name}).edits = {
        {Edit::Kind::Remove, in.job.volume_kms_key.where.path, ""}};
    return;
  }
}

void volume_too_small(const CheckInput& in, Report& report) {
  const double model = in.prediction == nullptr ? 0 : in.prediction->artifact_bytes;
  // The finished model and the last checkpoint with its optimizer state stand on the disk together.
  const double needed = file_mode_bytes(in) + model * 8;
  for (const Machines& m : in.machines) {
    if (!m.type || !is_ebs_only(in, m)) continue;
    const std::int64_t volume = in.job.volume_gb.value_or(kDefaultVolumeGb);
    if (needed > static_cast<double>(volume) * 1e9) {
      report.at(in.job.volume_gb.stated ? in.job.volume_gb.where : m.type.where,
                {count_text(volume), format_bytes(Bytes(needed))});
      return;
    }
  }
}

void volume_over_quota(const CheckInput& in, Report& report) {
  const Count& volume = in.job.volume_gb;
  if (!volume || static_cast<double>(*volume) <= account_quota("volume").new_account) return;
  for (const Machines& m : in.machines) {
    if (!m.type || !is_ebs_only(in, m)) return;  // ignored there, and said so
  }
  const std::int64_t* quota = said_of(in.facts.quotas, account_quota("volume").name());
  if (quota != nullptr && *quota >= *volume) return;
  report.at(volume, {count_text(*volume)});
}

/// More than one instance, of a type with accelerators: what such jobs exchange wants a fabric.
bool several_with_accelerators(const Machines& m) {
  return m.instance != nullptr && m.instance->accelerator_count > 0 && m.count && *m.count > 1;
}

void no_efa(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (!several_with_accelerators(m) || m.instance->network.kind == NetworkKind::Efa) continue;
    report.at(m.type, {count_text(*m.count), m.instance->name});
  }
}

/// The cheapest type on sale that does what `count` of `old` did: as many accelerators, none slower or smaller.
const InstanceType* successor_of(const InstanceType& old, std::int64_t count, const CheckInput& in) {
  const std::string region = in.region.empty() ? "us-east-1" : in.region;
  const Accelerator* before = in.catalog.find_accelerator(old.accelerator);
  const InstanceType* best = nullptr;
  UsdPerSecond least{};
  for (const InstanceType& type : in.catalog.instances()) {
    const Accelerator* now = in.catalog.find_accelerator(type.accelerator);
    const Price* price = in.catalog.find_price(type.name, region, Market::OnDemand);
    if (type.support != TrainingSupport::OnDemand || before == nullptr || now == nullptr || price == nullptr) continue;
    const bool as_good = type.accelerator_count >= old.accelerator_count * count &&
                         type.accelerator_memory >= old.accelerator_memory &&
                         now->peak_rate(Precision::Fp16) >= before->peak_rate(Precision::Fp16);
    if (!as_good || (best != nullptr && price->rate >= least)) continue;
    best = &type;
    least = price->rate;
  }
  return best;
}

void many_single_gpus(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || !m.count || *m.count < 2 || m.instance->accelerator_count != 1) continue;
    const InstanceType* better = nullptr;
    for (const InstanceType& other : in.catalog.instances()) {
      // One with more than twice as many is another purchase.
      const bool same = other.accelerator == m.instance->accelerator && other.accelerator_count >= *m.count &&
                        other.accelerator_count <= 2 * *m.count;
      const bool sold = other.support == TrainingSupport::OnDemand || other.support == TrainingSupport::PlanOnly;
      if (same && sold && (better == nullptr || other.accelerator_count < better->accelerator_count)) better = &other;
    }
    const bool same = better != nullptr;
    if (!same && m.instance->support == TrainingSupport::Retired) better = successor_of(*m.instance, *m.count, in);
    if (better == nullptr) continue;
    Finding& finding = report.at(
        m.type, {count_text(*m.count), m.instance->name, better->name, count_text(better->accelerator_count)});
    if (!same) {
      finding.message = fmt::format("{} x {} exchange gradients over the network; {} has {} GPUs inside",
                                    count_text(*m.count), m.instance->name, better->name, better->accelerator_count);
    }
  }
}

void toolkit_efa(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || !m.count || *m.count < 2 || m.instance->network.kind != NetworkKind::Efa) continue;
    if (contains(in.limits.toolkit_efa_instances, m.instance->name)) continue;
    if (in.job.environment != nullptr && in.job.environment->has("FI_PROVIDER")) continue;
    report.at(m.type, {m.instance->name});
  }
}

void nccl_proto(const CheckInput& in, Report& report) {
  const Node* proto = in.job.environment == nullptr ? nullptr : in.job.environment->find("NCCL_PROTO");
  if (proto != nullptr && in.job.launcher.torchrun.is(true)) report.at(*proto, {quote(proto->text)});
}

/// A variable that takes the devices or the nodes off their fast links.
struct SlowLink {
  std::string_view name;
  bool between_nodes;  ///< of a type with EFA; else between the devices of a node
  bool (*slows)(std::string_view value);
  std::string_view says;
};
constexpr SlowLink kSlowLinks[] = {
    {"FI_PROVIDER", true, [](std::string_view v) { return v.find("efa") == std::string_view::npos; },
     "takes another provider than EFA"},
    {"NCCL_NET", true, [](std::string_view v) { return v == "Socket"; }, "puts NCCL on TCP in place of EFA"},
    {"NCCL_SOCKET_IFNAME", true, [](std::string_view v) { return v == "lo" || v == "=lo"; },
     "binds NCCL to the loopback, where no other node is"},
    {"NCCL_P2P_DISABLE", false, [](std::string_view v) { return v == "1"; },
     "sends what devices of a node exchange through host memory"},
    {"NCCL_SHM_DISABLE", false, [](std::string_view v) { return v == "1"; },
     "forbids what devices without a direct path exchange by"},
};

void slow_links(const CheckInput& in, Report& report) {
  const InstanceType* type = in.instance();
  if (in.job.environment == nullptr || type == nullptr) return;
  const bool efa = in.nodes().value_or(1) > 1 && type->network.kind == NetworkKind::Efa;
  for (const SlowLink& link : kSlowLinks) {
    const Node* set = in.job.environment->find(link.name);
    if (set == nullptr || !set->is_string() || is_placeholder(set->text) || !link.slows(set->text)) continue;
    if (link.between_nodes ? efa : type->accelerator_count > 1) {
      report.at(*set, {std::string(link.name) + "=" + set->text, std::string(link.says)});
    }
  }
  for (const Node& set : in.job.environment->items) {
    const bool number = set.key.starts_with("NCCL_") && set.key.ends_with("_DISABLE");
    if (number && set.is_string() && !is_placeholder(set.text) && !integer_of(set)) {
      report.at(set, {set.key + "=" + set.text, "is no number: NCCL passes over it"});
    }
  }
}

void efa_security_group(const CheckInput& in, Report& report) {
  const Node* groups = in.job.security_groups;
  if (groups == nullptr || in.nodes().value_or(1) < 2) return;
  bool efa = false;
  for (const Machines& m : in.machines)
    efa = efa || (m.instance != nullptr && m.instance->network.kind == NetworkKind::Efa);
  if (!efa) return;
  for (const Node& group : groups->items) {
    const bool* open = said_of(in.facts.security_groups, group.text);
    if (open != nullptr && !*open) report.at(group, {quote(group.text)});
  }
}

void disk_without_vpc(const CheckInput& in, Report& report) {
  if (in.job.subnets != nullptr && !in.job.subnets->is_null()) return;
  for (const JobChannel& c : in.job.channels) {
    if (c.on_file_system()) report.at(c.where, {c.file_system_type.value_or("a file system")});
  }
}

void lustre_zones(const CheckInput& in, Report& report) {
  bool lustre = false;
  for (const JobChannel& c : in.job.channels) lustre = lustre || c.file_system_type.is("FSxLustre");
  if (!lustre || in.job.subnets == nullptr) return;
  std::set<std::string> zones;
  for (const Node& subnet : in.job.subnets->items) {
    if (const std::string* zone = said_of(in.facts.subnets, subnet.text)) zones.insert(*zone);
  }
  if (zones.size() > 1) {
    report.at(*in.job.subnets, {list_text({zones.begin(), zones.end()})});
  }
}

void isolation(const CheckInput& in, Report& report) {
  if (!in.job.network_isolation.is(true)) return;
  const Node* requirements = in.job.root().at({"source_code", "requirements"});
  if (requirements != nullptr && !requirements->is_null()) {
    report.at(in.job.network_isolation, {"source_code.requirements are installed by pip"});
  }
  if (!in.facts.script) return;
  const Facts::Script& s = *in.facts.script;
  if (s.needs_internet == true) report.at(in.job.network_isolation, {"the script fetches from the network"});
  if (s.requirements_file == true) report.at(in.job.network_isolation, {"requirements.txt is installed by pip"});
}

void encryption(const CheckInput& in, Report& report) {
  if (in.job.encrypt_traffic.is(true) && in.nodes().value_or(1) > 1) {
    report.at(in.job.encrypt_traffic, {count_text(*in.nodes())});
  }
}

void infra_check(const CheckInput& in, Report& report) {
  if (in.job.infra_check.is(true) || (in.job.infra_check.stated && !in.job.infra_check)) return;
  for (const Machines& m : in.machines) {
    if (!several_with_accelerators(m)) continue;
    report.at(in.job.infra_check.stated ? in.job.infra_check.where : m.type.where, {count_text(*m.count)});
  }
}

void retired_type(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || m.instance->support != TrainingSupport::Retired) continue;
    Finding& finding = report.at(m.type, {m.instance->name, m.instance->support_reason});
    if (const InstanceType* type = successor_of(*m.instance, 1, in)) finding.fix = "use " + type->name;
  }
}

void ultraserver(const CheckInput& in, Report& report) {
  if (in.job.training_plan.stated) return;
  if (in.job.placement != nullptr && !in.job.placement->is_null()) {
    report.at(*in.job.placement, {"a placement"});
    return;
  }
  for (const Machines& m : in.machines) {
    if (m.instance != nullptr && !m.instance->sold_in.empty()) report.at(m.type, {*m.type});
  }
}

constexpr Rule kInstancesRules[] = {
    {"C116", Severity::Warning, "Volume that is ignored", "a volume size is given for types with NVMe disks",
     "{} ignored on {}: its storage is the {} of NVMe that it has", "leave it out", kApi, kSubmitted, Need::Nothing,
     volume_ignored},
    {"C117", Severity::Error, "Volume key on NVMe", "a KMS key for the volume is given for types with NVMe disks",
     "{} is refused on {}, which has disks of its own", "leave it out", kApi, kSubmitted, Need::Nothing, key_on_nvme},
    {"C118", Severity::Error, "Volume too small", "data in File mode, checkpoint and model exceed the volume",
     "a volume of {} GB does not hold {}", "enlarge it, or stream the data (FastFile)", kJudgement, kSubmitted,
     Need::Nothing, volume_too_small},
    {"C119", Severity::Error, "Volume over the quota", "the volume is over 1024 GB and no raised quota is known",
     "{} GB are over the default quota of 1024 GB for an instance's volume",
     "request the quota, or use a type with NVMe", "SageMaker service quotas, 2026-11-20", kSubmitted, Need::Nothing,
     volume_over_quota},
    {"C120", Severity::Warning, "Several nodes without EFA", "more than one instance of a type without EFA",
     "{} x {} talk over TCP", "use a type with EFA, or one larger instance", "HyperPod recipes launcher, efa.py",
     kSubmitted, Need::Nothing, no_efa},
    {"C121", Severity::Warning, "Single-GPU nodes",
     "several one-GPU instances where one instance holds as many GPUs, and at most twice as many",
     "{} x {} exchange gradients over the network; {} has {} of these GPUs inside", "use the larger instance", kDocs,
     kSubmitted, Need::Nothing, many_single_gpus},
    {"C122", Severity::Info, "EFA unknown to the toolkit",
     "several instances of a type that the training toolkit's EFA list lacks",
     "the training toolkit does not set FI_PROVIDER for {}",
     "set FI_PROVIDER=efa in the environment; recent libfabric needs none", kToolkit, kSubmitted, Need::Nothing,
     toolkit_efa},
    {"C123", Severity::Info, "NCCL_PROTO is overwritten", "NCCL_PROTO is in the environment of a torchrun job",
     "the container's torchrun sets NCCL_PROTO=simple over {}", "set it inside the script", kToolkit, kSubmitted,
     Need::Nothing, nccl_proto},
    {"C237", Severity::Warning, "Links switched off",
     "a variable takes the nodes off EFA or the devices of a node off their links, or is none that NCCL reads", "{} {}",
     "drop it: the container's own settings are right",
     "NVIDIA NCCL documentation, environment variables; "
     "aws/aws-ofi-nccl, README",
     kSubmitted | kHyperpodJob, Need::Nothing, slow_links},
    {"C124", Severity::Error, "Security group for EFA", "a security group of an EFA job does not let itself in and out",
     "{} does not allow all traffic to and from itself, which EFA needs",
     "add rules for all traffic to and from the group", kDocs, kSubmitted, &Facts::security_groups, efa_security_group},
    {"C125", Severity::Error, "File system without VPC", "a channel is on EFS or FSx and the job has no VPC setting",
     "{} is reached through a VPC, and none is given", "give subnets and security groups", kDocs, kSubmitted,
     Need::Nothing, disk_without_vpc},
    {"C126", Severity::Error, "FSx for Lustre in several zones",
     "the subnets of a job on FSx for Lustre are in more than one zone",
     "FSx for Lustre is in one zone, the subnets are in {}", "give the one subnet in its zone", kDocs, kSubmitted,
     &Facts::subnets, lustre_zones},
    {"C127", Severity::Warning, "Network isolation", "the job is isolated and the script needs the network",
     "network isolation lets no call out, and {}", "bring packages and weights in a channel", kApi, kSubmitted,
     Need::Nothing, isolation},
    {"C128", Severity::Warning, "Encrypted traffic", "traffic between the instances of a job is encrypted",
     "encryption slows every collective between the {} instances", "leave it off unless it is required", kDocs,
     kSubmitted, Need::Nothing, encryption},
    {"C129", Severity::Info, "Infrastructure check", "several GPU instances without the check of their health",
     "{} instances start without a health check", "EnableInfraCheck costs minutes and finds bad nodes before training",
     kApi, kSubmitted, Need::Nothing, infra_check},
    {"C130", Severity::Warning, "UltraServer placement", "a placement or p6e-gb200 without a training plan",
     "{} needs capacity of a training plan", "give the training plan's ARN", kApi, kSubmitted, Need::Nothing,
     ultraserver},
    {"C217", Severity::Warning, "Retired type", "the instance type has left every region",
     "{} is no longer offered: it {}", "use a type of today", "EC2 instance type offerings, see the catalog's entry",
     kSubmitted | kRecipe, Need::Nothing, retired_type},
};

}  // namespace

std::span<const Rule> instance_rules() { return kInstancesRules; }

}  // namespace smplan
