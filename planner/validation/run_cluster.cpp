#include <algorithm>
#include <array>
#include <cctype>

#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// What tells one accelerator's name from another's.
struct PlainName {
  std::string
      words;  ///< in lower case, without the vendor's: `NVIDIA H100 80GB HBM3` and `H100-SXM5-80GB` are `h100-80gb`
  bool pcie = false;  ///< the card, which runs slower than the module of the same name
};

PlainName plain_name(std::string_view written) {
  constexpr std::array<std::string_view, 17> kFormFactors{"nvidia", "tesla", "geforce", "aws",   "dgx",  "hgx",
                                                          "sxm",    "sxm2",  "sxm3",    "sxm4",  "sxm5", "sxm6",
                                                          "hbm2",   "hbm2e", "hbm3",    "hbm3e", "nvl72"};
  PlainName plain;
  std::string word;
  const auto finish = [&] {
    if (word == "gb" && !plain.words.empty()) {
      plain.words += word;  // `80 GB`
    } else if (word == "pcie") {
      plain.pcie = true;
    } else if (!word.empty() && std::find(kFormFactors.begin(), kFormFactors.end(), word) == kFormFactors.end()) {
      plain.words += (plain.words.empty() ? "" : "-") + word;
    }
    word.clear();
  };
  for (const char c : written) {
    if (c == ' ' || c == '-' || c == '_') {
      finish();
    } else {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  finish();
  return plain;
}

bool has_name(const Accelerator& accelerator, const PlainName& name, bool same_form) {
  const auto matches = [&](const std::string& written) {
    const PlainName plain = plain_name(written);
    return plain.words == name.words && (!same_form || plain.pcie == name.pcie);
  };
  return matches(accelerator.key) || std::any_of(accelerator.aliases.begin(), accelerator.aliases.end(), matches);
}

/// Empty where the catalog has no such accelerator.
std::string accelerator_key(const MeasuredRun& run, const Catalog& catalog) {
  const PlainName name = plain_name(run.gpu);
  if (name.words.empty()) return {};
  // Some parts exist as a card only, which their names do not say.
  for (const bool same_form : {true, false}) {
    for (const Accelerator& accelerator : catalog.accelerators()) {
      if (has_name(accelerator, name, same_form)) return accelerator.key;
    }
  }
  return {};
}

NetworkKind network_kind(std::string_view written, NetworkKind fallback) {
  const auto mentions = [&](std::string_view part) { return written.find(part) != std::string_view::npos; };
  if (mentions("EFA")) return NetworkKind::Efa;
  if (mentions("RoCE")) return NetworkKind::RoCE;
  if (mentions("IB") || mentions("InfiniBand") || mentions("RDMA")) return NetworkKind::Infiniband;
  if (mentions("OPA") || mentions("Omni")) return NetworkKind::OmniPath;
  if (mentions("TCP") || mentions("Ethernet")) return NetworkKind::Ethernet;
  return fallback;
}

/// The catalog's system most like the row's: same accelerator, then network, then node size.
const InstanceType* nearest_system(const MeasuredRun& run, const Catalog& catalog, const std::string& accelerator) {
  if (!run.instance.empty()) {
    const InstanceType* named = catalog.find_instance(run.instance);
    if (named != nullptr && named->accelerator == accelerator) return named;
  }
  const InstanceType* best = nullptr;
  int best_score = -1;
  for (const InstanceType& system : catalog.instances()) {
    if (system.accelerator != accelerator || system.accelerator_count == 0) continue;
    int score = 0;
    if (network_kind(run.network, system.network.kind) == system.network.kind && !run.network.empty()) score += 4;
    if (run.gpus_per_node && system.accelerator_count == *run.gpus_per_node) score += 8;
    if (run.gpus_per_node && system.accelerator_count > *run.gpus_per_node) score += 1;
    if (system.support == TrainingSupport::Reference) score += 2;
    if (run.n_gpus.value_or(1) > 1 && system.accelerator_count > 1) score += 1;  // a lone one has no fabric
    if (score > best_score) {
      best = &system;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

const Accelerator* resolve_accelerator(const MeasuredRun& run, const Catalog& catalog) {
  return catalog.find_accelerator(accelerator_key(run, catalog));
}

std::string family_of(const Accelerator& accelerator) {
  if (accelerator.architecture.rfind("Blackwell", 0) != 0) return accelerator.architecture;
  return accelerator.key.rfind("GB", 0) == 0 ? "Grace Blackwell" : "Blackwell";
}

Result<Cluster> resolve_cluster(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  if (!run.n_gpus) return fail("unsupported", run.id, "n_gpus is not stated", "state how many accelerators ran");
  const std::string accelerator = accelerator_key(run, catalog);
  if (accelerator.empty()) {
    return fail("unsupported", run.id, "the accelerator '" + run.gpu + "' is not in the catalog",
                "'smplan catalog list accelerators' shows the known ones");
  }
  const InstanceType* system = nearest_system(run, catalog, accelerator);
  if (system == nullptr) {
    return fail("unsupported", run.id, "no system with " + accelerator + " is in the catalog", "add one by --catalog");
  }
  if (run.instance != system->name) assumptions.push_back("system is like " + system->name);

  const std::int64_t per_node = std::min<std::int64_t>(
      run.gpus_per_node.value_or(std::max<std::int64_t>(1, system->accelerator_count)), *run.n_gpus);
  const std::int64_t nodes = (*run.n_gpus + per_node - 1) / per_node;
  if (nodes * per_node != *run.n_gpus) {
    return fail("invalid", run.id,
                std::to_string(*run.n_gpus) + " accelerators do not fill nodes of " + std::to_string(per_node),
                "correct n_gpus or gpus_per_node");
  }
  InstanceType used = *system;
  if (run.internode_gbps_per_node && *run.internode_gbps_per_node > 0) {
    used.network.bandwidth_per_node = gbit_per_s(*run.internode_gbps_per_node);
  }
  used.network.kind = network_kind(run.network, used.network.kind);
  // A part of a node keeps its share of the node's fabric, not of its network cards.
  used.accelerator_count = static_cast<int>(per_node);
  if (used.fabric.domain_size <= system->accelerator_count) used.fabric.domain_size = static_cast<int>(per_node);
  return make_cluster(catalog, used, static_cast<std::int32_t>(nodes));
}

}  // namespace smplan
