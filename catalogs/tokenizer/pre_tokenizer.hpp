#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/tokenizer/pattern.hpp"

namespace smplan {

/// Part of a text, in bytes.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A text cut into words, which cover it or leave parts of it out. No word is empty.
struct Words {
  std::string text;
  std::vector<Span> spans;
  std::size_t from_start = 0;  ///< leading bytes of `text` that stem from the first character of the whole text

  [[nodiscard]] std::string_view word(const Span& span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
  /// The word begins where the whole text does.
  [[nodiscard]] bool is_from_start(const Span& span) const { return span.begin < from_start; }
};

/// Cuts words further; false where that takes too long, or makes the text too long.
using PreTokenizer = std::function<bool(Words& words, Matcher& matcher)>;

/// Appends the steps of `pre_tokenizer` in tokenizer.json, in the order in which they run.
void read_pre_tokenizer(const JsonValue& value, std::vector<PreTokenizer>& to, Diagnostics& out);

}  // namespace smplan
