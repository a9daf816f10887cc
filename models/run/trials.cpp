#include "models/run/trials.hpp"

#include <algorithm>
#include <cmath>

namespace smplan {

double full_runs(std::int64_t trials, int keep) {
  const auto n = static_cast<double>(trials);
  if (keep <= 1) return n;
  int rungs = 1;
  for (std::int64_t left = trials; left >= keep; left /= keep) ++rungs;
  // Rung k starts with n / keep^k trials, which go from keep^(k - rungs) of the full length to keep times that.
  double sum = 0;
  double before = 0;
  for (int k = 0; k < rungs; ++k) {
    const double left = std::max(1.0, std::floor(n / std::pow(keep, k)));
    const double until = std::pow(keep, k + 1 - rungs);
    sum += left * (until - before);
    before = until;
  }
  return sum;
}

}  // namespace smplan
