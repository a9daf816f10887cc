#include "base/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "base/printable.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

constexpr std::size_t kMaxQuoted = 80;
constexpr std::size_t kMaxLocation = 1000;
constexpr std::size_t kMaxSentence = 4000;
/// Longer names are no typing errors; comparing them would only cost time.
constexpr std::size_t kMaxCompared = 128;

/// Optimal string alignment distance, letters compared without case: insertion, deletion, replacement
/// and the swap of two neighbours cost 1. Source: Damerau 1964, restricted form.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower_case(a[i - 1]) == lower_case(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower_case(a[i - 1]) == lower_case(b[j - 2]) &&
                           lower_case(a[i - 2]) == lower_case(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  // The location holds names of files and keys that others chose.
  std::string line = printable(diagnostic.location, kMaxLocation);
  if (!line.empty()) line += ": ";
  line += printable(diagnostic.message, kMaxSentence);
  if (!diagnostic.hint.empty()) line += " (" + printable(diagnostic.hint, kMaxSentence) + ")";
  return printable_lines(line);
}

std::string to_string(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += to_string(diagnostic) + '\n';
  return text;
}

std::string quote(std::string_view text) { return "'" + printable(text, kMaxQuoted) + "'"; }

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t limit) {
  if (name.size() > kMaxCompared) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : known) {
    if (candidate.size() > kMaxCompared) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (2 * distance <= std::max(name.size(), candidate.size())) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  near.resize(std::min(limit, near.size()));
  std::vector<std::string> names;
  for (auto& entry : near) names.push_back(std::move(entry.second));
  return names;
}

/// Names that a hint lists whole.
constexpr std::size_t kMostListed = 24;

Diagnostic unknown_name(std::string_view kind, std::string_view name, std::string_view where,
                        const std::vector<std::string>& known) {
  std::string code = fmt::format("unknown-{}", kind);
  std::replace(code.begin(), code.end(), ' ', '-');
  const std::vector<std::string> near = nearest_names(name, known);
  std::string hint;
  if (!near.empty()) {
    hint = fmt::format("did you mean {}?", fmt::join(near, ", "));
  } else if (!known.empty() && known.size() <= kMostListed) {
    hint = fmt::format("known: {}", fmt::join(known, ", "));
  }
  return {std::move(code), std::string(where), fmt::format("unknown {} {}", kind, quote(name)), std::move(hint)};
}

}  // namespace smplan
