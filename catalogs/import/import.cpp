#include "catalogs/import/import.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "catalogs/import/reader.hpp"

namespace smplan {
namespace {

Result<void> read_json(std::istream& in, std::string_view name, ImportReader& reader) {
  std::vector<std::string> patterns;
  std::vector<PieceReader> readers;
  for (const auto& table : {offer_pieces(), ec2_pieces(), spot_advisor_pieces()}) {
    for (const PieceReader& piece : table) {
      patterns.emplace_back(piece.pattern);
      readers.push_back(piece);
    }
  }
  return stream_json(in, name, patterns, [&](const JsonPiece& piece) {
    Diagnostics out;
    readers[piece.pattern].read(reader, piece, out);
    return out;
  });
}

Result<void> read_file(std::istream& in, std::string_view name, ImportReader& reader) {
  reader.begin_file();
  // JSON starts with a brace; the offer's CSV with the quoted name of its first row.
  in >> std::ws;
  const int first = in.peek();
  if (first == std::char_traits<char>::eof()) {
    return fail("empty-file", std::string(name), "is empty", "fetch the file again");
  }
  const Result<void> read = first == '{' ? read_json(in, name, reader) : read_offer_csv(in, name, reader);
  if (!read) return read;
  if (!reader.recognised) {
    return fail("unknown-format", std::string(name), "is none of the files that can be imported",
                "see `smplan catalog --help` for the AWS commands that write them");
  }
  return {};
}

Result<void> read_path(const std::string& path, ImportReader& reader) {
  if (path == "-") return read_file(std::cin, "<stdin>", reader);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("file-unreadable", path, "cannot be read", "check the path and its permissions");
  return read_file(in, path, reader);
}

/// What the catalog would refuse later is refused now, with the file at hand.
Result<void> acceptable(const ImportedFacts& facts, const Catalog& catalog, std::string_view where) {
  const Result<JsonValue> overlay = parse_json(overlay_of(facts), where);
  Catalog changed = catalog;
  const Result<void> merged = overlay ? changed.merge(*overlay) : tl::unexpected<Diagnostics>(overlay.error());
  if (merged) return {};
  Diagnostics faults = merged.error();
  for (Diagnostic& fault : faults) {
    fault.location = where;
    fault.hint = "fetch the file again; nothing was taken from it";
  }
  return tl::unexpected<Diagnostics>(std::move(faults));
}

}  // namespace

Result<ImportedFacts> import_files(const std::vector<std::string>& paths, const Catalog& catalog,
                                   const ImportOptions& options) {
  ImportReader reader(catalog, options);
  for (const std::string& path : paths) {
    const Result<void> read = read_path(path, reader);
    if (!read) return tl::unexpected<Diagnostics>(read.error());
  }
  reader.finish();
  ImportedFacts facts = std::move(reader.facts());
  std::string where;
  for (const std::string& path : paths) where += (where.empty() ? "" : ", ") + path;
  if (facts.used == 0) {
    return fail("nothing-to-import", where,
                fmt::format("has no training price and no interruption rate of a known instance type{} ({} entries for "
                            "other things, {} for "
                            "unknown instance types)",
                            options.region ? " in " + *options.region : "", facts.other, facts.unknown),
                "check that the file is the one meant, and --region");
  }
  if (const Result<void> taken = acceptable(facts, catalog, where); !taken) {
    return tl::unexpected<Diagnostics>(taken.error());
  }
  return facts;
}

}  // namespace smplan
