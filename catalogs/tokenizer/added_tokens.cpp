#include "catalogs/tokenizer/added_tokens.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/reading.hpp"

namespace smplan {
namespace {

/// Where the last character before `end` begins.
std::size_t before(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80);
  return end;
}

std::vector<std::string> contents(const std::vector<AddedTokens::Token>& tokens) {
  std::vector<std::string> out;
  for (const AddedTokens::Token& token : tokens) out.push_back(token.content);
  return out;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<Token> tokens) : tokens_(std::move(tokens)), trie_(contents(tokens_)) {}

bool AddedTokens::stands_alone(std::string_view text, std::size_t begin, std::size_t end, Matcher& matcher) {
  static const Pattern kWord = Pattern::own("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]");
  const auto is_word = [&](std::size_t at) {
    return matcher.matches(kWord, text.substr(at, first_code_point(text.substr(at)).length));
  };
  return !(begin > 0 && is_word(before(text, begin))) && !(end < text.size() && is_word(end));
}

/// The leftmost token, of those that begin there the longest. Source: huggingface/tokenizers,
/// tokenizer/added_vocabulary.rs, read 2026-11.
std::int64_t AddedTokens::cut(std::string_view text, Matcher& matcher, std::vector<Span>& between) const {
  std::int64_t found = 0;
  std::size_t done = 0;
  for (std::size_t at = 0; !trie_.empty() && at < text.size();) {
    std::size_t length = 0;
    std::int32_t which = 0;
    trie_.each_prefix(text.substr(at), [&](std::size_t n, std::int32_t number) {
      length = n;
      which = number;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    const Token& token = tokens_[static_cast<std::size_t>(which)];
    std::size_t begin = at;
    std::size_t end = at + length;
    at = end;
    if (token.single_word && !stands_alone(text, begin, end, matcher)) continue;
    if (token.left) {
      std::size_t left = begin;
      while (left > 0 && is_white_space(first_code_point(text.substr(before(text, left))).value))
        left = before(text, left);
      begin = std::max(left, done);
    }
    while (token.right && end < text.size()) {
      const CodePoint c = first_code_point(text.substr(end));
      if (!is_white_space(c.value)) break;
      end += c.length;
    }
    if (done < begin) between.push_back({done, begin});
    ++found;
    done = end;
  }
  if (done < text.size()) between.push_back({done, text.size()});
  return found;
}

AddedTokenSets read_added_tokens(const std::vector<JsonValue>& values, const std::vector<Normalizer>& normalizers,
                                 Diagnostics& out) {
  std::map<std::string, std::pair<AddedTokens::Token, bool>> tokens;  // the last of equal ones counts
  Matcher matcher;
  for (const JsonValue& value : values) {
    const std::size_t faults = out.size();
    ObjectReader in(value, out);
    in.integer("id", 0, UINT32_MAX);
    const auto content = in.value("content");
    AddedTokens::Token token{content ? text_of(*content, out) : std::string(), in.boolean("single_word"),
                             in.boolean("lstrip"), in.boolean("rstrip")};
    const bool normalized = in.boolean("normalized");
    in.boolean("special");
    in.finish();
    if (out.size() > faults) break;
    if (token.content.empty()) continue;
    const std::string name = token.content;
    if (normalized) {
      NormalizedText text{token.content};
      for (const Normalizer& normalizer : normalizers) normalizer(text, matcher);
      token.content = std::move(text.text);
    }
    if (token.content.empty()) {
      out.push_back({"unsupported", content->location(),
                     fmt::format("the normalizer leaves nothing of {}", quote(name)), "set `normalized` to false"});
      break;
    }
    tokens.insert_or_assign(name, std::pair(std::move(token), normalized));
  }
  std::vector<AddedTokens::Token> plain;
  std::vector<AddedTokens::Token> normalized;
  for (auto& [name, token] : tokens) (token.second ? normalized : plain).push_back(std::move(token.first));
  return {AddedTokens(std::move(plain)), AddedTokens(std::move(normalized))};
}

}  // namespace smplan
