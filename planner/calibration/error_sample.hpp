#pragma once

#include <map>
#include <string>
#include <vector>

namespace smplan {

/// Log errors, and how many runs of each left-out group they are of; no groups where each run speaks for itself.
struct ErrorSample {
  std::vector<double> logs;
  std::map<std::string, double> groups;

  void add(double ratio, const std::string& group);
  /// Of P10-P90, beside a prior.
  [[nodiscard]] double sigma(double prior) const;
};

/// By the profile that predicted them.
using ErrorsByProfile = std::map<std::string, ErrorSample>;

/// Standard deviation of log(predicted / measured) for P10-P90: the normal distribution's that holds
/// four fifths of the errors, which count as `independent` runs, and `prior` as ten. Outliers do not widen it.
double interval_sigma(std::vector<double> log_ratios, double prior, double independent);

}  // namespace smplan
