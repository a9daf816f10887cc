#include "models/pipeline.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <boost/graph/topological_sort.hpp>

#include "base/assert.hpp"

namespace smplan {
namespace {

using Kind = PipelineTask::Kind;

/// Sums and maxima over the stages: all that the closed forms need.
struct StageSummary {
  Seconds sum_forward, sum_backward;
  Seconds max_forward, max_backward, max_input, max_weight, max_total;
};

StageSummary summarise(std::span<const StageTime> stages) {
  StageSummary s;
  for (const StageTime& stage : stages) {
    s.sum_forward += stage.forward;
    s.sum_backward += stage.backward();
    s.max_forward = std::max(s.max_forward, stage.forward);
    s.max_backward = std::max(s.max_backward, stage.backward());
    s.max_input = std::max(s.max_input, stage.backward_input);
    s.max_weight = std::max(s.max_weight, stage.backward_weight);
    s.max_total = std::max(s.max_total, stage.total());
  }
  return s;
}

/// All forwards, then all backwards: two flow shops of identical jobs, each the sum of the stages
/// plus the slowest stage for every further micro-batch. Exact for uneven stages too.
Seconds gpipe_time(const StageSummary& s, double m, double p, Seconds transfer) {
  return s.sum_forward + s.sum_backward + (m - 1) * (s.max_forward + s.max_backward) + 2 * (p - 1) * transfer;
}

/// (p-1)(F+B) of bubble. With transfers, a rank that waits for its neighbour's answer pays them: the
/// critical path runs down and up the pipeline once per p micro-batches, 2(p-1) hops each time.
Seconds one_f_one_b_time(const StageSummary& s, std::int64_t m, std::int64_t p, Seconds transfer) {
  const std::int64_t full_trips = 1 + (m - 1) / p;
  const std::int64_t last_trip = std::max<std::int64_t>(0, (m - 1) % p - 1);
  const auto hops = static_cast<double>(2 * (p - 1) * full_trips + 2 * last_trip);
  return s.sum_forward + s.sum_backward + static_cast<double>(m - 1) * s.max_total + hops * transfer;
}

/// Micro-batches that pass through one model chunk before the next chunk's turn: p, or more where p
/// does not divide m, so that every group has at least p (Megatron's microbatch_group_size_per_vp_stage
/// has the same floor: a smaller group would deadlock). Fewer than p micro-batches are one group.
std::int64_t interleave_groups(std::int64_t m, std::int64_t p) { return std::max<std::int64_t>(1, m / p); }
std::int64_t interleave_group_size(std::int64_t m, std::int64_t p) {
  const std::int64_t groups = interleave_groups(m, p);
  return (m + groups - 1) / groups;
}

/// (p-1)(F+B)/v of bubble where m >= p. With m < p each of the v laps takes the p stages' time, and
/// the m-1 further micro-batches follow at the slowest chunk's pace.
Seconds interleaved_time(const StageSummary& s, std::int64_t m, std::int64_t p, double v, Seconds transfer) {
  const Seconds forward = s.max_forward / v;
  const Seconds backward = s.max_backward / v;
  const auto ranks = static_cast<double>(p);
  const auto batches = static_cast<double>(m);
  if (m < p) {
    const auto pass = [&](Seconds sum, Seconds slowest) {
      const Seconds lap = std::max(sum / v + ranks * transfer, batches * slowest);
      return (v - 1) * lap + sum / v + (ranks - 1) * transfer + (batches - 1) * slowest;
    };
    return pass(s.sum_forward, forward) + pass(s.sum_backward, backward);
  }
  // Warm-up and cool-down see every hop of the v laps. In the steady state a hop hides behind the
  // other direction's chunk until it is longer than that; then the tightest cycle of ranks paces.
  const std::int64_t whole = m / interleave_groups(m, p);
  const auto group = static_cast<double>(whole);
  const Seconds pace = forward + backward;
  const Seconds lap_pace = ranks * (std::max(forward, backward) + transfer) / group;
  const Seconds turn_pace = (ranks * pace + 2 * (ranks - 1) * transfer) / (2 * ranks - 1);
  const Seconds wrap_pace = 2 * (pace + transfer) / 3;
  const Seconds steady = std::max({pace, lap_pace, turn_pace, wrap_pace});
  return (s.sum_forward + s.sum_backward) / v + (batches * v - 1) * steady + 2 * (ranks * v - 1) * transfer;
}

/// ZB-H1: as many activations in flight as 1F1B, weight gradients fill the bubble. The largest of
/// what the ranks force: the chain of input gradients behind the last forward, the first rank's wait
/// for the first gradient, and the late ranks' weight gradients at the end. Where W is the shortest
/// part that is (p-1)(F+B-2W) of bubble with B = input + weight gradient (Qi et al. 2023, table 2).
/// Uneven stages count as the slowest of each part: task orders are fixed, so longer tasks bound.
Seconds zero_bubble_time(const StageSummary& s, std::int64_t m, std::int64_t p, Seconds transfer) {
  const auto batches = static_cast<double>(m);
  const auto ranks = static_cast<double>(p);
  const double longest = std::max(batches, ranks);
  const double steps = batches + ranks - 1;
  const double undelayed = batches - std::min(batches, ranks) + 1;
  const Seconds chain = steps * s.max_forward + steps * s.max_input + undelayed * s.max_weight;
  const Seconds first_rank = longest * s.max_forward + steps * s.max_input + batches * s.max_weight;
  const Seconds late_ranks = steps * s.max_forward + longest * s.max_input + batches * s.max_weight;
  // A round trip of 2(p-1) hops at each end; in between a weight gradient hides it as far as it lasts.
  const Seconds stall = std::max(Seconds{}, (ranks - 1) / ranks * (2 * transfer - s.max_weight));
  return std::max({chain, first_rank, late_ranks}) + 4 * (ranks - 1) * transfer + (batches - 1) * stall;
}

/// A task as the schedule orders it on its rank.
struct Step {
  Kind kind = Kind::Forward;
  std::int32_t chunk = 0;
  std::int64_t micro_batch = 0;
};
using RankOrder = std::vector<Step>;

/// Forwards in flight on a rank before its first backward is next, counted in chunks.
std::int64_t warm_up(std::int32_t rank, std::int64_t p, std::int64_t m, std::int32_t v, Schedule schedule) {
  switch (schedule) {
    case Schedule::GPipe:
      return m;
    case Schedule::OneFOneB:
    case Schedule::ZeroBubble:
      return std::min(m, p - rank);
    case Schedule::Interleaved:
      if (v == 1) return std::min(m, p - rank);
      if (m < p) return m * v;
      return std::min(m * v, 2 * (p - 1 - rank) + (v - 1) * interleave_group_size(m, p) + 1);
  }
  return m;
}

/// Positions of a rank's forwards (or, with chunks reversed, backwards) in interleaved order: each
/// group of micro-batches visits chunk after chunk.
std::vector<Step> interleaved_sequence(Kind kind, std::int64_t p, std::int64_t m, std::int32_t v) {
  std::vector<Step> sequence;
  sequence.reserve(static_cast<std::size_t>(m * v));
  const std::int64_t groups = v == 1 ? 1 : interleave_groups(m, p);
  std::int64_t begin = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t end = begin + m / groups + (g < m % groups ? 1 : 0);
    for (std::int32_t c = 0; c < v; ++c) {
      const std::int32_t chunk = kind == Kind::Forward ? c : v - 1 - c;
      for (std::int64_t b = begin; b < end; ++b) sequence.push_back({kind, chunk, b});
    }
    begin = end;
  }
  return sequence;
}

/// Warm-up forwards, then one backward, one forward, until none is left. Covers GPipe (all forwards
/// are warm-up), 1F1B and Megatron's interleaved schedule.
RankOrder one_by_one_order(std::int32_t rank, std::int64_t p, std::int64_t m, std::int32_t v, Schedule schedule) {
  const std::vector<Step> forwards = interleaved_sequence(Kind::Forward, p, m, v);
  const std::vector<Step> backwards = interleaved_sequence(Kind::Backward, p, m, v);
  const auto ahead = static_cast<std::size_t>(warm_up(rank, p, m, v, schedule));
  RankOrder order(forwards.begin(), forwards.begin() + static_cast<std::ptrdiff_t>(ahead));
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    order.push_back(backwards[i]);
    if (i + ahead < forwards.size()) order.push_back(forwards[i + ahead]);
  }
  return order;
}

/// 1F1B whose rank i runs the weight gradient i micro-batches late, and the rest at the end.
RankOrder zero_bubble_order(std::int32_t rank, std::int64_t p, std::int64_t m) {
  RankOrder order;
  const std::int64_t ahead = warm_up(rank, p, m, 1, Schedule::ZeroBubble);
  for (std::int64_t b = 0; b < ahead; ++b) order.push_back({Kind::Forward, 0, b});
  for (std::int64_t b = 0; b < m; ++b) {
    order.push_back({Kind::BackwardInput, 0, b});
    if (b >= rank) order.push_back({Kind::BackwardWeight, 0, b - rank});
    if (b + ahead < m) order.push_back({Kind::Forward, 0, b + ahead});
  }
  for (std::int64_t b = std::max<std::int64_t>(0, m - rank); b < m; ++b) order.push_back({Kind::BackwardWeight, 0, b});
  return order;
}

RankOrder rank_order(std::int32_t rank, std::int64_t p, std::int64_t m, std::int32_t v, Schedule schedule) {
  return schedule == Schedule::ZeroBubble ? zero_bubble_order(rank, p, m) : one_by_one_order(rank, p, m, v, schedule);
}

Seconds duration(const StageTime& stage, Kind kind, std::int32_t chunks) {
  switch (kind) {
    case Kind::Forward:
      return stage.forward / chunks;
    case Kind::Backward:
      return stage.backward() / chunks;
    case Kind::BackwardInput:
      return stage.backward_input / chunks;
    case Kind::BackwardWeight:
      return stage.backward_weight / chunks;
  }
  return {};
}

/// The schedule as a graph: vertices are tasks, edges "must end before", weighted with the transfer.
class ScheduleGraph {
 public:
  ScheduleGraph(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks, Schedule schedule,
                Seconds transfer)
      : p_(static_cast<std::int32_t>(stages.size())), m_(micro_batches), v_(chunks) {
    forward_.resize(static_cast<std::size_t>(p_ * m_ * v_));
    backward_.resize(forward_.size());
    add_ranks(stages, schedule);
    add_dependencies(transfer);
  }

  /// Start and end times: longest paths in topological order.
  std::vector<PipelineTask> timed() && {
    std::vector<Graph::vertex_descriptor> order;
    order.reserve(tasks_.size());
    boost::topological_sort(graph_, std::back_inserter(order));
    std::reverse(order.begin(), order.end());  // the library writes the last first
    for (const Graph::vertex_descriptor v : order) {
      PipelineTask& task = tasks_[v];
      task.end = task.start + durations_[v];
      for (auto [edge, last] = boost::out_edges(v, graph_); edge != last; ++edge) {
        PipelineTask& next = tasks_[boost::target(*edge, graph_)];
        next.start = std::max(next.start, task.end + Seconds(boost::get(boost::edge_weight, graph_, *edge)));
      }
    }
    return std::move(tasks_);
  }

 private:
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, double>>;

  [[nodiscard]] std::size_t slot(std::int64_t rank, std::int64_t chunk, std::int64_t batch) const {
    return static_cast<std::size_t>((chunk * p_ + rank) * m_ + batch);
  }

  void add_ranks(std::span<const StageTime> stages, Schedule schedule) {
    for (std::int32_t rank = 0; rank < p_; ++rank) {
      bool first = true;
      for (const Step& step : rank_order(rank, p_, m_, v_, schedule)) {
        const auto vertex = boost::add_vertex(graph_);
        PipelineTask task;
        task.stage = rank;
        task.chunk = step.chunk;
        task.micro_batch = step.micro_batch;
        task.kind = step.kind;
        tasks_.push_back(task);
        durations_.push_back(duration(stages[static_cast<std::size_t>(rank)], step.kind, v_));
        if (!first) boost::add_edge(vertex - 1, vertex, 0.0, graph_);
        first = false;
        const std::size_t at = slot(rank, step.chunk, step.micro_batch);
        if (step.kind == Kind::Forward) forward_[at] = vertex;
        // A weight gradient needs only its own rank's input gradient, which the order has before it.
        if (step.kind == Kind::Backward || step.kind == Kind::BackwardInput) backward_[at] = vertex;
      }
    }
  }

  /// Virtual stage chunk * p + rank hands activations to the next, gradients to the one before.
  void add_dependencies(Seconds transfer) {
    const auto per_stage = static_cast<std::size_t>(m_);
    const double hop = p_ > 1 ? transfer.value() : 0;
    for (std::size_t at = 0; at < forward_.size(); ++at) {
      if (at + per_stage < forward_.size()) {
        boost::add_edge(forward_[at], forward_[at + per_stage], hop, graph_);
        boost::add_edge(backward_[at + per_stage], backward_[at], hop, graph_);
      } else {
        boost::add_edge(forward_[at], backward_[at], 0.0, graph_);
      }
    }
  }

  std::int32_t p_;
  std::int64_t m_;
  std::int32_t v_;
  Graph graph_;
  std::vector<PipelineTask> tasks_;
  std::vector<Seconds> durations_;
  std::vector<std::size_t> forward_, backward_;  ///< vertex by (chunk, rank, micro-batch)
};

Seconds busiest(std::span<const StageTime> stages, std::int64_t micro_batches) {
  Seconds most;
  for (const StageTime& stage : stages) most = std::max(most, stage.total());
  return static_cast<double>(micro_batches) * most;
}

PipelineTime pipeline_time(Seconds total, Seconds busy) {
  // The sums of the two are taken in different orders: rounding must not show as a negative bubble.
  total = std::max(total, busy);
  return {total, busy, total - busy};
}

}  // namespace

PipelineTime pipeline_closed_form(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                                  Schedule schedule, Seconds transfer) {
  SMPLAN_ASSERT(!stages.empty() && micro_batches > 0 && chunks > 0);
  SMPLAN_ASSERT(chunks == 1 || schedule == Schedule::Interleaved);
  const Seconds busy = busiest(stages, micro_batches);
  const auto p = static_cast<std::int64_t>(stages.size());
  if (p == 1) return pipeline_time(busy, busy);
  const StageSummary s = summarise(stages);
  switch (schedule) {
    case Schedule::GPipe:
      return pipeline_time(gpipe_time(s, static_cast<double>(micro_batches), static_cast<double>(p), transfer), busy);
    case Schedule::OneFOneB:
      return pipeline_time(one_f_one_b_time(s, micro_batches, p, transfer), busy);
    case Schedule::Interleaved:
      if (chunks == 1) return pipeline_time(one_f_one_b_time(s, micro_batches, p, transfer), busy);
      return pipeline_time(interleaved_time(s, micro_batches, p, chunks, transfer), busy);
    case Schedule::ZeroBubble:
      return pipeline_time(zero_bubble_time(s, micro_batches, p, transfer), busy);
  }
  return pipeline_time(busy, busy);
}

std::vector<PipelineTask> simulate_pipeline(std::span<const StageTime> stages, std::int64_t micro_batches,
                                            std::int32_t chunks, Schedule schedule, Seconds transfer) {
  SMPLAN_ASSERT(!stages.empty() && micro_batches > 0 && chunks > 0);
  SMPLAN_ASSERT(chunks == 1 || schedule == Schedule::Interleaved);
  return ScheduleGraph(stages, micro_batches, chunks, schedule, transfer).timed();
}

PipelineTime pipeline_critical_path(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                                    Schedule schedule, Seconds transfer) {
  Seconds total;
  for (const PipelineTask& task : simulate_pipeline(stages, micro_batches, chunks, schedule, transfer)) {
    total = std::max(total, task.end);
  }
  return pipeline_time(total, busiest(stages, micro_batches));
}

double in_flight_micro_batches(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches, std::int32_t chunks,
                               Schedule schedule) {
  // A delayed weight gradient keeps its inputs, so ZB-H1 holds p on every rank.
  if (schedule == Schedule::ZeroBubble) return static_cast<double>(std::min<std::int64_t>(micro_batches, stages));
  return static_cast<double>(warm_up(stage, stages, micro_batches, chunks, schedule)) / chunks;
}

std::vector<std::int64_t> balance_layers(std::span<const double> layer_cost, double first_extra, double last_extra,
                                         std::int32_t stages) {
  const std::size_t n = layer_cost.size();
  const auto p = static_cast<std::size_t>(stages);
  SMPLAN_ASSERT(p >= 1 && n >= p);
  std::vector<double> before(n + 1, 0.0);
  std::partial_sum(layer_cost.begin(), layer_cost.end(), before.begin() + 1);

  // Vertex (k, j): the first k stages hold the first j layers. An edge is one stage.
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, double>>;
  const auto vertex = [n](std::size_t k, std::size_t j) { return k * (n + 1) + j; };
  const auto layer_graph = [&](auto weight, double limit) {
    Graph graph(vertex(p, n) + 1);
    for (std::size_t k = 0; k < p; ++k) {
      for (std::size_t from = k; from + (p - k) <= n && (k > 0 || from == 0); ++from) {
        for (std::size_t to = from + 1; to + (p - k - 1) <= n; ++to) {
          const double cost = before[to] - before[from] + (k == 0 ? first_extra : 0) + (k + 1 == p ? last_extra : 0);
          if (cost <= limit) boost::add_edge(vertex(k, from), vertex(k + 1, to), weight(cost), graph);
        }
      }
    }
    return graph;
  };
  std::vector<double> distance(vertex(p, n) + 1);
  std::vector<std::size_t> parent(distance.size());
  const auto shortest = [&](const Graph& graph, auto combine) {
    boost::dag_shortest_paths(graph, vertex(0, 0),
                              boost::distance_map(distance.data())
                                  .predecessor_map(parent.data())
                                  .distance_compare(std::less<double>())
                                  .distance_combine(combine)
                                  .distance_inf(std::numeric_limits<double>::infinity())
                                  .distance_zero(0.0));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  shortest(layer_graph([](double cost) { return cost; }, infinity), [](double a, double b) { return std::max(a, b); });
  const double heaviest = distance[vertex(p, n)];
  // Many splits share the bottleneck; among them the most even one.
  shortest(layer_graph([](double cost) { return cost * cost; }, heaviest), std::plus<>());

  std::vector<std::int64_t> layers(p);
  std::size_t end = n;
  for (std::size_t k = p; k > 0; --k) {
    const std::size_t begin = parent[vertex(k, end)] - vertex(k - 1, 0);
    layers[k - 1] = static_cast<std::int64_t>(end - begin);
    end = begin;
  }
  return layers;
}

}  // namespace smplan
