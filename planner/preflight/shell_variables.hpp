#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "planner/preflight/node.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// Follows the conditions of a script: a command inside of one may not run. The words of a test are no arguments.
class Conditions {
 public:
  /// False for a word that a test has: `[ "$DEVICE" = gpu ]`.
  bool take(const ShellWord& word);
  [[nodiscard]] bool inside() const { return depth_ > 0; }

 private:
  int depth_ = 0;
  bool test_ = false;
};

/// Variables that a script sets before it uses them, by plain words (`TP=4`). Nothing else of a shell is expanded. What
/// a condition sets to another value than stood before is not known.
class Variables {
 public:
  [[nodiscard]] const std::string* find(const std::string& name) const;

  /// True if the word sets one.
  bool take(std::string_view word, bool conditional);

  /// With the values of `$NAME`, `${NAME}` and `${NAME:-value}`; what is not known stays as it stands. All words
  /// together grow by no more than a job file may have.
  std::string expanded(std::string_view text);

 private:
  [[nodiscard]] std::string replaced(std::string_view text) const;

  std::map<std::string, std::string> values_;
  std::set<std::string> doubtful_;
  std::size_t left_ = kMaxJobBytes;
};

/// What variable_in() calls all arguments of a script: `$@`, `$*`.
inline constexpr std::string_view kAllArguments = "@";
/// The name in a word that is nothing else: `$NAME`, `${NAME}`, `${NAME[@]}`; empty for others.
std::string variable_in(std::string_view text);

}  // namespace smplan
