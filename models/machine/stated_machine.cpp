#include "models/machine/stated_machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/words.hpp"

namespace smplan {
namespace {

const InstanceType* instance_of(const StatedMachine& m, const Catalog& catalog) {
  if (m.instance.empty()) return nullptr;
  const Result<const InstanceType*> found = catalog.instance(m.instance, "instance");
  return found ? *found : nullptr;
}

/// Devices that a run of n lets run on each node of such a system: all of them where that fills the nodes.
std::int64_t usual_devices_per_node(std::int64_t n_gpus, const InstanceType& system) {
  std::int64_t devices = std::clamp<std::int64_t>(system.accelerator_count, 1, n_gpus);
  while (n_gpus % devices != 0) --devices;
  return devices;
}

/// How badly sizes of one family fit, where nothing else tells them apart: more nodes, then devices left idle, then the
/// distance from the stated Gbit/s.
std::array<double, 3> misfit(const StatedMachine& m, const InstanceType& system) {
  const std::int64_t n_gpus = m.n_gpus.value_or(1);
  const std::int64_t used = m.gpus_per_node ? std::min<std::int64_t>(system.accelerator_count, *m.gpus_per_node)
                                            : usual_devices_per_node(n_gpus, system);
  const double offered = system.network.bandwidth_per_node / gbit_per_s(1);
  const double stated = m.internode_gbps_per_node.value_or(0);
  const bool compare = stated > 0 && offered > 0;
  return {-static_cast<double>(used), static_cast<double>(system.accelerator_count - used),
          compare ? std::abs(std::log(offered / stated)) : 0};
}

/// What a system has of the stated facts. The size of a node tells more than the network. Reference systems of one
/// accelerator are those of several makers, of which the first is the vendor's own.
int likeness(const StatedMachine& m, const InstanceType& system) {
  int score = m.network == system.network.kind ? 4 : 0;
  if (m.gpus_per_node && system.accelerator_count == *m.gpus_per_node) score += 8;
  if (m.gpus_per_node && system.accelerator_count > *m.gpus_per_node) score += 1;
  if (system.support == TrainingSupport::Reference) score += 2;
  if (m.n_gpus.value_or(1) > 1 && system.accelerator_count > 1) score += 1;  // a lone one has no fabric
  return score;
}

const InstanceType* nearest_system(const StatedMachine& m, const Catalog& catalog, const std::string& accelerator) {
  const InstanceType* best = nullptr;
  int best_score = -1;
  for (const InstanceType& system : catalog.instances()) {
    if (system.accelerator != accelerator || system.accelerator_count == 0) continue;
    const int score = likeness(m, system);
    const bool fits_better = best != nullptr && score == best_score && system.support != TrainingSupport::Reference &&
                             misfit(m, system) < misfit(m, *best);
    if (score > best_score || fits_better) {
      best = &system;
      best_score = score;
    }
  }
  return best;
}

/// A part of a node keeps its share of the node's fabric, not of its network cards.
InstanceType part_of(InstanceType system, const StatedMachine& m, std::int64_t per_node) {
  if (m.internode_gbps_per_node.value_or(0) > 0) {
    system.network.bandwidth_per_node = gbit_per_s(*m.internode_gbps_per_node);
  }
  system.network.kind = m.network.value_or(system.network.kind);
  if (system.fabric.domain_size <= system.accelerator_count) system.fabric.domain_size = static_cast<int>(per_node);
  system.accelerator_count = static_cast<int>(per_node);
  return system;
}

}  // namespace

const Accelerator* accelerator_of(const StatedMachine& m, const Catalog& catalog) {
  const InstanceType* instance = instance_of(m, catalog);
  const Accelerator* beside = instance == nullptr ? nullptr : catalog.find_accelerator(instance->accelerator);
  if (m.gpu.empty()) return beside;
  // A name that leaves the memory open is the instance's: p4de's A100 holds 80 GB.
  const std::string part = beside == nullptr ? std::string() : beside->key.substr(0, beside->key.find('-'));
  if (!part.empty() && letters_and_digits(part) == letters_and_digits(m.gpu)) return beside;
  const Result<const Accelerator*> named = catalog.accelerator(m.gpu, "gpu");
  return named ? *named : nullptr;
}

Result<Cluster> cluster_of(const StatedMachine& m, const Catalog& catalog, std::vector<std::string>& assumptions) {
  if (!m.n_gpus) return fail("unsupported", "n_gpus", "n_gpus is not stated", "state how many accelerators ran");
  if (!m.instance.empty()) {
    if (const auto known = catalog.instance(m.instance, "instance"); !known) return tl::unexpected(known.error());
  }
  const Accelerator* accelerator = accelerator_of(m, catalog);
  if (accelerator == nullptr) {
    if (m.gpu.empty()) return fail("unsupported", "gpu", "neither gpu nor instance is stated", "state one of them");
    return tl::unexpected(catalog.accelerator(m.gpu, "gpu").error());
  }
  if (!m.gpu.empty() && letters_and_digits(m.gpu) != letters_and_digits(accelerator->key)) {
    assumptions.push_back("gpu is " + accelerator->key);
  }
  const InstanceType* stated = instance_of(m, catalog);
  const bool has_it = stated != nullptr && stated->accelerator == accelerator->key;
  const InstanceType* system = has_it ? stated : nearest_system(m, catalog, accelerator->key);
  if (system == nullptr) {
    return fail("unsupported", "gpu", "no system with " + accelerator->key + " is in the catalog",
                "add one by --catalog");
  }
  if (stated != nullptr && !has_it) {
    assumptions.push_back(stated->name + " has " + stated->accelerator + ", not " + accelerator->key);
  }
  if (stated != system) assumptions.push_back("system is like " + system->name);
  const std::int64_t per_node =
      m.gpus_per_node ? std::min(*m.gpus_per_node, *m.n_gpus) : usual_devices_per_node(*m.n_gpus, *system);
  if (*m.n_gpus % per_node != 0) {
    return fail("invalid", "n_gpus",
                std::to_string(*m.n_gpus) + " accelerators do not fill nodes of " + std::to_string(per_node),
                "correct n_gpus or gpus_per_node");
  }
  return make_cluster(catalog, part_of(*system, m, per_node), static_cast<std::int32_t>(*m.n_gpus / per_node));
}

}  // namespace smplan
