#include "catalogs/import/import.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

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

tl::unexpected<Diagnostics> unreadable(const std::string& path, int error) {
  return fail("file-unreadable", path,
              fmt::format("cannot be read: {}", std::generic_category().message(error != 0 ? error : EIO)),
              "check the path and its permissions");
}

/// What the first byte gives away of a file that is neither JSON nor CSV.
struct Disguise {
  int first;
  const char* what;
  const char* remedy;
};
constexpr Disguise kDisguises[] = {
    {0x1f, "is compressed", "unpack it on the way: gunzip -c FILE | smplan catalog import -"},
    {0xff, "is UTF-16 text, as PowerShell writes it", "write it as UTF-8, e.g. with Out-File -Encoding utf8"},
    {'<', "is XML or HTML, as servers report errors in", "read what it says, and fetch the file again"},
    {'[', "is a JSON array, a part of an answer", "write the whole answer: fetch it again without --query"},
};

/// Passes over white space and the mark that editors put in front of UTF-8.
void skip_to_content(std::istream& in) {
  constexpr int kMark[] = {0xef, 0xbb, 0xbf};
  in >> std::ws;
  for (const int byte : kMark) {
    if (in.peek() != byte) break;
    in.get();
  }
  in >> std::ws;
}

Result<void> read_file(std::istream& in, std::string_view name, ImportReader& reader) {
  reader.begin_file(name);
  errno = 0;
  skip_to_content(in);
  const int first = in.peek();
  if (in.bad()) return unreadable(std::string(name), errno);
  if (first == std::char_traits<char>::eof()) {
    return fail("empty-file", std::string(name), "is empty", "fetch the file again");
  }
  for (const Disguise& d : kDisguises) {
    if (first == d.first) return fail("unknown-format", std::string(name), d.what, d.remedy);
  }
  // JSON starts with a brace; the offer's CSV with the quoted name of its first row.
  Result<void> read = first == '{' ? read_json(in, name, reader) : read_offer_csv(in, name, reader);
  if (!read) return read;
  if (!reader.recognised) {
    return fail("unknown-format", std::string(name), "is none of the files that can be imported",
                "see `smplan catalog --help` for the AWS commands that write them");
  }
  return {};
}

Result<void> read_path(const std::string& path, ImportReader& reader) {
  if (path == "-") return read_file(std::cin, "<stdin>", reader);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return unreadable(path, EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(path, errno);
  return read_file(in, path, reader);
}

/// What the catalog would refuse later is refused now, with the file at hand.
Result<void> acceptable(const ImportedFacts& facts, const Catalog& catalog, std::string_view where) {
  const Result<JsonValue> overlay = parse_json(overlay_of(facts), where);
  Catalog changed = catalog;
  const Result<void> merged = overlay ? changed.merge(*overlay) : tl::unexpected<Diagnostics>(overlay.error());
  if (merged) return {};
  // The overlay has no lines that a reader could look up, and one fault of a file is one of each of its prices.
  Diagnostics faults;
  for (const Diagnostic& fault : merged.error()) {
    const bool told =
        std::any_of(faults.begin(), faults.end(), [&](const Diagnostic& d) { return d.message == fault.message; });
    if (!told)
      faults.push_back(
          {fault.code, std::string(where), fault.message, "fetch the file again; nothing was taken from it"});
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
  if (facts.used == 0 && options.may_be_empty) return facts;
  if (facts.used == 0) {
    std::string foreign;
    for (const std::string& currency : reader.currencies) foreign += ", prices in " + currency;
    return fail("nothing-to-import", where,
                fmt::format("has no training price in USD and no interruption rate of a known instance type{} ({} "
                            "entries for other things{}, {} for unknown instance types)",
                            options.region ? " in " + *options.region : "", facts.other, foreign, facts.unknown),
                "check that the file is the one meant, and --region");
  }
  if (const Result<void> taken = acceptable(facts, catalog, where); !taken) {
    return tl::unexpected<Diagnostics>(taken.error());
  }
  return facts;
}

}  // namespace smplan
