#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/words.hpp"

namespace smplan {
namespace {

constexpr UnitDimension kBytes{.byte = 1};
constexpr UnitDimension kTime{.second = 1};
constexpr UnitDimension kBandwidth{.byte = 1, .second = -1};
constexpr UnitDimension kFlopRate{.second = -1, .flop = 1};

/// One unit = factor x 10^exponent base units. The power of ten is kept apart so that `6.74G` is read as
/// the decimal 6.74e9, correctly rounded, and not as a product of two rounded numbers.
struct Unit {
  std::string_view symbol;
  UnitDimension dimension;
  double factor;
  int exponent;
  double shown_from;  ///< formatters use the unit from this many base units on; infinity: never
};

constexpr double kNever = HUGE_VAL;

/// The only unit table. Units that formatters use ascend within their dimension.
constexpr Unit kUnits[] = {
    {"B", kBytes, 1, 0, 0},
    {"KiB", kBytes, kKiB, 0, 999.5},
    {"MiB", kBytes, kMiB, 0, 999.5 * kKiB},
    {"GiB", kBytes, kGiB, 0, 999.5 * kMiB},
    {"TiB", kBytes, kTiB, 0, 999.5 * kGiB},
    {"PiB", kBytes, 1024 * kTiB, 0, 999.5 * kTiB},
    {"kB", kBytes, 1, 3, kNever},
    {"MB", kBytes, 1, 6, kNever},
    {"GB", kBytes, 1, 9, kNever},
    {"TB", kBytes, 1, 12, kNever},
    {"PB", kBytes, 1, 15, kNever},
    {"us", kTime, 1, -6, 0},
    {"ms", kTime, 1, -3, 999.5e-6},
    {"s", kTime, 1, 0, 0.9995},
    {"min", kTime, 60, 0, 119.5},
    {"h", kTime, kSecondsPerHour, 0, 119.5 * 60},
    {"d", kTime, kSecondsPerDay, 0, 47.95 * kSecondsPerHour},
    {"m", kTime, 60, 0, kNever},
    {"w", kTime, 7 * kSecondsPerDay, 0, kNever},
    {"B/s", kBandwidth, 1, 0, 0},
    {"kB/s", kBandwidth, 1, 3, 999.5},
    {"MB/s", kBandwidth, 1, 6, 999.5e3},
    {"GB/s", kBandwidth, 1, 9, 999.5e6},
    {"TB/s", kBandwidth, 1, 12, 999.5e9},
    {"FLOP/s", kFlopRate, 1, 0, 0},
    {"GFLOP/s", kFlopRate, 1, 9, 999.5e6},
    {"TFLOP/s", kFlopRate, 1, 12, 999.5e9},
    {"PFLOP/s", kFlopRate, 1, 15, 999.5e12},
    {"EFLOP/s", kFlopRate, 1, 18, 999.5e15},
};

/// Units of time as people write them, in any case. `M` alone may be months, so that it is not among them.
struct TimeWord {
  std::string_view word;
  std::string_view symbol;
};
constexpr TimeWord kTimeWords[] = {
    {"s", "s"},      {"sec", "s"},      {"secs", "s"},      {"second", "s"}, {"seconds", "s"}, {"min", "min"},
    {"mins", "min"}, {"minute", "min"}, {"minutes", "min"}, {"h", "h"},      {"hr", "h"},      {"hrs", "h"},
    {"hour", "h"},   {"hours", "h"},    {"d", "d"},         {"day", "d"},    {"days", "d"},    {"w", "w"},
    {"wk", "w"},     {"wks", "w"},      {"week", "w"},      {"weeks", "w"},
};

struct CountSuffix {
  std::string_view symbol;
  int exponent;
};
/// B is the billion of model names. Read in any case: a count has no bytes or minutes that one could be taken for. The
/// first of an exponent is the one that formatters use.
constexpr CountSuffix kCountSuffixes[] = {{"", 0},        {"k", 3},       {"M", 6},        {"B", 9},   {"T", 12},
                                          {"G", 9},       {"mn", 6},      {"bn", 9},       {"tn", 12}, {"thousand", 3},
                                          {"million", 6}, {"billion", 9}, {"trillion", 12}};

struct Number {
  std::string_view digits;  ///< as written, checked to be a number
  std::string_view rest;    ///< unit or suffix, trimmed
};

tl::unexpected<Diagnostics> bad_number(std::string_view text, std::string_view where, std::string_view example) {
  return fail("bad-number", std::string(where), fmt::format("{} is not a number", quote(text)),
              fmt::format("write for example {}", example));
}

tl::unexpected<Diagnostics> too_large(std::string_view text, std::string_view where) {
  return fail("out-of-range", std::string(where), fmt::format("{} is too large or too small", quote(text)));
}

/// Splits `80 GiB` into number and unit; refuses signs, hexadecimal, infinity and NaN.
Result<Number> split(std::string_view text, std::string_view where, std::string_view example) {
  text = trim(text);
  if (text.starts_with('-')) {
    return fail("negative", std::string(where), fmt::format("{} is negative", quote(text)),
                fmt::format("write for example {}", example));
  }
  const bool number_like =
      !text.empty() && (is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1])));
  if (!number_like) return bad_number(text, where, example);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end.ptr - text.data());
  if (end.ec == std::errc::result_out_of_range) return too_large(text, where);
  return Number{text.substr(0, length), trim(text.substr(length))};
}

/// digits x 10^exponent, correctly rounded; nullopt if it over- or underflows.
std::optional<double> scaled(std::string_view digits, int exponent) {
  std::string text(digits);
  const std::size_t written = text.find_first_of("eE");
  int total = exponent;
  if (written != std::string::npos) {
    const char* first = text.data() + written + 1;
    if (*first == '+') ++first;
    int own = 0;
    if (std::from_chars(first, text.data() + text.size(), own).ec != std::errc()) return std::nullopt;
    if (own > 100000 || own < -100000) return std::nullopt;
    total += own;
    text.resize(written);
  }
  text += fmt::format("e{}", total);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> symbols_of(const UnitDimension& dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension) names.emplace_back(unit.symbol);
  }
  return names;
}

/// The unit that a text names; nullptr if it is unknown, or could be another.
const Unit* find_unit(std::string_view text, const UnitDimension& dimension) {
  std::string_view symbol = text;
  if (dimension == kTime) {
    const std::string word = lower_case(text);
    const auto* known =
        std::find_if(std::begin(kTimeWords), std::end(kTimeWords), [&](const TimeWord& w) { return w.word == word; });
    if (known != std::end(kTimeWords)) symbol = known->symbol;
  }
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const Unit& u) { return u.symbol == symbol && u.dimension == dimension; });
  return unit == std::end(kUnits) ? nullptr : unit;
}

/// What to write instead of an unknown unit. Bits and bytes must never be guessed.
std::string unit_hint(const Number& number, const UnitDimension& dimension) {
  const std::string_view unit = number.rest;
  if (dimension == kTime && (unit == "M" || lower_case(unit).starts_with("mo"))) {
    return fmt::format("months differ in length: write days such as 30d; minutes are {}min", number.digits);
  }
  if (unit.find('b') != std::string_view::npos && dimension != kTime) {
    // `gb` and `Gb` both mean giga-something.
    const std::size_t known_prefix = std::string_view("kKmMgGtT").find(unit[0]);
    const bool prefixed = known_prefix != std::string_view::npos;
    const std::string prefix = prefixed ? std::string(1, "kkMMGGTT"[known_prefix]) : "";
    const std::string binary = prefixed ? fmt::format(" or {}{}iB", number.digits, prefix == "k" ? "K" : prefix) : "";
    return fmt::format("write {}{}B{}; sizes are in bytes", number.digits, prefix, binary);
  }
  if (dimension == kBytes && unit.size() == 1) {
    const std::string decimal = std::string(unit == "K" ? "k" : unit) + "B";
    const std::string binary = std::string(unit == "k" ? "K" : unit) + "iB";
    const std::vector<std::string> known = symbols_of(dimension);
    if (std::find(known.begin(), known.end(), binary) != known.end()) {
      return fmt::format("write {0}{1} or {0}{2}", number.digits, decimal, binary);
    }
  }
  const std::vector<std::string> near = nearest_names(unit, symbols_of(dimension));
  if (!near.empty())
    return fmt::format("did you mean {}{}?", number.digits, fmt::join(near, fmt::format(" or {}", number.digits)));
  return fmt::format("units: {}", fmt::join(symbols_of(dimension), ", "));
}

Result<double> parse_quantity(std::string_view text, std::string_view where, const UnitDimension& dimension,
                              std::string_view example) {
  const auto number = split(text, where, example);
  if (!number) return tl::unexpected<Diagnostics>(number.error());
  if (number->rest.empty()) {
    if (scaled(number->digits, 0) == 0.0) return 0.0;
    return fail("missing-unit", std::string(where), fmt::format("{} has no unit", quote(text)),
                fmt::format("write for example {}", example));
  }
  if (const Unit* unit = find_unit(number->rest, dimension)) {
    const auto value = scaled(number->digits, unit->exponent);
    if (!value || !std::isfinite(*value * unit->factor)) return too_large(text, where);
    return *value * unit->factor;
  }
  return fail("bad-unit", std::string(where),
              fmt::format("{} has the unknown unit {}", quote(text), quote(number->rest)),
              unit_hint(*number, dimension));
}

/// `1 h` of `1 h 30 min`: a number and all up to the next.
std::size_t length_of_part(std::string_view text) {
  const auto number = split(text, "", "");
  if (!number || number->rest.empty()) return text.size();
  const std::size_t unit = text.size() - number->rest.size();
  return std::min(text.find_first_of("0123456789", unit), text.size());
}

/// Seconds of the unit of a duration that was read; 0 if it has none.
double unit_of(std::string_view part) {
  const auto number = split(part, "", "");
  const Unit* unit = number ? find_unit(number->rest, kTime) : nullptr;
  return unit == nullptr ? 0 : unit->factor * std::pow(10.0, unit->exponent);
}

Result<double> parse_suffixed(std::string_view text, std::string_view where, std::string_view example) {
  const auto number = split(text, where, example);
  if (!number) return tl::unexpected<Diagnostics>(number.error());
  for (const CountSuffix& suffix : kCountSuffixes) {
    if (lower_case(suffix.symbol) != lower_case(number->rest)) continue;
    const auto value = scaled(number->digits, suffix.exponent);
    if (!value) return too_large(text, where);
    return *value;
  }
  return fail("bad-suffix", std::string(where),
              fmt::format("{} has the unknown suffix {}", quote(text), quote(number->rest)),
              "suffixes: k, M, B (or G), T, in powers of 1000");
}

/// Removes the commas of `50,000`; nullopt if they do not part the number in groups of three.
std::optional<std::string> without_commas(std::string_view text) {
  std::string out;
  std::optional<int> group;  // digits since the last comma, once there was one
  int leading = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',') {
      if (group ? *group != 3 : leading < 1 || leading > 3) return std::nullopt;
      group = 0;
    } else if (is_digit(c)) {
      group ? ++*group : ++leading;
      out += c;
    } else {
      out += text.substr(i);
      break;
    }
  }
  if (group && *group != 3) return std::nullopt;
  return out;
}

/// `12,345` from `12345`.
std::string with_commas(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = point; i > 3 && is_digit(digits[i - 4]); i -= 3) digits.insert(i - 3, ",");
  return digits;
}

/// Three significant digits without an exponent: 0.0123, 1.23, 12,300.
std::string three_digits(double x) {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  if (x == 0) return "0";
  const std::string rounded = fmt::format("{:.2e}", x);
  int exponent = 0;
  const char* first = rounded.data() + rounded.find('e') + 1;
  if (*first == '+') ++first;
  std::from_chars(first, rounded.data() + rounded.size(), exponent);
  double value = 0;
  std::from_chars(rounded.data(), rounded.data() + rounded.size(), value);
  return with_commas(fmt::format("{:.{}f}", value, std::max(0, 2 - exponent)));
}

/// `13` from `13.0`.
std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_quantity(double value, const UnitDimension& dimension) {
  const Unit* best = nullptr;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension) continue;
    if (best == nullptr || std::abs(value) >= unit.shown_from) best = &unit;
  }
  // Zero seconds, not zero microseconds.
  if (value == 0 && dimension == kTime) return "0 s";
  return fmt::format("{} {}", three_digits(value / best->factor / std::pow(10.0, best->exponent)), best->symbol);
}

std::string format_suffixed(double n) {
  CountSuffix best = kCountSuffixes[0];
  for (const CountSuffix& suffix : kCountSuffixes) {
    // 999.5k and more would round to 1000k.
    if (suffix.exponent > best.exponent && std::abs(n) >= 0.9995 * std::pow(10.0, suffix.exponent)) best = suffix;
  }
  return without_trailing_zeros(three_digits(n / std::pow(10.0, best.exponent))) + std::string(best.symbol);
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text, std::string_view where) {
  const auto value = parse_quantity(text, where, kBytes, "80GiB");
  if (!value) return tl::unexpected<Diagnostics>(value.error());
  return Bytes(*value);
}

Result<Seconds> parse_duration(std::string_view text, std::string_view where) {
  double total = 0;
  double last_unit = HUGE_VAL;
  std::string_view rest = trim(text);
  do {
    const std::size_t length = length_of_part(rest);
    const std::string_view part = trim(rest.substr(0, length));
    const auto value = parse_quantity(part, where, kTime, "36h or 7d");
    if (!value) return tl::unexpected<Diagnostics>(value.error());
    const double unit = unit_of(part);
    if (unit >= last_unit) {
      return fail("bad-duration", std::string(where), fmt::format("{} has units out of order", quote(text)),
                  "write large units first and each once, such as 1 h 30 min");
    }
    last_unit = unit;
    total += *value;
    rest = trim(rest.substr(length));
  } while (!rest.empty());
  if (!std::isfinite(total)) return too_large(text, where);
  return Seconds(total);
}

Result<double> parse_count(std::string_view text, std::string_view where) {
  auto value = parse_suffixed(text, where, "13B");
  if (value && *value <= 0) {
    return fail("not-positive", std::string(where), fmt::format("{} must be more than zero", quote(text)));
  }
  return value;
}

Result<std::int64_t> parse_integer_count(std::string_view text, std::string_view where) {
  const std::string_view digits = trim(text);
  std::int64_t exact = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), exact);
  // Plain digits are read exactly; doubles would lose units beyond 2^53.
  if (end.ec == std::errc() && end.ptr == digits.data() + digits.size() && exact > 0) return exact;
  const auto value = parse_count(text, where);
  if (!value) return tl::unexpected<Diagnostics>(value.error());
  if (*value != std::floor(*value)) {
    return fail("not-an-integer", std::string(where), fmt::format("{} is not a whole number", quote(text)));
  }
  if (*value >= 0x1p63) return too_large(text, where);
  return static_cast<std::int64_t>(*value);
}

Result<std::int64_t> parse_length(std::string_view text, std::string_view where) {
  const auto number = split(text, where, "4096 or 4k");
  if (!number) return tl::unexpected<Diagnostics>(number.error());
  const std::string suffix = lower_case(number->rest);
  const double factor = suffix == "k" || suffix == "ki" ? kKiB : suffix == "m" || suffix == "mi" ? kMiB : 0;
  if (factor == 0) return parse_integer_count(text, where);
  const double value = scaled(number->digits, 0).value_or(HUGE_VAL) * factor;
  if (value >= 0x1p63) return too_large(text, where);
  if (value <= 0 || value != std::floor(value)) {
    return fail("not-an-integer", std::string(where),
                fmt::format("{} is {} tokens, no whole number", quote(text), format_shortest(value)));
  }
  return static_cast<std::int64_t>(value);
}

Result<Usd> parse_usd(std::string_view text, std::string_view where) {
  std::string_view amount = trim(text);
  if (amount.starts_with('$')) amount.remove_prefix(1);
  const auto digits = without_commas(amount);
  if (!digits) return bad_number(text, where, "50000, $50,000 or 50k");
  const auto value = parse_suffixed(*digits, where, "50000, $50,000 or 50k");
  if (!value) return tl::unexpected<Diagnostics>(value.error());
  return Usd(*value);
}

Result<double> parse_fraction(std::string_view text, std::string_view where) {
  const auto number = split(text, where, "5% or 0.05");
  if (!number) return tl::unexpected<Diagnostics>(number.error());
  const auto plain = scaled(number->digits, 0);
  if (number->rest != "%" && !number->rest.empty()) return bad_number(text, where, "5% or 0.05");
  // No part is 5, so that 5 can only be per cent. What is near 1 may be a part that was mistaken.
  const bool percent = number->rest == "%" || (plain && *plain >= 2 && *plain <= 100);
  const auto value = scaled(number->digits, percent ? -2 : 0);
  if (!value || *value > 1) {
    const bool could_be_percent = value && *value <= 100 && !percent;
    return fail("out-of-range", std::string(where), fmt::format("{} is not between 0 and 1", quote(text)),
                could_be_percent ? fmt::format("write {}% for a percentage", number->digits) : "");
  }
  return *value;
}

std::string format_bytes(Bytes b) { return format_quantity(b.value(), kBytes); }
std::string format_duration(Seconds s) { return format_quantity(s.value(), kTime); }
std::string format_bandwidth(BytesPerSecond r) { return format_quantity(r.value(), kBandwidth); }
std::string format_flops_rate(FlopsPerSecond r) { return format_quantity(r.value(), kFlopRate); }

std::string format_usd(Usd u) {
  const double amount = std::abs(u.value());
  const std::string digits = amount >= 999500 ? format_suffixed(amount) : three_digits(amount);
  return (u.value() < 0 ? "-$" : "$") + digits;
}

std::string format_usd_per_hour(UsdPerSecond p) { return format_usd(Usd(in_usd_per_hour(p))) + "/h"; }

std::string format_count(double n) {
  // Small counts (layers, sequence lengths, GPUs) are read as identifiers: keep every digit.
  if (n == std::floor(n) && std::abs(n) < 10000) return fmt::format("{}", n);
  return format_suffixed(n);
}

std::string format_percent(double fraction) {
  if (fraction > 0 && fraction < 0.0005) return "<0.1%";
  return fmt::format("{:.1f}%", fraction * 100);
}

std::string format_shortest(double x) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x);
  return std::string(buffer.data(), end.ptr);
}

}  // namespace smplan
