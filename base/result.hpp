#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace smplan {

/// One reason why an input was refused: what is wrong, where, and what to do about it.
struct Diagnostic {
  std::string code;      ///< stable kebab-case identifier, e.g. `unknown-instance`
  std::string location;  ///< flag (`--tp`) or file and JSON pointer (`data/aws.json:/instances/3/gpus`)
  std::string message;   ///< one sentence: what is wrong, with the value
  std::string hint;      ///< what to do; empty only if the message already says so

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// Value or the complete list of reasons why there is none.
template <typename T>
using Result = tl::expected<T, Diagnostics>;

/// `location: message (hint)`.
std::string to_string(const Diagnostic& diagnostic);
/// One diagnostic a line.
std::string to_string(const Diagnostics& diagnostics);

/// A failed Result of one diagnostic: `return fail("bad-unit", where, "...", "...");`
inline tl::unexpected<Diagnostics> fail(std::string code, std::string location, std::string message,
                                        std::string hint = {}) {
  return tl::unexpected<Diagnostics>(
      Diagnostics{{std::move(code), std::move(location), std::move(message), std::move(hint)}});
}

/// `text` in single quotes, fit for a message: control characters and broken UTF-8 become `?`, and what is
/// longer than 80 bytes is cut, so that a hostile file cannot steer a terminal or flood a log.
std::string quote(std::string_view text);

/// Up to `limit` entries of `known` nearest to `name` in edit distance, nearest first, ties in
/// alphabetical order; entries with more than half of the letters different are left out.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t limit = 3);

/// Refusal of a name that is not in a list, with the nearest names in the hint.
Diagnostic unknown_name(std::string_view kind, std::string_view name, std::string_view where,
                        const std::vector<std::string>& known);

}  // namespace smplan
