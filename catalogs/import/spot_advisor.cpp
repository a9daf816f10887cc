#include <array>

#include <fmt/format.h>

#include "catalogs/import/reader.hpp"

// The data file behind AWS Spot Instance Advisor: bands of the part of instances reclaimed in the last month, and for
// each region, system and type the band's index.

namespace smplan {
namespace {

/// `5-10%`, `<5%`, `>20%`: the bounds in parts of one. The last band is open; half is more than any advice states.
std::optional<ImportReader::Band> band_of(std::string_view label) {
  constexpr double kOpenEnd = 0.5;
  if (label.empty() || label.back() != '%') return std::nullopt;
  label.remove_suffix(1);
  const bool below = !label.empty() && label.front() == '<';
  const bool above = !label.empty() && label.front() == '>';
  if (below || above) label.remove_prefix(1);
  const std::size_t dash = label.find('-');
  if ((dash != std::string_view::npos) == (below || above)) return std::nullopt;
  Diagnostics ignored;
  const auto first = read_usd(label.substr(0, dash), "", ignored);
  const auto second = dash == std::string_view::npos ? first : read_usd(label.substr(dash + 1), "", ignored);
  constexpr double kPercent = 100;
  if (!first || !second || *first > *second || *second >= kPercent * kOpenEnd) return std::nullopt;
  if (below) return ImportReader::Band{0, *first / kPercent};
  if (above) return ImportReader::Band{*first / kPercent, kOpenEnd};
  return ImportReader::Band{*first / kPercent, *second / kPercent};
}

void read_band(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  const auto index = piece.value.find("index");
  const std::string label = text_member(piece.value, "label", out);
  const auto band = band_of(label);
  if (!index || !band) {
    out.push_back({"bad-band", piece.value.location(),
                   fmt::format("{} is no band of interruptions such as 5-10%", quote(label)),
                   "fetch the file again; nothing was taken from it"});
    return;
  }
  reader.bands[index->as_integer(out)] = *band;
}

void read_region(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  const auto linux_types = piece.value.find("Linux");
  if (!linux_types || !reader.wanted(piece.key)) return;
  for (const std::string& name : linux_types->keys(out)) {
    const std::string type = "ml." + name;
    if (reader.catalog().find_instance(type) == nullptr) {
      ++reader.facts().unknown;
      continue;
    }
    const auto entry = linux_types->find(name);
    const auto index = entry->find("r");
    const std::int64_t which = index ? index->as_integer(out) : -1;
    const auto band = reader.bands.find(which);
    if (band == reader.bands.end()) {
      out.push_back({"bad-band", entry->location(), fmt::format("is in band {}, which the file does not define", which),
                     "fetch the file again: AWS writes the bands first"});
      return;
    }
    if (!has_room(reader.facts().spot.size(), entry->location(), out)) return;
    ++reader.facts().used;
    const auto [low, high] = band->second;
    reader.facts().spot.push_back(
        {type,
         piece.key,
         (low + high) / 2,
         low,
         high,
         {reader.sourced(
              fmt::format("AWS Spot Instance Advisor, middle of {:.3g} to {:.3g} % a month", 100 * low, 100 * high)),
          reader.as_of()}});
  }
}

constexpr std::array<PieceReader, 2> kPieces = {{{"/ranges/*", read_band}, {"/spot_advisor/*", read_region}}};

}  // namespace

std::span<const PieceReader> spot_advisor_pieces() { return kPieces; }

}  // namespace smplan
