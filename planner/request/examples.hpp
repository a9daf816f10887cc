#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "catalogs/tokenizer/tokenizer.hpp"

namespace smplan {

/// Lengths of the sequences that a data set for fine-tuning makes.
struct ExampleLengths {
  std::vector<std::int64_t> tokens;  ///< of each sequence, ascending; a pair makes two
  std::int64_t examples = 0;
  bool pairs = false;    ///< of a chosen and a rejected answer
  bool counted = false;  ///< the file holds tokens, not text
  bool turns = false;    ///< there are turns of a chat, each with a guess at what its template adds

  [[nodiscard]] double mean() const;
  /// The smallest length that `part` of the sequences do not exceed. Precondition: there are some.
  [[nodiscard]] std::int64_t quantile(double part) const;
  /// The same, none longer than `limit`: trainers cut what is longer.
  [[nodiscard]] ExampleLengths cut_to(std::int64_t limit) const;
  /// Tokens of an average sequence once each batch is padded to its longest: the expected maximum of `together`
  /// lengths drawn at random.
  [[nodiscard]] double padded_mean(std::int64_t together) const;
};

/// Examples that are all as long.
ExampleLengths equal_examples(std::int64_t examples, std::int64_t length);

/// Characters of a token where a file holds text. Source: English text under the tokenizers of GPT-2 to Llama 3 has 3.5
/// to 4.7 characters a token; OpenAI's help page on tokens says 4 (read 2026-11). A character beyond ASCII counts as
/// its bytes of UTF-8, which such tokenizers start from: they have two to four bytes, and far fewer characters a token.
inline constexpr double kCharactersPerToken = 4;
/// Tokens that a chat template adds to a turn. Source: Llama 3's begins and ends one with five.
inline constexpr std::int64_t kTokensOfATurn = 5;

/// How the text of a file becomes tokens.
struct TextMeasure {
  double characters_per_token = kCharactersPerToken;  ///< where there is no tokenizer
  /// Tokens of each text, without those that are added to a sequence.
  using Count = std::function<Result<std::vector<std::int64_t>>(const std::vector<std::string>& texts)>;
  std::function<Count()> counter;  ///< makes one for a thread; none: characters are divided
  std::int64_t added_to_a_sequence = 0;
  unsigned threads = 0;  ///< that may count at the same time; 0: as many as the machine has
};
/// By a tokenizer.json, with as many threads as the machine has.
TextMeasure measure_of(const Tokenizer& tokenizer);

/// Most examples of a file.
inline constexpr std::int64_t kMaxExamples = 50'000'000;

/// Reads JSON lines (`-` is standard input). A record has `input_ids` or `tokens` (counted), or text: `text`;
/// `messages` or `conversations`; `prompt` and `completion`; `instruction`, `input` and `output`; `prompt`, `chosen`
/// and `rejected`, which is a pair. All records have the same form. Fails with the line of the first that has none.
Result<ExampleLengths> read_examples(const std::string& path, const TextMeasure& measure = {});

}  // namespace smplan
