#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// Notes and names of programs as people write them, searched for phrases.
class Phrases {
 public:
  explicit Phrases(std::string_view text);

  /// The phrase, in lower case, stands somewhere and is not denied there: neither `no liger`, `without liger` nor
  /// `liger=0`, `liger: off`, `liger disabled`.
  [[nodiscard]] bool say(std::string_view phrase) const;
  template <typename List>
  [[nodiscard]] bool say_any(const List& phrases) const {
    for (const std::string_view phrase : phrases) {
      if (say(phrase)) return true;
    }
    return false;
  }
  /// It stands somewhere, and is denied wherever it does.
  [[nodiscard]] bool deny(std::string_view phrase) const;
  /// The same as say(), of a phrase that begins a word: `int4` is not in `print4`.
  [[nodiscard]] bool say_word(std::string_view phrase, const std::vector<std::string_view>& not_before = {}) const;

  /// In lower case.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool is_denied(std::size_t begin, std::size_t end) const;

  std::string text_;
};

/// Whether a whole cell says that there is none: `no offload`, `not sharded`, `AC off`, `none (0 layers)`, `without`.
bool denies(std::string_view cell);

/// Runs of letters and digits, in lower case.
std::vector<std::string> plain_words(std::string_view text);

}  // namespace smplan
