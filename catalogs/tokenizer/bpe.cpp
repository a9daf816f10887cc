#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/reading.hpp"
#include "catalogs/tokenizer/token_model.hpp"

namespace smplan {
namespace {

struct Merge {
  std::uint32_t rank = 0;
  std::uint32_t token = 0;  ///< that the pair becomes
};

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

/// Two characters that stand side by side inside no token, and are tokens themselves: no merge crosses their border, so
/// that the text on either side of it is counted alone.
class Borders {
 public:
  void inside(std::string_view token) {
    char32_t before = 0;
    for_each_character(token, [&](char32_t c, std::size_t at, std::size_t length) {
      if (at == 0 && length == token.size()) known_.insert(c);
      if (at > 0) joined_.insert(pair_of(before, c));
      before = c;
    });
  }
  [[nodiscard]] bool between(char32_t left, char32_t right) const {
    return !joined_.contains(pair_of(left, right)) && known_.contains(left) && known_.contains(right);
  }

 private:
  std::unordered_set<std::uint64_t> joined_;
  std::unordered_set<char32_t> known_;
};

/// Byte pair encoding. What it does with words is what huggingface/tokenizers does, models/bpe, read 2026-11.
class BytePairs : public TokenModel {
 public:
  explicit BytePairs(ObjectReader& in) : vocabulary_(read_vocabulary(in, "vocab")) {
    Diagnostics& out = in.diagnostics();
    const auto text = [&](std::string_view key) {
      const auto value = in.optional_value(key);
      return value ? std::optional(text_of(*value, out)) : std::nullopt;
    };
    unknown_token_ = text("unk_token");
    prefix_ = text("continuing_subword_prefix").value_or("");
    suffix_ = text("end_of_word_suffix").value_or("");
    fuses_unknown_ = in.optional_bool("fuse_unk").value_or(false);
    whole_words_ = in.optional_bool("ignore_merges").value_or(false);
    if (in.optional_number("dropout").value_or(0) > 0) {
      out.push_back({"unsupported", in.location("dropout"), "tokens that are dropped at random have no one count",
                     "set dropout to null"});
    }
    if (unknown_token_) unknown_ = find(*unknown_token_);
    if (in.optional_bool("byte_fallback").value_or(false)) read_bytes();
    if (const auto merges = in.value("merges"); merges && out.empty()) read_merges(*merges, out);
    mark_borders();
  }

  [[nodiscard]] std::unique_ptr<Work> work() const override { return std::make_unique<Symbols>(); }

  TokenCount count(std::string_view word, Work& work) const override {
    Symbols& symbols = static_cast<Symbols&>(work);
    return symbols.words.get(word, [&]() -> TokenCount {
      if (whole_words_ && vocabulary_.contains(word)) return 1;
      if (!borders_) return merged(word, symbols);
      std::int64_t sum = 0;
      std::size_t begin = 0;
      char32_t before = 0;
      std::string_view fault;
      const auto add = [&](std::size_t end) {
        const std::string_view part = word.substr(begin, end - begin);
        const TokenCount tokens = symbols.parts.get(part, [&] { return merged(part, symbols); });
        if (!tokens) fault = tokens.error();
        sum += tokens.value_or(0);
        begin = end;
      };
      for_each_character(word, [&](char32_t c, std::size_t at, std::size_t) {
        if (at > 0 && borders_->between(before, c)) add(at);
        before = c;
      });
      add(word.size());
      if (!fault.empty()) return tl::unexpected(fault);
      return sum;
    });
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Symbol {
    std::uint32_t token = 0;
    bool gone = false;
    std::size_t before = kNone;
    std::size_t after = kNone;
  };
  struct Step {
    std::uint32_t rank = 0;
    std::uint32_t token = 0;
    std::size_t at = 0;
    /// The lowest rank comes first, of equal ones the leftmost.
    bool operator<(const Step& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  struct Symbols : Work {
    CountedWords words;
    CountedWords parts;  ///< of words, between borders
    std::vector<Symbol> symbols;
    std::vector<Step> steps;
  };

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view token) const {
    const auto at = vocabulary_.find(token);
    return at == vocabulary_.end() ? std::nullopt : std::optional(at->second);
  }

  void read_bytes() {
    bytes_.emplace();
    for (unsigned byte = 0; byte < bytes_->size(); ++byte) (*bytes_)[byte] = find(fmt::format("<0x{:02X}>", byte));
  }

  /// "a b" or ["a", "b"], the earlier ones first.
  void read_merges(const JsonValue& merges, Diagnostics& out) {
    std::uint32_t rank = 0;
    const std::vector<JsonValue> all = merges.as_array(out);
    merges_.reserve(all.size());
    for (const JsonValue& merge : all) {
      std::string left;
      std::string right;
      if (merge.is_string()) {
        const std::string text = merge.as_text(out);
        if (text.starts_with("#version")) continue;
        const std::size_t space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
          out.push_back({"out-of-range", merge.location(), fmt::format("{} is no pair", quote(text)),
                         "write two tokens with a blank between them"});
          return;
        }
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else {
        const std::vector<JsonValue> two = merge.as_array(out);
        if (two.size() != 2) {
          out.push_back({"out-of-range", merge.location(), "a merge is of two tokens", "write two tokens"});
          return;
        }
        left = two[0].as_text(out);
        right = two[1].as_text(out);
      }
      if (!add_merge(left, right, rank++, merge, out)) return;
    }
  }

  bool add_merge(const std::string& left, const std::string& right, std::uint32_t rank, const JsonValue& merge,
                 Diagnostics& out) {
    const auto a = find(left);
    const auto b = find(right);
    const std::size_t length = std::min(right.size(), prefix_characters());
    const auto both = find(left + right.substr(length));
    if (!a || !b || !both) {
      out.push_back({"unknown-token", merge.location(),
                     fmt::format("the vocabulary does not hold {}", quote(!a   ? left
                                                                          : !b ? right
                                                                               : left + right)),
                     "write the file anew"});
      return false;
    }
    merges_.insert_or_assign(pair_of(*a, *b), Merge{rank, *both});
    return true;
  }

  [[nodiscard]] std::size_t prefix_characters() const {
    std::size_t n = 0;
    for_each_character(prefix_, [&](char32_t, std::size_t, std::size_t) { ++n; });
    return n;
  }

  /// Not where a symbol depends on its place in the word, or two tokens share a number.
  void mark_borders() {
    if (!prefix_.empty() || !suffix_.empty()) return;
    std::unordered_set<std::uint32_t> numbers;
    Borders borders;
    for (const auto& [token, number] : vocabulary_) {
      if (!numbers.insert(number).second) return;
      borders.inside(token);
    }
    borders_ = std::move(borders);
  }

  static void add_symbol(std::vector<Symbol>& symbols, std::uint32_t token) {
    const std::size_t at = symbols.size();
    if (at > 0) symbols.back().after = at;
    symbols.push_back({token, false, at > 0 ? at - 1 : kNone, kNone});
  }

  /// The tokens that a word begins with, before merges: one a character.
  [[nodiscard]] bool split(std::string_view word, std::vector<Symbol>& symbols) const {
    symbols.clear();
    bool pending = false;  // an unknown character that is not yet a symbol
    bool fault = false;
    std::string affixed;
    for_each_character(word, [&](char32_t, std::size_t at, std::size_t length) {
      std::string_view character = word.substr(at, length);
      if (!prefix_.empty() || !suffix_.empty()) {
        affixed = at > 0 ? prefix_ : std::string();
        affixed += character;
        if (at + length == word.size()) affixed += suffix_;
        character = affixed;
      }
      if (const auto token = find(character)) {
        if (pending) add_symbol(symbols, *unknown_);
        pending = false;
        add_symbol(symbols, *token);
        return;
      }
      if (add_bytes(character, symbols) || !unknown_token_) return;
      if (!unknown_) fault = true;
      if (pending && !fuses_unknown_) add_symbol(symbols, unknown_.value_or(0));
      pending = true;
    });
    if (pending) add_symbol(symbols, unknown_.value_or(0));
    return !fault;
  }

  bool add_bytes(std::string_view character, std::vector<Symbol>& symbols) const {
    if (!bytes_) return false;
    const auto token = [&](char c) { return (*bytes_)[static_cast<unsigned char>(c)]; };
    if (!std::all_of(character.begin(), character.end(), [&](char c) { return token(c).has_value(); })) return false;
    for (const char c : character) add_symbol(symbols, *token(c));
    return true;
  }

  [[nodiscard]] const Merge* merge_of(const Symbol& left, const Symbol& right) const {
    const auto at = merges_.find(pair_of(left.token, right.token));
    return at == merges_.end() ? nullptr : &at->second;
  }

  TokenCount merged(std::string_view word, Symbols& work) const {
    std::vector<Symbol>& s = work.symbols;
    if (!split(word, s)) return tl::unexpected(std::string_view("a character is unknown, and so is the unk_token"));
    std::vector<Step>& steps = work.steps;
    steps.clear();
    const auto step = [&](std::size_t left, std::size_t right) {
      const Merge* merge = merge_of(s[left], s[right]);
      if (merge != nullptr) steps.push_back({merge->rank, merge->token, left});
      return merge != nullptr;
    };
    for (std::size_t i = 0; i + 1 < s.size(); ++i) step(i, i + 1);
    std::make_heap(steps.begin(), steps.end());
    auto tokens = static_cast<std::int64_t>(s.size());
    while (!steps.empty()) {
      std::pop_heap(steps.begin(), steps.end());
      const Step top = steps.back();
      steps.pop_back();
      Symbol& left = s[top.at];
      if (left.gone || left.after == kNone) continue;
      Symbol& right = s[left.after];
      const Merge* merge = merge_of(left, right);
      if (merge == nullptr || merge->token != top.token) continue;  // overtaken by another merge
      left.token = top.token;
      left.after = right.after;
      right.gone = true;
      --tokens;
      if (right.after != kNone) s[right.after].before = top.at;
      if (left.before != kNone && step(left.before, top.at)) std::push_heap(steps.begin(), steps.end());
      if (left.after != kNone && step(top.at, left.after)) std::push_heap(steps.begin(), steps.end());
    }
    return tokens;
  }

  TextMap<std::uint32_t> vocabulary_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::optional<std::array<std::optional<std::uint32_t>, 256>> bytes_;  ///< tokens that stand for bytes
  std::optional<std::string> unknown_token_;
  std::optional<std::uint32_t> unknown_;
  std::string prefix_;  ///< of every character but the first
  std::string suffix_;  ///< of the last character
  bool fuses_unknown_ = false;
  bool whole_words_ = false;  ///< a word that is a token is one, whatever the merges say
  std::optional<Borders> borders_;
};

}  // namespace

std::shared_ptr<const TokenModel> read_bpe(ObjectReader& in) { return std::make_shared<BytePairs>(in); }

}  // namespace smplan
