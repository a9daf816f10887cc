#include "planner/validation/run_groups.hpp"

#include "planner/validation/calibrate.hpp"

namespace smplan {

const std::vector<std::string>& run_groupings() {
  static const std::vector<std::string> kGroupings{"source", "file", "model", "gpu", "stack"};
  return kGroupings;
}

std::vector<std::string> run_groups(const std::string& grouping, const std::vector<MeasuredRun>& runs,
                                    const std::vector<std::string>& files, const Catalog& catalog) {
  if (grouping == "file") return files;
  std::vector<std::string> groups;
  for (const MeasuredRun& run : runs) {
    if (grouping == "source") {
      groups.push_back(run.source);
    } else if (grouping == "model") {
      groups.push_back(run.model);
    } else if (grouping == "gpu") {
      groups.push_back(accelerator_family(run, catalog));
    } else {
      groups.push_back(stack_of(run, catalog));
    }
    if (groups.back().empty()) groups.back() = "(not stated)";
  }
  return groups;
}

}  // namespace smplan
