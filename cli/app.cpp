#include "cli/app.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/clock.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/interface/description.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "planner/export/folder.hpp"

namespace smplan::cli {
namespace {

constexpr const char* kAbout =
    "Plans distributed training on Amazon SageMaker: which instances, how many, which strategy, what it costs.\n"
    "`smplan --params 13B` is `smplan plan --params 13B`; `smplan help plan` explains a command.";

const std::vector<std::pair<std::string, std::string>> kExitCodes = {
    {"0", "done"},
    {"1", "nothing fits, or a check found faults"},
    {"2", "the request or a file is invalid"},
    {"3", "internal fault"},
};

const std::vector<std::pair<std::string, std::string>> kEnvironment = {
    {"AWS_REGION, AWS_DEFAULT_REGION", "Region where --region is not given"},
    {"NO_COLOR", "No colour in tables, unless --color says always"},
    {"COLUMNS", "Width of tables; the terminal's where it is not set"},
    {"SMPLAN_NOW", "Time that stands for now, e.g. 2026-11-26T17:00:00-08:00; answers then carry no timings"},
    {"SOURCE_DATE_EPOCH", "The same in seconds since 1970, where SMPLAN_NOW is not set"},
    {"SMPLAN_CACHE",
     "Folder of what `smplan catalog refresh` downloads; smplan in XDG_CACHE_HOME or ~/.cache if not set"},
    {"SMPLAN_NO_CACHE", "1: as --no-cache, for every command"},
    {"HTTPS_PROXY, NO_PROXY", "Proxy of `smplan catalog refresh`, and hosts without"},
    {"SSL_CERT_FILE, CURL_CA_BUNDLE", "Certificates that it trusts in place of the machine's"},
    {"TZ", "Zone of the days and times of --deadline; the machine's where it is not set"},
};

const std::vector<std::string> kExamples = {
    "smplan --params 13B",
    "smplan estimate --model llama-2-70b --instances ml.p4d.24xlarge --count 32 --stack fsdp",
    "smplan models list",
};

/// Below the list of commands.
std::string footer() {
  std::string codes;
  for (const auto& [code, meaning] : kExitCodes)
    codes += fmt::format("{} {} {}", codes.empty() ? "" : ";", code, meaning);
  return fmt::format("Exit codes:{}.\nExamples:\n  {}", codes, fmt::join(kExamples, "\n  "));
}

/// Lines of an example, which is indented for the help.
std::vector<std::string> lines_of(const std::string& example) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= example.size();) {
    const std::size_t end = std::min(example.find('\n', begin), example.size());
    const std::size_t word = std::min(example.find_first_not_of(' ', begin), end);
    lines.push_back(example.substr(word, end - word));
    begin = end + 1;
  }
  return lines;
}

ExitCode refuse(const Diagnostics& diagnostics) {
  report(diagnostics);
  return ExitCode::BadInput;
}

/// The files that a command reads, as they were named.
std::vector<std::string> inputs_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    const bool names_files = option->get_positional() || option->get_type_name().find("FILE") != std::string::npos;
    if (!names_files || option->check_lname("output")) continue;
    names.insert(names.end(), option->results().begin(), option->results().end());
  }
  return names;
}

/// An answer must not take the place of what it was made from.
Result<void> check_output(const CLI::App& command, const std::string& output) {
  for (const std::string& input : inputs_of(command)) {
    std::error_code error;
    if (output != "-" && std::filesystem::is_regular_file(output, error) &&
        std::filesystem::equivalent(output, input, error)) {
      return fail("conflict", "--output", fmt::format("{} is read by this command", quote(input)),
                  "write to another file");
    }
  }
  return {};
}

ExitCode execute(const Command& command, const CommonOptions& options) {
  CommonOptions used = options;
  used.no_cache = used.no_cache || command.shipped_facts;
  const Result<Context> context = make_context(used, command.formats);
  if (!context) return refuse(context.error());
  Result<Answer> answer = command.run(*context);
  if (!answer) return refuse(answer.error());
  if (!answer->verbatim) answer->text = fit_for_display(std::move(answer->text), context->format_name);
  answer->aside = fit_for_display(std::move(answer->aside), "text");
  if (!context->quiet) {
    if (!answer->without_cache) {
      for (const std::string& text : context->notes) note(text);
    }
    for (const std::string& text : answer->notes) note(text);
  }
  const bool aside_only = !answer->aside.empty() && (options.output == "-" || answer->text.empty());
  if (!aside_only) {
    const bool folder = !answer->files.empty() && names_folder(options.output, answer->files.front().path);
    const auto write_folder = answer->is_export ? write_export : write_files;
    const Result<void> written =
        folder ? write_folder(options.output, answer->files) : write_answer(options.output, answer->text);
    if (!written) return refuse(written.error());
  }
  if (!answer->aside.empty()) {
    const Result<void> beside = write_answer("-", answer->aside);
    if (!beside) return refuse(beside.error());
  }
  return answer->code;
}

ExitCode print(const std::string& text) {
  const Result<void> written = write_answer("-", text);
  return written ? ExitCode::Done : refuse(written.error());
}

std::string shipped_version(bool json) {
  const Result<Catalog> catalog = Catalog::shipped();
  return version_text(json, catalog.value_or(Catalog()));
}

}  // namespace

ExitCode run(std::vector<std::string> arguments) {
  const auto interface = std::make_shared<Interface>();
  const std::vector<Command> commands = {plan_command(),           estimate_command(),
                                         explain_command(),        models_command(),
                                         catalog_command(),        validate_command(),
                                         calibrate_command(),      export_command(),
                                         check_command(),          report_command(),
                                         trace_command(),          compare_command(),
                                         finetune_command(),       probe_command(),
                                         sweep_command(),          rl_command(),
                                         regions_command(),        completion_command(interface),
                                         manual_command(interface)};
  CommonOptions options;
  CLI::App root(kAbout, "smplan");
  root.footer(footer());
  bool as_json = false;
  root.add_flag("--json", as_json, "With --version: as JSON, with the date of the catalog");
  root.set_version_flag(
      "-V,--version", [&as_json] { return shipped_version(as_json); }, "Print the version");
  root.require_subcommand(1);
  root.get_formatter()->column_width(34);
  std::vector<std::string> names;
  for (const Command& command : commands) {
    CLI::App* sub = root.add_subcommand(command.name, command.summary);
    Flags flags(*sub);
    command.add_options(flags);
    add_common_options(flags, options, command.formats);
    sub->footer("Example:\n  " + command.example);
    names.push_back(command.name);
    interface->commands.push_back({command.name, command.summary, lines_of(command.example), describe_arguments(*sub)});
  }
  interface->about = kAbout;
  interface->exit_codes = kExitCodes;
  interface->environment = kEnvironment;
  interface->examples = kExamples;
  interface->arguments = describe_arguments(root);

  if (const Result<WallClock> clock = wall_clock(); !clock) return refuse(clock.error());
  if (arguments.empty()) {
    std::fputs(root.help().c_str(), stderr);
    return ExitCode::BadInput;
  }
  Result<std::vector<std::string>> normal = normalise_arguments(std::move(arguments), names);
  if (!normal) return refuse(normal.error());
  const CLI::App* chosen = &root;
  try {
    std::reverse(normal->begin(), normal->end());  // the parser takes a stack
    root.parse(*normal);
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + '\n');
  } catch (const CLI::CallForHelp&) {
    return print(root.help());
  } catch (const CLI::ParseError& error) {
    const auto parsed = root.get_subcommands();
    if (!parsed.empty()) chosen = parsed.front();
    return refuse({explain_parse_error(error, *chosen)});
  }
  chosen = root.get_subcommands().front();
  if (const Result<void> apart = check_output(*chosen, options.output); !apart) return refuse(apart.error());
  const std::string name = chosen->get_name();
  const auto command = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
  return execute(*command, options);
}

}  // namespace smplan::cli
