#include "planner/export/folder.hpp"

#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "smplan.export/1";

/// Hash by path of the files that the last export wrote.
using Written = std::map<std::string, std::string>;

/// A path below a folder, in parts that name files.
bool is_below(const fs::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  for (const fs::path& part : path) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

Result<Written> read_marker(const fs::path& marker) {
  std::error_code error;
  if (!fs::exists(marker, error)) return Written();
  const Result<JsonValue> document = read_json_file(marker.string());
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  Diagnostics out;
  Written written;
  ObjectReader reader(*document, out);
  const std::string schema = reader.string("schema");
  if (out.empty() && schema != kSchema) {
    out.push_back({"bad-schema", reader.location("schema"), fmt::format("schema is {}", quote(schema)),
                   "export to another folder"});
  }
  for (const JsonValue& item : reader.array("files")) {
    ObjectReader file(item, out);
    const std::string path = file.string("path");
    written[path] = file.string("hash");
    file.finish();
    if (!is_below(path)) {
      out.push_back({"bad-path", item.location(), fmt::format("{} is no path below the folder", quote(path)),
                     "export to another folder"});
    }
  }
  reader.finish();
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return written;
}

std::string marker_text(const std::vector<ExportFile>& files) {
  Json out;
  out["schema"] = std::string(kSchema);
  out["files"] = Json::array();
  for (const ExportFile& file : files) {
    out["files"].push_back(Json{{"path", file.path}, {"hash", hash_text(file.content)}});
  }
  return out.dump(2) + "\n";
}

/// The first symbolic link on the way from the folder to the file; empty if there is none.
fs::path link_on_the_way(const fs::path& folder, const fs::path& path) {
  fs::path place = folder;
  std::error_code error;
  for (const fs::path& part : path) {
    place /= part;
    if (fs::is_symlink(place, error)) return place;
  }
  return {};
}

Diagnostic in_the_way(const fs::path& path, std::string_view what) {
  return {"in-the-way", path.string(), std::string(what), "move it away, or export to another folder"};
}

/// What forbids to write or to remove the file; nullopt where it is missing or an export's own. `content` is what will
/// stand there, nullptr if nothing.
std::optional<Diagnostic> obstacle(const fs::path& folder, const std::string& path, const Written& written,
                                   const std::string* content) {
  if (const fs::path link = link_on_the_way(folder, path); !link.empty()) {
    return in_the_way(link, "is a symbolic link");
  }
  const fs::path file = folder / path;
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  if (!fs::is_regular_file(file, error)) return in_the_way(file, "is no file");
  const Result<std::string> text = read_text_file(file.string());
  if (!text) return text.error().front();
  if (content != nullptr && *text == *content) return std::nullopt;
  const auto known = written.find(path);
  if (known == written.end()) return in_the_way(file, "is there already, and no export wrote it");
  if (known->second != hash_text(*text)) return in_the_way(file, "was changed since smplan wrote it");
  return std::nullopt;
}

/// Every obstacle to the new files and to the removal of the old ones.
Diagnostics obstacles(const fs::path& folder, const std::vector<ExportFile>& files, const Written& stale,
                      const Written& written) {
  Diagnostics out;
  const auto judge = [&](const std::string& path, const std::string* content) {
    if (auto found = obstacle(folder, path, written, content)) out.push_back(std::move(*found));
  };
  for (const ExportFile& file : files) judge(file.path, &file.content);
  for (const auto& entry : stale) judge(entry.first, nullptr);
  return out;
}

}  // namespace

Result<void> write_export(const std::string& folder, const std::vector<ExportFile>& files) {
  const fs::path root(folder);
  const std::string marker(kExportMarker);
  if (const fs::path link = link_on_the_way(root, marker); !link.empty()) {
    return tl::unexpected<Diagnostics>(Diagnostics{in_the_way(link, "is a symbolic link")});
  }
  const Result<Written> written = read_marker(root / marker);
  if (!written) return tl::unexpected<Diagnostics>(written.error());
  Written stale = *written;
  for (const ExportFile& file : files) stale.erase(file.path);
  if (Diagnostics found = obstacles(root, files, stale, *written); !found.empty()) {
    return tl::unexpected<Diagnostics>(std::move(found));
  }
  std::error_code error;
  for (const auto& entry : stale) fs::remove(root / entry.first, error);
  std::vector<ExportFile> all = files;
  all.push_back({marker, marker_text(files)});
  for (const ExportFile& file : all) {
    const fs::path path = root / file.path;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return fail("folder-unwritable", path.parent_path().string(), fmt::format("cannot be made: {}", error.message()),
                  "check that the folder above exists and is writable");
    }
    if (Result<void> done = write_text_file(path.string(), file.content); !done) return done;
  }
  return {};
}

}  // namespace smplan
