#include "base/today.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace smplan {

std::string today() {
  auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text = fixed;
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) {
      now = std::chrono::sys_seconds(std::chrono::seconds(seconds));
    }
  }
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(now));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace smplan
