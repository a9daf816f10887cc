#include "planner/trace/chrome_trace.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "planner/export/launch.hpp"

namespace smplan {
namespace {

/// Threads of a rank, top to bottom. Parts that no row names share the first.
struct Track {
  std::string_view part;
  int thread;
  std::string_view name;
};
constexpr std::array<Track, 10> kTracks{{{"host", 2, "host launches"},
                                         {"tensor_comm", 3, "tensor-parallel communication"},
                                         {"context_comm", 4, "context-parallel communication"},
                                         {"expert_comm", 5, "expert all-to-all"},
                                         {"pipeline_comm", 6, "pipeline transfers"},
                                         {"data_comm", 7, "data-parallel communication"},
                                         {"optimizer", 8, "optimizer"},
                                         {"offload", 9, "offload transfers"},
                                         {"pipeline_bubble", 10, "waiting"},
                                         {"straggler", 10, "waiting"}}};
constexpr Track kCompute{"compute", 1, "compute"};

const Track& track_of(std::string_view part) {
  for (const Track& track : kTracks) {
    if (track.part == part) return track;
  }
  return kCompute;
}

/// Nanoseconds as microseconds with three digits. Bounds are rounded, not durations, so that sums stay whole.
std::int64_t nanoseconds(Seconds time) { return std::llround(time.value() * 1e9); }
std::string in_microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

void name_of(std::string& out, std::string_view kind, std::int32_t rank, int thread, std::string_view name) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n", kind, rank,
                 thread, json_string(name));
}

void names(std::string& out, const Timeline& timeline) {
  std::set<std::pair<std::int32_t, int>> seen;
  for (std::int32_t rank = 0; rank < timeline.ranks; ++rank) {
    name_of(out, "process_name", rank, 0,
            fmt::format("pipeline rank {}{}", rank, rank == timeline.busiest ? " (busiest)" : ""));
  }
  for (const Stretch& s : timeline.stretches) {
    const Track& track = track_of(step_parts()[s.part].key);
    if (seen.emplace(s.rank, track.thread).second) name_of(out, "thread_name", s.rank, track.thread, track.name);
  }
}

void event(std::string& out, const Stretch& s) {
  const StepPart& part = step_parts()[s.part];
  const std::int64_t start = nanoseconds(s.start);
  fmt::format_to(std::back_inserter(out),
                 "{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
                 "\"args\":{{\"pass\":\"{}\"",
                 part.words, part.key, s.rank, track_of(part.key).thread, in_microseconds(start),
                 in_microseconds(nanoseconds(s.end) - start), to_string(s.phase));
  if (s.phase != Phase::EndOfStep) {
    fmt::format_to(std::back_inserter(out), ",\"micro_batch\":{},\"chunk\":{}", s.micro_batch, s.chunk);
  }
  out += "}},\n";
}

}  // namespace

std::string chrome_trace(const Timeline& timeline, const std::string& title) {
  std::string out = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\n\"otherData\":{{\"plan\":{},\"step_time_s\":{},\"pipeline_ranks\":{}}},\n"
      "\"traceEvents\":[\n",
      json_string(title), format_shortest(timeline.step.value()), timeline.ranks);
  names(out, timeline);
  for (const Stretch& s : timeline.stretches) event(out, s);
  out.resize(out.size() - 2);  // the last comma
  out += "\n]}\n";
  return out;
}

}  // namespace smplan
