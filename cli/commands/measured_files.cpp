#include "cli/commands/measured_files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv_reader.hpp"

namespace smplan::cli {
namespace {

std::string file_name(const std::string& path) {
  return path == "-" ? "standard input" : path.substr(path.find_last_of('/') + 1);
}

/// `runs.csv: 'micro_bach' is not read (micro_batch?)`
std::string unread_note(const std::string& file, const std::vector<UnreadColumn>& unread) {
  std::vector<std::string> names;
  for (const UnreadColumn& column : unread) {
    names.push_back(quote(column.name) + (column.nearest.empty() ? "" : " (" + column.nearest + "?)"));
  }
  return fmt::format("{}: {} of its columns {} not read: {}; docs/validation.md lists those that are", file,
                     names.size(), names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

Result<std::vector<MeasuredRun>> read_one(const std::string& path, std::vector<std::string>& notes) {
  const Result<CsvTable> table = read_csv_file(path);
  if (!table) return tl::unexpected<Diagnostics>(table.error());
  Result<std::vector<MeasuredRun>> runs = read_measured_runs(*table, file_name(path));
  const std::vector<UnreadColumn> unread = unread_columns(*table);
  if (runs && !unread.empty()) notes.push_back(unread_note(file_name(path), unread));
  return runs;
}

}  // namespace

void add_measured_files(Flags& command, std::vector<std::string>& paths, bool required) {
  auto option = command.add_option(
      "runs", paths, "CSV files of measured runs (- is standard input); docs/validation.md lists columns");
  if (required) option.required();
  option.type_name("FILE");
}

Result<MeasuredFiles> read_measured_files(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    return fail("repeated-input", "-", "standard input can be read once only", "name it once");
  }
  MeasuredFiles all;
  Diagnostics faults;
  for (const std::string& path : paths) {
    Result<std::vector<MeasuredRun>> runs = read_one(path, all.notes);
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
  std::vector<std::string> notes = measured.notes;
  if (first != nullptr) {
    notes.push_back(
        fmt::format("{} measured cells hold no number and count as empty; the first: {}", cells, to_string(*first)));
  }
  return notes;
}

}  // namespace smplan::cli
