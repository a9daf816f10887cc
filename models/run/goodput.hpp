#pragma once

#include "base/units.hpp"
#include "models/step/step.hpp"

namespace smplan {

/// What stops a run: independent events at a constant rate.
struct Interruptions {
  Seconds apart;    ///< mean time between two of the whole fleet; zero is never
  Seconds restart;  ///< mean time from the interruption to the first step after it
  /// Of a restart, the time without instances: nothing interrupts it, and it is not billed.
  Seconds waiting;
};
/// Two sources at once: rates add, restarts are weighted by rate.
Interruptions combined(const Interruptions& a, const Interruptions& b);

/// What saving costs. A save stops the step for `stall`, then drains in the background; it is worth something
/// only once it has drained.
struct CheckpointTimes {
  Bytes size;
  Seconds stall;
  Seconds drain;
  Seconds load;
  friend bool operator==(const CheckpointTimes&, const CheckpointTimes&) = default;
};

/// Expected time that a run takes beyond its steps, and how far chance moves it.
struct LostTime {
  Seconds checkpoints;  ///< stalls
  Seconds rework;       ///< steps done again
  Seconds restarts;
  Seconds waiting;           ///< of the restarts, without instances: not billed
  Seconds interval;          ///< between the ends of two saves; zero without checkpoints
  Seconds deviation;         ///< standard deviation of the sum
  double interruptions = 0;  ///< expected number
  [[nodiscard]] Seconds total() const { return checkpoints + rework + restarts; }
};

/// Checkpoint interval that loses least, to third order. Source: Daly 2006 (after Young 1974), eq. 37.
Seconds checkpoint_interval(Seconds mean_time_between_failures, Seconds stall);

/// The best interval for a run: Daly's, no shorter than a step or than a save takes to drain, no longer than
/// the run.
Seconds best_interval(Seconds productive, Seconds step, const CheckpointTimes& checkpoint, Seconds apart);

/// Loss of a run that saves every `interval`; without checkpoints (nullptr) every interruption starts it anew.
/// A save that has not drained is lost with the interruption, which costs `drain` more rework each (exact while
/// saves drain within an interval and interruptions are rarer than intervals). A restart may be interrupted too, but
/// not while it waits for instances.
LostTime expected_loss(Seconds productive, Seconds interval, const CheckpointTimes* checkpoint,
                       const Interruptions& interruptions);

/// A duration known to a factor: log-normal around `middle`. What moves it is the model's error in the step
/// time, and chance in interruptions.
struct Spread {
  Seconds middle;
  double sigma = 0;  ///< of the logarithm
  /// Time within which the run is done with probability `confidence` (0 < confidence < 1).
  [[nodiscard]] Seconds at(double confidence) const;
  /// Probability of being done within `limit`.
  [[nodiscard]] double probability(Seconds limit) const;
};
Spread run_spread(const StepEstimate& step, Seconds total, Seconds deviation);

/// Quantile of the standard normal distribution, 0 < p < 1. Source: Acklam 2003, relative error 1.2e-9.
double normal_quantile(double p);

}  // namespace smplan
