#include "base/clock.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace smplan {
namespace {

/// The last second of the year 9999.
constexpr std::int64_t kLastSecond = 253402300799;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Instant machine_time() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

Result<Instant> epoch_of(std::string_view text) {
  std::int64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || seconds < 0 || seconds > kLastSecond) {
    return fail("bad-clock", "SOURCE_DATE_EPOCH", fmt::format("{} is no number of seconds since 1970", quote(text)),
                "write for example 1795219200, or unset it");
  }
  return Instant(std::chrono::seconds(seconds));
}

}  // namespace

Result<WallClock> wall_clock() {
  Result<Instant> set = machine_time();
  const std::string_view time = variable("SMPLAN_NOW");
  const std::string_view epoch = variable("SOURCE_DATE_EPOCH");
  if (!time.empty()) {
    const Result<CivilTime> civil = parse_civil_time(time, "SMPLAN_NOW");
    if (!civil) return tl::unexpected<Diagnostics>(civil.error());
    set = instant_of(*civil, time, "SMPLAN_NOW");
  } else if (!epoch.empty()) {
    set = epoch_of(epoch);
  }
  if (!set) return tl::unexpected<Diagnostics>(set.error());
  return WallClock{*set, !time.empty() || !epoch.empty()};
}

Instant now() {
  const Result<WallClock> clock = wall_clock();
  return clock ? clock->now : machine_time();
}

std::string utc_date(Instant instant) { return iso_day(std::chrono::floor<std::chrono::days>(instant)); }

std::string today() { return utc_date(now()); }

double Stopwatch::seconds() const {
  if (const Result<WallClock> clock = wall_clock(); clock && clock->fixed) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace smplan
