#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace smplan {

/// Exponents of the four base dimensions: byte, second, floating-point operation, US dollar.
struct UnitDimension {
  int byte = 0;
  int second = 0;
  int flop = 0;
  int usd = 0;

  friend constexpr bool operator==(const UnitDimension&, const UnitDimension&) = default;
  friend constexpr UnitDimension operator+(UnitDimension a, UnitDimension b) {
    return {a.byte + b.byte, a.second + b.second, a.flop + b.flop, a.usd + b.usd};
  }
  friend constexpr UnitDimension operator-(UnitDimension a, UnitDimension b) {
    return {a.byte - b.byte, a.second - b.second, a.flop - b.flop, a.usd - b.usd};
  }
};

/// A number with a physical or money dimension, stored in base units (B, s, FLOP, USD).
/// Sums of unlike dimensions do not compile; bytes are exact up to 2^53.
template <UnitDimension D>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  /// The number in base units. For formatters, exporters and numeric libraries only.
  [[nodiscard]] constexpr double value() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    value_ /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(factor * a.value_); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.value_ / divisor); }

 private:
  double value_ = 0;
};

/// Product and quotient carry the combined dimension; a dimensionless result is a plain double.
template <UnitDimension A, UnitDimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  if constexpr (A + B == UnitDimension{}) {
    return a.value() * b.value();
  } else {
    return Quantity<A + B>(a.value() * b.value());
  }
}
template <UnitDimension A, UnitDimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  if constexpr (A - B == UnitDimension{}) {
    return a.value() / b.value();
  } else {
    return Quantity<A - B>(a.value() / b.value());
  }
}

using Bytes = Quantity<UnitDimension{.byte = 1}>;
using Seconds = Quantity<UnitDimension{.second = 1}>;
using Flops = Quantity<UnitDimension{.flop = 1}>;
using Usd = Quantity<UnitDimension{.usd = 1}>;
using BytesPerSecond = Quantity<UnitDimension{.byte = 1, .second = -1}>;
using FlopsPerSecond = Quantity<UnitDimension{.second = -1, .flop = 1}>;
using UsdPerSecond = Quantity<UnitDimension{.second = -1, .usd = 1}>;

inline constexpr double kKiB = 1024.0;
inline constexpr double kMiB = 1024.0 * kKiB;
inline constexpr double kGiB = 1024.0 * kMiB;
inline constexpr double kTiB = 1024.0 * kGiB;
inline constexpr double kSecondsPerHour = 3600.0;
inline constexpr double kSecondsPerDay = 86400.0;

constexpr Bytes gib(double n) { return Bytes(n * kGiB); }
constexpr double in_gib(Bytes b) { return b.value() / kGiB; }
constexpr BytesPerSecond gb_per_s(double n) { return BytesPerSecond(n * 1e9); }
/// Network line rates are quoted in Gbit/s.
constexpr BytesPerSecond gbit_per_s(double n) { return BytesPerSecond(n * 1e9 / 8); }
constexpr FlopsPerSecond tflops(double n) { return FlopsPerSecond(n * 1e12); }
constexpr Seconds microseconds(double n) { return Seconds(n / 1e6); }
constexpr Seconds hours(double n) { return Seconds(n * kSecondsPerHour); }
constexpr Seconds days(double n) { return Seconds(n * kSecondsPerDay); }
constexpr UsdPerSecond usd_per_hour(double n) { return UsdPerSecond(n / kSecondsPerHour); }
constexpr double in_usd_per_hour(UsdPerSecond p) { return p.value() * kSecondsPerHour; }

namespace units {
constexpr Bytes operator""_B(long double n) { return Bytes(static_cast<double>(n)); }
constexpr Bytes operator""_MiB(long double n) { return Bytes(static_cast<double>(n) * kMiB); }
constexpr Bytes operator""_GiB(long double n) { return gib(static_cast<double>(n)); }
constexpr Bytes operator""_GB(long double n) { return Bytes(static_cast<double>(n) * 1e9); }
constexpr BytesPerSecond operator""_GBps(long double n) { return gb_per_s(static_cast<double>(n)); }
constexpr FlopsPerSecond operator""_TFLOPs(long double n) { return tflops(static_cast<double>(n)); }
constexpr Seconds operator""_s(long double n) { return Seconds(static_cast<double>(n)); }
constexpr Seconds operator""_us(long double n) { return microseconds(static_cast<double>(n)); }
}  // namespace units

/// Parsers for command-line strings. Units of bytes and rates are case-sensitive, units are mandatory except for `0`;
/// k/M/G/T are powers of 1000, Ki/Mi/Gi/Ti of 1024. `Gb/s`, `Gbps` and bare `b` are refused with
/// the unambiguous spellings in the hint. `where` names the flag or field in the diagnostic.
Result<Bytes> parse_bytes(std::string_view text, std::string_view where);
/// `90s`, `15m`, `36h`, `7d`, `2w`, `14 days`, `1 h 30 min`; words in any case.
Result<Seconds> parse_duration(std::string_view text, std::string_view where);
/// A count with an optional decimal suffix k, M, B (= G), T in any case, or its word: `13B`, `1.4t`, `300bn`, `4096`,
/// `2e12`, `13 billion`. Positive, finite.
Result<double> parse_count(std::string_view text, std::string_view where);
/// As parse_count, but the result must be a whole number that fits in 63 bits.
Result<std::int64_t> parse_integer_count(std::string_view text, std::string_view where);
/// Tokens of a sequence, which k and M count in powers of 1024: `4k` is 4096.
Result<std::int64_t> parse_length(std::string_view text, std::string_view where);
/// `50000`, `$50,000`, `50k`.
Result<Usd> parse_usd(std::string_view text, std::string_view where);
/// `5%`, `5` or `0.05`; in [0, 1]. A number without a mark is per cent from 2 on.
Result<double> parse_fraction(std::string_view text, std::string_view where);

/// Formatters for people: three significant digits and a unit (`61.2 GiB`, `10.9 d`, `$49,300`).
/// JSON never goes through these.
std::string format_bytes(Bytes b);
std::string format_duration(Seconds s);
std::string format_usd(Usd u);
std::string format_usd_per_hour(UsdPerSecond p);
std::string format_bandwidth(BytesPerSecond r);
std::string format_flops_rate(FlopsPerSecond r);
/// `13B`, `6.74B`, `350M`: three significant digits.
std::string format_count(double n);
std::string format_percent(double fraction);
/// Shortest decimal form that reads back to the same double; locale-free.
std::string format_shortest(double x);

}  // namespace smplan
