#include "models/pipeline/simulation.hpp"

#include <algorithm>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "base/assert.hpp"

namespace smplan {
namespace {

using Kind = PipelineTask::Kind;

/// A task as the schedule orders it on its rank.
struct Step {
  Kind kind = Kind::Forward;
  std::int32_t chunk = 0;
  std::int64_t micro_batch = 0;
};
using RankOrder = std::vector<Step>;

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

}  // namespace

std::vector<PipelineTask> simulate_pipeline(std::span<const StageTime> stages, std::int64_t micro_batches,
                                            std::int32_t chunks, Schedule schedule, Seconds transfer) {
  SMPLAN_ASSERT(!stages.empty() && micro_batches > 0 && chunks > 0);
  SMPLAN_ASSERT(chunks == 1 || schedule == Schedule::Interleaved);
  return ScheduleGraph(stages, micro_batches, chunks, schedule, transfer).timed();
}

}  // namespace smplan
