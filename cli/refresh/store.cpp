#include "cli/refresh/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/json_reader.hpp"
#include "catalogs/dates.hpp"

namespace smplan::cli {
namespace {

constexpr const char* kSchema = "smplan.download/1";
constexpr std::size_t kLongestMeta = 65536;
constexpr std::string_view kMetaEnding = ".meta";

/// nullopt where the file is missing, broken or of another release: the download is then made anew.
std::optional<StoredFile> read_facts(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kLongestMeta);
  const Result<JsonValue> document = text ? parse_json(*text, path) : tl::unexpected<Diagnostics>(text.error());
  if (!document || !document->is_object()) return std::nullopt;
  Diagnostics faults;
  ObjectReader reader(*document, faults);
  StoredFile file;
  const std::string schema = reader.string("schema");
  file.source = reader.string("source");
  file.version.etag = reader.optional_string("etag").value_or("");
  file.version.last_modified = reader.optional_string("last_modified").value_or("");
  file.on = reader.optional_string("on").value_or("");
  file.bytes = static_cast<std::uint64_t>(reader.optional_integer("bytes").value_or(0));
  reader.finish();
  if (!faults.empty() || schema != kSchema || !(file.on.empty() || is_day(file.on))) return std::nullopt;
  return file;
}

Result<void> write_facts(const std::string& path, const StoredFile& file) {
  Json out;
  out["schema"] = kSchema;
  out["source"] = file.source;
  if (!file.version.etag.empty()) out["etag"] = file.version.etag;
  if (!file.version.last_modified.empty()) out["last_modified"] = file.version.last_modified;
  if (!file.on.empty()) out["on"] = file.on;
  if (file.bytes > 0) out["bytes"] = file.bytes;
  return write_text_file(path, out.dump(2) + "\n");
}

tl::unexpected<Diagnostics> unwritable_at(const std::string& path, int error) {
  return fail("file-unwritable", path, fmt::format("cannot be written: {}", std::generic_category().message(error)),
              "check that the folder is writable and has space, or choose another with --cache");
}

/// What If-Range may name: a strong entity tag, else a date.
bool can_be_continued(const Version& version) {
  return version.etag.empty() ? !version.last_modified.empty() : !version.etag.starts_with("W/");
}

void remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace

Store::~Store() {
  if (lock_ >= 0) ::close(lock_);
}

Result<void> Store::begin() {
  if (lock_ >= 0) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return unwritable_at(folder_.string(), error.value());
  const std::string path = (folder_ / "lock").string();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return unwritable_at(path, errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int cause = errno;
    ::close(fd);
    if (cause != EWOULDBLOCK) return unwritable_at(path, cause);
    return fail("busy", folder_.string(), "is written by another `smplan catalog refresh`",
                "wait until it is done, or choose another folder with --cache");
  }
  lock_ = fd;
  return {};
}

std::optional<StoredFile> Store::find(const std::string& name) const {
  std::optional<StoredFile> file = read_facts(path(name) + std::string(kMetaEnding));
  std::error_code error;
  if (!file || std::filesystem::file_size(path(name), error) != file->bytes || error || file->on.empty()) {
    return std::nullopt;
  }
  file->name = name;
  return file;
}

std::vector<StoredFile> Store::files() const {
  std::vector<StoredFile> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.ends_with(kMetaEnding)) continue;
    if (auto file = find(name.substr(0, name.size() - kMetaEnding.size()))) out.push_back(std::move(*file));
  }
  std::sort(out.begin(), out.end(), [](const StoredFile& a, const StoredFile& b) { return a.name < b.name; });
  return out;
}

Result<void> Store::commit(const StoredFile& file) {
  // Between the two renames there is no file rather than a new one that passes for the old.
  remove(path(file.name) + std::string(kMetaEnding));
  remove(part(file.name) + std::string(kMetaEnding));
  if (::rename(part(file.name).c_str(), path(file.name).c_str()) != 0) return unwritable_at(path(file.name), errno);
  return set_facts(file);
}

Result<void> Store::set_facts(const StoredFile& file) {
  return write_facts(path(file.name) + std::string(kMetaEnding), file);
}

void Store::drop_part(const std::string& name) {
  remove(part(name) + std::string(kMetaEnding));
  remove(part(name));
}

void Store::drop(const std::string& name) {
  remove(path(name) + std::string(kMetaEnding));
  remove(path(name));
}

PartBody::PartBody(Store& store, std::string name, std::string source)
    : store_(store), name_(std::move(name)), source_(std::move(source)), path_(store.part(name_)) {
  const std::optional<StoredFile> facts = read_facts(meta());
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path_, error);
  if (!facts || error || facts->source != source_ || !can_be_continued(facts->version)) return;
  version_ = facts->version;
  size_ = size;
}

Result<void> PartBody::begin(const Version& version) {
  close();
  if (const Result<void> begun = store_.begin(); !begun) return begun;
  remove(meta());
  size_ = 0;
  version_ = can_be_continued(version) ? version : Version();
  if (Result<void> opened = open(O_TRUNC); !opened) return opened;
  return version_.known() ? write_facts(meta(), {name_, source_, version_, {}, 0}) : Result<void>();
}

Result<void> PartBody::write(std::string_view bytes) {
  if (fd_ < 0) {
    if (Result<void> opened = open(O_APPEND); !opened) return opened;
  }
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return unwritable();
    size_ += static_cast<std::uint64_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> PartBody::finish() {
  if (fd_ < 0) {
    if (Result<void> opened = open(O_APPEND); !opened) return opened;
  }
  const bool flushed = ::fsync(fd_) == 0;
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  return flushed && closed ? Result<void>() : unwritable();
}

Result<void> PartBody::open(int flags) {
  if (Result<void> begun = store_.begin(); !begun) return begun;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
  return fd_ >= 0 ? Result<void>() : unwritable();
}

tl::unexpected<Diagnostics> PartBody::unwritable() const { return unwritable_at(path_, errno); }

void PartBody::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace smplan::cli
