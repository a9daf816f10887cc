#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/tokenizer/byte_trie.hpp"
#include "catalogs/tokenizer/normalizer.hpp"
#include "catalogs/tokenizer/pre_tokenizer.hpp"

namespace smplan {

/// Tokens that are cut out of a text before the model sees it.
class AddedTokens {
 public:
  struct Token {
    std::string content;
    bool single_word = false;  ///< no letter or digit stands beside it
    bool left = false;         ///< takes the white space before it
    bool right = false;        ///< and behind it
  };
  explicit AddedTokens(std::vector<Token> tokens);

  /// Appends the parts of `text` that stand between tokens, and returns how many tokens there are.
  std::int64_t cut(std::string_view text, Matcher& matcher, std::vector<Span>& between) const;

 private:
  /// Beside the token there is no character of a word.
  [[nodiscard]] static bool stands_alone(std::string_view text, std::size_t begin, std::size_t end, Matcher& matcher);

  std::vector<Token> tokens_;
  ByteTrie trie_;
};

/// `added_tokens` of tokenizer.json: those that are looked for in the text as it is, and those in the normalized one.
struct AddedTokenSets {
  AddedTokens plain{{}};
  AddedTokens normalized{{}};
};
AddedTokenSets read_added_tokens(const std::vector<JsonValue>& values, const std::vector<Normalizer>& normalizers,
                                 Diagnostics& out);

}  // namespace smplan
