#include <fmt/format.h>

#include <set>

#include "base/json_reader.hpp"
#include "base/units.hpp"

namespace smplan {
namespace {

template <typename T>
std::string bound_text(T bound) {
  return format_shortest(static_cast<double>(bound));
}
std::string bound_text(std::int64_t bound) { return std::to_string(bound); }

/// `value` if it is in [min, max], else the nearest bound and a report, so that a reader can go on.
template <typename T>
T in_range(T value, T min, T max, const std::string& location, Diagnostics& out) {
  if (value >= min && value <= max) return value;
  out.push_back({"out-of-range",
                 location,
                 fmt::format("{} is outside [{}, {}]", bound_text(value), bound_text(min), bound_text(max)),
                 {}});
  return value < min ? min : max;
}

}  // namespace

ObjectReader::ObjectReader(const JsonValue& value, Diagnostics& out) : value_(value), out_(out) {
  value_.keys(out_);  // reports a value that is no object, once
}

std::optional<JsonValue> ObjectReader::take(std::string_view key, bool required) {
  asked_.emplace_back(key);
  std::optional<JsonValue> found = value_.find(key);
  if (!found && required && value_.is_object()) {
    out_.push_back({"missing-key", value_.location(), fmt::format("key {} is missing", quote(key)), {}});
  }
  if (found && !required && found->is_null()) return std::nullopt;
  return found;
}

std::string ObjectReader::string(std::string_view key) {
  const auto found = take(key, true);
  return found ? found->as_string(out_) : std::string();
}

std::string ObjectReader::string(std::string_view key, bool (*follows)(std::string_view), std::string_view rule) {
  const std::size_t faults = out_.size();
  std::string text = string(key);
  if (out_.size() > faults || follows(text)) return text;
  out_.push_back({"bad-name", location(key), fmt::format("{} is no name", quote(text)), std::string(rule)});
  return {};
}

double ObjectReader::number(std::string_view key) {
  const auto found = take(key, true);
  return found ? found->as_number(out_) : 0;
}

double ObjectReader::number(std::string_view key, double min, double max) {
  const auto found = take(key, true);
  if (!found) return min;
  const std::size_t faults = out_.size();
  const double value = found->as_number(out_);
  return out_.size() > faults ? min : in_range(value, min, max, found->location(), out_);
}

std::int64_t ObjectReader::integer(std::string_view key) {
  const auto found = take(key, true);
  return found ? found->as_integer(out_) : 0;
}

std::int64_t ObjectReader::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  const auto found = take(key, true);
  if (!found) return min;
  const std::size_t faults = out_.size();
  const std::int64_t value = found->as_integer(out_);
  return out_.size() > faults ? min : in_range(value, min, max, found->location(), out_);
}

bool ObjectReader::boolean(std::string_view key) {
  const auto found = take(key, true);
  return found && found->as_bool(out_);
}

std::vector<JsonValue> ObjectReader::array(std::string_view key) {
  const auto found = take(key, true);
  return found ? found->as_array(out_) : std::vector<JsonValue>();
}

std::optional<JsonValue> ObjectReader::value(std::string_view key) { return take(key, true); }

std::optional<std::string> ObjectReader::optional_string(std::string_view key) {
  const auto found = take(key, false);
  return found ? std::optional(found->as_string(out_)) : std::nullopt;
}

std::optional<double> ObjectReader::optional_number(std::string_view key) {
  const auto found = take(key, false);
  return found ? std::optional(found->as_number(out_)) : std::nullopt;
}

std::optional<std::int64_t> ObjectReader::optional_integer(std::string_view key) {
  const auto found = take(key, false);
  return found ? std::optional(found->as_integer(out_)) : std::nullopt;
}

std::optional<bool> ObjectReader::optional_bool(std::string_view key) {
  const auto found = take(key, false);
  return found ? std::optional(found->as_bool(out_)) : std::nullopt;
}

std::optional<JsonValue> ObjectReader::optional_value(std::string_view key) { return take(key, false); }

std::vector<JsonValue> ObjectReader::optional_array(std::string_view key) {
  const auto found = take(key, false);
  return found ? found->as_array(out_) : std::vector<JsonValue>();
}

bool ObjectReader::has(std::string_view key) const {
  const auto found = value_.find(key);
  return found && !found->is_null();
}

void ObjectReader::ignore(std::string_view key) { asked_.emplace_back(key); }

void ObjectReader::finish() {
  if (!value_.is_object()) return;
  // A file of the wrong kind has thousands; the first few say so.
  constexpr std::size_t kMostNamed = 20;
  std::size_t unknown = 0;
  const std::set<std::string_view> asked(asked_.begin(), asked_.end());
  for (const std::string& key : value_.keys(out_)) {
    if (asked.contains(key)) continue;
    if (++unknown <= kMostNamed) out_.push_back(unknown_name("key", key, location(key), asked_));
  }
  if (unknown > kMostNamed) {
    out_.push_back({"unknown-key", value_.location(), fmt::format("{} more unknown keys", unknown - kMostNamed),
                    "check that this is the right kind of file"});
  }
}

std::string ObjectReader::location(std::string_view key) const {
  if (const auto found = value_.find(key)) return found->location();
  return value_.location();
}

}  // namespace smplan
