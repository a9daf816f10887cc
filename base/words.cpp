#include "base/words.hpp"

#include <algorithm>

namespace smplan {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

char lower_case(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out) letter = lower_case(letter);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter_or_digit(char c) {
  const char letter = lower_case(c);
  return (letter >= 'a' && letter <= 'z') || is_digit(c);
}

std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c)) out.push_back(lower_case(c));
  }
  return out;
}

std::optional<std::string> known_spelling(std::string_view text, const std::vector<std::string>& known) {
  const std::string wanted = letters_and_digits(text);
  std::optional<std::string> found;
  for (const std::string& name : known) {
    if (wanted.empty() || letters_and_digits(name) != wanted || found == name) continue;
    if (found) return std::nullopt;
    found = name;
  }
  return found;
}

}  // namespace smplan
