#include "catalogs/tokenizer/normalizer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/reading.hpp"

namespace smplan {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

/// The first `count` characters.
std::string_view beginning(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size() && count-- > 0) end += first_code_point(text.substr(end)).length;
  return text.substr(0, end);
}

/// Keeps the characters that `keep` keeps.
template <typename F>
void filter(NormalizedText& t, F keep) {
  std::string out;
  out.reserve(t.text.size());
  std::size_t number = 0;
  std::size_t from_start = 0;
  for_each_character(t.text, [&](char32_t c, std::size_t at, std::size_t length) {
    const bool first = number++ < t.from_start;
    if (!keep(c)) return;
    out.append(t.text, at, length);
    if (first) ++from_start;
  });
  t = {std::move(out), from_start};
}

/// Writes what `write` makes of each character.
template <typename F>
void map(NormalizedText& t, F write) {
  std::string out;
  out.reserve(t.text.size());
  std::size_t number = 0;
  std::size_t from_start = 0;
  for_each_character(t.text, [&](char32_t c, std::size_t, std::size_t) {
    write(c, out);
    if (++number == t.from_start) from_start = characters(out);
  });
  t = {std::move(out), from_start};
}

void to_lower(NormalizedText& t) {
  map(t, [](char32_t c, std::string& out) { append_lower(out, c); });
}

void to_form(NormalizedText& t, NormalForm which) {
  t.from_start = characters(normal_form(beginning(t.text, t.from_start), which));
  t.text = normal_form(t.text, which);
}

Normalizer form(NormalForm which) {
  return [which](NormalizedText& t, Matcher&) {
    to_form(t, which);
    return true;
  };
}

bool is_in(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

/// Source: huggingface/tokenizers, normalizers/bert.rs, read 2026-11.
bool is_ideograph(char32_t c) {
  return is_in(c, 0x4E00, 0x9FFF) || is_in(c, 0x3400, 0x4DBF) || is_in(c, 0x20000, 0x2A6DF) ||
         is_in(c, 0x2A700, 0x2B73F) || is_in(c, 0x2B740, 0x2B81F) || is_in(c, 0x2B920, 0x2CEAF) ||
         is_in(c, 0xF900, 0xFAFF) || is_in(c, 0x2F800, 0x2FA1F);
}

void clean(NormalizedText& t) {
  constexpr char32_t kReplacement = 0xFFFD;
  filter(t, [](char32_t c) {
    const bool space = c == '\t' || c == '\n' || c == '\r';
    return space || (c != 0 && c != kReplacement && !is_control_or_format(c));
  });
  map(t, [](char32_t c, std::string& out) { append_utf8(out, is_white_space(c) ? U' ' : c); });
}

Normalizer read_bert(ObjectReader& in) {
  const bool cleans = in.boolean("clean_text");
  const bool parts = in.boolean("handle_chinese_chars");
  const std::optional<bool> strips = in.optional_bool("strip_accents");
  const bool lowers = in.boolean("lowercase");
  return [=](NormalizedText& t, Matcher&) {
    if (cleans) clean(t);
    if (parts) {
      map(t, [](char32_t c, std::string& out) {
        const bool apart = is_ideograph(c);
        if (apart) out += ' ';
        append_utf8(out, c);
        if (apart) out += ' ';
      });
    }
    if (strips.value_or(lowers)) {
      to_form(t, NormalForm::D);
      filter(t, [](char32_t c) { return !is_nonspacing_mark(c); });
    }
    if (lowers) to_lower(t);
    return true;
  };
}

/// Source: huggingface/tokenizers, normalizers/unicode.rs, read 2026-11.
bool nmt(NormalizedText& t, Matcher&) {
  filter(t, [](char32_t c) {
    return !(is_in(c, 0x01, 0x08) || c == 0x0B || is_in(c, 0x0E, 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F);
  });
  map(t, [](char32_t c, std::string& out) {
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || is_in(c, 0x200B, 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    append_utf8(out, space ? U' ' : c);
  });
  return true;
}

Normalizer read_strip(ObjectReader& in) {
  const bool left = in.boolean("strip_left");
  const bool right = in.boolean("strip_right");
  return [=](NormalizedText& t, Matcher&) {
    std::size_t begin = std::string::npos;
    std::size_t end = 0;
    for_each_character(t.text, [&](char32_t c, std::size_t at, std::size_t length) {
      if (is_white_space(c)) return;
      begin = std::min(begin, at);
      end = at + length;
    });
    if (!left) begin = 0;
    if (!right) end = t.text.size();
    const std::string_view removed = std::string_view(t.text).substr(0, begin);
    t.from_start -= std::min(t.from_start, characters(removed));
    t.text = begin < end ? t.text.substr(begin, end - begin) : std::string();
    return true;
  };
}

Normalizer read_replace(ObjectReader& in) {
  const auto value = in.value("pattern");
  const auto content = in.value("content");
  const auto pattern = value ? read_pattern(*value, in.diagnostics()) : std::nullopt;
  if (!pattern || !content) return nullptr;
  return [pattern = *pattern, text = text_of(*content, in.diagnostics())](NormalizedText& t, Matcher& matcher) {
    std::vector<Cut> cuts;
    if (!matcher.cut(pattern, t.text, cuts)) return false;
    std::string out;
    for (const Cut& cut : cuts) {
      if (cut.match) {
        out += text;
      } else {
        out.append(t.text, cut.begin, cut.end - cut.begin);
      }
      if (out.size() > kMaxStepText) return false;
    }
    if (t.from_start > 0 && cuts.front().match) {
      const std::size_t replaced = characters(std::string_view(t.text).substr(0, cuts.front().end));
      t.from_start = characters(text) + t.from_start - std::min(t.from_start, replaced);
    }
    t.text = std::move(out);
    return true;
  };
}

Normalizer read_prepend(ObjectReader& in) {
  const auto value = in.value("prepend");
  if (!value) return nullptr;
  return [before = text_of(*value, in.diagnostics())](NormalizedText& t, Matcher&) {
    if (t.text.empty()) return true;
    if (t.from_start > 0) t.from_start += characters(before);
    t.text.insert(0, before);
    return true;
  };
}

Normalizer read_one(const std::string& type, ObjectReader& in) {
  if (type == "BertNormalizer") return read_bert(in);
  if (type == "Strip") return read_strip(in);
  if (type == "Replace") return read_replace(in);
  if (type == "Prepend") return read_prepend(in);
  if (type == "NFC") return form(NormalForm::C);
  if (type == "NFD") return form(NormalForm::D);
  if (type == "NFKC") return form(NormalForm::KC);
  if (type == "NFKD") return form(NormalForm::KD);
  if (type == "Nmt") return nmt;
  if (type == "Precompiled") {
    const auto map = in.value("precompiled_charsmap");
    return map ? read_precompiled(map->as_text(in.diagnostics()), map->location(), in.diagnostics()) : nullptr;
  }
  if (type == "Lowercase") {
    return [](NormalizedText& t, Matcher&) {
      to_lower(t);
      return true;
    };
  }
  if (type == "StripAccents") {
    return [](NormalizedText& t, Matcher&) {
      filter(t, [](char32_t c) { return !is_mark(c); });
      return true;
    };
  }
  if (type == "ByteLevel") {
    return [](NormalizedText& t, Matcher&) {
      t.from_start = beginning(t.text, t.from_start).size();  // a character a byte
      t.text = byte_level(t.text);
      return true;
    };
  }
  in.diagnostics().push_back(unsupported_type("normalizer", type, in.location("type")));
  return nullptr;
}

/// The visible characters of Latin-1 stand for themselves, the other bytes for U+0100 and what follows it.
std::array<std::string, 256> byte_characters() {
  std::array<std::string, 256> table;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    const bool visible = is_in(byte, '!', '~') || is_in(byte, 0xA1, 0xAC) || is_in(byte, 0xAE, 0xFF);
    append_utf8(table[byte], visible ? byte : next++);
  }
  return table;
}

}  // namespace

std::string byte_level(std::string_view text) {
  static const std::array<std::string, 256> kTable = byte_characters();
  std::string out;
  out.reserve(text.size() * 5 / 4);
  for (const char c : text) out += kTable[static_cast<unsigned char>(c)];
  return out;
}

std::optional<Pattern> read_pattern(const JsonValue& value, Diagnostics& out) {
  ObjectReader in(value, out);
  const bool expression = value.is_object() && value.find("Regex").has_value();
  const auto text = in.value(expression ? "Regex" : "String");
  in.finish();
  if (!text) return std::nullopt;
  const std::string words = text_of(*text, out);
  return value_or_report(
      expression ? Pattern::oniguruma(words, text->location()) : Pattern::literal(words, text->location()), out);
}

void read_normalizer(const JsonValue& value, std::vector<Normalizer>& to, Diagnostics& out) {
  if (value.is_null()) return;
  ObjectReader in(value, out);
  const std::string type = in.string("type");
  if (type == "Sequence") {
    for (const JsonValue& part : in.array("normalizers")) read_normalizer(part, to, out);
  } else if (!type.empty()) {
    if (Normalizer one = read_one(type, in)) to.push_back(std::move(one));
  }
  in.finish();
}

}  // namespace smplan
