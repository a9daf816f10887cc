#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace smplan {

/// A tokenizer.json of Hugging Face, as far as it decides how many tokens a text has. Cheap to copy; several threads
/// may share it.
class Tokenizer {
 public:
  struct Parts;
  /// Refuses, by the field, what it would count wrongly. `name` is the file's.
  static Result<Tokenizer> parse(std::string_view text, const std::string& name);
  static Result<Tokenizer> read(const std::string& path);

  /// Tokens that the post-processor adds to a sequence, such as that of its beginning.
  [[nodiscard]] std::int64_t added_to_a_sequence() const;

 private:
  friend class TokenCounter;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// Counts tokens in one thread, and remembers words that it counted.
class TokenCounter {
 public:
  explicit TokenCounter(const Tokenizer& tokenizer);
  ~TokenCounter();
  TokenCounter(TokenCounter&&) noexcept;
  TokenCounter& operator=(TokenCounter&&) noexcept;
  TokenCounter(const TokenCounter&) = delete;
  TokenCounter& operator=(const TokenCounter&) = delete;

  /// Tokens of a text, without those that are added to a sequence. Fails where the text is no UTF-8, the vocabulary
  /// has no token for a part of it, or a step takes too long.
  Result<std::int64_t> count(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smplan
