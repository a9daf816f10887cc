#include "planner/preflight/shell_words.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

/// Behind the bracket that closes the one at `begin`; 0 without one.
std::size_t end_of_brackets(std::string_view text, std::size_t begin) {
  int open = 0;
  char quoted = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (quoted != 0) {
      if (c == quoted) quoted = 0;
    } else if (c == '"' || c == '\'') {
      quoted = c;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && --open == 0) {
      return i + 1;
    }
  }
  return 0;
}

/// Words behind which a command begins.
bool begins_commands(std::string_view word) { return word == "then" || word == "else" || word == "do"; }

/// `>`, `>>`, `2>&1`, `&>log`: where a program's output goes.
bool redirects(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of("0123456789&"), word.size()));
  return word.starts_with('>');
}

}  // namespace

bool is_shell_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool begins_array(std::string_view text) {
  if (!text.ends_with('=')) return false;
  text.remove_suffix(text.ends_with("+=") ? 2 : 1);
  return is_shell_name(text);
}

bool takes_script(std::string_view word) {
  return word.size() > 1 && word.size() < 5 && word[0] == '-' && word[1] != '-' && word.ends_with('c');
}

Result<std::vector<ShellWord>> split_words(std::string_view text, std::string_view name) {
  std::vector<ShellWord> words;
  int line = 1;
  bool open = false;  // inside a word
  bool first = true;  // the next word begins a command
  bool array = false;
  char quoted = 0;
  int quote_line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Inside a word such characters may be text: a file of arguments alone has no shell.
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    const bool before_blank = next == ' ' || next == '\n' || next == '\r';
    const bool operates = !open && (c == '|' || (c == '&' && next != '>'));
    const bool ends = c == '\n' || operates || (c == ';' && (!open || before_blank));
    const bool blank = c == ' ' || c == '\t' || c == '\r' || ends;
    if (c == '\n') ++line;
    if (quoted == 0 && c == ')' && array) {
      words.push_back({")", line});
      open = array = false;
      first = true;
      continue;
    }
    if (quoted == 0 && (blank || (c == '#' && !open))) {
      open = false;
      first = first || (ends && !array);
      if (c == '|' && next != '|' && (i == 0 || text[i - 1] != '|')) words.push_back({"|", line, true});
      if (c == '#') {
        while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      }
      continue;
    }
    // The line goes on, and so does a word that ends there.
    if (quoted != '\'' && c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      if (text[i + 1] == '\r' && i + 2 < text.size() && text[i + 2] == '\n') ++i;
      ++i;
      ++line;
      continue;
    }
    if (quoted == 0 && c == '(' && open && !array && begins_array(words.back().text)) {
      words.back().text += c;
      open = false;
      array = true;
      continue;
    }
    if (!open) {
      first = first || (!words.empty() && words.back().first && begins_commands(words.back().text));
      words.push_back({"", line, first});
      open = true;
      first = false;
      if (words.size() > kMaxJobNodes) {
        return fail("file-too-large", std::string(name), fmt::format("holds more than {} words", kMaxJobNodes),
                    "a job file is small: check that this is the right file");
      }
    }
    const std::size_t inside = quoted != '\'' && c == '$' && next == '(' ? end_of_brackets(text, i + 1) : 0;
    if (inside > 0) {
      const std::string_view command = text.substr(i, inside - i);
      words.back().text += command;
      line += static_cast<int>(std::count(command.begin(), command.end(), '\n'));
      i = inside - 1;
    } else if (quoted == 0 && (c == '"' || c == '\'')) {
      quoted = c;
      quote_line = line;
      words.back().quoted = true;
    } else if (c == quoted) {
      quoted = 0;
    } else if (c == '\\' && quoted == '"' && next == '\n') {  // the text goes on
      ++i;
      ++line;
    } else if (c == '\\' && quoted != '\'' && i + 1 < text.size()) {
      words.back().text += text[++i];
    } else {
      words.back().literal = words.back().literal || (c == '$' && quoted == '\'');
      words.back().text += c;
    }
  }
  if (quoted != 0) {
    return fail("arguments-syntax", fmt::format("{}:{}", name, quote_line), "a quote is not closed",
                "close it on the same line");
  }
  return words;
}

bool is_option(const ShellWord& word) { return word.text.size() > 2 && word.text.starts_with("--"); }

std::vector<ShellWord> without_output(std::vector<ShellWord> words) {
  std::vector<ShellWord> kept;
  int piped = 0;  // the line of a pipe
  bool target = false;
  bool started = false;  // before it a pipe brings the program's input
  for (ShellWord& word : words) {
    const bool file = std::exchange(target, redirects(word.text) && word.text.ends_with('>'));
    started = started || is_option(word) || word.text.find('=') < word.text.size();
    if (started && word.text == "|") piped = word.line;
    if (!file && word.line != piped && !redirects(word.text)) kept.push_back(std::move(word));
  }
  return kept;
}

}  // namespace smplan
