#include "catalogs/dates.hpp"

#include <charconv>
#include <chrono>

namespace smplan {
namespace {

std::optional<std::chrono::sys_days> day_of(std::string_view date) {
  const auto part = [&](std::size_t begin, std::size_t length, int otherwise) -> std::optional<int> {
    if (date.size() <= begin) return otherwise;
    if (date.size() < begin + length || (begin > 0 && date[begin - 1] != '-')) return std::nullopt;
    int value = 0;
    const char* first = date.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    if (error != std::errc() || end != first + length || value < 0) return std::nullopt;
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

}  // namespace

std::optional<std::int64_t> days_between(std::string_view from, std::string_view to) {
  const auto a = day_of(from);
  const auto b = day_of(to);
  if (!a || !b) return std::nullopt;
  return (*b - *a).count();
}

bool is_day(std::string_view text) { return text.size() == 10 && day_of(text); }

}  // namespace smplan
