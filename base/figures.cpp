#include "base/figures.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/units.hpp"

namespace smplan {

std::string format_expected(double times) {
  constexpr double kLeast = 1e-4;
  constexpr double kTwoDigits = 99.5;
  if (times > 0 && times < kLeast) return "under 0.0001";
  return times < kTwoDigits ? fmt::format("{:.2g}", times) : format_count(std::round(times));
}

std::string format_chance(double probability) {
  constexpr double kSure = 0.999;
  if (probability > kSure) return "over 99.9%";
  if (probability < 1 - kSure) return "under 0.1%";
  return format_percent(probability);
}

std::string format_change(double before, double after) {
  constexpr double kNoticed = 0.001;
  constexpr double kThreeDigits = 999.5;
  const double percent = (after / before - 1) * 100;
  if (percent != 0 && std::abs(percent) < kNoticed) return fmt::format("under {:g}%", kNoticed);
  return std::abs(percent) < kThreeDigits ? fmt::format("{:+.3g}%", percent) : fmt::format("{:+.0f}%", percent);
}

}  // namespace smplan
