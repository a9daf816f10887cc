#include "catalogs/model_names.hpp"

#include <algorithm>
#include <array>

#include "base/words.hpp"

namespace smplan {
namespace {

/// `2507` and `0324` tell year and month, or month and day.
bool is_release(std::string_view word) {
  constexpr std::size_t kDigits = 4;
  return word.size() == kDigits && std::all_of(word.begin(), word.end(), is_digit);
}

bool tells_no_width(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {"instruct", "it", "chat", "base",     "hf",      "sft", "dpo",
                                                       "bf16",     "pt", "fp8",  "thinking", "preview", "bnb", "4bit"};
  return is_release(word) || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

std::string plain_model_name(std::string_view name) {
  std::string plain;
  char between = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '+' && !plain.empty() && (i + 1 == name.size() || !is_letter_or_digit(name[i + 1]))) {
      plain += "plus";
      continue;
    }
    if (!is_letter_or_digit(c)) {
      between = between == 0 || c == '.' ? c : between;
      continue;
    }
    if (between != 0 && !plain.empty() && is_digit(plain.back()) && is_digit(c)) {
      plain.push_back(between == '.' ? '.' : '-');
    }
    between = 0;
    plain.push_back(lower_case(c));
  }
  return plain;
}

std::string plain_base_model_name(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  std::string kept;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("-_ "), name.size());
    if (!tells_no_width(lower_case(name.substr(0, end)))) kept.append(kept.empty() ? "" : "-").append(name, 0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return plain_model_name(kept);
}

bool is_hub_name(std::string_view name) {
  constexpr std::size_t kMostCharacters = 96;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const auto is_part = [](std::string_view part) {
    const auto begins = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    const auto known = [&](char c) { return begins(c) || c == '-' || c == '.'; };
    return !part.empty() && part.size() <= kMostCharacters && begins(part.front()) && begins(part.back()) &&
           std::all_of(part.begin(), part.end(), known);
  };
  const auto holds = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (holds("--") || holds("..") || name.ends_with(".git")) return false;
  return is_part(name.substr(0, slash)) && is_part(name.substr(slash + 1));
}

bool names_no_transformer(std::string_view name) {
  constexpr auto kBegins = std::to_array<std::string_view>(
      {"resnet", "resnext", "vgg", "unet", "efficientnet", "mobilenet", "densenet", "inception", "alexnet", "yolo",
       "rcnn", "retinanet", "dlrm", "diffusion", "sdxl", "lstm", "convnext", "gnmt", "tacotron"});
  constexpr auto kWhole = std::to_array<std::string_view>({"cnn", "rnn", "gan", "ssd", "dit", "flux"});
  std::string word;
  const auto is_known = [&] {
    const bool begins = std::any_of(kBegins.begin(), kBegins.end(), [&](auto b) { return word.starts_with(b); });
    return begins || std::find(kWhole.begin(), kWhole.end(), word) != kWhole.end();
  };
  for (const char c : name) {
    if (is_letter_or_digit(c)) {
      word += lower_case(c);
    } else {
      if (is_known()) return true;
      word.clear();
    }
  }
  return is_known();
}

}  // namespace smplan
