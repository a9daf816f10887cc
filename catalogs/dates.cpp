#include "catalogs/dates.hpp"

#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace smplan {
namespace {

std::optional<std::chrono::sys_days> day_of(std::string_view date) {
  const auto part = [&](std::size_t begin, std::size_t length, int otherwise) -> std::optional<int> {
    if (date.size() <= begin) return otherwise;
    if (date.size() < begin + length) return std::nullopt;
    int value = 0;
    const char* first = date.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    if (error != std::errc() || end != first + length) return std::nullopt;
    return value;
  };
  const auto year = date.empty() ? std::nullopt : part(0, 4, 0);
  const auto month = part(5, 2, 1);
  const auto day = part(8, 2, 1);
  if (!year || !month || !day || *month < 1 || *day < 1) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                        std::chrono::day(static_cast<unsigned>(*day))};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd);
}

/// Sunday is 0, as in std::chrono::weekday.
constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};

std::string iso(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace

std::optional<std::int64_t> days_between(std::string_view from, std::string_view to) {
  const auto a = day_of(from);
  const auto b = day_of(to);
  if (!a || !b) return std::nullopt;
  return (*b - *a).count();
}

std::optional<std::string> named_date(std::string_view text, std::string_view today) {
  constexpr std::size_t kIsoLength = 10;
  constexpr std::size_t kShortest = 3;
  if (text.size() == kIsoLength && day_of(text)) return std::string(text);
  const auto now = day_of(today);
  if (text.size() < kShortest || !now) return std::nullopt;
  std::string name(text);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (unsigned i = 0; i < kWeekdays.size(); ++i) {
    if (name != kWeekdays[i] && name != kWeekdays[i].substr(0, kShortest)) continue;
    const std::chrono::days ahead = std::chrono::weekday(i) - std::chrono::weekday(*now);
    return iso(*now + (ahead.count() == 0 ? std::chrono::days(7) : ahead));
  }
  return std::nullopt;
}

std::string date_after(std::string_view from, std::int64_t days) {
  return iso(*day_of(from) + std::chrono::days(days));
}

}  // namespace smplan
