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

/// The date that `text` names on the day `today`: an ISO date as it is, or the next day with that name (`Friday`,
/// `fri`), never today; nullopt if it is neither.
std::optional<std::string> named_date(std::string_view text, std::string_view today);

/// The ISO date `days` after `from`. Precondition: `from` is a date.
std::string date_after(std::string_view from, std::int64_t days);

}  // namespace smplan
