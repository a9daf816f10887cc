#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"
#include "cli/interface/description.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

namespace smplan::cli {

/// What a command has to say: data for standard output (or --output), notes for standard error.
struct Answer {
  ExitCode code = ExitCode::Done;
  std::string text;
  std::vector<std::string> notes;
  /// A report beside the data: goes to standard output where --output takes the text, and in its place otherwise. Alone
  /// it leaves --output unwritten.
  std::string aside{};
  /// An answer of several files; `text` is the first of them. Written where --output names a folder.
  std::vector<OutputFile> files{};
  /// The files are an export: the folder must hold no other job.
  bool is_export = false;
  /// The text is a program, a page or data of its own format: it goes out as it is, its writer has escaped what it
  /// holds.
  bool verbatim = false;
  /// What the cache of prices holds has no part in it: nothing need be said of it.
  bool without_cache = false;
};

/// A subcommand. State that its flags fill lives in the two closures.
struct Command {
  std::string name;
  std::string summary;
  std::string example;
  std::function<void(Flags&)> add_options;
  std::function<Result<Answer>(const Context&)> run;
  Formats formats{};
  /// About the program itself: what `catalog refresh` downloaded is left out.
  bool shipped_facts = false;
};

Command plan_command();
Command estimate_command();
Command explain_command();
Command export_command();
Command models_command();
Command catalog_command();
Command validate_command();
Command calibrate_command();
Command compare_command();
Command finetune_command();
Command sweep_command();
Command rl_command();
Command regions_command();
Command report_command();
Command trace_command();
Command probe_command();
Command check_command();
/// Written from the whole command line, which is described once every command is there.
Command completion_command(std::shared_ptr<const Interface> interface);
Command manual_command(std::shared_ptr<const Interface> interface);

}  // namespace smplan::cli
