#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/export/target.hpp"
#include "planner/rl/rl_search.hpp"

namespace smplan {

/// A plan of reinforcement learning that becomes a job.
struct RlJob {
  const RlRequest& request;
  const RlPlan& plan;
  std::size_t rank = 1;
  const ExportOptions& options;
  const Catalog& catalog;
};

/// A format that such plans are written in.
struct RlTarget {
  std::string_view name;
  std::string_view summary;
  RlFramework framework = RlFramework::Any;  ///< that reads it
  /// What it has no words for.
  void (*check)(const RlJob& job, Diagnostics& faults) = nullptr;
  /// `whole` is the plan as a job of all instances, `lines` what the files rest on.
  void (*write)(const RlJob& job, const ExportJob& whole, const std::vector<std::string>& lines, Export& out,
                Diagnostics& faults) = nullptr;
};
std::span<const RlTarget> rl_targets();
Result<const RlTarget*> find_rl_target(std::string_view name, std::string_view where);

/// Writes the plan for a target, with a NOTES.md. What the target has no words for is refused, all of it at once.
Result<Export> export_rl(const RlJob& job, std::string_view target);

}  // namespace smplan
