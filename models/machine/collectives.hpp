#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "catalogs/stack.hpp"
#include "models/machine/cluster.hpp"

namespace smplan {

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, AllToAll, PointToPoint };
std::string_view to_string(CollectiveKind kind);
/// All of them.
std::span<const CollectiveKind> collective_kinds();
/// `all-reduce`, `all_reduce` or nccl-tests' `all_reduce_perf`, in any case.
std::optional<CollectiveKind> collective_kind_from(std::string_view name);
/// The program of nccl-tests that times it: `all_reduce_perf`.
std::string_view nccl_tests_name(CollectiveKind kind);
/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines them (doc/PERFORMANCE.md).
double bus_factor(CollectiveKind kind, std::int64_t ranks);

/// Where the ranks of a communicator sit: `ranks` of them, at most `per_domain` in each NVLink domain,
/// and how many communicators of the same kind share a node's network cards at the same time.
struct GroupShape {
  std::int64_t ranks = 1;
  std::int64_t per_domain = 1;
  std::int64_t concurrent_per_node = 1;
  [[nodiscard]] std::int64_t domains() const { return (ranks + per_domain - 1) / per_domain; }
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

enum class CollectiveAlgorithm { Ring, Tree, Hierarchical, InSwitch, Pairwise };
std::string_view to_string(CollectiveAlgorithm algorithm);

/// `time` is `latency` and the longer of the other two.
struct CollectiveTime {
  Seconds time;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;
  Seconds latency;  ///< base and steps
  Seconds inside;   ///< on the wires of a domain
  Seconds across;   ///< on the network's
};

/// Time of one collective: latency, and the wire time of the slower level,
///
///     base + steps * step_latency + max over levels of bytes / rate * (1 + half / (bytes + half))
///
/// where bytes are those that cross one accelerator's link (fabric) or its share of the node's network
/// cards; levels overlap because libraries cut the buffer into chunks. `buffer` is the nccl-tests
/// size: the full vector for all-reduce, the gathered vector for all-gather, the input vector for
/// reduce-scatter, what one rank sends in total for all-to-all, the message for point-to-point. The
/// fastest algorithm available is taken. One rank costs nothing. SMDDP costs what NCCL does: we have no
/// measurement of its collectives, and its advantage is not assumed.
/// Source: Thakur et al. 2005 for the step counts; latency and bandwidth terms from the fabric profiles.
CollectiveTime collective_time(CollectiveKind kind, Bytes buffer, const GroupShape& group, const Cluster& cluster,
                               Collectives library);

/// Rank order is tensor fastest, then context, then data, then pipeline (Megatron's default), so
/// that tensor groups stay inside a domain. Among the tensor * context * data ranks of a stage experts
/// have an order of their own, expert tensor fastest, then expert, then expert data. A group whose ranks straddle
/// domains unevenly is taken at its worst placement.
struct Groups {
  GroupShape tensor;
  GroupShape context;
  GroupShape data;           ///< data * context ranks that share a parameter
  GroupShape shard;          ///< FsdpHybrid: inside a replica; else equals data
  GroupShape replicate;      ///< FsdpHybrid: across replicas; else one rank
  GroupShape expert_tensor;  ///< ranks that cut one expert
  GroupShape expert;
  GroupShape expert_data;       ///< ranks that share an expert parameter
  GroupShape expert_shard;      ///< FsdpHybrid: of those the ones inside a replica; else equals expert_data
  GroupShape expert_replicate;  ///< FsdpHybrid: of those the ones across replicas; else one rank
  GroupShape pipeline;          ///< neighbours: two ranks
};
struct Strategy;
/// Every accelerator of the cluster in one group.
GroupShape whole_cluster(const Cluster& cluster);
Groups group_shapes(const Strategy& strategy, const Cluster& cluster);

/// What each accelerator of a group gets of its node's network while all groups like it send. Cards serve a fixed set
/// of accelerators, so that a lone rank gets one card or its even share of all, and groups that share a node share its
/// cards. With every accelerator sending that is the minimum cut between them and the network.
BytesPerSecond card_share(const GroupShape& group, const Cluster& cluster);

/// Whether DeepEP, or HybridEP, would have to send tokens to nodes that it does not reach: between nodes its kernels
/// send from the GPU through NVSHMEM's IBGDA, which mlx5 cards have and EFA has not. Inside an NVLink domain they need
/// none. Sources: deepseek-ai/DeepEP issue 369; NVIDIA-NeMo/Megatron-Bridge issue 3343 (2026-04): 16 expert ranks over
/// two instances with EFA crash under either.
bool dispatches_out_of_reach(const Strategy& strategy, const Cluster& cluster);

}  // namespace smplan
