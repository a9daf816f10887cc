#include <memory>

#include "base/json_reader.hpp"
#include "cli/command.hpp"
#include "cli/commands/job_source.hpp"
#include "cli/render/findings.hpp"
#include "cli/request_options.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/check.hpp"
#include "planner/request/fields.hpp"

namespace smplan::cli {
namespace {

struct CheckFlags {
  std::string path;
  std::string kind = "auto";
  std::string facts;
  std::string n_gpus;
  std::vector<std::string> ignore;
  std::string ignore_file;
  bool strict = false;
  bool rules = false;
  bool fix = false;
  RequestSpec request;
};

/// `auto|create-training-job|...`, for the help.
std::string kind_names() {
  std::string names = "auto";
  for (const std::string& name : job_kind_names()) names += '|' + name;
  return names;
}

std::optional<JobKind> kind_from(const std::string& name, Diagnostics& faults) {
  if (lower_case(name) == "auto") return std::nullopt;
  std::vector<std::string> known = job_kind_names();
  known.insert(known.begin(), "auto");
  return parse_name(name, "kind of job", "--kind", known, job_kind_from, faults);
}

void append(Diagnostics& faults, const Diagnostics& more) { faults.insert(faults.end(), more.begin(), more.end()); }

std::vector<Ignored> ignored_rules(const CheckFlags& flags, Diagnostics& faults) {
  std::vector<Ignored> ignored;
  if (!flags.ignore_file.empty()) {
    const Result<std::string> text = read_text_file(flags.ignore_file);
    Result<std::vector<Ignored>> read =
        text ? read_ignore_file(*text, flags.ignore_file) : tl::unexpected<Diagnostics>(text.error());
    if (read) {
      ignored = std::move(*read);
    } else {
      append(faults, read.error());
    }
  }
  for (const std::string& list : flags.ignore) {
    for (const std::string_view rule : split_list(list, "--ignore", faults)) {
      if (find_rule(rule) == nullptr) {
        faults.push_back(unknown_rule(rule, "--ignore"));
      } else {
        ignored.push_back({std::string(rule), "", ""});
      }
    }
  }
  return ignored;
}

Facts facts_from(const std::string& path, Diagnostics& faults) {
  if (path.empty()) return {};
  const Result<JsonValue> document = read_json_file(path);
  Result<Facts> facts = document ? read_facts(*document) : tl::unexpected<Diagnostics>(document.error());
  if (facts) return std::move(*facts);
  append(faults, facts.error());
  return {};
}

std::string render_findings(const Findings& findings, const CheckFlags& flags, const Context& context) {
  if (context.format_name == "json") return to_json(findings);
  if (context.format_name == "sarif") return to_sarif(findings);
  if (context.format_name == "github") return findings_github(findings);
  if (context.format_name == "junit") return findings_junit(findings, flags.strict);
  return findings_text(findings, context.style);
}

/// Writes the corrected file; what could be corrected is then no finding any more.
Result<std::vector<std::string>> fix_file(const CheckFlags& flags, const std::string& text, const Job& job,
                                          const Findings& findings) {
  if (flags.path == "-") {
    return fail("fix-stdin", "--fix", "standard input cannot be corrected in place", "give a file");
  }
  const Result<Fixed> fixed = apply_fixes(text, job, findings.findings);
  if (!fixed) return tl::unexpected<Diagnostics>(fixed.error());
  std::vector<std::string> said = fixed->changes;
  if (said.empty()) said.emplace_back("nothing that is safe to fix");
  said.insert(said.end(), fixed->left.begin(), fixed->left.end());
  if (fixed->changes.empty()) return said;
  const Result<void> written = write_text_file(flags.path, fixed->text);
  if (!written) return tl::unexpected<Diagnostics>(written.error());
  return said;
}

Result<Answer> run_check(CheckFlags flags, const Context& context) {
  if (flags.rules) return Answer{ExitCode::Done, rules_page(), {}};
  Diagnostics faults;
  const Result<std::string> file = job_file_of(flags.path);
  if (!file) return tl::unexpected<Diagnostics>(file.error());
  const std::string folder = *file == flags.path ? std::string() : flags.path;
  flags.path = *file;
  if (flags.path.empty()) {
    return fail("missing-file", "FILE", "the job to check is not named", "give a file, or - for standard input");
  }
  const std::optional<JobKind> kind = kind_from(flags.kind, faults);
  CheckOptions options;
  options.ignored = ignored_rules(flags, faults);
  options.facts = facts_from(flags.facts, faults);
  options.request = flags.request;
  options.environment_region = environment_region();
  if (!flags.n_gpus.empty()) options.n_gpus = parse_bounded(flags.n_gpus, "--n-gpus", 1, 1'000'000, faults);
  const Result<SagemakerLimits> limits = SagemakerLimits::shipped();
  if (!limits) append(faults, limits.error());
  const Result<std::string> text = read_text_file(flags.path);
  if (!text) append(faults, text.error());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));

  Result<Job> job = job_of(*text, flags.path, folder, kind);
  if (!job) return tl::unexpected<Diagnostics>(job.error());
  Result<Findings> findings = check_job(*job, context.catalog, *limits, options);
  if (!findings) return tl::unexpected<Diagnostics>(findings.error());
  Answer answer;
  if (flags.fix) {
    Result<std::vector<std::string>> changes = fix_file(flags, *text, *job, *findings);
    if (!changes) return tl::unexpected<Diagnostics>(changes.error());
    for (const std::string& change : *changes) answer.notes.push_back("fix: " + change);
    const Result<std::string> corrected = read_text_file(flags.path);
    if (!corrected) return tl::unexpected<Diagnostics>(corrected.error());
    job = job_of(*corrected, flags.path, folder, kind);
    if (!job) return tl::unexpected<Diagnostics>(job.error());
    findings = check_job(*job, context.catalog, *limits, options);
    if (!findings) return tl::unexpected<Diagnostics>(findings.error());
  }
  const bool failed = findings->count(Severity::Error) > 0 || (flags.strict && findings->count(Severity::Warning) > 0);
  answer.code = failed ? ExitCode::NoAnswer : ExitCode::Done;
  answer.text = render_findings(*findings, flags, context);
  return answer;
}

}  // namespace

Command check_command() {
  auto flags = std::make_shared<CheckFlags>();
  Command command{
      "check", "Check a job before it is submitted: a request, estimator arguments, a recipe, a framework's file",
      "smplan check job/ --budget 50000\n  smplan check estimator.json --model llama-2-13b --stack fsdp --tokens 300B\n"
      "  smplan check ds_config.json --instances ml.p4d.24xlarge --count 4 --format sarif --output check.sarif",
      [flags](Flags& app) {
        app.add_option("FILE", flags->path,
                       "The job: its folder with all that lies in it, or a file (- is standard input)")
            ->type_name("");
        app.add_option("--kind", flags->kind, "Format of the file [auto]")->type_name(kind_names());
        app.add_option("--facts", flags->facts,
                       "What only the account, the data and the script can say (smplan.facts/1)")
            ->type_name("FILE");
        app.add_option("--n-gpus", flags->n_gpus, "Accelerators of the job, where its file does not say")
            ->type_name("N");
        app.add_option("--ignore", flags->ignore, "Rules that are not to be reported: C116,C202")
            ->one_value_each()
            ->type_name("LIST");
        app.add_option("--ignore-file", flags->ignore_file, "The same, a line each: C116 [/path] # reason")
            ->type_name("FILE");
        app.add_flag("--strict", flags->strict, "Warnings count as errors");
        app.add_flag("--fix", flags->fix, "Rewrite the file where a fix is safe, and say what was changed");
        app.add_flag("--rules", flags->rules, "Print all rules as a page of Markdown and check nothing");
        add_request_options(app, flags->request);
      },
      [flags](const Context& context) { return run_check(*flags, context); }};
  command.formats.names = {"text", "json", "sarif", "github", "junit"};
  return command;
}

}  // namespace smplan::cli
