#include "cli/refresh/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "base/escape.hpp"
#include "base/printable.hpp"

namespace smplan::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostErrorText = 8192;
constexpr std::size_t kLongestReason = 240;

/// Both ends close on every way out.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(read_end);
    close(write_end);
  }
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Between fork and execve only what is safe in a signal handler. Never returns.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, int output, int errors,
                         int report) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
      ::dup2(errors, STDERR_FILENO) >= 0) {
    ::execve(path, arguments, environment);
  }
  const int cause = errno;
  static_cast<void>(!::write(report, &cause, sizeof cause));
  ::_exit(127);
}

/// The last line that says something.
std::string last_line(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", last);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return printable(text.substr(begin, last - begin + 1), kLongestReason);
}

/// A program that runs, and ends with this object.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!status_) kill();
  }
  void kill() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    wait(Clock::time_point::max());
  }
  /// Its status; nullopt if it runs on at the end of the time.
  std::optional<int> wait(Clock::time_point end) {
    constexpr std::chrono::milliseconds kStep{5};
    while (!status_) {
      int status = 0;
      const pid_t done = ::waitpid(pid_, &status, WNOHANG);
      if (done == pid_) status_ = status;
      if (done < 0 && errno != EINTR) status_ = -1;
      if (!status_ && Clock::now() >= end) return std::nullopt;
      if (!status_) std::this_thread::sleep_for(kStep);
    }
    return status_;
  }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

/// This process's environment, with these in place of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const bool replaced = std::any_of(variables.begin(), variables.end(), [&](const std::string& v) {
      return text.starts_with(v.substr(0, v.find('=') + 1));
    });
    if (!replaced) environment.push_back(text);
  }
  environment.insert(environment.end(), variables.begin(), variables.end());
  return environment;
}

/// Takes what a program prints, within its limits.
class Outlet {
 public:
  Outlet(const std::string& path, const ProgramLimits& limits, Body& output)
      : path_(path),
        limits_(limits),
        output_(output),
        end_(Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(limits.time.value() * 1000))) {}

  [[nodiscard]] Clock::time_point end() const { return end_; }
  [[nodiscard]] tl::unexpected<Diagnostics> broken(int error) const {
    return fail("program-failed", path_, fmt::format("cannot be run: {}", std::generic_category().message(error)),
                "check the program and its permissions");
  }
  /// Until both pipes end.
  Result<void> take_all(Pipe& out, Pipe& err);
  /// Whether it ended well; without a status it has not ended at all.
  Result<void> judge(const std::optional<int>& status) const;

 private:
  [[nodiscard]] tl::unexpected<Diagnostics> late() const {
    return fail("too-slow", path_, fmt::format("is not done after {}", format_duration(limits_.time)),
                "run the command by hand to see what it waits for, or give it longer with --timeout");
  }
  /// One read of a pipe that is ready.
  Result<void> take(int& fd, bool is_error);

  const std::string& path_;
  const ProgramLimits& limits_;
  Body& output_;
  Clock::time_point end_;
  std::string said_;
  std::array<char, 1 << 16> buffer_{};
};

Result<void> Outlet::take(int& fd, bool is_error) {
  const ssize_t got = ::read(fd, buffer_.data(), buffer_.size());
  if (got < 0 && errno == EINTR) return {};
  if (got <= 0) {
    Pipe::close(fd);
    return {};
  }
  const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
  if (is_error) {
    said_ += bytes;
    if (said_.size() > kMostErrorText) said_.erase(0, said_.size() - kMostErrorText);
    return {};
  }
  if (output_.size() + bytes.size() <= limits_.max_bytes) return output_.write(bytes);
  const Bytes limit(static_cast<double>(limits_.max_bytes));
  return fail("too-large", path_, fmt::format("prints more than the limit of {}", format_bytes(limit)),
              "run the command by hand to see what it prints");
}

Result<void> Outlet::take_all(Pipe& out, Pipe& err) {
  constexpr std::int64_t kLongestPoll = 1000;
  while (out.read_end >= 0 || err.read_end >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
    if (left <= 0) return late();
    std::array<pollfd, 2> polled = {{{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}}};
    const int ready =
        ::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, kLongestPoll)));
    if (ready < 0 && errno != EINTR) return broken(errno);
    if (ready <= 0) continue;
    if (polled[0].fd >= 0 && polled[0].revents != 0) {
      if (Result<void> taken = take(out.read_end, false); !taken) return taken;
    }
    if (polled[1].fd >= 0 && polled[1].revents != 0) {
      if (Result<void> taken = take(err.read_end, true); !taken) return taken;
    }
  }
  return {};
}

Result<void> Outlet::judge(const std::optional<int>& status) const {
  if (!status) return late();
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  const std::string reason = last_line(said_);
  const std::string how = WIFSIGNALED(*status) ? fmt::format("was ended by signal {}", WTERMSIG(*status))
                                               : fmt::format("ends with status {}", WEXITSTATUS(*status));
  return fail("program-failed", path_, reason.empty() ? how : fmt::format("{}: {}", how, reason),
              "run the command by hand to see what it needs");
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty() || folder.front() != '/') continue;
    const std::string candidate = folder + '/' + name;
    struct stat info = {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::string command_line(const std::string& program, const std::vector<std::string>& arguments) {
  std::string line = program;
  for (const std::string& argument : arguments) line += ' ' + escape_shell(argument);
  return line;
}

Result<void> run_program(const std::string& path, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& variables, const ProgramLimits& limits, Body& output) {
  if (Result<void> begun = output.begin({}); !begun) return begun;
  Outlet outlet(path, limits, output);
  Pipe out, err, report;
  if (!out.open() || !err.open() || !report.open()) return outlet.broken(errno);
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(environment);
  const pid_t pid = ::fork();
  if (pid < 0) return outlet.broken(errno);
  if (pid == 0) become(path.c_str(), argv.data(), envp.data(), out.write_end, err.write_end, report.write_end);
  Child child(pid);
  for (Pipe* pipe : {&out, &err, &report}) Pipe::close(pipe->write_end);
  int cause = 0;
  if (::read(report.read_end, &cause, sizeof cause) == sizeof cause) return outlet.broken(cause);
  if (Result<void> taken = outlet.take_all(out, err); !taken) return taken;
  return outlet.judge(child.wait(outlet.end()));
}

}  // namespace smplan::cli
