#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/words.hpp"
#include "planner/validation/run_resolution.hpp"
#include "planner/validation/run_words.hpp"

namespace smplan {
namespace {

/// What tells one accelerator's name from another's: `NVIDIA H100 80GB HBM3`, `H100-SXM5-80GB` and `H100 (80 GB)` are
/// all h100 of 80 GiB.
struct PlainName {
  std::string words;                 ///< in lower case, without the vendor's
  std::optional<double> memory_gib;  ///< as written
  bool pcie = false;                 ///< the card, which runs slower than the module of the same name
};

std::vector<std::string> name_words(std::string_view written, std::string_view between = " -_(),;/") {
  std::vector<std::string> words(1);
  for (const char c : written) {
    if (between.find(c) == std::string_view::npos) {
      words.back() += lower_case(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

/// `8x` and `x8` count devices, and so does the beginning of `8xH100`.
std::string without_count(const std::string& word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  if (digits > 0 && digits < word.size() && word[digits] == 'x') return word.substr(digits + 1);
  const bool count = word.size() > 1 && word[0] == 'x' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  return count ? std::string() : word;
}

PlainName plain_name(std::string_view written) {
  constexpr std::array<std::string_view, 24> kFormFactors{"nvidia", "tesla", "geforce",    "amd",  "instinct", "aws",
                                                          "dgx",    "hgx",   "oam",        "sxm",  "sxm2",     "sxm3",
                                                          "sxm4",   "sxm5",  "sxm6",       "hbm2", "hbm2e",    "hbm3",
                                                          "hbm3e",  "nvl72", "neuroncore", "core", "chip",     "chips"};
  const auto is_unit = [](std::string_view word) { return word == "gb" || word == "gib" || word == "g"; };
  PlainName plain;
  const std::vector<std::string> words = name_words(written);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = without_count(words[i]);
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const bool number_before_unit = digits == word.size() && i + 1 < words.size() && is_unit(words[i + 1]);
    if (digits > 0 && (number_before_unit || is_unit(word.substr(digits)))) {
      plain.memory_gib = std::strtod(word.c_str(), nullptr);
    } else if (word == "pcie") {
      plain.pcie = true;
    } else if (!word.empty() && !is_unit(word) &&
               std::find(kFormFactors.begin(), kFormFactors.end(), word) == kFormFactors.end()) {
      plain.words += (plain.words.empty() ? "" : "-") + word;
    }
  }
  return plain;
}

/// How far apart the memory is that a name writes and that the accelerator has; empty where the name is another's. A
/// name without memory is one that the catalog writes so too.
std::optional<double> memory_gap(const Accelerator& accelerator, const PlainName& name, bool same_form) {
  // Some write what the stacks hold, others what they offer: 192 and 180 GB of B200.
  constexpr double kSameMemory = 0.07;
  const double marketing = accelerator.marketing_memory / gib(1);
  const double gap = name.memory_gib ? std::abs(*name.memory_gib / marketing - 1) : 0;
  const auto matches = [&](const std::string& written) {
    const PlainName plain = plain_name(written);
    const bool same_memory = plain.memory_gib == name.memory_gib || (name.memory_gib && gap < kSameMemory);
    return plain.words == name.words && same_memory && (!same_form || plain.pcie == name.pcie);
  };
  if (!matches(accelerator.key) && std::none_of(accelerator.aliases.begin(), accelerator.aliases.end(), matches)) {
    return std::nullopt;
  }
  return gap;
}

/// Gbit/s of a node, by the column or by words.
std::optional<double> stated_gbps(const MeasuredRun& run) {
  const bool stated = run.internode_gbps_per_node && *run.internode_gbps_per_node > 0;
  return stated ? run.internode_gbps_per_node : network_gbps_in(run.network);
}

/// Names of instances have a hyphen of their own: `p6-b300.48xlarge`.
std::vector<std::string> instance_words(const MeasuredRun& run) { return name_words(run.instance, " (),;/"); }

/// `ml.p5.48xlarge`, or `p5.48xlarge` as EC2 calls it, words beside it or not; nullptr where the catalog has none.
const InstanceType* stated_instance(const MeasuredRun& run, const Catalog& catalog) {
  for (const std::string& word : instance_words(run)) {
    if (const InstanceType* named = catalog.find_instance(word)) return named;
    if (const InstanceType* named = catalog.find_instance("ml." + word)) return named;
  }
  return nullptr;
}

/// Whether the row names the family alone: `p4d`, `AWS trn1n instances`.
bool names_family(const std::vector<std::string>& words, const InstanceType& system) {
  constexpr std::string_view kPrefix = "ml.";
  if (system.name.rfind(kPrefix, 0) != 0) return false;
  const std::size_t end = system.name.find('.', kPrefix.size());
  return std::find(words.begin(), words.end(), system.name.substr(kPrefix.size(), end - kPrefix.size())) != words.end();
}

/// The accelerator of the instance or of its family; empty where neither is known.
std::string accelerator_of_instance(const MeasuredRun& run, const Catalog& catalog) {
  if (const InstanceType* stated = stated_instance(run, catalog)) return stated->accelerator;
  const std::vector<std::string> words = instance_words(run);
  for (const InstanceType& system : catalog.instances()) {
    if (system.accelerator_count > 0 && names_family(words, system)) return system.accelerator;
  }
  return {};
}

/// Empty where the catalog has no such accelerator. A row that names none has its instance's, and one that leaves the
/// memory open the one that its instance has: p4de's A100 holds 80 GB.
std::string accelerator_key(const MeasuredRun& run, const Catalog& catalog) {
  const PlainName name = plain_name(run.gpu);
  std::string beside = accelerator_of_instance(run, catalog);
  if (name.words.empty()) return beside;
  const PlainName held = plain_name(beside);
  if (!name.memory_gib && held.words == name.words && held.pcie == name.pcie) return beside;
  // Some parts exist as a card only, which their names do not say.
  for (const bool same_form : {true, false}) {
    const Accelerator* nearest = nullptr;
    std::optional<double> least;
    for (const Accelerator& accelerator : catalog.accelerators()) {
      const std::optional<double> gap = memory_gap(accelerator, name, same_form);
      if (gap && (!least || *gap < *least)) {
        nearest = &accelerator;
        least = gap;
      }
    }
    if (nearest != nullptr) return nearest->key;
  }
  return {};
}

/// The catalog has the same part with other memory, and neither the row's name nor its instance says which.
bool leaves_memory_open(const MeasuredRun& run, const Catalog& catalog, const std::string& accelerator) {
  const PlainName name = plain_name(run.gpu);
  if (name.words.empty() || name.memory_gib || accelerator_of_instance(run, catalog) == accelerator) return false;
  return std::any_of(catalog.accelerators().begin(), catalog.accelerators().end(), [&](const Accelerator& other) {
    const PlainName plain = plain_name(other.key);
    return other.key != accelerator && plain.words == name.words && plain.pcie == name.pcie;
  });
}

/// Devices that a row of n lets run on each node of such a system: all of them where that fills the nodes.
std::int64_t usual_devices_per_node(std::int64_t n_gpus, const InstanceType& system) {
  std::int64_t devices = std::clamp<std::int64_t>(system.accelerator_count, 1, n_gpus);
  while (n_gpus % devices != 0) --devices;
  return devices;
}

/// How well sizes of one family fit, where nothing else tells them apart: the fewest nodes, then the fewest devices
/// left idle, then the network nearest to the stated Gbit/s, 0 if there are none. Smaller is better.
std::array<double, 3> misfit(const MeasuredRun& run, double stated, const InstanceType& system) {
  const std::int64_t n_gpus = run.n_gpus.value_or(1);
  const std::int64_t used = run.gpus_per_node ? std::min<std::int64_t>(system.accelerator_count, *run.gpus_per_node)
                                              : usual_devices_per_node(n_gpus, system);
  const double offered = system.network.bandwidth_per_node / gbit_per_s(1);
  const bool compare = stated > 0 && offered > 0;
  return {-static_cast<double>(used), static_cast<double>(system.accelerator_count - used),
          compare ? std::abs(std::log(offered / stated)) : 0};
}

/// The catalog's system most like the row's: same accelerator, then node size, then network. Reference systems of one
/// accelerator are those of several makers, of which the first is the vendor's own; instances come in sizes.
const InstanceType* nearest_system(const MeasuredRun& run, const Catalog& catalog, const std::string& accelerator) {
  const InstanceType* stated = stated_instance(run, catalog);
  if (stated != nullptr && stated->accelerator == accelerator) return stated;
  const std::vector<std::string> words = instance_words(run);
  const std::optional<NetworkKind> network = network_in(run.network);
  const double gbps = stated_gbps(run).value_or(0);
  const InstanceType* best = nullptr;
  int best_score = -1;
  for (const InstanceType& system : catalog.instances()) {
    if (system.accelerator != accelerator || system.accelerator_count == 0) continue;
    const bool reference = system.support == TrainingSupport::Reference;
    int score = 0;
    if (names_family(words, system)) score += 16;
    if (network == system.network.kind) score += 4;
    if (run.gpus_per_node && system.accelerator_count == *run.gpus_per_node) score += 8;
    if (run.gpus_per_node && system.accelerator_count > *run.gpus_per_node) score += 1;
    if (reference) score += 2;
    if (run.n_gpus.value_or(1) > 1 && system.accelerator_count > 1) score += 1;  // a lone one has no fabric
    const bool fits_better =
        best != nullptr && score == best_score && !reference && misfit(run, gbps, system) < misfit(run, gbps, *best);
    if (score > best_score || fits_better) {
      best = &system;
      best_score = score;
    }
  }
  return best;
}

/// As many as the system has, or as stated. Where that is not stated and leaves nodes in part empty, fewer of each ran.
std::int64_t devices_per_node(const MeasuredRun& run, const InstanceType& system) {
  return run.gpus_per_node ? std::min(*run.gpus_per_node, *run.n_gpus) : usual_devices_per_node(*run.n_gpus, system);
}

}  // namespace

const Accelerator* resolve_accelerator(const MeasuredRun& run, const Catalog& catalog) {
  return catalog.find_accelerator(accelerator_key(run, catalog));
}

std::string silicon_generation(const Accelerator& accelerator) {
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
  if (leaves_memory_open(run, catalog, accelerator)) assumptions.push_back("gpu is " + accelerator);
  const InstanceType* stated = stated_instance(run, catalog);
  if (stated != nullptr && stated != system) {
    assumptions.push_back(stated->name + " has " + stated->accelerator + ", not " + accelerator);
  }
  if (stated != system) assumptions.push_back("system is like " + system->name);

  const std::int64_t per_node = devices_per_node(run, *system);
  const std::int64_t nodes = (*run.n_gpus + per_node - 1) / per_node;
  if (nodes * per_node != *run.n_gpus) {
    return fail("invalid", run.id,
                std::to_string(*run.n_gpus) + " accelerators do not fill nodes of " + std::to_string(per_node),
                "correct n_gpus or gpus_per_node");
  }
  InstanceType used = *system;
  const std::optional<double> gbps = stated_gbps(run);
  if (gbps) used.network.bandwidth_per_node = gbit_per_s(*gbps);
  const std::optional<NetworkKind> network = network_in(run.network);
  if (!network && !gbps && nodes > 1 && !run.network.empty()) {
    assumptions.push_back("network " + quote(run.network) + " is not understood");
  }
  used.network.kind = network.value_or(used.network.kind);
  // A part of a node keeps its share of the node's fabric, not of its network cards.
  used.accelerator_count = static_cast<int>(per_node);
  if (used.fabric.domain_size <= system->accelerator_count) used.fabric.domain_size = static_cast<int>(per_node);
  return make_cluster(catalog, used, static_cast<std::int32_t>(nodes));
}

}  // namespace smplan
