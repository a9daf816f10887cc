#include <algorithm>

#include "base/words.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// Devices of a Trainium chip as the catalog counts them: cores of Trainium1, logical ones of the later chips, two
/// physical cores each (LNC=2, the default of aws-neuron-sdk).
std::int64_t cores_of_chip(const Accelerator& accelerator) { return accelerator.key == "Trainium1" ? 2 : 4; }

bool has_word(std::string_view text, std::string_view word) { return lower_case(text).find(word) != std::string::npos; }

constexpr std::int64_t kChipsOfNode = 16;

/// Degrees tell the number of ranks: all of them, or at least what they multiply to.
std::optional<bool> degrees_need_cores(const MeasuredRun& run, std::int64_t cores) {
  const std::int64_t cut = run.tp.value_or(1) * run.pp.value_or(1) * run.cp.value_or(1);
  if (run.dp && cut * *run.dp == *run.n_gpus) return false;
  if (run.dp && cut * *run.dp == *run.n_gpus * cores) return true;
  if (*run.n_gpus * cores % cut != 0) return false;
  return cut > *run.n_gpus ? std::optional(true) : std::nullopt;
}

bool counts_chips(const MeasuredRun& run, std::int64_t cores) {
  if (run.gpus_per_node) return *run.gpus_per_node == kChipsOfNode;
  if (has_word(run.gpu, "core")) return false;
  if (has_word(run.gpu, "chip")) return true;
  if (const std::optional<bool> told = degrees_need_cores(run, cores)) return *told;
  // Large types are rented whole: 16 are the chips of one, and no more than a part of its cores.
  return *run.n_gpus % kChipsOfNode == 0 && *run.n_gpus % (kChipsOfNode * cores) != 0;
}

}  // namespace

MeasuredRun counted_in_cores(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  const Accelerator* accelerator = resolve_accelerator(run, catalog);
  if (accelerator == nullptr || accelerator->vendor != Vendor::Aws || !run.n_gpus) return run;
  const std::int64_t cores = cores_of_chip(*accelerator);
  if (!counts_chips(run, cores)) {
    assumptions.emplace_back("n_gpus counts NeuronCores");
    return run;
  }
  MeasuredRun counted = run;
  *counted.n_gpus *= cores;
  if (counted.gpus_per_node) *counted.gpus_per_node *= cores;
  assumptions.push_back("n_gpus counts chips of " + std::to_string(cores) + " NeuronCores");
  return counted;
}

}  // namespace smplan
