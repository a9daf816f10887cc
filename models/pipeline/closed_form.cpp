#include "models/pipeline/closed_form.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace smplan {
namespace {

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

}  // namespace smplan
