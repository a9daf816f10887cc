#pragma once

#include <map>
#include <string>

#include "base/result.hpp"

namespace smplan::cli {

/// Where the lines of a sweep go while it runs: standard output, or FILE.part, from which an interrupted sweep goes
/// on. Only one sweep at a time may write to a file; the second is refused.
class LineSink {
 public:
  explicit LineSink(std::string output);
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;
  ~LineSink();

  /// Reads what earlier runs left and takes hold of the partial file.
  Result<void> open();
  /// The line that an earlier run wrote for this request, or nullptr.
  [[nodiscard]] const std::string* known(const std::string& identity) const;
  Result<void> write(const std::string& line);
  /// FILE is written by then: drops the partial one.
  void finish();
  [[nodiscard]] bool streams() const { return output_ == "-"; }

 private:
  Result<void> take_hold();
  Result<void> append(std::string_view text);
  [[nodiscard]] tl::unexpected<Diagnostics> unwritable() const;
  /// Refuses to touch what stands under the partial file's name and is not a sweep's.
  [[nodiscard]] tl::unexpected<Diagnostics> in_the_way(std::string_view what) const;

  std::string output_;
  std::string partial_;
  std::map<std::string, std::string> done_;
  int partial_fd_ = -1;
};

}  // namespace smplan::cli
