#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

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

bool names_folder(const std::string& destination, const std::string& first_file) {
  if (destination == "-") return false;
  std::error_code error;
  const std::filesystem::path path(destination);
  if (std::filesystem::exists(path, error)) return std::filesystem::is_directory(path, error);
  return path.extension() != std::filesystem::path(first_file).extension();
}

Result<void> write_files(const std::string& folder, const std::vector<OutputFile>& files) {
  for (const OutputFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return fail("folder-unwritable", path.parent_path().string(), fmt::format("cannot be made: {}", error.message()),
                  "check that the folder above exists and is writable");
    }
    Result<void> written = write_text_file(path.string(), file.content);
    if (!written) return written;
  }
  return {};
}

void report(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    std::fputs(("smplan: error: " + to_string(diagnostic) + '\n').c_str(), stderr);
  }
}

}  // namespace smplan::cli
