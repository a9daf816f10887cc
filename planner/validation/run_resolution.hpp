#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/machine/cluster.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan {

/// What a row left open and a default filled, in words.
using Assumptions = std::vector<std::string>;

/// A measured run as the models take it.
struct ResolvedRun {
  Workload workload;
  Strategy strategy;
  Cluster cluster;
  Stack stack;         ///< executed
  bool older = false;  ///< the run does not state its release: its framework had older defaults than today's
  Assumptions assumptions;
};

/// Fills what has an obvious default and refuses what has none. The diagnostic's code is `invalid` where the row
/// contradicts itself or holds a value that is not known, and `unsupported` where the model cannot know enough. Reads
/// nothing of what was measured.
Result<ResolvedRun> resolve_run(const MeasuredRun& run, const Catalog& catalog);

/// A framework, of another profile say, as the run had and told it.
Stack executed_by(const ResolvedRun& run, const Stack& framework);

/// The stack that the row names; where it names none, the kind of program that its degrees and sharding need.
Result<const Stack*> stack_of_run(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions);

/// Sequences of a micro-batch and of a step; says which of the row's figures contradict each other.
Result<void> resolve_batch(const MeasuredRun& run, const Cluster& cluster, const Stack& stack, Workload& workload,
                           Strategy& strategy, Assumptions& assumptions);

}  // namespace smplan
