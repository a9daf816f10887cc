#include "planner/calibration/error_sample.hpp"

#include <algorithm>
#include <cmath>

#include "planner/answer/uncertainty.hpp"

namespace smplan {
namespace {

/// Runs of a prior, and the most of a group: they share what the model does not know of it, so that many tell of a new
/// group no more than these.
constexpr double kPriorRuns = 10;

}  // namespace

void ErrorSample::add(double ratio, const std::string& group) {
  logs.push_back(std::log(ratio));
  ++groups[group];
}

double ErrorSample::sigma(double prior) const {
  double independent = groups.empty() ? static_cast<double>(logs.size()) : 0;
  for (const auto& [group, runs] : groups) independent += std::min(runs, kPriorRuns);
  return interval_sigma(logs, prior, independent);
}

double interval_sigma(std::vector<double> log_ratios, double prior, double independent) {
  constexpr double kRoughGuess = 0.085;  // of which four fifths of left-out runs lie in P10 to P90
  const double before = prior > 0 ? prior : kRoughGuess;
  if (log_ratios.empty()) return before;
  for (double& x : log_ratios) x = std::abs(x);
  const std::size_t at = std::min(log_ratios.size() - 1, log_ratios.size() * 4 / 5);
  std::nth_element(log_ratios.begin(), log_ratios.begin() + static_cast<std::ptrdiff_t>(at), log_ratios.end());
  const double measured = log_ratios[at] / kZ90;
  return std::sqrt((kPriorRuns * before * before + independent * measured * measured) / (kPriorRuns + independent));
}

}  // namespace smplan
