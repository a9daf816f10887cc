#pragma once

#include "base/units.hpp"
#include "catalogs/instance.hpp"

namespace smplan {

/// Largest node whose direct links are laid out as a mesh (DGX-1V, p3.16xlarge).
inline constexpr int kMaxMeshNode = 8;

/// Whether accelerators of a node are wired to each other directly, without a switch, so that what a group of them
/// carries depends on which links lie between its ranks.
bool has_direct_links(FabricKind fabric);

/// What rings over the first `ranks` accelerators of a node with `accelerators` carry together, where links are direct.
/// Rings that share no link run beside each other, each in both directions; where links form no ring, hops take detours
/// that share wires with the direct ones, and one link's worth is left. A V100 hybrid mesh of 8 carries 150 GB/s over
/// 8, 100 over 4 and 7, 50 over 3 and 6, 25 over 2 and 5. In a full mesh every rank sends to all others at once.
/// Precondition: 2 <= ranks <= accelerators <= kMaxMeshNode, has_direct_links(fabric.kind).
BytesPerSecond ring_bandwidth(const IntraNodeFabric& fabric, int accelerators, int ranks);

}  // namespace smplan
