#include <memory>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/commands/plan_source.hpp"
#include "cli/render/no_plan.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/trace/chrome_trace.hpp"

namespace smplan::cli {
namespace {

struct TraceFlags {
  PlanSource source;
  std::optional<std::string> rank;
};

/// A step to play and what to call it.
struct Chosen {
  SimulatedJob job;
  std::string title;
};

Result<Chosen> chosen(const SimulatedJob& job, std::int32_t count, const InstanceType& instance, const Stack& stack) {
  return Chosen{job, fmt::format("{} on {} x {}, {}, {}", job.workload.architecture.name, count, instance.name,
                                 stack.id, to_string(job.strategy))};
}

Result<Chosen> from_file(const std::string& file, std::int64_t rank, const Catalog& catalog) {
  const Result<JsonValue> document = read_json_file(file);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  const Result<TrainingPlan> plan = read_training_plan(*document, rank, catalog);
  if (!plan) return tl::unexpected<Diagnostics>(plan.error());
  const Result<SimulatedJob> job = simulated_job(*plan, catalog);
  if (!job) return tl::unexpected<Diagnostics>(job.error());
  return chosen(*job, plan->instance_count, *plan->instance, *plan->stack);
}

Result<Chosen> from_search(const PlanSet& set, std::int64_t rank, const Catalog& catalog) {
  if (rank > static_cast<std::int64_t>(set.plans.size())) {
    return fail("out-of-range", "--rank", fmt::format("the list has {} plans, there is no {}", set.plans.size(), rank),
                "choose a smaller rank, or a larger --top");
  }
  const Plan& plan = set.plans[static_cast<std::size_t>(rank) - 1];
  const Result<SimulatedJob> job = simulated_job(set.request, plan, catalog);
  if (!job) return tl::unexpected<Diagnostics>(job.error());
  return chosen(*job, plan.instance_count, *plan.instance, *plan.stack);
}

Result<Answer> run_trace(const TraceFlags& flags, const Context& context) {
  Diagnostics faults;
  if (context.format == Format::Csv || context.format == Format::Markdown) {
    faults.push_back(
        {"bad-format", "--format", "a trace is neither CSV nor Markdown", "leave --format out: a trace is JSON"});
  }
  if (const Result<void> source = check_plan_source(flags.source); !source) {
    faults.insert(faults.end(), source.error().begin(), source.error().end());
  }
  const Result<std::int64_t> rank = parse_integer_count(flags.rank.value_or("1"), "--rank");
  if (!rank) faults.insert(faults.end(), rank.error().begin(), rank.error().end());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));

  Result<Chosen> step = Chosen{};
  if (flags.source.file) {
    step = from_file(*flags.source.file, flags.rank ? *rank : kFirstPlan, context.catalog);
  } else {
    const Result<PlanSet> set = searched_plans(flags.source, context.catalog);
    if (!set) return tl::unexpected<Diagnostics>(set.error());
    if (set->plans.empty()) return Answer{ExitCode::NoAnswer, no_plan_text(*set, std::nullopt, context.style), {}};
    step = from_search(*set, *rank, context.catalog);
  }
  if (!step) return tl::unexpected<Diagnostics>(step.error());
  const Result<Timeline> timeline = simulate_step(step->job);
  if (!timeline) return tl::unexpected<Diagnostics>(timeline.error());
  Answer answer{ExitCode::Done, chrome_trace(*timeline, step->title), {"open the file in https://ui.perfetto.dev"}};
  answer.text = printable_json(answer.text);
  answer.verbatim = true;
  return answer;
}

}  // namespace

Command trace_command() {
  auto flags = std::make_shared<TraceFlags>();
  return {"trace", "Write the simulated step of a plan as Chrome trace events, which Perfetto opens",
          "smplan trace --params 70B --instances ml.p4d.24xlarge --output step.json\n"
          "  smplan trace --plan plan.json --rank 2 --output step.json",
          [flags](Flags& app) {
            app.add_option("--rank", flags->rank, "Plan to play [1, the best]")->type_name("N");
            add_plan_source(app, flags->source);
          },
          [flags](const Context& context) { return run_trace(*flags, context); }};
}

}  // namespace smplan::cli
