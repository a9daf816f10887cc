#include "models/pipeline/schedule.hpp"

#include <algorithm>

namespace smplan {

std::int64_t interleave_groups(std::int64_t m, std::int64_t p) { return std::max<std::int64_t>(1, m / p); }
std::int64_t interleave_group_size(std::int64_t m, std::int64_t p) {
  const std::int64_t groups = interleave_groups(m, p);
  return (m + groups - 1) / groups;
}

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

double in_flight_micro_batches(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches, std::int32_t chunks,
                               Schedule schedule) {
  // A delayed weight gradient keeps its inputs, so ZB-H1 holds p on every rank.
  if (schedule == Schedule::ZeroBubble) return static_cast<double>(std::min<std::int64_t>(micro_batches, stages));
  return static_cast<double>(warm_up(stage, stages, micro_batches, chunks, schedule)) / chunks;
}

}  // namespace smplan
