#include "planner/search/estimate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "models/job/execution.hpp"
#include "planner/request/runs_on.hpp"
#include "planner/search/group.hpp"

namespace smplan {
namespace {

/// What the request says and the plainest value of everything else; data parallelism takes the devices that are left.
Strategy plainest(const PlanRequest& request, const Stack& stack) {
  const std::int32_t gpus = stack.devices_used(request.instances.front()->accelerator_count) * request.counts.front();
  Strategy s;
  s.execution = stack.execution;
  s.micro_batch = request.workload.sequences_of_example();
  s.sharding = stack.shardings.front();
  s.recompute = stack.recomputes.front();
  s.collectives = stack.collectives.front();
  for (const DimensionRow& row : dimensions()) {
    const Choice& choice = request[row.dimension];
    if (!choice.any()) row.set(s, choice.values.front());
  }
  if (request[Dimension::Data].any()) {
    const std::int64_t split = std::int64_t{s.tensor_parallel} * s.pipeline_parallel * s.context_parallel;
    s.data_parallel = std::max(1, static_cast<std::int32_t>(gpus / split));
  }
  if (request[Dimension::ShardDegree].any() && s.sharding != Sharding::None) {
    s.shard_degree = s.data_parallel * s.context_parallel;
  }
  if (request[Dimension::Schedule].any() && s.virtual_pipeline > 1) s.schedule = Schedule::Interleaved;
  if (s.recompute != Recompute::Full) s.recompute_layers = 0;
  return s;
}

/// What every stack of the request says against it.
Diagnostics why_invalid(const PlanRequest& request, const Catalog& catalog) {
  Diagnostics distinct;
  for (const Stack* stack : request.stacks) {
    const Result<Plan> plan = evaluate(request, catalog, *request.instances.front(), request.counts.front(), *stack,
                                       plainest(request, *stack));
    if (plan) continue;
    for (const Diagnostic& d : plan.error()) {
      if (std::find(distinct.begin(), distinct.end(), d) == distinct.end()) distinct.push_back(d);
    }
  }
  if (distinct.empty()) {
    distinct.push_back(
        {"unsupported", "--stack", "no candidate of the request is valid", "relax the fixed dimensions"});
  }
  return distinct;
}

/// Names what was chosen for the reader because the request left it open.
std::string choices_made(const PlanRequest& request, const Plan& plan) {
  const Strategy& s = plan.strategy;
  std::string out;
  const auto add = [&out](std::string_view what, std::string_view value) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, value);
  };
  if (request.stacks.size() > 1) add("stack", plan.stack->id);
  const bool hybrid = s.sharding == Sharding::FsdpHybrid;
  for (const Dimension d : {Dimension::Sharding, Dimension::ShardDegree, Dimension::MicroBatch, Dimension::Recompute}) {
    const DimensionRow& row = row_of(d);
    if (request[d].any() && (d != Dimension::ShardDegree || hybrid)) add(row.title, row.text(row.get(s)));
  }
  if (out.empty()) return {};
  if (!plan.memory.fits()) return "the nearest to fitting: " + out;
  const double most = request.max_oom_probability.value_or(kDefaultOutOfMemory);
  const bool risky = plan.out_of_memory_probability > most;
  return fmt::format("the fastest that fits{}: {}",
                     risky ? fmt::format(" (nothing keeps the chance to run out under {})", format_percent(most)) : "",
                     out);
}

}  // namespace

Result<Plan> evaluate(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance,
                      std::int32_t count, const Stack& named, const Strategy& strategy) {
  const Stack* framework = &named;
  std::shared_ptr<const Stack> other;
  if (named.execution != strategy.execution) {
    framework = catalog.find_stack(named.id);
    SMPLAN_ASSERT(framework != nullptr);
    other = std::make_shared<const Stack>(executed(*framework, strategy.execution));
  }
  const Stack& stack = other ? *other : named;
  Result<Cluster> one_node = make_cluster(catalog, instance, 1);
  if (!one_node) return tl::unexpected<Diagnostics>(one_node.error());
  apply(request.scenario, *one_node);
  Workload workload = request.workload;
  workload.precision = effective_precision(request, one_node->accelerator);
  const Market market = request.markets.front();
  // The stack may be one that the request does not name.
  PlanRequest one = request;
  one.stacks = {&stack};
  const Group group = make_group(one, catalog, instance, market, *one_node, workload, count);
  const Cluster cluster = group.cluster(stack);
  Diagnostics faults = check(strategy, workload, *framework);
  if (strategy.gpus() != cluster.gpus()) {
    faults.push_back({"conflict", "--count",
                      fmt::format("the strategy is for {} devices, {} x {} has {}", strategy.gpus(), count,
                                  instance.name, cluster.gpus()),
                      "change the degrees or the count"});
  }
  if (strategy.tensor_parallel > cluster.domain()) {
    faults.push_back({"topology", "--tp",
                      fmt::format("tensor parallel {} leaves the {} devices of a node or NVLink domain",
                                  strategy.tensor_parallel, cluster.domain()),
                      "use pipeline or context parallelism across nodes"});
  }
  if (stack.one_node && count > 1) {
    faults.push_back({"unsupported", "--stack", fmt::format("{} does not span {} instances", stack.name, count),
                      fmt::format("give --count 1: {}", stack.limitation)});
  }
  if (!stack_runs_on(stack, cluster, instance, workload.precision)) {
    faults.push_back(
        {"unsupported", "--stack",
         fmt::format("{} in {} does not run on {}", stack.name, to_string(workload.precision), instance.name),
         fmt::format("choose another stack or --dtype; {}", stack.limitation)});
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  const Candidate candidate{strategy, estimate_memory(workload, strategy, cluster, stack),
                            estimate_step(workload, strategy, cluster, stack)};
  Plan plan = make_plan(request, group, stack, candidate);
  if (other) plan.own_stack = std::move(other);
  return plan;
}

Result<PlanSet> estimate(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options) {
  // Limits judge plans; an estimate shows the numbers whatever they are.
  PlanRequest one = request;
  one.top = 1;
  one.objective = Objective::Time;
  one.deadline.reset();
  one.budget.reset();
  one.max_hourly.reset();
  // What is left open is filled as a plan would be, and only then with whatever fits.
  if (!one.max_oom_probability) one.max_oom_probability = kDefaultOutOfMemory;
  PlanSet set = search(one, catalog, options);
  if (set.plans.empty()) {
    one.max_oom_probability.reset();
    set = search(one, catalog, options);
  }
  set.request = request;
  if (set.plans.empty() && set.nearest_miss) set.plans.push_back(set.nearest_miss->plan);
  if (set.plans.empty()) return tl::unexpected<Diagnostics>(why_invalid(request, catalog));
  set.plans.resize(1);
  const std::string choices = choices_made(request, set.plans.front());
  if (!choices.empty()) set.request.assumptions.push_back(choices);
  return set;
}

}  // namespace smplan
