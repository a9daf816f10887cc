#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/app.hpp"

int main(int argc, char** argv) {
  // A closed pipe is then a failed write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate([] {
    std::fputs("smplan: internal fault: ended in the middle of its work, for want of memory or by a mistake of ours\n",
               stderr);
    std::_Exit(static_cast<int>(smplan::cli::ExitCode::Fault));
  });
  try {
    return static_cast<int>(smplan::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
  } catch (const std::bad_alloc&) {
    std::fputs("smplan: not enough memory: raise the limit of this shell or container (ulimit -v)\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smplan: internal fault: %s\n", error.what());
  }
  return static_cast<int>(smplan::cli::ExitCode::Fault);
}
