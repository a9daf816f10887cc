#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_reader.hpp"

namespace smplan {

/// Longest text of a field that is no vocabulary.
inline constexpr std::size_t kMaxFieldText = 4096;
/// Most normalizers, and most pre-tokenizers. Those of models have up to ten.
inline constexpr std::size_t kMaxSteps = 64;
/// Longest text that a step may make of a line of data, in bytes.
inline constexpr std::size_t kMaxStepText = std::size_t{256} << 20;

/// A refusal of a type that is not read.
Diagnostic unsupported_type(std::string_view kind, std::string_view type, std::string where);

/// Reports more than kMaxSteps at `value`.
void check_steps(std::size_t steps, const JsonValue& value, Diagnostics& out);

/// A short text of any characters.
std::string text_of(const JsonValue& value, Diagnostics& out);

/// The value, or nullopt and its faults among `out`.
template <typename T>
std::optional<T> value_or_report(Result<T> result, Diagnostics& out) {
  if (result) return std::move(*result);
  out.insert(out.end(), result.error().begin(), result.error().end());
  return std::nullopt;
}

}  // namespace smplan
