#include "planner/request/fields.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/units.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

std::optional<std::int64_t> plain_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text, std::string_view where, Diagnostics& out) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = trim(text.substr(begin, comma - begin));
    if (part.empty()) {
      out.push_back({"empty-value", std::string(where), quote(text) + " has an empty entry",
                     "separate the values by single commas"});
      return {};
    }
    parts.push_back(part);
    begin = comma + 1;
  }
  return parts;
}

namespace {

std::optional<std::int64_t> bounded(std::optional<std::int64_t> value, std::string_view text, std::string_view where,
                                    std::int64_t min, std::int64_t max, Diagnostics& out) {
  if (!value) {
    out.push_back({"bad-integer", std::string(where), quote(text) + " is not a whole number",
                   fmt::format("give a whole number from {} to {}", min, max)});
    return std::nullopt;
  }
  if (*value < min || *value > max) {
    out.push_back({"out-of-range", std::string(where), fmt::format("{} is not between {} and {}", *value, min, max),
                   fmt::format("give a whole number from {} to {}", min, max)});
    return std::nullopt;
  }
  return value;
}

/// Where the dots or the dash of a range are, and how many characters; a dash at the front is a sign.
std::pair<std::size_t, std::size_t> range_mark(std::string_view part) {
  if (const std::size_t dots = part.find(".."); dots != std::string_view::npos) return {dots, 2};
  return {part.find('-', 1), 1};
}

}  // namespace

std::optional<std::int64_t> parse_bounded(std::string_view text, std::string_view where, std::int64_t min,
                                          std::int64_t max, Diagnostics& out) {
  const std::string_view digits = trim(text);
  auto value = plain_integer(digits);
  if (!value) {
    const Result<std::int64_t> suffixed = parse_integer_count(digits, where);
    if (suffixed) value = *suffixed;
  }
  return bounded(value, text, where, min, max, out);
}

std::optional<std::int64_t> parse_bounded_length(std::string_view text, std::string_view where, std::int64_t min,
                                                 std::int64_t max, Diagnostics& out) {
  auto value = plain_integer(trim(text));
  if (!value) {
    const Result<std::int64_t> length = parse_length(text, where);
    if (length) value = *length;
  }
  return bounded(value, text, where, min, max, out);
}

std::vector<std::int32_t> parse_integers(std::string_view text, std::string_view where, std::int32_t min,
                                         std::int32_t max, Diagnostics& out) {
  std::vector<std::int32_t> values;
  for (const std::string_view part : split_list(text, where, out)) {
    const auto [mark, length] = range_mark(part);
    const auto first = parse_bounded(part.substr(0, mark), where, min, max, out);
    const auto last =
        mark == std::string_view::npos ? first : parse_bounded(part.substr(mark + length), where, min, max, out);
    if (!first || !last) continue;
    if (*first > *last) {
      out.push_back({"bad-range", std::string(where), "the range " + quote(part) + " runs backwards",
                     fmt::format("write {}..{}", *last, *first)});
      continue;
    }
    for (std::int64_t v = *first; v <= *last; ++v) values.push_back(static_cast<std::int32_t>(v));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::optional<bool> parse_switch(std::string_view text, std::string_view where, Diagnostics& out) {
  const std::string word = lower_case(text);
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (word == no) return false;
  }
  out.push_back({"bad-switch", std::string(where), quote(text) + " is neither true nor false", "write true or false"});
  return std::nullopt;
}

}  // namespace smplan
