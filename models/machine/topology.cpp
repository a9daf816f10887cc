#include "models/machine/topology.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <boost/graph/adjacency_matrix.hpp>

#include "base/assert.hpp"

namespace smplan {
namespace {

/// NVLinks between the V100s of DGX-1V, p3.16xlarge and p3dn.24xlarge (`nvidia-smi topo -m`): two
/// fully connected quads joined by a cube; six links a GPU. p3.8xlarge is the first quad.
/// Source: NVIDIA DGX-1 With Tesla V100 System Architecture, WP-08437-002.
constexpr std::array<std::array<int, kMaxMeshNode>, kMaxMeshNode> kHybridCubeMesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                                                   {1, 0, 2, 1, 0, 2, 0, 0},
                                                                                   {1, 2, 0, 2, 0, 0, 1, 0},
                                                                                   {2, 1, 2, 0, 0, 0, 0, 1},
                                                                                   {2, 0, 0, 0, 0, 1, 1, 2},
                                                                                   {0, 2, 0, 0, 1, 0, 2, 1},
                                                                                   {0, 0, 1, 0, 1, 2, 0, 2},
                                                                                   {0, 0, 0, 1, 2, 1, 2, 0}}};
constexpr int kLinksPerV100 = 6;

/// Vertices are accelerators; the weight of an edge is how many links two of them have that no ring has taken.
using LinkGraph =
    boost::adjacency_matrix<boost::undirectedS, boost::no_property, boost::property<boost::edge_weight_t, int>>;
using Ring = std::vector<std::size_t>;  ///< vertices in their order

LinkGraph hybrid_mesh(int ranks) {
  LinkGraph graph(static_cast<std::size_t>(ranks));
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) {
      if (kHybridCubeMesh[a][b] > 0) boost::add_edge(a, b, kHybridCubeMesh[a][b], graph);
    }
  }
  return graph;
}

/// Calls `visit(edge)` along the ring. False where two neighbours have no link.
template <typename Visit>
bool along(const Ring& ring, const LinkGraph& graph, Visit&& visit) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto [edge, linked] = boost::edge(ring[i], ring[(i + 1) % ring.size()], graph);
    if (!linked) return false;
    visit(edge);
  }
  return true;
}

/// Hamiltonian cycles, each in one of its directions.
std::vector<Ring> rings_of(const LinkGraph& graph) {
  std::vector<Ring> rings;
  Ring order(boost::num_vertices(graph));
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    const bool backwards = order[1] > order.back();  // the same cycle
    if (!backwards && along(order, graph, [](const auto&) {})) rings.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return rings;
}

/// Most rings from `first` on that share no link, by exhaustive choice: a V100 has six links, so at most three.
int most_disjoint(const std::vector<Ring>& rings, std::size_t first, LinkGraph& graph) {
  const auto links = boost::get(boost::edge_weight, graph);
  int best = 0;
  for (std::size_t i = first; i < rings.size(); ++i) {
    bool free = true;
    along(rings[i], graph, [&](const auto& edge) { free = --links[edge] >= 0 && free; });
    if (free) best = std::max(best, 1 + most_disjoint(rings, i, graph));
    along(rings[i], graph, [&](const auto& edge) { ++links[edge]; });
  }
  return best;
}

}  // namespace

bool has_direct_links(FabricKind fabric) { return fabric == FabricKind::NvlinkMesh || fabric == FabricKind::FullMesh; }

BytesPerSecond ring_bandwidth(const IntraNodeFabric& fabric, int accelerators, int ranks) {
  SMPLAN_ASSERT(has_direct_links(fabric.kind) && ranks >= 2 && ranks <= accelerators && accelerators <= kMaxMeshNode);
  const BytesPerSecond rate = fabric.bandwidth_per_accelerator;
  if (fabric.kind == FabricKind::FullMesh) return BytesPerSecond(rate.value() * (ranks - 1) / (accelerators - 1));
  const BytesPerSecond link = rate / kLinksPerV100;
  if (ranks == 2) return static_cast<double>(kHybridCubeMesh[0][1]) * link;
  LinkGraph graph = hybrid_mesh(ranks);
  constexpr int kDirections = 2;
  const int rings = most_disjoint(rings_of(graph), 0, graph);
  return rings > 0 ? static_cast<double>(kDirections * rings) * link : link;
}

}  // namespace smplan
