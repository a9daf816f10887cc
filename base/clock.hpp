#pragma once

#include <chrono>
#include <string>

#include "base/civil_time.hpp"
#include "base/result.hpp"

namespace smplan {

/// What time it is. SMPLAN_NOW (ISO 8601), else SOURCE_DATE_EPOCH (reproducible-builds.org), set the clock: then it
/// stands still, and equal requests give equal bytes.
struct WallClock {
  Instant now;
  bool fixed = false;
};

/// The only clock that anything reads. Fails on a variable that is no time; programs ask for this once at their start.
Result<WallClock> wall_clock();

/// The time of wall_clock(), that of the machine if a variable is no time.
Instant now();
/// ISO date in UTC, to which ages are counted: the same in every zone.
std::string utc_date(Instant instant);
std::string today();

/// How long work takes; nothing where the clock stands still.
class Stopwatch {
 public:
  /// Since the construction.
  [[nodiscard]] double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace smplan
