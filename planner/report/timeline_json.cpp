#include "planner/report/timeline_json.hpp"
#include "base/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace smplan {
namespace {
/// A pass: all its stretches in one.
struct Pass {
  std::int32_t rank;
  Phase phase;
  std::int64_t micro_batch;
  std::int32_t chunk;
  Seconds start;
  Seconds end;
};

std::vector<Pass> passes_of(const Timeline& timeline) {
  std::vector<Pass> passes;
  for (const Stretch& s : timeline.stretches) {
    if (s.phase == Phase::EndOfStep) continue;
    const bool same =
        !passes.empty() && std::tie(passes.back().rank, passes.back().phase, passes.back().micro_batch,
                                    passes.back().chunk) == std::tie(s.rank, s.phase, s.micro_batch, s.chunk);
    if (same) {
      passes.back().end = s.end;
    } else {
      passes.push_back({s.rank, s.phase, s.micro_batch, s.chunk, s.start, s.end});
    }
  }
  std::stable_sort(passes.begin(), passes.end(), [](const Pass& a, const Pass& b) { return a.start < b.start; });
  return passes;
}

/// As many passes of a rank as a lane shows apart from each other.
constexpr std::size_t kClearPasses = 80;

std::int64_t in_us(Seconds time) { return std::llround(time.value() * 1e6); }

}  // namespace

std::string timeline_json(const Timeline& timeline) {
  std::vector<Pass> passes = passes_of(timeline);
  Json undrawn = nullptr;
  // Filling and draining of the pipeline, and some turns of each rank beside: hundreds more would be a blur.
  const auto ranks = static_cast<std::size_t>(timeline.ranks);
  const std::size_t kept = std::min(kMaxDrawnPasses / 2, 2 * ranks * (ranks + 6));
  if (passes.size() > std::max(3 * kept, kClearPasses * ranks)) {
    const auto half = static_cast<std::ptrdiff_t>(kept);
    undrawn = Json::array({in_us((passes.begin() + half)->start), in_us((passes.end() - half)->start)});
    passes.erase(passes.begin() + half, passes.end() - half);
  }
  Json out;
  out["step_time_s"] = timeline.step.value();
  out["ranks"] = timeline.ranks;
  out["busiest"] = timeline.busiest;
  out["undrawn"] = undrawn;
  out["passes"] = Json::array();
  for (const Pass& p : passes) {
    out["passes"].push_back(
        Json::array({p.rank, static_cast<int>(p.phase), p.micro_batch, p.chunk, in_us(p.start), in_us(p.end)}));
  }
  out["end_of_step"] = Json::array();
  for (const Stretch& s : timeline.stretches) {
    const StepPart& part = step_parts()[s.part];
    if (s.rank != timeline.busiest || s.phase != Phase::EndOfStep || part.time == &StepComponents::pipeline_bubble) {
      continue;
    }
    out["end_of_step"].push_back(Json::array({std::string(part.words), in_us(s.start), in_us(s.end)}));
  }
  return out.dump();
}

}  // namespace smplan
