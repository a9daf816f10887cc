#include <memory>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/commands/collectives.hpp"
#include "cli/commands/measured_files.hpp"
#include "cli/render/validation_page.hpp"
#include "planner/request/fields.hpp"
#include "planner/validation/nccl_tests.hpp"
#include "planner/validation/report.hpp"

namespace smplan::cli {
namespace {

struct ValidateFlags {
  std::vector<std::string> paths;
  std::string by = "source";
  std::string worst = "5";
  std::optional<std::string> instances, op;
};

constexpr std::size_t kMostWorst = 100000;

Result<std::size_t> worst_count(const std::string& text) {
  if (text == "0") return std::size_t{0};
  const Result<std::int64_t> count = parse_integer_count(text, "--worst");
  if (!count) return tl::unexpected<Diagnostics>(count.error());
  return std::min(kMostWorst, static_cast<std::size_t>(*count));
}

Result<Answer> run_validate(const ValidateFlags& flags, const Context& context) {
  const std::string& first = flags.paths.front();
  const Result<std::string> text = first == "-" ? std::string() : read_text_file(first);
  if (text && is_nccl_tests(*text)) {
    if (flags.paths.size() > 1) {
      return fail("conflict", first, "is the output of nccl-tests, which is compared alone",
                  "name one such file at a time");
    }
    return validate_collectives(first, *text, flags.instances, flags.op, context);
  }
  if (flags.instances || flags.op) {
    if (!text) return tl::unexpected<Diagnostics>(text.error());
    return fail("conflict", flags.instances ? "--instances" : "--op", "goes only with the output of nccl-tests",
                "tables of runs have columns for it");
  }
  Diagnostics faults;
  const std::optional<GroupBy> by =
      parse_name(flags.by, "grouping", "--by",
                 {"source", "model", "accelerator", "stack", "parallelism", "precision", "all"}, group_by_from, faults);
  const Result<std::size_t> worst = worst_count(flags.worst);
  if (!worst) faults.insert(faults.end(), worst.error().begin(), worst.error().end());
  const Result<MeasuredFiles> measured = read_measured_files(flags.paths);
  if (!measured) faults.insert(faults.end(), measured.error().begin(), measured.error().end());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));

  const std::vector<std::string> notes = measured_notes(*measured);
  const std::vector<ComparedRun> runs = compare_runs(measured->runs, context.catalog);
  const ValidationView view{*by, *worst};
  switch (context.format) {
    case Format::Json:
      return Answer{ExitCode::Done, report_json(runs, *worst), notes};
    case Format::Csv:
      return Answer{ExitCode::Done, report_csv(runs), notes};
    case Format::Markdown:
      return Answer{ExitCode::Done, validation_markdown(runs, view), notes};
    case Format::Table:
      return Answer{ExitCode::Done, validation_text(runs, view, context.style), notes};
  }
  return Answer{};
}

}  // namespace

Command validate_command() {
  auto flags = std::make_shared<ValidateFlags>();
  return {"validate", "Predict measured runs from CSV files, or a sweep of nccl-tests, and report the errors",
          "smplan validate runs.csv\n  smplan validate runs/*.csv --by model --worst 20\n  smplan validate runs.csv "
          "--format csv --output predicted.csv\n  smplan validate all_reduce_perf.txt --instances ml.p5.48xlarge",
          [flags](Flags& app) {
            add_measured_files(app, flags->paths);
            app.add_option("--by", flags->by, "Break the step-time errors down by [source]")
                ->type_name("source|model|accelerator|stack|parallelism|precision|all");
            app.add_option("--instances", flags->instances,
                           "nccl-tests: the instance type [the system most like the devices that the file names]")
                ->type_name("NAME");
            app.add_option("--op", flags->op, "nccl-tests: the collective [as the file says]")
                ->type_name("all-reduce|all-gather|reduce-scatter|all-to-all|point-to-point");
            app.add_option("--worst", flags->worst, "How many of the worst runs to show [5]")->type_name("N");
          },
          [flags](const Context& context) { return run_validate(*flags, context); }};
}

}  // namespace smplan::cli
