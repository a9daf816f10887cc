#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/commands/export_answer.hpp"
#include "cli/request_options.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/preflight/fallbacks.hpp"
#include "planner/request/fields.hpp"

namespace smplan::cli {
namespace {

struct ExportFlags {
  std::string plan;
  std::optional<std::string> rank;
  std::string target;
  ExportOptions options;
  std::size_t n_fallbacks = 0;
  std::optional<std::string> warm_pool, fallbacks;
};

std::string target_names() {
  std::string names;
  for (const ExportTarget& target : export_targets()) names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}

/// The first of the types that cannot take the plan, and why.
std::string refusals_of(const Fallbacks& fallbacks) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < fallbacks.refused.size() && i < kShown; ++i) {
    const auto& [type, why] = fallbacks.refused[i];
    out += fmt::format("{}{}: {}", i > 0 ? "; " : "", type, why);
  }
  const std::size_t more = fallbacks.refused.size() - std::min(kShown, fallbacks.refused.size());
  return more > 0 ? fmt::format("{}; and {} more", out, more) : out;
}

/// Everything that can be wrong before the plan is read.
Result<std::int64_t> understand(ExportFlags& flags) {
  Diagnostics faults = check(flags.options);
  const auto add = [&](const Diagnostics& more) { faults.insert(faults.end(), more.begin(), more.end()); };
  if (flags.target.empty()) {
    faults.push_back({"missing-flag", "--target", "is missing", fmt::format("one of {}", target_names())});
  } else if (const auto target = find_export_target(flags.target, "--target"); !target) {
    add(target.error());
  }
  if (flags.plan.empty()) {
    faults.push_back({"missing-flag", "--plan", "is missing", "write the file with `smplan plan --format json`"});
  }
  if (flags.warm_pool) {
    const Result<Seconds> time = parse_duration(*flags.warm_pool, "--warm-pool");
    time ? static_cast<void>(flags.options.warm_pool = *time) : add(time.error());
  }
  if (flags.fallbacks) {
    const auto n = parse_bounded(*flags.fallbacks, "--fallbacks", 1, kMaxPreferences - 1, faults);
    if (n) flags.n_fallbacks = static_cast<std::size_t>(*n);
  }
  const Result<std::int64_t> rank =
      flags.rank ? parse_integer_count(*flags.rank, "--rank") : Result<std::int64_t>(kFirstPlan);
  if (!rank) add(rank.error());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return *rank;
}

/// Types that can take the place of the plan's, with what each would cost.
Result<void> find_fallbacks(const std::string& lock_text, ExportFlags& flags, const Context& context,
                            std::vector<std::string>& notes) {
  const Result<Lock> lock = read_lock(lock_text, context.catalog);
  if (!lock) return tl::unexpected<Diagnostics>(lock.error());
  const Result<Fallbacks> found = fallbacks_of(*lock, context.catalog, environment_region());
  if (!found) return tl::unexpected<Diagnostics>(found.error());
  if (lock->other_facts) {
    notes.emplace_back(
        "plan.json was planned by other facts than these, which it does not hold: give the --price, --discount, "
        "--catalog and --calibration of the plan to this command too; fallbacks are priced without, and not held to "
        "its limits of money");
  }
  flags.options.fallbacks = choices_of(*found, flags.n_fallbacks);
  if (flags.options.fallbacks.empty()) {
    return fail("no-fallback", "--fallbacks",
                fmt::format("no other type takes the plan as it is: {}", refusals_of(*found)),
                "leave --fallbacks out, or plan with fewer or more instances");
  }
  for (std::size_t i = 0; i < flags.options.fallbacks.size(); ++i) {
    const Plan& plan = found->plans[i];
    notes.push_back(fmt::format("fallback {}: {} x {}, {}, {}, {} of memory", i + 1, plan.instance_count,
                                plan.instance->name, format_duration(plan.cost.time_to_train()),
                                format_usd(plan.cost.total()), format_bytes(plan.memory.wanted)));
  }
  if (flags.options.fallbacks.size() < flags.n_fallbacks) {
    notes.push_back(fmt::format("{} of {} fallbacks found; {}", flags.options.fallbacks.size(), flags.n_fallbacks,
                                refusals_of(*found)));
  }
  return {};
}

Result<Answer> run_export(const ExportFlags& given, const Context& context) {
  ExportFlags flags = given;
  const Result<std::int64_t> rank = understand(flags);
  if (!rank) return tl::unexpected<Diagnostics>(rank.error());
  const Result<JsonValue> document = read_json_file(flags.plan);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  const Result<TrainingPlan> plan = read_training_plan(*document, *rank, context.catalog);
  if (!plan) return tl::unexpected<Diagnostics>(plan.error());
  const std::string lock = plan_lock(*document, plan->rank);
  std::vector<std::string> notes;
  if (flags.n_fallbacks > 0) {
    const Result<void> found = find_fallbacks(lock, flags, context, notes);
    if (!found) return tl::unexpected<Diagnostics>(found.error());
  }
  Result<Answer> answer = export_answer({*plan, flags.options, context.catalog, lock}, flags.target, context);
  if (answer) answer->notes.insert(answer->notes.begin(), notes.begin(), notes.end());
  return answer;
}

}  // namespace

Command export_command() {
  auto flags = std::make_shared<ExportFlags>();
  return {"export", "Write a plan as a SageMaker job or in a framework's own configuration",
          "smplan plan --params 13B --format json --output plan.json\n"
          "  smplan export --plan plan.json --target sagemaker-sdk-v2 --output job/\n"
          "  smplan export --plan plan.json --rank 2 --target create-training-job --bucket my-bucket > job.json\n"
          "  smplan export --plan plan.json --target sagemaker-sdk-v3 --fallbacks 3 --output job/",
          [flags](Flags& app) {
            app.add_option("--plan", flags->plan, "Answer of `smplan plan --format json` (- is standard input)")
                ->type_name("FILE");
            app.add_option("--rank", flags->rank, "Plan of the file to export [its first, the best]")->type_name("N");
            app.add_option("--target", flags->target, "Format to write: " + target_names())->type_name("TARGET");
            const auto job = [&](const char* name, auto& value, const char* text, const char* type) {
              app.add_option(name, value, text)
                  ->type_name(type)
                  ->group("The job (placeholders stand for what is not given)");
            };
            ExportOptions& o = flags->options;
            job("--role", o.role, "Execution role", "ARN");
            job("--bucket", o.bucket, "S3 bucket for code, data, checkpoints and output", "NAME");
            job("--script", o.script, "Training script in src/ [train.py]", "FILE");
            job("--job-name", o.job_name, "Name of the job [model, type, count and the plan's id]", "NAME");
            job("--input-mode", o.input_mode, "How data arrives from S3 [FastFile]", "FastFile|File");
            job("--file-system", o.file_system, "Read data from this FSx for Lustre instead of S3", "FS-ID");
            job("--fallbacks", flags->fallbacks,
                "So many other types (1 to 4) that SageMaker tries where the plan's has no capacity: as many "
                "accelerators in all, the same settings, each predicted to fit; cheapest first",
                "N");
            job("--warm-pool", flags->warm_pool, "Keep the instances for the next job this long, e.g. 30m", "TIME");
          },
          [flags](const Context& context) { return run_export(*flags, context); }};
}

}  // namespace smplan::cli
