#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/app.hpp"

int main(int argc, char** argv) {
  // A closed pipe is then a failed write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return static_cast<int>(smplan::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smplan: internal fault: %s\n", error.what());
  }
  return static_cast<int>(smplan::cli::ExitCode::Fault);
}
