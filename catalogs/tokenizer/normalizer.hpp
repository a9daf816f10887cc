#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/tokenizer/pattern.hpp"

namespace smplan {

/// A text on its way through normalizers.
struct NormalizedText {
  std::string text;
  std::size_t from_start = 1;  ///< leading characters that stem from the first one of the whole text
};

/// Changes a text; false where that takes too long, or makes the text too long.
using Normalizer = std::function<bool(NormalizedText& text, Matcher& matcher)>;

/// Appends the normalizers of `normalizer` in tokenizer.json, in the order in which they run.
void read_normalizer(const JsonValue& value, std::vector<Normalizer>& to, Diagnostics& out);

/// The table of sentencepiece's normalizer, as tokenizer.json holds it in base64.
Normalizer read_precompiled(const std::string& base64, const std::string& where, Diagnostics& out);

/// A `pattern`: {"String": text} or {"Regex": expression}.
std::optional<Pattern> read_pattern(const JsonValue& value, Diagnostics& out);

/// GPT-2's character for each byte of the text.
std::string byte_level(std::string_view text);

}  // namespace smplan
