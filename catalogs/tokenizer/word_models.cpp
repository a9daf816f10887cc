#include <fmt/format.h>

#include "catalogs/tokenizer/byte_trie.hpp"
#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/reading.hpp"
#include "catalogs/tokenizer/token_model.hpp"

namespace smplan {
namespace {

constexpr std::string_view kNoUnknown = "a word is unknown, and the vocabulary has no unk_token";

struct NoWork : TokenModel::Work {};

class WordLevel : public TokenModel {
 public:
  explicit WordLevel(ObjectReader& in) : vocabulary_(read_vocabulary(in, "vocab")) {
    const auto unknown = in.value("unk_token");
    has_unknown_ = unknown && vocabulary_.contains(text_of(*unknown, in.diagnostics()));
  }
  [[nodiscard]] std::unique_ptr<Work> work() const override { return std::make_unique<NoWork>(); }
  TokenCount count(std::string_view word, Work&) const override {
    if (has_unknown_ || vocabulary_.contains(word)) return 1;
    return tl::unexpected(kNoUnknown);
  }

 private:
  TextMap<std::uint32_t> vocabulary_;
  bool has_unknown_ = false;
};

class WordPiece : public TokenModel {
 public:
  explicit WordPiece(ObjectReader& in) {
    const TextMap<std::uint32_t> vocabulary = read_vocabulary(in, "vocab");
    const auto unknown = in.value("unk_token");
    has_unknown_ = unknown && vocabulary.contains(text_of(*unknown, in.diagnostics()));
    const auto value = in.value("continuing_subword_prefix");
    const std::string prefix = value ? text_of(*value, in.diagnostics()) : std::string();
    most_characters_ = in.integer("max_input_chars_per_word", 0, INT32_MAX);
    std::vector<std::string> first;
    std::vector<std::string> continuing;
    for (const auto& [token, id] : vocabulary) {
      first.push_back(token);
      if (token.starts_with(prefix)) continuing.push_back(token.substr(prefix.size()));
    }
    first_ = ByteTrie(first);
    continuing_ = ByteTrie(continuing);
  }

  [[nodiscard]] std::unique_ptr<Work> work() const override { return std::make_unique<Counted>(); }

  TokenCount count(std::string_view word, Work& work) const override {
    return static_cast<Counted&>(work).words.get(word, [&] { return pieces(word); });
  }

 private:
  struct Counted : Work {
    CountedWords words;
  };

  [[nodiscard]] TokenCount unknown() const {
    if (has_unknown_) return 1;
    return tl::unexpected(kNoUnknown);
  }

  /// The longest piece first, then the longest of what is left.
  [[nodiscard]] TokenCount pieces(std::string_view word) const {
    std::int64_t characters = 0;
    for_each_character(word, [&](char32_t, std::size_t, std::size_t) { ++characters; });
    if (characters > most_characters_) return unknown();
    std::int64_t tokens = 0;
    for (std::size_t start = 0; start < word.size(); ++tokens) {
      std::size_t longest = 0;
      (start == 0 ? first_ : continuing_).each_prefix(word.substr(start), [&](std::size_t n, std::int32_t) {
        longest = n;
      });
      if (longest == 0) return unknown();
      start += longest;
    }
    return tokens;
  }

  ByteTrie first_;       ///< pieces that a word begins with
  ByteTrie continuing_;  ///< those that follow, without their prefix
  bool has_unknown_ = false;
  std::int64_t most_characters_ = 0;
};

/// Files of old have no type: what they hold says it.
std::string type_of(const JsonValue& value, ObjectReader& in) {
  if (in.has("type")) return in.string("type");
  in.ignore("type");
  if (value.find("merges")) return "BPE";
  if (value.find("max_input_chars_per_word")) return "WordPiece";
  const auto vocabulary = value.find("vocab");
  return vocabulary && vocabulary->is_array() ? "Unigram" : "WordLevel";
}

}  // namespace

TextMap<std::uint32_t> read_vocabulary(ObjectReader& in, std::string_view key) {
  TextMap<std::uint32_t> out;
  const auto value = in.value(key);
  if (!value) return out;
  Diagnostics& faults = in.diagnostics();
  const std::size_t before = faults.size();
  for (std::string& token : value->keys(faults)) {
    const auto id = value->find(token);
    const std::int64_t n = id->as_integer(faults);
    if (n < 0 || n > UINT32_MAX) {
      faults.push_back({"out-of-range", id->location(), fmt::format("{} is no token's number", n), {}});
    }
    if (faults.size() > before) return {};
    out.emplace(std::move(token), static_cast<std::uint32_t>(n));
  }
  return out;
}

std::shared_ptr<const TokenModel> read_word_level(ObjectReader& in) { return std::make_shared<WordLevel>(in); }
std::shared_ptr<const TokenModel> read_word_piece(ObjectReader& in) { return std::make_shared<WordPiece>(in); }

std::shared_ptr<const TokenModel> read_token_model(const JsonValue& value, Diagnostics& out) {
  const std::size_t before = out.size();
  ObjectReader in(value, out);
  if (out.size() > before) return nullptr;
  const std::string type = type_of(value, in);
  std::shared_ptr<const TokenModel> model;
  if (type == "BPE") {
    model = read_bpe(in);
  } else if (type == "Unigram") {
    model = read_unigram(in);
  } else if (type == "WordPiece") {
    model = read_word_piece(in);
  } else if (type == "WordLevel") {
    model = read_word_level(in);
  } else {
    if (out.size() == before) out.push_back(unsupported_type("model", type, in.location("type")));
    return nullptr;
  }
  in.finish();
  return out.size() == before ? model : nullptr;
}

}  // namespace smplan
