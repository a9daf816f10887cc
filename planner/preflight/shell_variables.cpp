#include "planner/preflight/shell_variables.hpp"

#include <algorithm>

#include "base/words.hpp"

namespace smplan {
namespace {

/// Of the brace that is open at `from`; one that opens behind a dollar has its own.
std::size_t closing_brace(std::string_view text, std::size_t from) {
  int inner = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '$' && text.substr(i + 1).starts_with('{')) ++inner;
    if (text[i] == '}' && inner-- == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

const std::string* Variables::find(const std::string& name) const {
  const auto known = values_.find(name);
  return known == values_.end() ? nullptr : &known->second;
}

bool Conditions::take(const ShellWord& word) {
  if (word.first) {
    if (word.text == "if" || word.text == "case") ++depth_;
    if (word.text == "fi" || word.text == "esac") depth_ = std::max(0, depth_ - 1);
    test_ = false;
  }
  if (!word.quoted && (word.text == "[" || word.text == "[[")) test_ = true;
  if (!test_) return true;
  test_ = word.quoted || (word.text != "]" && word.text != "]]");
  return false;
}

bool Variables::take(std::string_view word, bool conditional) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || !is_shell_name(word.substr(0, equals))) return false;
  const std::string name(word.substr(0, equals));
  std::string value = expanded(word.substr(equals + 1));
  const auto known = values_.find(name);
  if (!conditional) {
    doubtful_.erase(name);
  } else if (known != values_.end() && known->second != value) {
    doubtful_.insert(name);
  }
  if (doubtful_.contains(name)) {
    values_.erase(name);
  } else {
    values_[name] = std::move(value);
  }
  return true;
}

std::string Variables::expanded(std::string_view text) {
  std::string out = replaced(text);
  if (out.size() <= text.size()) return out;
  const std::size_t growth = out.size() - text.size();
  if (growth > left_) return std::string(text);
  left_ -= growth;
  return out;
}

std::string Variables::replaced(std::string_view text) const {
  constexpr std::size_t kMost = 4096;  // a value that doubles itself ends here
  std::string out;
  while (!text.empty() && out.size() <= kMost) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool braced = text.size() > 1 && text[1] == '{';
    const std::size_t begin = braced ? 2 : 1;
    std::size_t end = begin;
    while (end < text.size() && (is_letter_or_digit(text[end]) || text[end] == '_')) ++end;
    const auto known = values_.find(std::string(text.substr(begin, end - begin)));
    const std::size_t close = braced ? closing_brace(text, end) : end;
    const std::size_t length = close == std::string_view::npos ? 1 : close + (braced ? 1 : 0);
    const bool falls_back = braced && close != std::string_view::npos && text.substr(end).starts_with(":-");
    if (known != values_.end() && !(falls_back && known->second.empty())) {
      out += known->second;
    } else {
      out += falls_back ? replaced(text.substr(end + 2, close - end - 2)) : std::string(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string variable_in(std::string_view text) {
  if (!text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  for (const std::string_view all : {"[@]", "[*]"}) {
    if (text.ends_with(all)) text.remove_suffix(all.size());
  }
  return is_shell_name(text)          ? std::string(text)
         : text == "@" || text == "*" ? std::string(kAllArguments)
                                      : std::string();
}

}  // namespace smplan
