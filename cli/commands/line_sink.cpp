#include "cli/commands/line_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/output.hpp"
#include "planner/analysis/sweep.hpp"

namespace smplan::cli {
namespace {

/// Lines that an earlier run of the same sweep wrote, by identity. A last line cut short is none. Returns the bytes
/// of whole lines; none of a pipe or a device, which may never end.
std::int64_t read_lines(const std::string& path, std::map<std::string, std::string>& lines) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return 0;
  std::ifstream file(path, std::ios::binary);
  std::int64_t whole = 0;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) break;  // no newline at its end
    whole += static_cast<std::int64_t>(line.size()) + 1;
    if (auto identity = sweep_identity(line)) lines.insert_or_assign(std::move(*identity), line + '\n');
  }
  return whole;
}

/// An empty file, or the beginning of one that a sweep wrote.
bool holds_sweep(int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  std::string start(kSweepLineStart.size(), '\0');
  const ssize_t got = ::pread(fd, start.data(), start.size(), 0);
  return got >= 0 && kSweepLineStart.starts_with(start.substr(0, static_cast<std::size_t>(got)));
}

/// Whether the path still leads to the open file: a sweep that ended in between has removed it.
bool leads_to(const std::string& path, int fd) {
  struct stat by_path = {};
  struct stat by_fd = {};
  return ::stat(path.c_str(), &by_path) == 0 && ::fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
         by_path.st_dev == by_fd.st_dev;
}

}  // namespace

LineSink::LineSink(std::string output) : output_(std::move(output)), partial_(output_ + ".part") {}

LineSink::~LineSink() {
  if (partial_fd_ >= 0) ::close(partial_fd_);
}

tl::unexpected<Diagnostics> LineSink::unwritable() const {
  return fail("unwritable", partial_, fmt::format("cannot be written: {}", std::strerror(errno)),
              "check that the folder exists, is writable and has space");
}

tl::unexpected<Diagnostics> LineSink::in_the_way(std::string_view what) const {
  return fail("in-the-way", partial_, std::string(what) + ", and answers are kept there until the sweep is done",
              "move it away, or choose another --output");
}

Result<void> LineSink::take_hold() {
  do {
    if (partial_fd_ >= 0) ::close(partial_fd_);
    partial_fd_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (partial_fd_ < 0 && errno == ELOOP) return in_the_way("is a symbolic link");
    if (partial_fd_ < 0) return unwritable();
    if (!holds_sweep(partial_fd_)) return in_the_way("is no unfinished sweep");
    // A file system without locks gives another error; there the sweep goes on unprotected.
    if (::flock(partial_fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return fail("in-use", partial_, "another sweep is writing here", "wait for it, or choose another --output");
    }
  } while (!leads_to(partial_, partial_fd_));
  return {};
}

Result<void> LineSink::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(partial_fd_, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return unwritable();
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> LineSink::open() {
  if (streams()) return {};
  if (Result<void> held = take_hold(); !held) return held;
  read_lines(output_, done_);
  const std::int64_t whole = read_lines(partial_, done_);
  if (::ftruncate(partial_fd_, whole) != 0 || ::lseek(partial_fd_, whole, SEEK_SET) != whole) return unwritable();
  return {};
}

const std::string* LineSink::known(const std::string& identity) const {
  const auto found = done_.find(identity);
  return found == done_.end() ? nullptr : &found->second;
}

Result<void> LineSink::write(const std::string& line) { return streams() ? write_answer("-", line) : append(line); }

void LineSink::finish() {
  if (!streams()) ::unlink(partial_.c_str());
}

}  // namespace smplan::cli
