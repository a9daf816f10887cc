#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace smplan {

/// A parameter of a model that is fitted inside bounds, held near a prior.
struct FitParameter {
  std::string name;
  double initial = 0;  ///< also the prior's mean; strictly inside (low, high)
  double low = 0;
  double high = 1;
  /// Width of the prior on the logit scale log((x - low) / (high - x)); small holds, large frees.
  double prior_width = 1;
};

struct FitOptions {
  int max_iterations = 30;
  /// Residuals beyond this many units count linearly, not squared (Huber 1964): a few odd runs do
  /// not set a parameter.
  double huber_width = 0.15;
  double tolerance = 1e-4;  ///< relative decrease of the loss at which the fit stops
};

struct FitResult {
  std::vector<double> values;
  double initial_loss = 0;
  double final_loss = 0;
  int iterations = 0;
};

/// residuals(values, out): fills one residual an observation.
using ResidualFunction = std::function<void(std::span<const double> values, std::span<double> out)>;

/// Weighted robust least squares by Levenberg-Marquardt with forward differences.
/// Source: Marquardt 1963; Huber weights by iterative reweighting.
FitResult fit_parameters(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals,
                         std::span<const double> weights, const FitOptions& options = {});

}  // namespace smplan
