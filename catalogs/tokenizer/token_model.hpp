#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "base/json_reader.hpp"

namespace smplan {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// Tokens of a word, or why there is no answer.
using TokenCount = tl::expected<std::int64_t, std::string_view>;

/// Words that were counted. A word takes the place of another one with the same hash, so that memory is bounded.
class CountedWords {
 public:
  template <typename F>
  TokenCount get(std::string_view word, F count) {
    if (word.size() > kLongest) return count();
    if (const Word& place = place_of(word); place.text == word) return place.tokens;
    const TokenCount tokens = count();
    if (!tokens) return tokens;
    if (kept_ > words_.size() / 2 && words_.size() < kMostPlaces) {
      words_.assign(4 * words_.size(), {});
      kept_ = 0;
    }
    Word& place = place_of(word);
    if (place.text.empty()) ++kept_;
    place = {std::string(word), *tokens};
    return tokens;
  }

 private:
  static constexpr std::size_t kLongest = 128;
  static constexpr std::size_t kFirstPlaces = std::size_t{1} << 8;
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 18;
  struct Word {
    std::string text;  ///< empty: nothing was counted here
    std::int64_t tokens = 0;
  };
  Word& place_of(std::string_view word) { return words_[TextHash()(word) % words_.size()]; }

  std::vector<Word> words_ = std::vector<Word>(kFirstPlaces);
  std::size_t kept_ = 0;
};

/// How a model makes tokens of a word.
class TokenModel {
 public:
  /// What counting needs of one thread.
  class Work {
   public:
    virtual ~Work() = default;
  };

  virtual ~TokenModel() = default;
  [[nodiscard]] virtual std::unique_ptr<Work> work() const = 0;
  /// Precondition: `word` is not empty and well-formed UTF-8, `work` is of this model.
  virtual TokenCount count(std::string_view word, Work& work) const = 0;
};

/// The `model` of tokenizer.json; nullptr, and faults in `out`, if it cannot be read.
std::shared_ptr<const TokenModel> read_token_model(const JsonValue& value, Diagnostics& out);

// One reader a type; `in` has read `type`.
std::shared_ptr<const TokenModel> read_bpe(ObjectReader& in);
std::shared_ptr<const TokenModel> read_unigram(ObjectReader& in);
std::shared_ptr<const TokenModel> read_word_piece(ObjectReader& in);
std::shared_ptr<const TokenModel> read_word_level(ObjectReader& in);

/// An object of texts and their numbers.
TextMap<std::uint32_t> read_vocabulary(ObjectReader& in, std::string_view key);

}  // namespace smplan
