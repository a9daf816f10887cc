#pragma once

#include <string>
#include <string_view>

#include "base/civil_time.hpp"
#include "base/result.hpp"

namespace smplan {

/// A deadline that is an instant: when the run is ordered, and when it must be done.
struct Due {
  Instant ordered;
  Instant at;
  bool end_of_day = false;  ///< a day was named, and `at` is its end
};

/// Whether a deadline is meant as a day or a time, not as a duration: it has words or the marks of a date.
bool names_a_day(std::string_view text);

/// The instant that `text` names at the time `ordered`. A day is meant with all its hours, in the local zone; the name
/// of a weekday is the next one, never today; `today` and `tomorrow` are days too. A time may follow: `Friday 17:00`.
Result<Due> parse_due(std::string_view text, std::string_view where, Instant ordered);

/// `2026-11-27 24:00 UTC-08:00`, in the local zone.
std::string to_string(const Due& due);

/// The local day on which something ends that takes so long from the order on.
std::string day_after_order(const Due& due, double seconds);

}  // namespace smplan
