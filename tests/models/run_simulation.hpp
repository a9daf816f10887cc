#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "models/run/goodput.hpp"

namespace smplan::test {

/// Wall times of runs that were played event by event.
struct SimulatedRuns {
  Seconds mean;
  Seconds deviation;
  double interruptions = 0;  ///< mean number
  std::vector<double> times;
  [[nodiscard]] double part_within(Seconds limit) const {
    const auto within = std::count_if(times.begin(), times.end(), [&](double t) { return t <= limit.value(); });
    return static_cast<double>(within) / static_cast<double>(times.size());
  }
};

/// One run: work until the next save or interruption, whichever is first. An interruption goes back to the last
/// save that had drained by then; restarts can be interrupted too, but not while they wait for instances. Knows nothing
/// of the formulas.
class RunSimulation {
 public:
  RunSimulation(double work, double interval, const CheckpointTimes& saves, const Interruptions& first,
                const Interruptions* second, std::uint64_t seed)
      : work_(work), interval_(interval), stall_(saves.stall.value()), drain_(saves.drain.value()), random_(seed) {
    sources_.push_back(first);
    if (second != nullptr) sources_.push_back(*second);
  }

  struct Outcome {
    double time = 0;
    double interruptions = 0;
  };
  Outcome run() {
    draw();
    while (done_ < work_) {
      const double next = std::min(done_ + interval_, work_);
      const double end = now_ + (next - done_) + stall_;
      if (interrupted_before(end)) {
        restart();
        continue;
      }
      now_ = end;
      done_ = next;
      saved_.push_back({now_ + drain_, done_});
    }
    return {now_, interruptions_};
  }

 private:
  struct Save {
    double safe_at, done;
  };
  double exponential(double mean) {
    const double u = (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0;
    return -mean * std::log(u);
  }
  void draw() {
    next_ = INFINITY;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const double at = now_ + exponential(sources_[i].apart.value());
      if (at < next_) {
        next_ = at;
        source_ = i;
      }
    }
  }
  [[nodiscard]] bool interrupted_before(double end) const { return next_ < end; }
  void restart() {
    double kept = 0;
    for (const Save& save : saved_) {
      if (save.safe_at <= next_) kept = std::max(kept, save.done);
    }
    done_ = kept;
    // What was on its way when the instances went is gone.
    std::erase_if(saved_, [&](const Save& save) { return save.safe_at > next_; });
    double back = 0;
    do {
      ++interruptions_;
      const Interruptions& hit = sources_[source_];
      now_ = next_ + hit.waiting.value();
      back = now_ + (hit.restart - hit.waiting).value();
      draw();
    } while (next_ < back);
    now_ = back;
    if (saved_.size() > 8) saved_.erase(saved_.begin(), saved_.end() - 8);
  }

  double work_, interval_, stall_, drain_;
  std::vector<Interruptions> sources_;
  std::mt19937_64 random_;
  double now_ = 0, done_ = 0, next_ = 0, interruptions_ = 0;
  std::size_t source_ = 0;
  std::vector<Save> saved_;
};

/// `runs` runs of seeds 1, 2, ...; `sigma` scatters the step time of each log-normally (stratified, so that the
/// quantiles are those of the distribution).
inline SimulatedRuns simulate_runs(Seconds productive, Seconds interval, const CheckpointTimes& saves,
                                   const Interruptions& failures, int runs, const Interruptions* second = nullptr,
                                   double sigma = 0) {
  SimulatedRuns out;
  double sum = 0, squares = 0;
  for (int i = 0; i < runs; ++i) {
    const double error = sigma > 0 ? std::exp(sigma * normal_quantile((i + 0.5) / runs)) : 1;
    RunSimulation simulation(productive.value() * error, interval.value(), saves, failures, second,
                             static_cast<std::uint64_t>(i) + 1);
    const RunSimulation::Outcome one = simulation.run();
    out.times.push_back(one.time);
    out.interruptions += one.interruptions / runs;
    sum += one.time;
    squares += one.time * one.time;
  }
  out.mean = Seconds(sum / runs);
  out.deviation = Seconds(std::sqrt(std::max(0.0, squares / runs - sum / runs * (sum / runs))));
  return out;
}

}  // namespace smplan::test
