#include "planner/request/due.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"

namespace smplan {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

/// Sunday is 0, as in std::chrono::weekday.
const std::vector<std::string> kDayNames = {"sunday", "monday",   "tuesday", "wednesday", "thursday",
                                            "friday", "saturday", "today",   "tomorrow"};
constexpr std::size_t kToday = 7;
constexpr std::size_t kTomorrow = 8;
constexpr std::size_t kShortest = 3;  ///< `fri`, `thurs`: letters that tell the days of a week apart

std::optional<std::size_t> day_name(std::string_view word) {
  for (std::size_t i = 0; i < kDayNames.size(); ++i) {
    const bool short_form = i < kToday && word.size() >= kShortest && kDayNames[i].starts_with(word);
    if (word == kDayNames[i] || short_form) return i;
  }
  return std::nullopt;
}

sys_days named_day(std::size_t name, sys_days today) {
  if (name == kToday) return today;
  if (name == kTomorrow) return today + days(1);
  const days ahead = std::chrono::weekday(static_cast<unsigned>(name)) - std::chrono::weekday(today);
  return today + (ahead.count() == 0 ? days(7) : ahead);
}

/// The same with the name of a day as its date: `Friday 17:00` is `2026-11-27T17:00`.
Result<std::string> as_iso(std::string_view text, std::string_view where, Instant ordered) {
  text = trim(text);
  if (text.empty() || is_digit(text.front())) return std::string(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string word = lower_case(text.substr(0, end));
  const auto name = day_name(word);
  if (!name) {
    const std::vector<std::string> near = nearest_names(word, kDayNames, 1);
    return fail("bad-deadline", std::string(where), fmt::format("{} is neither a duration nor a day", quote(text)),
                near.empty() ? "write for example 36h, 7d, Friday or 2026-12-04T17:00"
                             : fmt::format("did you mean {}?", near.front()));
  }
  const std::string day = iso_day(named_day(*name, local_day(ordered)));
  const std::string_view time = trim(text.substr(end));
  return time.empty() ? day : fmt::format("{}T{}", day, time);
}

}  // namespace

bool names_a_day(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() == '-') return false;
  const bool word = is_letter_or_digit(text.front()) && !is_digit(text.front());
  const bool date = is_digit(text.front()) && (text.find_first_of("-/:") != std::string_view::npos ||
                                               std::count(text.begin(), text.end(), '.') > 1);
  return word || date;
}

Result<Due> parse_due(std::string_view text, std::string_view where, Instant ordered) {
  const Result<std::string> iso = as_iso(text, where, ordered);
  if (!iso) return tl::unexpected<Diagnostics>(iso.error());
  const Result<CivilTime> civil = parse_civil_time(*iso, where);
  if (!civil) return tl::unexpected<Diagnostics>(civil.error());
  Due due{ordered, {}, !civil->time_of_day};
  if (due.end_of_day) {
    due.at = end_of_local_day(civil->day);
  } else {
    const Result<Instant> at = instant_of(*civil, *iso, where);
    if (!at) return tl::unexpected<Diagnostics>(at.error());
    due.at = *at;
  }
  if (due.at <= ordered) {
    return fail("out-of-range", std::string(where),
                fmt::format("{} is over: {} is before now, {}", quote(text), to_string(due), local_words(ordered)),
                "give a later time");
  }
  return due;
}

std::string to_string(const Due& due) { return local_words(due.at, due.end_of_day); }

std::string day_after_order(const Due& due, double seconds) {
  constexpr double kMost = 1e11;  // some 3000 years, within what calendars can say
  const std::chrono::seconds taken(static_cast<std::int64_t>(std::min(seconds, kMost)));
  return iso_day(local_day(due.ordered + taken));
}

}  // namespace smplan
