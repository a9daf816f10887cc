#include "base/civil_time.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"

namespace smplan {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;

constexpr std::string_view kHint = "write 2026-12-04, 2026-12-04T17:00 or 2026-12-04T17:00-08:00";

/// Takes exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, char wanted) {
  if (text.empty() || lower_case(text.front()) != wanted) return false;
  text.remove_prefix(1);
  return true;
}

/// `17:00`, `17:00:30`; nullopt if it is written otherwise, whatever the numbers are.
struct Clock {
  int hour = 0, minute = 0, second = 0;
};
std::optional<Clock> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || !take_char(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute) return std::nullopt;
  if (!take_char(text, ':')) return Clock{*hour, *minute, 0};
  const auto second = take_number(text, 2);
  if (!second) return std::nullopt;
  return Clock{*hour, *minute, *second};
}

/// `Z`, `+01:00`, `-0800`, `+01`.
std::optional<seconds> take_offset(std::string_view& text) {
  constexpr int kMostHours = 14;
  if (take_char(text, 'z')) return seconds(0);
  const bool west = take_char(text, '-');
  if (!west && !take_char(text, '+')) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > kMostHours) return std::nullopt;
  int minute = 0;
  if (!text.empty()) {
    take_char(text, ':');
    const auto read = take_number(text, 2);
    if (!read || *read > 59) return std::nullopt;
    minute = *read;
  }
  const seconds offset = hours(*hour) + minutes(minute);
  return west ? -offset : offset;
}

std::tm local_fields(Instant instant) {
  tzset();
  const std::time_t time = instant.time_since_epoch().count();
  std::tm fields{};
  localtime_r(&time, &fields);
  return fields;
}

seconds offset_at(Instant instant) { return seconds(local_fields(instant).tm_gmtoff); }

/// The instants at which local clocks show what they would show in UTC at `shown`, ascending.
std::vector<Instant> instants_showing(Instant shown) {
  std::vector<Instant> found;
  for (const Instant near : {shown - days(1), shown + days(1)}) {
    const seconds offset = offset_at(near);
    const Instant candidate = shown - offset;
    if (offset_at(candidate) == offset) found.push_back(candidate);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string offset_words(seconds offset) {
  const auto minute = std::abs(offset.count()) / 60;
  return fmt::format("{}{:02}:{:02}", offset.count() < 0 ? '-' : '+', minute / 60, minute % 60);
}

}  // namespace

Result<CivilTime> parse_civil_time(std::string_view text, std::string_view where) {
  const auto malformed = [&] {
    return fail("bad-date", std::string(where), fmt::format("{} is no date", quote(text)), std::string(kHint));
  };
  const auto missing = [&](std::string_view what) {
    return fail("no-such-time", std::string(where), fmt::format("{}: {}", quote(text), what), std::string(kHint));
  };
  std::string_view rest = trim(text);
  const auto year = take_number(rest, 4);
  if (!year || !take_char(rest, '-')) return malformed();
  const auto month = take_number(rest, 2);
  if (!month || !take_char(rest, '-')) return malformed();
  const auto day = take_number(rest, 2);
  if (!day) return malformed();
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (*month < 1 || *month > 12) return missing(fmt::format("there is no month {:02}", *month));
  if (!date.ok()) {
    const std::chrono::year_month_day last(date.year() / date.month() / std::chrono::last);
    return missing(fmt::format("this day does not exist; the month has {} days", static_cast<unsigned>(last.day())));
  }
  CivilTime civil{sys_days(date), std::nullopt, std::nullopt};
  if (rest.empty()) return civil;
  if (!take_char(rest, 't') && !take_char(rest, ' ')) return malformed();
  const auto clock = take_clock(rest);
  if (!clock) return malformed();
  const bool midnight = clock->hour == 24 && clock->minute == 0 && clock->second == 0;
  if ((clock->hour > 23 && !midnight) || clock->minute > 59 || clock->second > 59) {
    return missing("this time of day does not exist");
  }
  civil.time_of_day = hours(clock->hour) + minutes(clock->minute) + seconds(clock->second);
  if (rest.empty()) return civil;
  civil.offset = take_offset(rest);
  if (!civil.offset || !rest.empty()) return malformed();
  return civil;
}

Result<Instant> instant_of(const CivilTime& civil, std::string_view text, std::string_view where) {
  const Instant shown = civil.day + civil.time_of_day.value_or(seconds(0));
  if (civil.offset) return shown - *civil.offset;
  const std::vector<Instant> found = instants_showing(shown);
  if (found.size() == 1) return found.front();
  if (!civil.time_of_day) return end_of_local_day(civil.day - days(1));
  if (found.empty()) {
    return fail("no-such-time", std::string(where), fmt::format("{}: the clocks jump over this time", quote(text)),
                "write another time, or one with its offset from UTC such as 2026-12-04T17:00-08:00");
  }
  return fail("ambiguous", std::string(where), fmt::format("{}: the clocks show this time twice", quote(text)),
              fmt::format("write {}{} or {}{}", trim(text), offset_words(offset_at(found.front())), trim(text),
                          offset_words(offset_at(found.back()))));
}

Instant end_of_local_day(sys_days day) {
  const Instant shown = day + days(1);
  const std::vector<Instant> found = instants_showing(shown);
  // Where the clocks jump over midnight the day ends as they jump; where they show it twice, the second time.
  return found.empty() ? shown - offset_at(shown - days(1)) : found.back();
}

sys_days local_day(Instant instant) { return std::chrono::floor<days>(instant + offset_at(instant)); }

std::string iso_day(sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string iso_local(Instant instant) {
  const std::tm t = local_fields(instant);
  return fmt::format("{}T{:02}:{:02}:{:02}{}", iso_day(local_day(instant)), t.tm_hour, t.tm_min, t.tm_sec,
                     offset_words(seconds(t.tm_gmtoff)));
}

std::string local_words(Instant instant, bool end_of_day) {
  const std::tm t = local_fields(instant);
  const bool midnight = end_of_day && t.tm_hour == 0 && t.tm_min == 0;
  const std::string day = iso_day(local_day(midnight ? instant - seconds(1) : instant));
  return fmt::format("{} {:02}:{:02} UTC{}", day, midnight ? 24 : t.tm_hour, t.tm_min,
                     offset_words(seconds(t.tm_gmtoff)));
}

}  // namespace smplan
