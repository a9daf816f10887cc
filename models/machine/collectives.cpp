#include "models/machine/collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/assert.hpp"
#include "base/words.hpp"
#include "models/job/strategy.hpp"

namespace smplan {
namespace {

struct KindName {
  CollectiveKind kind;
  std::string_view name;
  std::string_view program;  ///< of nccl-tests
};
/// In the order of the enumerators.
constexpr std::array<KindName, 5> kNames{{{CollectiveKind::AllReduce, "all-reduce", "all_reduce_perf"},
                                          {CollectiveKind::AllGather, "all-gather", "all_gather_perf"},
                                          {CollectiveKind::ReduceScatter, "reduce-scatter", "reduce_scatter_perf"},
                                          {CollectiveKind::AllToAll, "all-to-all", "alltoall_perf"},
                                          {CollectiveKind::PointToPoint, "point-to-point", "sendrecv_perf"}}};

/// A group seen as two levels of links, rates and latencies resolved once.
struct Levels {
  double ranks = 1;
  double inside = 1;   ///< ranks in one domain
  double domains = 1;  ///< domains that the group spans
  double tree_depth = 0;
  BytesPerSecond ring_rate;    ///< fabric, per accelerator
  BytesPerSecond pair_rate;    ///< fabric, all-to-all and point-to-point
  BytesPerSecond switch_rate;  ///< in-switch reduction; zero without it
  BytesPerSecond card_rate;    ///< network share of one accelerator, rings and trees
  BytesPerSecond card_pair_rate;
  Bytes fabric_half;
  Bytes network_half;
  Seconds base;
  Seconds fabric_step;
  Seconds network_step;
};

Levels levels_of(const GroupShape& group, const Cluster& cluster) {
  const FabricProfile& fabric = cluster.fabric_profile;
  const FabricProfile& network = cluster.network_profile;
  Levels l;
  const std::int64_t domains = group.domains();
  l.ranks = static_cast<double>(group.ranks);
  l.inside = static_cast<double>(group.per_domain);
  l.domains = static_cast<double>(domains);
  const BytesPerSecond line = cluster.fabric.bandwidth_per_accelerator;
  BytesPerSecond ring_line = line;
  if (group.per_domain <= kMaxMeshNode) {
    const BytesPerSecond mesh = cluster.ring_bandwidth[static_cast<std::size_t>(group.per_domain)];
    if (mesh.value() > 0) ring_line = mesh;
  }
  l.ring_rate = ring_line * fabric.bandwidth_efficiency;
  l.pair_rate = line * fabric.alltoall_efficiency;
  l.switch_rate = line * fabric.switch_reduction_efficiency;
  l.fabric_half = fabric.half_size;
  l.fabric_step = fabric.step_latency;
  l.base = domains > 1 ? network.base_latency : fabric.base_latency;
  if (domains > 1) {
    const BytesPerSecond share = card_share(group, cluster);
    l.tree_depth = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(domains - 1)));
    l.card_rate = share * network.bandwidth_efficiency;
    l.card_pair_rate = share * network.alltoall_efficiency;
    l.network_half = network.half_size;
    l.network_step = network.step_latency;
  }
  return l;
}

/// Small messages travel in a protocol that sends a flag with each word (NCCL LL: half of the
/// rate); the full rate comes in above `half`.
Seconds wire_time(Bytes bytes, BytesPerSecond rate, Bytes half) {
  if (!(bytes.value() > 0)) return Seconds(0);
  return bytes / rate * (1 + half / (bytes + half));
}

CollectiveTime joined(CollectiveAlgorithm algorithm, Seconds latency, Seconds inside, Seconds across) {
  return {latency + std::max(inside, across), algorithm, latency, inside, across};
}

/// Ring over all ranks: each link passes (n-1)/n of the buffer once (all-gather, reduce-scatter)
/// or twice (all-reduce). Source: Patarasuk & Yuan 2009. A domain's ring leaves it over all the
/// cards of its ranks (NCCL runs one ring a card).
CollectiveTime ring_time(double passes, Bytes buffer, const Levels& l) {
  const Bytes data = buffer * (passes * (l.ranks - 1) / l.ranks);
  const Seconds latency = passes * ((l.ranks - l.domains) * l.fabric_step + (l.domains - 1) * l.network_step);
  const Seconds inside = l.inside > 1 ? wire_time(data, l.ring_rate, l.fabric_half) : Seconds(0);
  const Seconds across = l.domains > 1 ? wire_time(data / l.inside, l.card_rate, l.network_half) : Seconds(0);
  return joined(CollectiveAlgorithm::Ring, l.base + latency, inside, across);
}

/// All-reduce in a switch that adds and multicasts (NVLS): each accelerator sends the buffer once.
CollectiveTime switch_time(Bytes buffer, const Levels& l) {
  return joined(CollectiveAlgorithm::InSwitch, l.base + 2 * l.fabric_step,
                wire_time(buffer, l.switch_rate, l.fabric_half), {});
}

/// Bytes that a double binary tree passes over each domain's cards and direction, per byte of
/// buffer: up and down, but between two domains either direction carries it once.
/// Source: Sanders, Speck & Traeff 2009, as NCCL's Tree and NVLSTree do it.
double tree_volume(const Levels& l) { return l.domains > 2 ? 2 : 1; }

/// All-reduce: reduce-scatter inside each domain, trees across on every rank's cards at once,
/// all-gather inside.
CollectiveTime hierarchical_time(Bytes buffer, const Levels& l) {
  const bool in_switch = l.switch_rate.value() > 0;
  Seconds inside(0);
  double inside_steps = 0;
  if (l.inside > 1) {
    inside = in_switch ? wire_time(buffer, l.switch_rate, l.fabric_half)
                       : wire_time(buffer * (2 * (l.inside - 1) / l.inside), l.ring_rate, l.fabric_half);
    inside_steps = in_switch ? 2 : 2 * (l.inside - 1);
  }
  const Seconds across = wire_time(buffer * (tree_volume(l) / l.inside), l.card_rate, l.network_half);
  return joined(l.inside > 1 ? CollectiveAlgorithm::Hierarchical : CollectiveAlgorithm::Tree,
                l.base + inside_steps * l.fabric_step + 2 * l.tree_depth * l.network_step, inside, across);
}

/// Each rank sends 1/n to each other, all pairs at once: inside over the fabric, across over the
/// rank's own cards. NCCL sends these at full rate (Simple protocol) above 16 KiB.
CollectiveTime pairwise_time(Bytes buffer, const Levels& l) {
  const Seconds inside = wire_time(buffer * ((l.inside - 1) / l.ranks), l.pair_rate, Bytes(0));
  const Seconds across =
      l.domains > 1 ? wire_time(buffer * ((l.ranks - l.inside) / l.ranks), l.card_pair_rate, Bytes(0)) : Seconds(0);
  const Seconds step = l.inside > 1 ? l.fabric_step : Seconds(0);
  return joined(CollectiveAlgorithm::Pairwise, l.base + step + l.network_step, inside, across);
}

CollectiveTime point_to_point_time(Bytes message, const Levels& l) {
  if (l.domains > 1) {
    return joined(CollectiveAlgorithm::Pairwise, l.base + l.network_step, {},
                  wire_time(message, l.card_pair_rate, Bytes(0)));
  }
  return joined(CollectiveAlgorithm::Pairwise, l.base + l.fabric_step, wire_time(message, l.pair_rate, Bytes(0)), {});
}

CollectiveTime fastest_all_reduce(Bytes buffer, const Levels& l) {
  const CollectiveTime ring = ring_time(2, buffer, l);
  if (l.domains == 1 && !(l.switch_rate.value() > 0)) return ring;
  const CollectiveTime other = l.domains > 1 ? hierarchical_time(buffer, l) : switch_time(buffer, l);
  return other.time < ring.time ? other : ring;
}

/// Ranks first + i * stride, i < count, tiled over the cluster.
struct Stride {
  std::int64_t count = 1;
  std::int64_t stride = 1;
};

/// Blocks of `block` neighbours that the most spread of the groups touches. Groups tile the ranks, so
/// a first rank lies at a multiple of stride * count plus less than a stride.
std::int64_t blocks_touched(const Stride& s, std::int64_t block) {
  if (s.stride >= block) return s.count;
  const std::int64_t aligned = std::gcd(s.stride * s.count, block);
  const std::int64_t worst_offset = aligned >= s.stride ? block - aligned + s.stride - 1 : block - 1;
  return std::min(s.count, (worst_offset + s.stride * (s.count - 1)) / block + 1);
}

std::int64_t per_block(const Stride& s, std::int64_t block) {
  const std::int64_t blocks = blocks_touched(s, block);
  return (s.count + blocks - 1) / blocks;
}

GroupShape shape_of(const Stride& s, const Cluster& cluster) {
  // Most strategies leave most dimensions at one rank, and most nodes are one domain: divisions saved for the million.
  if (s.count == 1) return {.ranks = 1, .per_domain = 1, .concurrent_per_node = cluster.gpus_per_node};
  const std::int64_t per_node = per_block(s, cluster.gpus_per_node);
  const bool one_domain = cluster.domain() == cluster.gpus_per_node;
  return {.ranks = s.count,
          .per_domain = one_domain ? per_node : per_block(s, cluster.domain()),
          .concurrent_per_node = std::max<std::int64_t>(1, cluster.gpus_per_node / per_node)};
}

/// Neighbouring stages: two ranks. Where only some boundaries leave the domain, the slowest counts;
/// over it go the ranks of one stage that share the node.
GroupShape neighbours(std::int64_t stages, std::int64_t stage_ranks, const Cluster& cluster) {
  if (stages < 2) return {};
  const bool together = blocks_touched({stages, stage_ranks}, cluster.domain()) == 1;
  return {.ranks = 2,
          .per_domain = together ? 2 : 1,
          .concurrent_per_node = std::min<std::int64_t>(stage_ranks, cluster.gpus_per_node)};
}

}  // namespace

BytesPerSecond card_share(const GroupShape& group, const Cluster& cluster) {
  const BytesPerSecond node = cluster.network.bandwidth_per_node;
  const std::int64_t per_node =
      std::min(group.per_domain, std::max<std::int64_t>(1, cluster.gpus_per_node / group.concurrent_per_node));
  const int cards = std::max(1, std::min(cluster.network.interfaces, cluster.gpus_per_node));
  return std::min(node / cards, node / static_cast<double>(group.concurrent_per_node * per_node));
}

std::span<const CollectiveKind> collective_kinds() {
  static constexpr std::array<CollectiveKind, kNames.size()> kKinds = [] {
    std::array<CollectiveKind, kNames.size()> kinds{};
    for (std::size_t i = 0; i < kNames.size(); ++i) kinds[i] = kNames[i].kind;
    return kinds;
  }();
  return kKinds;
}

std::string_view to_string(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)].name; }
std::string_view nccl_tests_name(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)].program; }

std::optional<CollectiveKind> collective_kind_from(std::string_view name) {
  const std::string letters = letters_and_digits(name);
  for (const KindName& known : kNames) {
    if (letters == letters_and_digits(known.name) || letters == letters_and_digits(known.program)) return known.kind;
  }
  return std::nullopt;
}

double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  if (kind == CollectiveKind::PointToPoint) return 1;
  const auto n = static_cast<double>(ranks);
  return (kind == CollectiveKind::AllReduce ? 2 : 1) * (n - 1) / n;
}

std::string_view to_string(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::Ring:
      return "ring";
    case CollectiveAlgorithm::Tree:
      return "tree";
    case CollectiveAlgorithm::Hierarchical:
      return "hierarchical";
    case CollectiveAlgorithm::InSwitch:
      return "in switch";
    case CollectiveAlgorithm::Pairwise:
      return "pairwise";
  }
  return "?";
}

CollectiveTime collective_time(CollectiveKind kind, Bytes buffer, const GroupShape& group, const Cluster& cluster,
                               [[maybe_unused]] Collectives library) {
  SMPLAN_ASSERT(group.per_domain >= 1 && group.per_domain <= std::max<std::int64_t>(1, group.ranks));
  if (group.ranks <= 1 || !(buffer.value() > 0)) return {};
  const Levels l = levels_of(group, cluster);
  switch (kind) {
    case CollectiveKind::AllReduce:
      return fastest_all_reduce(buffer, l);
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
      return ring_time(1, buffer, l);
    case CollectiveKind::AllToAll:
      return pairwise_time(buffer, l);
    case CollectiveKind::PointToPoint:
      return point_to_point_time(buffer, l);
  }
  return {};
}

GroupShape whole_cluster(const Cluster& cluster) { return shape_of({cluster.gpus(), 1}, cluster); }

Groups group_shapes(const Strategy& strategy, const Cluster& cluster) {
  const std::int64_t tensor = strategy.tensor_parallel;
  const std::int64_t context = strategy.context_parallel;
  const std::int64_t data = strategy.data_parallel * context;
  const std::int64_t stage = tensor * data;
  const bool hybrid = strategy.sharding == Sharding::FsdpHybrid;
  const std::int64_t shard = hybrid ? std::min<std::int64_t>(strategy.shard_degree, data) : data;
  const std::int64_t expert_tensor = std::min<std::int64_t>(strategy.expert_tensor(), stage);
  const std::int64_t expert = std::min<std::int64_t>(strategy.expert_parallel, stage / expert_tensor);
  Groups groups;
  groups.tensor = shape_of({tensor, 1}, cluster);
  groups.context = shape_of({context, tensor}, cluster);
  groups.data = shape_of({data, tensor}, cluster);
  groups.shard = shape_of({shard, tensor}, cluster);
  groups.replicate = shape_of({data / shard, tensor * shard}, cluster);
  groups.expert_tensor = shape_of({expert_tensor, 1}, cluster);
  groups.expert = shape_of({expert, expert_tensor}, cluster);
  const std::int64_t held = expert * expert_tensor;
  const std::int64_t expert_data = stage / held;
  const std::int64_t expert_shard = std::clamp<std::int64_t>(shard * tensor / held, 1, expert_data);
  groups.expert_data = shape_of({expert_data, held}, cluster);
  groups.expert_shard = shape_of({expert_shard, held}, cluster);
  groups.expert_replicate = shape_of({expert_data / expert_shard, held * expert_shard}, cluster);
  groups.pipeline = neighbours(strategy.pipeline_parallel, stage, cluster);
  return groups;
}

bool dispatches_out_of_reach(const Strategy& s, const Cluster& cluster) {
  if (s.execution.moe_dispatcher != MoeDispatcher::DeepEp || s.expert_parallel == 1) return false;
  const NetworkKind kind = cluster.network.kind;
  if (kind == NetworkKind::Infiniband || kind == NetworkKind::RoCE) return false;
  return group_shapes(s, cluster).expert.domains() > 1;
}

}  // namespace smplan
