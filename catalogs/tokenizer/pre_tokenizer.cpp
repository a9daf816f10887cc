#include "catalogs/tokenizer/pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/normalizer.hpp"
#include "catalogs/tokenizer/reading.hpp"

namespace smplan {
namespace {

/// What becomes of a match that cuts. The rules are those of huggingface/tokenizers, tokenizer/normalizer.rs, read
/// 2026-11; so are the pre-tokenizers, of pre_tokenizers/.
enum class Behaviour { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

constexpr std::array<std::pair<std::string_view, Behaviour>, 5> kBehaviours{
    {{"Removed", Behaviour::Removed},
     {"Isolated", Behaviour::Isolated},
     {"MergedWithPrevious", Behaviour::MergedWithPrevious},
     {"MergedWithNext", Behaviour::MergedWithNext},
     {"Contiguous", Behaviour::Contiguous}}};

/// Source: openai/gpt-2, src/encoder.py, read 2026-11.
constexpr std::string_view kGpt2Words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// Words and what is neither word nor white space; \w is that of Rust's regex: Unicode's UTS 18, annex C.
constexpr std::string_view kWordsAndMarks =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+)";

/// Appends the words that a behaviour makes of cuts, which lie `offset` bytes into the text.
void keep(const std::vector<Cut>& cuts, Behaviour behaviour, std::size_t offset, std::vector<Span>& to) {
  const std::size_t first = to.size();
  bool before = false;
  const auto add = [&](const Cut& cut) { to.push_back({cut.begin + offset, cut.end + offset}); };
  const auto forward = [&](auto joins) {
    for (const Cut& cut : cuts) {
      if (to.size() > first && joins(cut.match, before)) {
        to.back().end = cut.end + offset;
      } else {
        add(cut);
      }
      before = cut.match;
    }
  };
  switch (behaviour) {
    case Behaviour::Removed:
      for (const Cut& cut : cuts) {
        if (!cut.match) add(cut);
      }
      break;
    case Behaviour::Isolated:
      std::for_each(cuts.begin(), cuts.end(), add);
      break;
    case Behaviour::Contiguous:
      forward([](bool match, bool last) { return match == last; });
      break;
    case Behaviour::MergedWithPrevious:
      forward([](bool match, bool last) { return match && !last; });
      break;
    case Behaviour::MergedWithNext:
      for (std::size_t i = cuts.size(); i-- > 0;) {
        if (to.size() > first && cuts[i].match && !before) {
          to.back().begin = cuts[i].begin + offset;
        } else {
          add(cuts[i]);
        }
        before = cuts[i].match;
      }
      std::reverse(to.begin() + static_cast<std::ptrdiff_t>(first), to.end());
      break;
  }
  to.erase(std::remove_if(to.begin() + static_cast<std::ptrdiff_t>(first), to.end(),
                          [](const Span& span) { return span.begin == span.end; }),
           to.end());
}

/// Replaces each word by those that `cut` makes of it.
template <typename F>
bool cut_words(Words& words, Behaviour behaviour, bool invert, F cut) {
  std::vector<Span> out;
  out.reserve(words.spans.size());
  std::vector<Cut> cuts;
  for (const Span& span : words.spans) {
    if (!cut(words.word(span), cuts)) return false;
    if (invert) {
      for (Cut& c : cuts) c.match = !c.match;
    }
    keep(cuts, behaviour, span.begin, out);
  }
  words.spans = std::move(out);
  return true;
}

PreTokenizer by_pattern(Pattern pattern, Behaviour behaviour, bool invert = false) {
  return [=](Words& words, Matcher& matcher) {
    return cut_words(words, behaviour, invert,
                     [&](std::string_view word, std::vector<Cut>& cuts) { return matcher.cut(pattern, word, cuts); });
  };
}

/// Every character for which `is` holds is a match.
template <typename F>
PreTokenizer by_character(F is, Behaviour behaviour) {
  return [=](Words& words, Matcher&) {
    return cut_words(words, behaviour, false, [&](std::string_view word, std::vector<Cut>& cuts) {
      cuts.clear();
      std::size_t done = 0;
      for_each_character(word, [&](char32_t c, std::size_t at, std::size_t length) {
        if (!is(c)) return;
        if (done < at) cuts.push_back({done, at, false});
        cuts.push_back({at, at + length, true});
        done = at + length;
      });
      if (done < word.size()) cuts.push_back({done, word.size(), false});
      return true;
    });
  };
}

/// Writes each word anew.
template <typename F>
void rewrite(Words& words, F write) {
  Words out;
  out.text.reserve(words.text.size() * 5 / 4);
  for (const Span& span : words.spans) {
    const std::size_t begin = out.text.size();
    write(words.word(span), words.is_from_start(span), out.text);
    if (out.text.size() == begin) continue;
    out.spans.push_back({begin, out.text.size()});
    // Of a word that stems from the first character in part, its beginning is all that is asked for.
    if (words.is_from_start(span)) out.from_start = span.end <= words.from_start ? out.text.size() : begin + 1;
  }
  words = std::move(out);
}

std::optional<Behaviour> read_behaviour(ObjectReader& in) {
  const std::string name = in.string("behavior");
  for (const auto& [known, behaviour] : kBehaviours) {
    if (name == known) return behaviour;
  }
  in.diagnostics().push_back({"unsupported", in.location("behavior"), fmt::format("{} is no behaviour", quote(name)),
                              "write Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous"});
  return std::nullopt;
}

/// A field that holds one character.
std::optional<char32_t> read_character(ObjectReader& in, std::string_view key) {
  const auto value = in.value(key);
  if (!value) return std::nullopt;
  const std::string text = text_of(*value, in.diagnostics());
  const CodePoint c = first_code_point(text);
  if (c.length > 0 && c.length == text.size()) return c.value;
  in.diagnostics().push_back({"out-of-range", value->location(), fmt::format("{} is no single character", quote(text)),
                              "write one character"});
  return std::nullopt;
}

PreTokenizer read_split(ObjectReader& in) {
  const auto value = in.value("pattern");
  const auto behaviour = read_behaviour(in);
  const bool invert = in.boolean("invert");
  const auto pattern = value ? read_pattern(*value, in.diagnostics()) : std::nullopt;
  return pattern && behaviour ? by_pattern(*pattern, *behaviour, invert) : nullptr;
}

PreTokenizer read_byte_level(ObjectReader& in) {
  static const Result<Pattern> kPattern = Pattern::oniguruma(kGpt2Words, "ByteLevel");
  const bool prefix = in.boolean("add_prefix_space");
  const bool cuts = in.optional_bool("use_regex").value_or(true);
  in.ignore("trim_offsets");  // of offsets, not of tokens
  const PreTokenizer words_of = by_pattern(*kPattern, Behaviour::Isolated);
  return [=](Words& words, Matcher& matcher) {
    if (prefix) {
      rewrite(words, [](std::string_view word, bool, std::string& out) {
        if (!word.starts_with(' ')) out += ' ';
        out += word;
      });
    }
    if (cuts && !words_of(words, matcher)) return false;
    rewrite(words, [](std::string_view word, bool, std::string& out) { out += byte_level(word); });
    return true;
  };
}

enum class Prepend { Always, First, Never };

std::optional<Prepend> read_scheme(ObjectReader& in) {
  const std::string name = in.optional_string("prepend_scheme").value_or("always");
  const bool prefix = in.optional_bool("add_prefix_space").value_or(true);
  if (!prefix && name != "never") {
    in.diagnostics().push_back({"conflict", in.location("add_prefix_space"),
                                fmt::format("add_prefix_space is false, prepend_scheme {}", quote(name)),
                                "write never, or leave add_prefix_space out"});
    return std::nullopt;
  }
  if (name == "always") return Prepend::Always;
  if (name == "first") return Prepend::First;
  if (name == "never") return Prepend::Never;
  in.diagnostics().push_back({"unsupported", in.location("prepend_scheme"), fmt::format("{} is no scheme", quote(name)),
                              "write always, first or never"});
  return std::nullopt;
}

PreTokenizer read_metaspace(ObjectReader& in) {
  const auto character = read_character(in, "replacement");
  const auto scheme = read_scheme(in);
  const bool splits = in.optional_bool("split").value_or(true);
  in.ignore("str_rep");
  if (!character || !scheme) return nullptr;
  std::string space;
  append_utf8(space, *character);
  const PreTokenizer cut =
      by_character([c = *character](char32_t other) { return other == c; }, Behaviour::MergedWithNext);
  return [=, scheme = *scheme](Words& words, Matcher& matcher) {
    rewrite(words, [&](std::string_view word, bool first, std::string& out) {
      const bool wanted = scheme == Prepend::Always || (scheme == Prepend::First && first);
      if (wanted && !word.starts_with(' ') && !word.starts_with(space)) out += space;
      for (const char c : word) {
        if (c == ' ') {
          out += space;
        } else {
          out += c;
        }
      }
    });
    return !splits || cut(words, matcher);
  };
}

PreTokenizer read_fixed_length(ObjectReader& in) {
  const std::int64_t length = in.has("length") ? in.integer("length", 1, 1 << 20) : 5;
  in.ignore("length");
  return [length](Words& words, Matcher&) {
    return cut_words(words, Behaviour::Isolated, false, [&](std::string_view word, std::vector<Cut>& cuts) {
      cuts.clear();
      std::int64_t n = 0;
      for_each_character(word, [&](char32_t, std::size_t at, std::size_t size) {
        if (n++ % length == 0) cuts.push_back({at, at, false});
        cuts.back().end = at + size;
      });
      return true;
    });
  };
}

PreTokenizer read_one(const std::string& type, ObjectReader& in) {
  if (type == "Split") return read_split(in);
  if (type == "ByteLevel") return read_byte_level(in);
  if (type == "Metaspace") return read_metaspace(in);
  if (type == "FixedLength") return read_fixed_length(in);
  if (type == "WhitespaceSplit") return by_character(is_white_space, Behaviour::Removed);
  if (type == "Digits") {
    return by_character(is_number, in.boolean("individual_digits") ? Behaviour::Isolated : Behaviour::Contiguous);
  }
  if (type == "Punctuation") {
    const auto behaviour = in.has("behavior") ? read_behaviour(in) : Behaviour::Isolated;
    return behaviour ? by_character(is_punctuation, *behaviour) : nullptr;
  }
  if (type == "Whitespace") {
    static const Pattern kPattern = Pattern::own(kWordsAndMarks);
    return by_pattern(kPattern, Behaviour::Removed, true);
  }
  if (type == "BertPreTokenizer") {
    return [spaces = by_character(is_white_space, Behaviour::Removed),
            marks = by_character(is_punctuation, Behaviour::Isolated)](Words& words, Matcher& matcher) {
      return spaces(words, matcher) && marks(words, matcher);
    };
  }
  if (type == "CharDelimiterSplit" || type == "Delimiter") {
    const auto delimiter = read_character(in, "delimiter");
    return delimiter ? by_character([c = *delimiter](char32_t other) { return other == c; }, Behaviour::Removed)
                     : nullptr;
  }
  in.diagnostics().push_back(unsupported_type("pre-tokenizer", type, in.location("type")));
  return nullptr;
}

}  // namespace

void read_pre_tokenizer(const JsonValue& value, std::vector<PreTokenizer>& to, Diagnostics& out) {
  if (value.is_null()) return;
  ObjectReader in(value, out);
  const std::string type = in.string("type");
  if (type == "Sequence") {
    for (const JsonValue& part : in.array("pretokenizers")) read_pre_tokenizer(part, to, out);
  } else if (!type.empty()) {
    if (PreTokenizer one = read_one(type, in)) to.push_back(std::move(one));
  }
  in.finish();
}

}  // namespace smplan
