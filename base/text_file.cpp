#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/json_reader.hpp"

namespace smplan {
namespace {

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return fd_; }
  /// False if the system reports a late write error (full disk, NFS).
  bool close() {
    const bool closed = fd_ < 0 || ::close(fd_) == 0;
    fd_ = -1;
    return closed;
  }

 private:
  int fd_;
};

std::string reason(int error) { return std::generic_category().message(error); }

tl::unexpected<Diagnostics> unreadable(const std::string& name, std::string_view why) {
  return fail("file-unreadable", name, fmt::format("cannot be read: {}", why), "check the path and its permissions");
}

tl::unexpected<Diagnostics> unwritable(const std::string& path, int error) {
  return fail("file-unwritable", path, fmt::format("cannot be written: {}", reason(error)),
              "check that the folder exists, is writable and has space");
}

Result<std::string> read_all(int fd, const std::string& name, std::size_t max_bytes) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(name, reason(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      return fail("file-too-large", name, fmt::format("is larger than the limit of {} bytes", max_bytes),
                  "split the file or drop what is not needed");
    }
  }
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// Holds back what a user or a scheduler sends to end the process, until the file is in its place or gone again.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Permissions that an ordinary creation would give: those of the file replaced, else 0666 less the umask.
mode_t mode_for(const struct stat* replaced) {
  if (replaced != nullptr) return replaced->st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// Pipes and devices (`/dev/stdout`) cannot be renamed over.
Result<void> write_in_place(const std::string& path, std::string_view content) {
  Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (out.get() < 0 || !write_all(out.get(), content) || !out.close()) return unwritable(path, errno);
  return {};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  if (path == "-") return read_all(STDIN_FILENO, "<stdin>", max_bytes);
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return unreadable(path, reason(errno));
  struct stat info = {};
  if (::fstat(in.get(), &info) == 0 && S_ISDIR(info.st_mode)) return unreadable(path, "it is a folder");
  return read_all(in.get(), path, max_bytes);
}

Result<void> write_text_file(const std::string& path, std::string_view content) {
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return unwritable(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return write_in_place(path, content);
  std::error_code error;
  // Replace the file behind a symbolic link, not the link.
  const std::string target = exists ? std::filesystem::canonical(path, error).string() : path;
  if (error) return unwritable(path, error.value());
  std::string temporary = target + ".XXXXXX";
  const SignalsHeld held;
  Descriptor out(::mkostemp(temporary.data(), O_CLOEXEC));
  if (out.get() < 0) return unwritable(path, errno);
  const bool written = write_all(out.get(), content) && ::fchmod(out.get(), mode_for(exists ? &info : nullptr)) == 0 &&
                       ::fsync(out.get()) == 0 && out.close() && ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!written) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    return unwritable(path, cause);
  }
  return {};
}

}  // namespace smplan
