#include <array>
#include <string>

#include "planner/preflight/check.hpp"
#include "planner/request/names.hpp"
#include "tests/fuzz/planning.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {
namespace {

const SagemakerLimits& shipped_limits() {
  static const SagemakerLimits limits = SagemakerLimits::shipped().value();
  return limits;
}

struct JobText {
  std::string file = "job.json";
  std::optional<JobKind> kind;
  std::string_view words;  ///< what flags say, `model=gpt2 instances=ml.m5.large`
  std::string_view text;
};

/// `deepspeed ds.json model=gpt2 count=2`, then the file: its kind (`auto` for a guess), its name, and what flags say.
/// A text without such a line is a file whose kind is guessed.
JobText split(std::string_view bytes) {
  JobText job;
  job.text = bytes;
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return job;
  const std::string_view line = bytes.substr(0, end);
  const std::size_t blank = line.find(' ');
  const std::string_view kind = line.substr(0, blank);
  job.kind = job_kind_from(kind);
  if (!job.kind && kind != "auto") return job;
  job.text = bytes.substr(end + 1);
  if (blank == std::string_view::npos) return job;
  const std::size_t second = line.find(' ', blank + 1);
  job.file = line.substr(blank + 1, second == std::string_view::npos ? second : second - blank - 1);
  if (second != std::string_view::npos) job.words = line.substr(second + 1);
  return job;
}

void job(std::string_view bytes) {
  const JobText input = split(bytes);
  const Result<Job> read = read_job(input.text, input.file, input.kind);
  if (!read) {
    require(!read.error().empty(), "a refusal says why");
    return;
  }
  CheckOptions options;
  options.search.threads = 1;
  const Result<RequestSpec> flags = read_request_words(input.words, {}, "flags");
  if (flags) options.request = *flags;
  // Files have targets of their own; here a name must not lead to one.
  options.request.hf_config.reset();
  options.request.arch.reset();
  const Result<Findings> findings = check_job(*read, shipped_catalog(), shipped_limits(), options);
  if (!findings) return;
  require(parse_json(to_json(*findings), "findings.json").has_value(), "findings are JSON");
  require(parse_json(to_sarif(*findings), "findings.sarif").has_value(), "findings are SARIF");
  const Result<Fixed> fixed = apply_fixes(input.text, *read, findings->findings);
  if (fixed && !fixed->changes.empty()) {
    require(read_job(fixed->text, input.file, input.kind).has_value(), "a fixed job can be read");
  }
}

void facts(std::string_view bytes) {
  const Result<JsonValue> document = parse_json(bytes, "facts.json");
  if (document) static_cast<void>(read_facts(*document));
}

void ignore_file(std::string_view bytes) { static_cast<void>(read_ignore_file(bytes, "ignore")); }

constexpr std::array<Target, 3> kTargets{{{"job", job}, {"facts", facts}, {"ignore_file", ignore_file}}};

}  // namespace

std::span<const Target> preflight_targets() { return kTargets; }

}  // namespace smplan::fuzz
