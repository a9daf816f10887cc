#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/normalizer.hpp"
#include "catalogs/tokenizer/reading.hpp"

namespace smplan {
namespace {

/// Longest cluster that is replaced as a whole. Source: huggingface/tokenizers, normalizers/precompiled.rs, read
/// 2026-11.
constexpr std::size_t kLongestCluster = 5;

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kDigits.size(); ++i) values[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFFU);
  }
  return out;
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// A double-array trie of texts and what replaces them. Source: google/sentencepiece, third_party/darts_clone/darts.h
/// and src/normalizer.cc, read 2026-11.
class CharacterMap {
 public:
  /// nullopt if the bytes are no such table.
  static std::optional<CharacterMap> read(std::string_view bytes) {
    if (bytes.size() < 4) return std::nullopt;
    const std::size_t size = little_endian(bytes, 0);
    if (size % 4 != 0 || size > bytes.size() - 4) return std::nullopt;
    CharacterMap map;
    for (std::size_t at = 4; at < 4 + size; at += 4) map.units_.push_back(little_endian(bytes, at));
    map.texts_ = bytes.substr(4 + size);
    if (map.units_.empty() || !is_utf8(map.texts_)) return std::nullopt;
    return map;
  }

  /// What replaces the shortest text of the table that `text` begins with.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view text) const {
    std::size_t at = offset(units_.front());
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) return std::nullopt;
      at ^= byte;
      if (at >= units_.size() || (units_[at] & (1U << 31 | 0xFFU)) != byte) return std::nullopt;
      const std::uint32_t unit = units_[at];
      at ^= offset(unit);
      if ((unit >> 8 & 1U) == 0) continue;
      return at < units_.size() ? replacement(units_[at] & ~(1U << 31)) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  static std::size_t offset(std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10) << ((unit & 1U << 9) >> 6);
  }

  [[nodiscard]] std::optional<std::string_view> replacement(std::size_t at) const {
    if (at > texts_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(texts_).substr(at);
    const std::string_view text = rest.substr(0, rest.find('\0'));
    return is_utf8(text) ? std::optional(text) : std::nullopt;
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

bool replace(const CharacterMap& map, NormalizedText& t) {
  std::string out;
  out.reserve(t.text.size());
  const std::string_view text = t.text;
  std::size_t number = 0;
  std::size_t from_start = 0;  // bytes of what the first cluster becomes
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = grapheme_length(text.substr(at));
    const std::string_view cluster = text.substr(at, length);
    const auto whole = length <= kLongestCluster ? map.find(cluster) : std::nullopt;
    if (whole) {
      out += *whole;
    } else {
      for_each_character(cluster, [&](char32_t, std::size_t i, std::size_t n) {
        const std::string_view part = cluster.substr(i, n);
        out += map.find(part).value_or(part);
      });
    }
    if (number++ == 0) from_start = out.size();
    at += length;
    if (out.size() > kMaxStepText) return false;
  }
  if (t.from_start > 0) {
    t.from_start = 0;
    for_each_character(std::string_view(out).substr(0, from_start),
                       [&](char32_t, std::size_t, std::size_t) { ++t.from_start; });
  }
  t.text = std::move(out);
  return true;
}

}  // namespace

Normalizer read_precompiled(const std::string& base64, const std::string& where, Diagnostics& out) {
  const auto bytes = from_base64(base64);
  auto map = bytes ? CharacterMap::read(*bytes) : std::nullopt;
  if (!map) {
    out.push_back({"bad-text", where, "is no table of sentencepiece's normalizer in base64", "write the file anew"});
    return nullptr;
  }
  return [map = std::move(*map)](NormalizedText& t, Matcher&) { return replace(map, t); };
}

}  // namespace smplan
