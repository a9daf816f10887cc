#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/refresh/http.hpp"

namespace smplan::cli {

/// What is known of a stored file.
struct StoredFile {
  std::string name;    ///< `offers.us-east-1.json`
  std::string source;  ///< URL or command
  Version version;
  std::string on;  ///< day on which the source was last asked
  std::uint64_t bytes = 0;
};

/// Files that were fetched, each with what is known of it in NAME.meta beside it. A file without one, or of another
/// length, is none: it was never finished. What is being fetched is NAME.part. One process at a time writes.
class Store {
 public:
  explicit Store(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  /// Makes the folder and locks it; again and again without harm. Nothing is made before the first call.
  Result<void> begin();

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string part(const std::string& name) const { return path(name) + ".part"; }
  [[nodiscard]] std::optional<StoredFile> find(const std::string& name) const;
  /// All of them, by name.
  [[nodiscard]] std::vector<StoredFile> files() const;

  /// The part becomes the file, whole; what is known of it is written last.
  Result<void> commit(const StoredFile& file);
  /// Of a file that is there.
  Result<void> set_facts(const StoredFile& file);
  void drop_part(const std::string& name);
  void drop(const std::string& name);

 private:
  std::filesystem::path folder_;
  int lock_ = -1;
};

/// A body that is written to NAME.part. What a server can continue keeps its version in NAME.part.meta.
class PartBody : public Body {
 public:
  PartBody(Store& store, std::string name, std::string source);
  ~PartBody() override { close(); }

  [[nodiscard]] std::uint64_t held() const override { return version_.known() ? size_ : 0; }
  [[nodiscard]] Version held_version() const override { return version_; }
  Result<void> begin(const Version& version) override;
  Result<void> write(std::string_view bytes) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// To the disk, before it may become a file.
  Result<void> finish();

 private:
  Result<void> open(int flags);
  [[nodiscard]] tl::unexpected<Diagnostics> unwritable() const;
  [[nodiscard]] std::string meta() const { return path_ + ".meta"; }
  void close();

  Store& store_;
  std::string name_, source_, path_;
  Version version_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

}  // namespace smplan::cli
