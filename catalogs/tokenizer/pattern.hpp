#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace smplan {

/// A part of a text: what a pattern matched, or what stands between two matches. Offsets in bytes.
struct Cut {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool match = false;
};

/// A compiled regular expression. Cheap to copy; several threads may share it.
class Pattern {
 public:
  /// In the syntax of Oniguruma, which tokenizer.json is written in. `where` names the field in refusals.
  static Result<Pattern> oniguruma(std::string_view text, const std::string& where);
  /// A text that matches itself.
  static Result<Pattern> literal(std::string_view text, const std::string& where);
  /// In the syntax of PCRE2. Precondition: it is valid.
  static Pattern own(std::string_view text);

 private:
  friend class Matcher;
  struct Code;
  static Result<Pattern> compile(const std::string& text, const std::string& where);
  std::shared_ptr<const Code> code_;
};

/// Runs patterns for one thread, within limits of effort, so that no pattern hangs on any text.
class Matcher {
 public:
  Matcher();
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  /// Starts the time that the next text may take.
  void start_text();
  /// Cuts `text` into matches and what stands between them, in order; an empty match follows no other. Empty text is
  /// one empty cut. False where it takes too long. Precondition: well-formed UTF-8.
  bool cut(const Pattern& pattern, std::string_view text, std::vector<Cut>& cuts);
  /// True if the pattern matches somewhere in the text, which is short.
  bool matches(const Pattern& pattern, std::string_view text);

 private:
  enum class Found { Yes, No, GaveUp };
  Found find(const Pattern& pattern, std::string_view text, std::size_t from, Cut& found);

  struct State;
  std::unique_ptr<State> state_;
  std::chrono::steady_clock::time_point deadline_;
};

/// A pattern in the syntax of Oniguruma, written for PCRE2. `is_script` says whether PCRE2 knows a script of that name.
/// Fails with the part that PCRE2 cannot say, or would understand differently.
Result<std::string> from_oniguruma(std::string_view pattern, const std::string& where,
                                   bool (*is_script)(std::string_view name));

}  // namespace smplan
