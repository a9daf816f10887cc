#include <algorithm>

#include "base/words.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// Devices of a Trainium chip as the catalog counts them: cores of Trainium1, logical ones of the later chips, two
/// physical cores each (LNC=2, the default of aws-neuron-sdk).
std::int64_t cores_of_chip(const Accelerator& accelerator) { return accelerator.key == "Trainium1" ? 2 : 4; }

bool has_word(std::string_view text, std::string_view word) { return lower_case(text).find(word) != std::string::npos; }

/// The degrees need more ranks than n_gpus, and fill those of so many chips.
bool degrees_need_cores(const MeasuredRun& run, std::int64_t cores) {
  const std::int64_t cut = run.tp.value_or(1) * run.pp.value_or(1) * run.cp.value_or(1);
  if (run.dp) return cut * *run.dp == *run.n_gpus * cores;
  return cut > *run.n_gpus && *run.n_gpus * cores % cut == 0;
}

bool counts_chips(const MeasuredRun& run, std::int64_t cores) {
  constexpr std::int64_t kChipsOfNode = 16;
  if (run.gpus_per_node) return *run.gpus_per_node == kChipsOfNode;
  if (has_word(run.gpu, "core")) return false;
  return has_word(run.gpu, "chip") || degrees_need_cores(run, cores);
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
