#include "planner/calibration/run_groups.hpp"

#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

std::string label(const std::string& grouping, const MeasuredRun& run, const Catalog& catalog) {
  if (grouping == "source") return run.source;
  if (grouping == "model") return run.model.name;
  if (grouping == "gpu") return accelerator_family(run, catalog);
  std::string stack = stack_of(run, catalog);
  if (grouping == "stack" || stack.empty()) return stack;
  return stack + " on " + accelerator_family(run, catalog);
}

}  // namespace

const std::vector<std::string>& run_groupings() {
  static const std::vector<std::string> kGroupings{"source", "file", "model", "gpu", "stack", "stack-gpu"};
  return kGroupings;
}

std::vector<std::string> run_groups(const std::string& grouping, const std::vector<MeasuredRun>& runs,
                                    const std::vector<std::string>& files, const Catalog& catalog) {
  if (grouping == "file") return files;
  std::vector<std::string> groups;
  for (const MeasuredRun& run : runs) {
    groups.push_back(label(grouping, run, catalog));
    if (groups.back().empty()) groups.back() = "(not stated)";
  }
  return groups;
}

std::string accelerator_family(const MeasuredRun& run, const Catalog& catalog) {
  const Accelerator* accelerator = accelerator_of(run.machine, catalog);
  return accelerator == nullptr ? run.machine.gpu : accelerator->silicon();
}

std::string stack_of(const MeasuredRun& run, const Catalog& catalog) {
  Assumptions ignored;
  const Result<const Stack*> stack = stack_of_run(run, catalog, ignored);
  return stack ? (*stack)->id : std::string();
}

}  // namespace smplan
