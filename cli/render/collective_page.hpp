#pragma once

#include <vector>

#include "cli/render/listing.hpp"
#include "models/machine/cluster.hpp"
#include "planner/validation/nccl_tests.hpp"

namespace smplan::cli {

/// Time, bandwidths as nccl-tests defines them, algorithm and what bounds it, by size.
Listing collective_list(CollectiveKind kind, const std::vector<Bytes>& sizes, const Cluster& cluster);

/// Measured and predicted times, then mean errors by range of sizes.
Listing collective_comparison(CollectiveKind kind, const std::vector<ComparedCollective>& compared,
                              const Cluster& cluster);

}  // namespace smplan::cli
