#include "models/trials.hpp"

#include <algorithm>
#include <cmath>

namespace smplan {

double full_runs(const TrialSearch& search) {
  const auto n = static_cast<double>(search.trials);
  if (search.eta <= 1 || search.rungs <= 1) return n;
  // Rung k of r starts with n / eta^k trials, which go from eta^(k - r) of the full length to eta^(k + 1 - r).
  const double eta = search.eta;
  double sum = 0;
  double before = 0;
  for (int k = 0; k < search.rungs; ++k) {
    const double trials = std::max(1.0, std::floor(n / std::pow(eta, k)));
    const double until = std::pow(eta, k + 1 - search.rungs);
    sum += trials * (until - before);
    before = until;
  }
  return sum;
}

std::optional<TrialFleet> size_trials(const TrialSearch& search, const RunCost& run, std::int64_t most,
                                      std::optional<Seconds> deadline, std::optional<Usd> budget) {
  const double runs = full_runs(search);
  const bool whole = runs >= static_cast<double>(search.trials);
  const Seconds working = run.productive + run.lost();
  const Usd start = run.bill.startup;
  const Usd work = run.total() - start;
  const std::int64_t limit = std::min(most, search.trials);
  for (std::int64_t places = 1; places <= limit; ++places) {
    const auto n = static_cast<double>(places);
    TrialFleet fleet;
    fleet.at_a_time = places;
    // Whole trials come in rounds; stopped ones fill the gaps, but the winner runs to its end.
    const double rounds = whole ? std::ceil(runs / n) : std::max(1.0, runs / n);
    fleet.time = run.startup + working * rounds;
    fleet.cost = work * runs + start * n;
    if (budget && fleet.cost > *budget) return std::nullopt;
    if (!deadline || fleet.time <= *deadline) return fleet;
  }
  return std::nullopt;
}

}  // namespace smplan
