#include <algorithm>
#include <memory>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/parallel_for.hpp"
#include "cli/command.hpp"
#include "cli/commands/job_source.hpp"
#include "cli/render/findings.hpp"
#include "cli/request_options.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/check.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/request/fields.hpp"

namespace smplan::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> paths;
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

std::string render_jobs(const CheckedJobs& checked, const CheckFlags& flags, const Context& context) {
  if (context.format_name == "json") return jobs_json(checked);
  if (context.format_name == "sarif") return to_sarif(std::span(checked.jobs));
  if (context.format_name == "github") return jobs_github(checked);
  if (context.format_name == "junit") return jobs_junit(checked, flags.strict);
  return jobs_text(checked, context.style);
}

/// What one job came to: its findings and what was corrected, or why it was not checked.
struct Checked {
  Result<Findings> findings = Findings{};
  std::vector<std::string> notes;
};

/// What every job of the command is checked with.
struct Checker {
  const Context& context;
  const CheckFlags& flags;
  std::optional<JobKind> kind;
  SagemakerLimits limits;
  CheckOptions options;

  [[nodiscard]] Result<Findings> findings_of(const JobPlace& place, const std::string& text,
                                             std::optional<Job>& job) const {
    Result<Job> read = job_of(text, place.file, place.folder, kind);
    if (!read) return tl::unexpected<Diagnostics>(read.error());
    job = std::move(*read);
    return check_job(*job, context.catalog, limits, options);
  }

  [[nodiscard]] Checked operator()(const JobPlace& place) const {
    Checked out;
    const Result<std::string> text = read_text_file(place.file);
    if (!text) {
      out.findings = tl::unexpected<Diagnostics>(text.error());
      return out;
    }
    std::optional<Job> job;
    out.findings = findings_of(place, *text, job);
    if (out.findings && flags.fix) fix(place, *text, *job, out);
    return out;
  }

 private:
  /// Writes the corrected file; what could be corrected is then no finding any more.
  void fix(const JobPlace& place, const std::string& text, const Job& job, Checked& out) const {
    const Result<Fixed> fixed = apply_fixes(text, job, out.findings->findings);
    if (!fixed) {
      out.findings = tl::unexpected<Diagnostics>(fixed.error());
      return;
    }
    out.notes = fixed->changes;
    if (out.notes.empty()) out.notes.emplace_back("nothing that is safe to fix");
    out.notes.insert(out.notes.end(), fixed->left.begin(), fixed->left.end());
    for (std::string& note : out.notes) note = (flags.paths.size() > 1 ? place.file + ": fix: " : "fix: ") + note;
    if (fixed->changes.empty()) return;
    if (const Result<void> written = write_text_file(place.file, fixed->text); !written) {
      out.findings = tl::unexpected<Diagnostics>(written.error());
      return;
    }
    std::optional<Job> corrected;
    out.findings = findings_of(place, fixed->text, corrected);
  }
};

/// Without the file, which stands beside it.
std::string first_fault(const Diagnostics& faults) {
  return fmt::format("{} ({})", faults.front().message, faults.front().hint);
}

bool fails(const Findings& findings, bool strict) {
  return findings.count(Severity::Error) > 0 || (strict && findings.count(Severity::Warning) > 0);
}

/// One job: its findings, or the fault of its file.
Result<Answer> check_one(const JobPlace& place, const Checker& check) {
  Checked checked = check(place);
  if (!checked.findings) return tl::unexpected<Diagnostics>(checked.findings.error());
  Answer answer;
  answer.notes = std::move(checked.notes);
  answer.code = fails(*checked.findings, check.flags.strict) ? ExitCode::NoAnswer : ExitCode::Done;
  answer.text = render_findings(*checked.findings, check.flags, check.context);
  return answer;
}

/// Several: all are judged, whatever one of them is.
Result<Answer> check_many(const std::vector<JobPlace>& places, std::vector<NoJob> unreadable, Checker check) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  check.options.search.threads = 1;
  check.options.cache = std::make_shared<CheckCache>();
  std::vector<Checked> results(places.size());
  parallel_for(cores, places.size(), [&] { return [&](std::size_t i) { results[i] = check(places[i]); }; });
  CheckedJobs all;
  all.unreadable = std::move(unreadable);
  Answer answer;
  for (std::size_t i = 0; i < places.size(); ++i) {
    answer.notes.insert(answer.notes.end(), results[i].notes.begin(), results[i].notes.end());
    if (!results[i].findings) {
      all.unreadable.push_back({places[i].file, first_fault(results[i].findings.error())});
      continue;
    }
    if (fails(*results[i].findings, check.flags.strict)) answer.code = ExitCode::NoAnswer;
    all.jobs.push_back(std::move(*results[i].findings));
  }
  if (!all.unreadable.empty()) answer.code = ExitCode::BadInput;
  answer.text = render_jobs(all, check.flags, check.context);
  return answer;
}

Result<Answer> run_check(const CheckFlags& flags, const Context& context) {
  if (flags.rules) return Answer{ExitCode::Done, rules_page(), {}};
  if (flags.paths.empty()) {
    return fail("missing-file", "FILE", "the job to check is not named", "give a file, or - for standard input");
  }
  Diagnostics faults;
  const std::optional<JobKind> kind = kind_from(flags.kind, faults);
  CheckOptions options;
  options.ignored = ignored_rules(flags, faults);
  options.facts = facts_from(flags.facts, faults);
  options.request = flags.request;
  options.environment_region = environment_region();
  if (!flags.n_gpus.empty()) options.n_gpus = parse_bounded(flags.n_gpus, "--n-gpus", 1, 1'000'000, faults);
  const Result<SagemakerLimits> limits = SagemakerLimits::shipped();
  if (!limits) append(faults, limits.error());
  if (flags.fix && std::find(flags.paths.begin(), flags.paths.end(), "-") != flags.paths.end()) {
    faults.push_back({"fix-stdin", "--fix", "standard input cannot be corrected in place", "give a file"});
  }
  std::vector<JobPlace> places;
  std::vector<NoJob> unreadable;
  for (const std::string& path : flags.paths) {
    const Result<std::vector<JobPlace>> found = jobs_of(path);
    if (found) {
      places.insert(places.end(), found->begin(), found->end());
    } else if (flags.paths.size() == 1) {
      append(faults, found.error());
    } else {
      unreadable.push_back({path, first_fault(found.error())});
    }
  }
  if (!faults.empty()) {
    // All that is wrong at once.
    if (places.size() == 1 && places.front().file != "-") {
      if (const Result<std::string> text = read_text_file(places.front().file); !text) append(faults, text.error());
    }
    return tl::unexpected<Diagnostics>(std::move(faults));
  }
  const Checker check{context, flags, kind, *limits, std::move(options)};
  const bool one = flags.paths.size() == 1 && job_file_of(flags.paths.front()).has_value();
  return one ? check_one(places.front(), check) : check_many(places, std::move(unreadable), check);
}

}  // namespace

Command check_command() {
  auto flags = std::make_shared<CheckFlags>();
  Command command{
      "check", "Check a job before it is submitted: a request, estimator arguments, a recipe, a framework's file",
      "smplan check job/ --budget 50000\n  smplan check estimator.json --model llama-2-13b --stack fsdp --tokens 300B\n"
      "  smplan check ds_config.json --instances ml.p4d.24xlarge --count 4 --format sarif --output check.sarif",
      [flags](Flags& app) {
        app.add_option("FILE", flags->paths,
                       "Jobs: each a folder with all that lies in it, or a file (- is standard input); of a folder of "
                       "jobs, all of them")
            ->type_name("...");
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
