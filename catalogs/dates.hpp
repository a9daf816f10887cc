#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smplan {

/// How old a price may be before it should be checked: AWS repriced the accelerated types twice in a year.
inline constexpr int kOldPriceDays = 90;

/// Days between two ISO dates (`YYYY`, `YYYY-MM` count from their first day); nullopt if one is no date.
std::optional<std::int64_t> days_between(std::string_view from, std::string_view to);

/// Whether the text is one day of the calendar, `YYYY-MM-DD`.
bool is_day(std::string_view text);

}  // namespace smplan
