#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {

/// Limits against hostile files: what one string, one piece and the whole document may take.
inline constexpr std::size_t kMaxStreamedString = std::size_t{1} << 20;
inline constexpr std::size_t kMaxStreamedPiece = std::size_t{4} << 20;
inline constexpr std::uint64_t kMaxStreamedBytes = std::uint64_t{8} << 30;

/// A value taken out of a larger document.
struct JsonPiece {
  std::size_t pattern = 0;  ///< which of the patterns it matched
  std::string key;          ///< its own key, or its position in an array
  JsonValue value;
};

/// Reads a JSON document of any length and hands over the values at certain places, in file order; memory is
/// that of the largest piece. A pattern is a JSON pointer in which `*` stands for any one key or position
/// (`/products/*`); no pattern may lie inside another. The whole document is checked for syntax, depth and the limits
/// above, duplicate keys only within pieces. `take` may stop the reading by returning diagnostics. `name` is for
/// locations.
Result<void> stream_json(std::istream& in, std::string_view name, const std::vector<std::string>& patterns,
                         const std::function<Diagnostics(const JsonPiece&)>& take);

}  // namespace smplan
