#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/json_reader.hpp"

namespace smplan::cli {

Result<void> write_answer(const std::string& destination, std::string_view text) {
  if (destination != "-") return write_text_file(destination, text);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE) {
    return fail("unwritable", "standard output", fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  return {};
}

void report(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    std::fputs(("smplan: error: " + to_string(diagnostic) + '\n').c_str(), stderr);
  }
}

}  // namespace smplan::cli
