#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace smplan::fuzz {

/// Largest mutated input.
inline constexpr std::size_t kMaxMutated = std::size_t{1} << 16;

/// Hostile variants of good inputs; the same seed gives the same ones on every machine.
class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::vector<std::string> words, std::uint64_t seed);

  std::string next();

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(engine_() % n); }
  const std::string& pick(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }
  void change_bytes(std::string& text);
  void insert_word(std::string& text);
  void replace_number(std::string& text);
  void repeat_part(std::string& text);
  void nest(std::string& text);
  void splice(std::string& text);
  void change_encoding(std::string& text);

  std::vector<std::string> seeds_;
  std::vector<std::string> words_;
  std::mt19937_64 engine_;
};

/// Words of a dictionary in libFuzzer's form: a line each, `"..."` with `\xNN`, `\"` and `\\`; `#` is a comment.
std::vector<std::string> dictionary_words(std::string_view text);

}  // namespace smplan::fuzz
