#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace smplan {

/// Whole seconds since 1970, UTC.
using Instant = std::chrono::sys_seconds;

/// What a calendar and a clock on a wall show. Without an offset from UTC it is a time of the local zone.
struct CivilTime {
  std::chrono::sys_days day;
  std::optional<std::chrono::seconds> time_of_day;
  std::optional<std::chrono::seconds> offset;
};

/// ISO 8601: `2026-12-04`, `2026-12-04T17:00`, `2026-12-04 17:00:30`, `2026-12-04T17:00-08:00`, `2026-12-04T17:00Z`.
/// A day or a time that does not exist is refused. `where` names the flag or variable.
Result<CivilTime> parse_civil_time(std::string_view text, std::string_view where);

/// The instant of a time; a day alone is its first second. The zone is that of TZ, else of /etc/localtime. A time that
/// the clocks jump over, or show twice, is refused.
Result<Instant> instant_of(const CivilTime& civil, std::string_view text, std::string_view where);

/// The instant at which a local day is over, whatever the clocks do at midnight.
Instant end_of_local_day(std::chrono::sys_days day);

/// The day that it is in the local zone.
std::chrono::sys_days local_day(Instant instant);

/// `2026-12-04`.
std::string iso_day(std::chrono::sys_days day);
/// `2026-12-04T17:00:00-08:00`, in the local zone.
std::string iso_local(Instant instant);
/// `2026-12-04 17:00 UTC-08:00`, in the local zone; `end_of_day` shows midnight as 24:00 of the day before.
std::string local_words(Instant instant, bool end_of_day = false);

}  // namespace smplan
