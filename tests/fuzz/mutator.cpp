#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace smplan::fuzz {
namespace {

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == '-'; }

/// Ends and edges of the ranges that readers promise to mind.
const std::vector<std::string>& hostile_numbers() {
  static const std::vector<std::string> numbers{"0",
                                                "-0",
                                                "-1",
                                                "1",
                                                "2",
                                                "3",
                                                "7",
                                                "63",
                                                "64",
                                                "65",
                                                "127",
                                                "255",
                                                "256",
                                                "1000000",
                                                "2147483647",
                                                "2147483648",
                                                "4294967296",
                                                "9007199254740993",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "-9223372036854775808",
                                                "18446744073709551616",
                                                "1e18",
                                                "1e19",
                                                "1e-300",
                                                "5e-324",
                                                "1e300",
                                                "1.7976931348623157e308",
                                                "1e309",
                                                "-1e309",
                                                "0.1",
                                                "0.999999999",
                                                "1e-9",
                                                "NaN",
                                                "Infinity",
                                                "-inf",
                                                "0x10",
                                                "1_000",
                                                "1e",
                                                "00",
                                                "1.",
                                                ".5",
                                                "\"1\"",
                                                "true",
                                                "null",
                                                "[]",
                                                "{}"};
  return numbers;
}

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, std::vector<std::string> words, std::uint64_t seed)
    : seeds_(std::move(seeds)), words_(std::move(words)), engine_(seed) {
  if (seeds_.empty()) seeds_.emplace_back();
  if (words_.empty()) words_.emplace_back("0");
}

std::string Mutator::next() {
  std::string text = pick(seeds_);
  // Syntax faults end early: every other input keeps its syntax and lies in its numbers alone.
  if (below(2) == 0) {
    for (std::size_t n = 1 + below(3); n > 0; --n) replace_number(text);
    return text;
  }
  const std::size_t changes = 1 + below(6);
  for (std::size_t i = 0; i < changes; ++i) {
    switch (below(10)) {
      case 0:
      case 1:
        change_bytes(text);
        break;
      case 2:
      case 3:
        insert_word(text);
        break;
      case 4:
      case 5:
      case 6:
        replace_number(text);
        break;
      case 7:
        below(4) == 0 ? nest(text) : repeat_part(text);
        break;
      case 8:
        splice(text);
        break;
      default:
        change_encoding(text);
        break;
    }
    if (text.size() > kMaxMutated) text.resize(kMaxMutated);
  }
  return text;
}

void Mutator::change_bytes(std::string& text) {
  if (text.empty()) return;
  const std::size_t at = below(text.size());
  switch (below(4)) {
    case 0:
      text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << below(8)));
      break;
    case 1:
      text[at] = static_cast<char>(below(256));
      break;
    case 2:
      text.erase(at, 1 + below(16));
      break;
    default:
      text.insert(at, 1, "{}[]\",:\n\r\t #-='\\&*"[below(19)]);
      break;
  }
}

void Mutator::insert_word(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::string& word = pick(words_);
  if (below(2) == 0) {
    text.insert(at, word);
  } else {
    text.replace(at, word.size(), word);
  }
}

void Mutator::replace_number(std::string& text) {
  const std::size_t from = below(text.size() + 1);
  std::size_t begin = text.find_first_of("0123456789", from);
  if (begin == std::string::npos) begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return;
  std::size_t end = begin;
  while (end < text.size() && in_number(text[end])) ++end;
  text.replace(begin, end - begin, pick(hostile_numbers()));
}

void Mutator::repeat_part(std::string& text) {
  if (text.empty()) return;
  const std::size_t at = below(text.size());
  const std::string part = text.substr(at, 1 + below(64));
  std::string all;
  for (std::size_t n = 1 + below(below(8) == 0 ? 400 : 4); n > 0; --n) all += part;
  text.insert(at, all);
}

void Mutator::nest(std::string& text) {
  static const std::array<std::pair<std::string_view, std::string_view>, 3> kBrackets{
      {{"[", "]"}, {"{\"a\":", "}"}, {"- ", ""}}};
  const auto& [open, close] = kBrackets[below(kBrackets.size())];
  const std::size_t at = below(text.size() + 1);
  const std::size_t depth = 1 + below(3000);
  std::string before;
  std::string after;
  for (std::size_t i = 0; i < depth; ++i) {
    before += open;
    after += close;
  }
  text.insert(at, before + "1" + after);
}

void Mutator::splice(std::string& text) {
  const std::string& other = pick(seeds_);
  const std::size_t from = below(other.size() + 1);
  text.replace(below(text.size() + 1), below(200), other.substr(from, below(2000)));
}

void Mutator::change_encoding(std::string& text) {
  switch (below(5)) {
    case 0:
      text.insert(0, "\xEF\xBB\xBF");
      break;
    case 1: {
      std::string lines;
      for (const char c : text) lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
      text = std::move(lines);
      break;
    }
    case 2:
      text.insert(below(text.size() + 1), "\xC3\x28\xED\xA0\x80");
      break;  // broken, and a surrogate
    case 3:
      text.resize(below(text.size() + 1));
      break;
    default:
      text.insert(below(text.size() + 1), 1, '\0');
      break;
  }
}

std::vector<std::string> dictionary_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (line.starts_with('#') || open == std::string_view::npos || close <= open) continue;
    std::string word;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (line[i] != '\\' || i + 1 >= close) {
        word += line[i];
      } else if (line[i + 1] == 'x' && i + 3 < close) {
        int value = 0;
        std::from_chars(line.data() + i + 2, line.data() + i + 4, value, 16);
        word += static_cast<char>(value);
        i += 3;
      } else {
        word += line[++i];
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace smplan::fuzz
