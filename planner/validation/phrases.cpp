#include "planner/validation/phrases.hpp"

#include <algorithm>
#include <array>

#include "base/words.hpp"

namespace smplan {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 5> kNo{"no", "not", "non", "without", "w/o"};
/// After a blank these speak of what stands before them; `no` would speak of what follows.
constexpr std::array<std::string_view, 3> kOff{"off", "disabled", "false"};
constexpr std::array<std::string_view, 6> kOffValues{"0", "off", "no", "none", "disabled", "false"};

/// The letters and digits at the beginning.
std::string_view first_word(std::string_view text) {
  const auto* const end = std::find_if(text.begin(), text.end(), [](char c) { return !is_letter_or_digit(c); });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// What stands before, back to a blank or a mark between phrases.
std::string_view last_word(std::string_view text) {
  const std::size_t before = text.find_last_of(" ,;(");
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

}  // namespace

Phrases::Phrases(std::string_view text) : text_(lower_case(text)) {}

bool Phrases::is_denied(std::size_t begin, std::size_t end) const {
  std::string_view before = std::string_view(text_).substr(0, begin);
  if (!before.empty() && (before.back() == ' ' || before.back() == '-')) {
    before.remove_suffix(1);
    if (is_one_of(last_word(before), kNo)) return true;
  }
  std::string_view after = std::string_view(text_).substr(end);
  if (after.empty()) return false;
  if (after.front() == ' ') {
    const std::string_view next = first_word(after.substr(1));
    if (is_one_of(next, kOff)) return true;
    after.remove_prefix(1);
  }
  if (after.empty() || (after.front() != '=' && after.front() != ':')) return false;
  after.remove_prefix(std::min(after.find_first_not_of("=: '\""), after.size()));
  return is_one_of(first_word(after), kOffValues);
}

bool Phrases::say(std::string_view phrase) const {
  for (std::size_t at = text_.find(phrase); at != std::string::npos; at = text_.find(phrase, at + 1)) {
    if (!is_denied(at, at + phrase.size())) return true;
  }
  return false;
}

bool Phrases::deny(std::string_view phrase) const { return text_.find(phrase) != std::string::npos && !say(phrase); }

bool Phrases::say_word(std::string_view phrase, const std::vector<std::string_view>& not_before) const {
  for (std::size_t at = text_.find(phrase); at != std::string::npos; at = text_.find(phrase, at + 1)) {
    if (at > 0 && is_letter_or_digit(text_[at - 1])) continue;
    const std::size_t end = at + phrase.size();
    if (is_denied(at, end)) continue;
    const std::size_t next = std::min(text_.find_first_not_of(" -_", end), text_.size());
    const std::string_view follows = first_word(std::string_view(text_).substr(next));
    if (std::find(not_before.begin(), not_before.end(), follows) == not_before.end()) return true;
  }
  return false;
}

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    if (is_letter_or_digit(c)) {
      if (!inside) words.emplace_back();
      words.back().push_back(lower_case(c));
    }
    inside = is_letter_or_digit(c);
  }
  return words;
}

bool denies(std::string_view cell) {
  constexpr std::array<std::string_view, 8> kFirst{"no", "not", "non", "without", "none", "off", "disabled", "false"};
  const std::vector<std::string> words = plain_words(cell);
  if (words.empty()) return false;
  return is_one_of(words.front(), kFirst) || is_one_of(words.back(), kOff);
}

}  // namespace smplan
