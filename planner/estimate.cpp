#include <algorithm>

#include <fmt/format.h>

#include "planner/group.hpp"
#include "planner/search.hpp"

namespace smplan {
namespace {

template <typename T>
T first_or(const Choice<T>& choice, T otherwise) {
  return choice.any() ? otherwise : choice.values.front();
}

/// What the request says and the plainest value of everything else.
Strategy plainest(const PlanRequest& request, const Stack& stack) {
  const std::int32_t gpus = request.instances.front()->accelerator_count * request.counts.front();
  Strategy s;
  s.tensor_parallel = first_or(request.tp, 1);
  s.pipeline_parallel = first_or(request.pp, 1);
  s.virtual_pipeline = first_or(request.vpp, 1);
  s.context_parallel = first_or(request.cp, 1);
  s.expert_parallel = first_or(request.ep, 1);
  s.expert_tensor_parallel = first_or(request.etp, 0);
  const std::int32_t split = s.tensor_parallel * s.pipeline_parallel * s.context_parallel;
  s.data_parallel = first_or(request.dp, std::max(1, gpus / split));
  s.sharding = first_or(request.sharding, stack.shardings.front());
  s.shard_degree =
      first_or(request.shard_degree, s.sharding == Sharding::None ? 1 : s.data_parallel * s.context_parallel);
  s.micro_batch = first_or(request.micro_batch, 1);
  s.schedule = s.virtual_pipeline > 1 ? Schedule::Interleaved : Schedule::OneFOneB;
  s.recompute = first_or(request.recompute, stack.recomputes.front());
  if (s.recompute == Recompute::Full) s.recompute_layers = first_or(request.recompute_layers, 0);
  s.offload = first_or(request.offload, Offload{});
  s.sequence_parallel = first_or(request.sequence_parallel, false);
  s.collectives = first_or(request.collectives, stack.collectives.front());
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
  const auto add = [&out](bool open, std::string_view what, std::string_view value) {
    if (open) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, value);
  };
  add(request.stacks.size() > 1, "stack", plan.stack->id);
  add(request.sharding.any(), "sharding", to_string(s.sharding));
  add(request.shard_degree.any() && s.sharding == Sharding::FsdpHybrid, "shard degree", std::to_string(s.shard_degree));
  add(request.micro_batch.any(), "micro-batch", std::to_string(s.micro_batch));
  add(request.recompute.any(), "recomputation", to_string(s.recompute));
  if (out.empty()) return {};
  return fmt::format("{}: {}", plan.memory.fits() ? "the fastest that fits" : "the nearest to fitting", out);
}

}  // namespace

Result<Plan> evaluate(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance,
                      std::int32_t count, const Stack& stack, const Strategy& strategy) {
  Result<Cluster> one_node = make_cluster(catalog, instance, 1);
  if (!one_node) return tl::unexpected<Diagnostics>(one_node.error());
  apply(request.scenario, *one_node);
  Workload workload = request.workload;
  workload.precision = effective_precision(request, one_node->accelerator);
  const Market market = request.markets.front();
  const Price* price = catalog.find_price(instance.name, request.region, market);
  // The stack may be one that the request does not name.
  PlanRequest one = request;
  one.stacks = {&stack};
  const Group group = make_group(one, instance, price, market, *one_node, workload, count);
  const Cluster cluster = group.cluster();
  Diagnostics faults = check(strategy, workload, stack);
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
  if (!stack_runs_on(stack, cluster, instance, workload.precision)) {
    faults.push_back(
        {"unsupported", "--stack",
         fmt::format("{} in {} does not run on {}", stack.name, to_string(workload.precision), instance.name),
         "choose another stack or --dtype"});
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  const Candidate candidate{strategy, estimate_memory(workload, strategy, cluster, stack),
                            estimate_step(workload, strategy, cluster, stack)};
  return make_plan(request, group, stack, candidate);
}

Result<PlanSet> estimate(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options) {
  // Limits judge plans; an estimate shows the numbers whatever they are.
  PlanRequest one = request;
  one.top = 1;
  one.objective = Objective::Time;
  one.deadline.reset();
  one.budget.reset();
  one.max_hourly.reset();
  one.max_oom_probability.reset();
  PlanSet set = search(one, catalog, options);
  set.request = request;
  if (set.plans.empty() && set.nearest_miss) set.plans.push_back(set.nearest_miss->plan);
  if (set.plans.empty()) return tl::unexpected<Diagnostics>(why_invalid(request, catalog));
  set.plans.resize(1);
  const std::string choices = choices_made(request, set.plans.front());
  if (!choices.empty()) set.request.assumptions.push_back(choices);
  return set;
}

}  // namespace smplan
