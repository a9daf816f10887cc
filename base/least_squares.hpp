#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/monitor.hpp"

namespace smplan {

/// A parameter of a model that is fitted inside bounds, held near a prior.
struct FitParameter {
  std::string name;
  double initial = 0;  ///< the prior's mean; strictly inside (low, high)
  double low = 0;
  double high = 1;
  /// Width of the prior on the logit scale log((x - low) / (high - x)); small holds, large frees.
  double prior_width = 1;
};

struct FitProblem {
  std::vector<FitParameter> parameters;
  /// Error of one observation under the values of all parameters. Asked for from several threads at
  /// once, but never for the same observation by two.
  std::function<double(std::size_t observation, std::span<const double> values)> residual;
  /// What each observation counts: the inverse variance of its residual.
  std::vector<double> weights;
  /// Indices of the parameters that an observation depends on; its derivative by others is not asked for.
  std::vector<std::vector<std::size_t>> depends_on;
  /// Where to start, inside the bounds; empty: at the prior. Changes the way, not the optimum.
  std::vector<double> start;
};

struct FitOptions {
  int max_iterations = 60;
  /// Residuals beyond this many units count linearly, not squared (Huber 1964): a few odd runs do
  /// not set a parameter.
  double huber_width = 0.15;
  double tolerance = 1e-5;     ///< relative decrease of the loss at which the fit stops
  unsigned threads = 0;        ///< 0: as many as the machine has; the result does not depend on it
  Monitor* monitor = nullptr;  ///< counts iterations
};

struct FitResult {
  std::vector<double> values;
  /// Standard deviation of each value given the observations and the prior, from the curvature at the optimum.
  std::vector<double> spreads;
  /// The same of the prior alone, at the prior's mean: what the observations narrow.
  std::vector<double> prior_spreads;
  /// Spread over the prior's width on the logit scale: 1 where the observations say nothing.
  std::vector<double> narrowing;
  double initial_loss = 0;
  double final_loss = 0;
  int iterations = 0;
};

/// Weighted robust least squares by Levenberg-Marquardt with forward differences.
/// Source: Marquardt 1963; Huber weights by iterative reweighting.
FitResult fit_parameters(const FitProblem& problem, const FitOptions& options = {});

}  // namespace smplan
