#pragma once

#include <fmt/format.h>

#include "base/json_reader.hpp"

namespace smplan {

/// Longest text of a field that is no vocabulary.
inline constexpr std::size_t kMaxFieldText = 4096;

inline Diagnostic unsupported_type(std::string_view kind, std::string_view type, std::string where) {
  return {"unsupported", std::move(where), fmt::format("a {} of type {} is not read", kind, quote(type)),
          "count by characters, or give lengths"};
}

/// The value, or nullopt and its faults among `out`.
template <typename T>
std::optional<T> value_or_report(Result<T> result, Diagnostics& out) {
  if (result) return std::move(*result);
  out.insert(out.end(), result.error().begin(), result.error().end());
  return std::nullopt;
}

/// A short text of any characters.
inline std::string text_of(const JsonValue& value, Diagnostics& out) {
  std::string text = value.as_text(out);
  if (text.size() <= kMaxFieldText) return text;
  out.push_back({"too-long", value.location(),
                 fmt::format("has {} bytes, at most {} are read", text.size(), kMaxFieldText), "shorten it"});
  return {};
}

}  // namespace smplan
