#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/printable.hpp"

namespace smplan::cli {

Result<void> write_answer(const std::string& destination, std::string_view text) {
  if (destination != "-") return write_text_file(destination, text);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE) {
    return fail("unwritable", "standard output", fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  return {};
}

std::string fit_for_display(std::string text, std::string_view format) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), format) != names.end();
  };
  if (is_one_of({"json", "jsonl", "sarif"})) return printable_json(text);
  if (is_one_of({"table", "text", "markdown"})) return printable_lines(text);
  return text;
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
  // A file of the wrong kind has a fault a line; the first say so. More than the 20 keys of an object that a reader
  // names (ObjectReader::finish), so that its own count of the others is shown.
  constexpr std::size_t kMost = 50;
  for (std::size_t i = 0; i < std::min(kMost, diagnostics.size()); ++i) {
    std::fputs(("smplan: error: " + to_string(diagnostics[i]) + '\n').c_str(), stderr);
  }
  if (diagnostics.size() > kMost) {
    std::fputs(fmt::format("smplan: error: and {} more\n", diagnostics.size() - kMost).c_str(), stderr);
  }
}

void note(std::string_view text) { std::fputs(("smplan: " + printable_lines(text) + '\n').c_str(), stderr); }

}  // namespace smplan::cli
