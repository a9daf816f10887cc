#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "catalogs/tokenizer/byte_trie.hpp"
#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/reading.hpp"
#include "catalogs/tokenizer/token_model.hpp"

namespace smplan {
namespace {

/// What an unknown character costs beyond the least likely token. Source: google/sentencepiece,
/// src/unigram_model.cc, kUnkPenalty, read 2026-11.
constexpr double kUnknownPenalty = 10;

/// The most likely way through a word, token by token. Unknown characters that stand side by side are one token.
class Unigram : public TokenModel {
 public:
  explicit Unigram(ObjectReader& in) {
    Diagnostics& out = in.diagnostics();
    std::vector<std::string> tokens;
    if (const auto vocabulary = in.value("vocab")) {
      for (const JsonValue& entry : vocabulary->as_array(out)) {
        if (!read_entry(entry, tokens, out)) break;
      }
    }
    if (const auto unknown = in.optional_integer("unk_id")) {
      if (*unknown >= 0 && *unknown < static_cast<std::int64_t>(tokens.size())) {
        unknown_ = static_cast<std::int32_t>(*unknown);
      } else {
        out.push_back({"out-of-range", in.location("unk_id"), fmt::format("{} is no token of the vocabulary", *unknown),
                       "write a place in vocab"});
      }
    }
    has_bytes_ = in.optional_bool("byte_fallback").value_or(false);
    trie_ = ByteTrie(tokens);
    if (has_bytes_) {
      for (unsigned byte = 0; byte < bytes_.size(); ++byte) bytes_[byte] = holds(fmt::format("<0x{:02X}>", byte));
    }
  }

  [[nodiscard]] std::unique_ptr<Work> work() const override { return std::make_unique<Path>(); }

  TokenCount count(std::string_view word, Work& work) const override {
    Path& path = static_cast<Path&>(work);
    return path.words.get(word, [&] { return best(word, path); });
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Node {
    double score = 0;
    std::size_t begin = kNone;  ///< of the last token on the best way here
    std::int32_t token = 0;
  };
  struct Path : Work {
    CountedWords words;
    std::vector<Node> nodes;
  };

  bool read_entry(const JsonValue& entry, std::vector<std::string>& tokens, Diagnostics& out) {
    const std::size_t before = out.size();
    const std::vector<JsonValue> two = entry.as_array(out);
    if (out.size() == before && two.size() != 2) {
      out.push_back({"out-of-range", entry.location(), "an entry is a token and its score", "write two values"});
    }
    if (out.size() > before) return false;
    tokens.push_back(two[0].as_text(out));
    scores_.push_back(two[1].as_number(out));
    least_ = std::min(least_, scores_.back());
    return out.size() == before;
  }

  [[nodiscard]] bool holds(std::string_view text) const {
    bool found = false;
    trie_.each_prefix(text, [&](std::size_t length, std::int32_t) { found = found || length == text.size(); });
    return found;
  }

  TokenCount best(std::string_view word, Path& path) const {
    std::vector<Node>& nodes = path.nodes;
    nodes.assign(word.size() + 1, {});
    bool lost = false;
    const auto reach = [&](std::size_t begin, std::size_t end, double score, std::int32_t token) {
      Node& node = nodes[end];
      const double sum = score + nodes[begin].score;
      if (node.begin == kNone || sum > node.score) node = {sum, begin, token};
    };
    for_each_character(word, [&](char32_t, std::size_t at, std::size_t length) {
      bool alone = false;
      trie_.each_prefix(word.substr(at), [&](std::size_t n, std::int32_t token) {
        reach(at, at + n, scores_[static_cast<std::size_t>(token)], token);
        alone = alone || n == length;
      });
      if (alone) return;
      if (unknown_ < 0) lost = true;
      reach(at, at + length, least_ - kUnknownPenalty, unknown_);
    });
    if (lost) return tl::unexpected(std::string_view("a character is unknown, and there is no unk_id"));
    return tokens_of(word, nodes);
  }

  [[nodiscard]] std::int64_t tokens_of(std::string_view word, const std::vector<Node>& nodes) const {
    std::int64_t tokens = 0;
    std::size_t unknown_end = 0;  // of a run of unknown characters; 0: there is none
    const auto close = [&](std::size_t begin) {
      if (unknown_end > 0) tokens += tokens_of_unknown(word.substr(begin, unknown_end - begin));
      unknown_end = 0;
    };
    for (std::size_t end = word.size(); end > 0; end = nodes[end].begin) {
      if (nodes[end].token == unknown_) {
        if (unknown_end == 0) unknown_end = end;
        continue;
      }
      close(end);
      ++tokens;
    }
    close(0);
    return tokens;
  }

  [[nodiscard]] std::int64_t tokens_of_unknown(std::string_view text) const {
    const auto known = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    if (!has_bytes_ || holds(text) || !std::all_of(text.begin(), text.end(), known)) return 1;
    return static_cast<std::int64_t>(text.size());
  }

  ByteTrie trie_;
  std::vector<double> scores_;
  double least_ = std::numeric_limits<double>::infinity();
  std::int32_t unknown_ = -1;
  bool has_bytes_ = false;
  std::array<bool, 256> bytes_{};  ///< tokens that stand for bytes
};

}  // namespace

std::shared_ptr<const TokenModel> read_unigram(ObjectReader& in) { return std::make_shared<Unigram>(in); }

}  // namespace smplan
