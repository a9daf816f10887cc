#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/words.hpp"

namespace smplan {

/// Parts of a comma-separated list, blanks around them removed. An empty part is reported.
std::vector<std::string_view> split_list(std::string_view text, std::string_view where, Diagnostics& out);

/// `1,2,8..16` or `8-16`: whole numbers in [min, max], ranges included at both ends; sorted, without repeats.
std::vector<std::int32_t> parse_integers(std::string_view text, std::string_view where, std::int32_t min,
                                         std::int32_t max, Diagnostics& out);

/// One whole number in [min, max], or nullopt and a diagnostic.
std::optional<std::int64_t> parse_bounded(std::string_view text, std::string_view where, std::int64_t min,
                                          std::int64_t max, Diagnostics& out);

/// The same of the tokens of a sequence, where `4k` is 4096.
std::optional<std::int64_t> parse_bounded_length(std::string_view text, std::string_view where, std::int64_t min,
                                                 std::int64_t max, Diagnostics& out);

/// `true|false`, `yes|no`, `on|off`, `1|0`.
std::optional<bool> parse_switch(std::string_view text, std::string_view where, Diagnostics& out);

/// Takes the value of a Result, or its diagnostics.
template <typename T>
std::optional<T> take(Result<T> result, Diagnostics& out) {
  if (result) return std::move(*result);
  out.insert(out.end(), result.error().begin(), result.error().end());
  return std::nullopt;
}

/// One name of an enumeration by its parser, in any case and with any marks between its letters; an unknown one is
/// reported with the nearest names.
template <typename Parse>
auto parse_name(std::string_view text, std::string_view kind, std::string_view where,
                const std::vector<std::string>& known, Parse parse, Diagnostics& out)
    -> decltype(parse(std::string_view())) {
  auto value = parse(lower_case(text));
  if (!value) {
    if (const auto name = known_spelling(text, known)) value = parse(*name);
  }
  if (!value) out.push_back(unknown_name(kind, text, where, known));
  return value;
}

/// A list of such names.
template <typename T, typename Parse>
std::vector<T> parse_names(std::string_view text, std::string_view kind, std::string_view where,
                           const std::vector<std::string>& known, Parse parse, Diagnostics& out) {
  std::vector<T> values;
  for (const std::string_view part : split_list(text, where, out)) {
    const auto value = parse_name(part, kind, where, known, parse, out);
    if (value) values.push_back(*value);
  }
  return values;
}

}  // namespace smplan
