#include "catalogs/published.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kMostMib = 8192;
constexpr std::size_t kMostRegions = 1000;

std::uint64_t read_limit(ObjectReader& reader) {
  return static_cast<std::uint64_t>(reader.integer("max_mib", 1, kMostMib)) << 20;
}

PublishedFile read_published_file(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  PublishedFile file;
  file.name = read_name(reader, "name");
  file.about = read_text(reader, "about");
  file.holds = read_text(reader, "holds");
  file.host = read_text(reader, "host");
  file.path = reader.optional_string("path").value_or("");
  file.region_index = reader.optional_string("region_index").value_or("");
  file.needs = read_optional_name(reader, "needs");
  file.max_bytes = read_limit(reader);
  if (file.path.empty() == file.region_index.empty()) {
    out.push_back({"missing-key", value.location(), "needs one of path and region_index", "give one"});
  }
  reader.finish();
  return file;
}

PublishedCommand read_command(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  PublishedCommand command;
  command.name = read_name(reader, "name");
  command.about = read_text(reader, "about");
  command.holds = read_text(reader, "holds");
  command.arguments = strings_of(reader.array("arguments"), out);
  command.max_bytes = read_limit(reader);
  reader.finish();
  return command;
}

void read_sources(const JsonValue& document, PublishedSources& sources, Diagnostics& out) {
  ObjectReader reader(document, out);
  reader.string("schema");
  reader.ignore("note");
  read_provenance(reader);
  for (const JsonValue& file : reader.array("files")) sources.files.push_back(read_published_file(file, out));
  for (const JsonValue& command : reader.array("commands")) sources.commands.push_back(read_command(command, out));
  sources.credentials = strings_of(reader.array("credentials"), out);
  reader.finish();
}

/// A path of plain segments: it becomes a part of a URL.
bool is_plain_path(std::string_view path) {
  constexpr std::size_t kLongest = 512;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '-' ||
           c == '_' || c == '.';
  };
  return path.size() > 1 && path.size() <= kLongest && path.front() == '/' && path[1] != '/' &&
         path.find("..") == std::string_view::npos && std::all_of(path.begin(), path.end(), plain);
}

void read_region(const JsonValue& entry, std::vector<RegionFile>& files, Diagnostics& out) {
  const auto text = [&](std::string_view key) {
    const auto member = entry.find(key);
    return member ? member->as_string(out) : std::string();
  };
  // Offers have currentVersionUrl, savings plans versionUrl.
  std::string path = text("currentVersionUrl");
  if (path.empty()) path = text("versionUrl");
  std::string region = text("regionCode");
  if (!is_plain_path(path) || region.empty()) {
    out.push_back({"bad-region-index", entry.location(),
                   fmt::format("names the region {} and the file {}", quote(region), quote(path)),
                   "a region index of AWS has a regionCode and a path on its own host; nothing was taken from it"});
    return;
  }
  // Local Zones and edge locations have files too, which no training job runs on.
  if (is_region_name(region)) files.push_back({std::move(region), std::move(path)});
}

}  // namespace

bool PublishedCommand::by_instance() const {
  return std::find(arguments.begin(), arguments.end(), "{instance}") != arguments.end();
}

std::vector<std::string> PublishedSources::names() const {
  std::vector<std::string> out;
  for (const PublishedFile& file : files) out.push_back(file.name);
  for (const PublishedCommand& command : commands) out.push_back(command.name);
  return out;
}

Result<PublishedSources> PublishedSources::shipped() {
  PublishedSources sources;
  Diagnostics faults;
  for (const EmbeddedFile& file : shipped_published_files()) {
    const Result<JsonValue> document = parse_json(file.content, file.name);
    if (document) {
      read_sources(*document, sources, faults);
    } else {
      faults.insert(faults.end(), document.error().begin(), document.error().end());
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return sources;
}

Result<std::vector<RegionFile>> read_region_index(std::string_view text, std::string_view where) {
  const Result<JsonValue> document = parse_json(text, where);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  const auto regions = document->find("regions");
  if (!regions || !(regions->is_object() || regions->is_array())) {
    return fail("bad-region-index", std::string(where), "is no region index: it has no object or array 'regions'",
                "check the address, and what a proxy or mirror makes of it");
  }
  Diagnostics out;
  std::vector<RegionFile> files;
  std::vector<JsonValue> entries;
  if (regions->is_array()) {
    entries = regions->as_array(out);
  } else {
    for (const std::string& key : regions->keys(out)) entries.push_back(*regions->find(key));
  }
  if (entries.size() > kMostRegions) {
    return fail("bad-region-index", std::string(where),
                fmt::format("names {} regions, more than {}", entries.size(), kMostRegions), "fetch it again");
  }
  for (const JsonValue& entry : entries) read_region(entry, files, out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return files;
}

bool is_region_name(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  const auto plain = [](char c) { return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongest && name.front() >= 'a' && name.find('-') != std::string_view::npos &&
         name.back() >= '0' && name.back() <= '9' && std::all_of(name.begin(), name.end(), plain);
}

}  // namespace smplan
