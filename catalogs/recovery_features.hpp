#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogs/provenance.hpp"

namespace smplan {

/// A way to keep a job going on HyperPod that not every cluster, stack or job can have.
/// Source: catalogs/data/hyperpod/recovery.json, each row with its own.
struct RecoveryFeature {
  std::string name;                    ///< `checkpointless`; `memory`: checkpoints in the cluster's memory
  std::string title;                   ///< in a sentence: "checkpointless training"
  std::vector<std::string> platforms;  ///< that have it, by to_string(Platform)
  std::vector<std::string> stacks;     ///< ids of those that it is made for; empty: any
  std::vector<std::string> excludes;   ///< features that a job cannot have beside it
  std::vector<std::string> validated;  ///< instance types on which AWS tried it; empty: not said
  std::string needs;                   ///< what the cluster must have, a sentence
  Provenance provenance;
};

const std::vector<RecoveryFeature>& recovery_features();
/// nullptr for a name that has no limits of its own.
const RecoveryFeature* recovery_feature(std::string_view name);

}  // namespace smplan
