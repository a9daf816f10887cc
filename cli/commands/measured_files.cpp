#include "cli/commands/measured_files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/csv_reader.hpp"

namespace smplan::cli {
namespace {

std::string file_name(const std::string& path) {
  return path == "-" ? "standard input" : path.substr(path.find_last_of('/') + 1);
}

Result<std::vector<MeasuredRun>> read_one(const std::string& path) {
  const Result<CsvTable> table = read_csv_file(path);
  if (!table) return tl::unexpected<Diagnostics>(table.error());
  return read_measured_runs(*table, file_name(path));
}

}  // namespace

void add_measured_files(CLI::App& command, std::vector<std::string>& paths) {
  command
      .add_option("runs", paths, "CSV files of measured runs (- is standard input); docs/validation.md lists columns")
      ->required()
      ->type_name("FILE");
}

Result<MeasuredFiles> read_measured_files(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    return fail("repeated-input", "-", "standard input can be read once only", "name it once");
  }
  MeasuredFiles all;
  Diagnostics faults;
  for (const std::string& path : paths) {
    Result<std::vector<MeasuredRun>> runs = read_one(path);
    if (!runs) {
      faults.insert(faults.end(), runs.error().begin(), runs.error().end());
      continue;
    }
    all.files.insert(all.files.end(), runs->size(), file_name(path));
    std::move(runs->begin(), runs->end(), std::back_inserter(all.runs));
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return all;
}

std::vector<std::string> measured_notes(const MeasuredFiles& measured) {
  std::size_t cells = 0;
  const Diagnostic* first = nullptr;
  for (const MeasuredRun& run : measured.runs) {
    cells += run.measured_faults.size();
    if (first == nullptr && !run.measured_faults.empty()) first = &run.measured_faults.front();
  }
  if (first == nullptr) return {};
  return {fmt::format("{} measured cells hold no number and count as empty; the first: {}", cells, to_string(*first))};
}

}  // namespace smplan::cli
