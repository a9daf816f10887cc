#include "planner/search/group.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catalogs/dates.hpp"
#include "models/job/execution.hpp"
#include "models/run/markets.hpp"
#include "planner/answer/uncertainty.hpp"

namespace smplan {

Cluster Group::cluster() const {
  Cluster c = *one_node;
  c.nodes = count;
  c.host_taken = terms.front().host_memory;
  return c;
}

bool faster(const Candidate& a, const Candidate& b) {
  const Seconds ta = a.step.time();
  const Seconds tb = b.step.time();
  if (ta != tb) return ta < tb;
  return a.strategy < b.strategy;
}

const RunTerms& Group::terms_of(const Stack& stack) const {
  if (terms.size() > 1) {
    const SaveFormat format = save_format(*workload, stack);
    for (const RunTerms& t : terms) {
      if (t.format == format) return t;
    }
  }
  return terms.front();
}

namespace {

/// Of a price when the newest of the catalog was seen.
double age_years(const Price& price, const PlanRequest& request) {
  constexpr double kDaysPerYear = 365;
  const auto days = days_between(price.provenance.as_of, request.prices_as_of);
  return days ? static_cast<double>(*days) / kDaysPerYear : 0;
}

}  // namespace

std::vector<std::pair<Market, const Price*>> offers_of(const PlanRequest& request, const Catalog& catalog,
                                                       const InstanceType& instance) {
  std::vector<std::pair<Market, const Price*>> priced;
  std::vector<std::pair<Market, const Price*>> orderable;
  for (const Market market : request.markets) {
    const Price* price = catalog.find_price(instance.name, request.region, market);
    if (price == nullptr) continue;
    priced.emplace_back(market, price);
    const bool sold_so = instance.support == TrainingSupport::OnDemand ||
                         (instance.support == TrainingSupport::PlanOnly && market == Market::CapacityBlock);
    if (sold_so) orderable.emplace_back(market, price);
  }
  if (!orderable.empty()) return orderable;
  if (!priced.empty()) return priced;
  return {{request.markets.front(), nullptr}};
}

Group make_group(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance, Market market,
                 const Cluster& one_node, const Workload& workload, std::int32_t count) {
  const Price* price = catalog.find_price(instance.name, request.region, market);
  const UsdPerSecond rate = price != nullptr ? price->rate * request.scenario.price : UsdPerSecond();
  Group group;
  group.instance = &instance;
  group.price = price;
  group.on_demand = catalog.find_price(instance.name, request.region, Market::OnDemand);
  group.one_node = &one_node;
  group.workload = &workload;
  group.count = count;
  group.market = market;
  group.program = request.program;
  RunSetup setup = request.run;
  setup.market = market;
  const double sigma = price != nullptr ? price_sigma(*price, age_years(*price, request), setup.operations) : 0;
  for (const Stack* stack : request.stacks) {
    const SaveFormat format = save_format(workload, *stack);
    const bool known =
        std::any_of(group.terms.begin(), group.terms.end(), [&](const RunTerms& t) { return t.format == format; });
    if (known) continue;
    const FlopsPerSecond peak = one_node.accelerator.peak_rate(stack->product_precision(workload.precision));
    group.terms.push_back(run_terms(setup, workload, instance, count, rate, format, peak));
    group.terms.back().price_sigma = sigma;
  }
  return group;
}

StepEstimate judged_step(const Group& group, const Stack& stack, const Candidate& c) {
  StepEstimate step = c.step;
  const std::size_t unmeasured = unmeasured_traits(*group.workload, c.strategy, group.cluster(stack), stack).size();
  set_interval(step, stack, unmeasured, group.program);
  return step;
}

RunCost group_cost(const Group& group, const Stack& stack, const StepEstimate& step) {
  return estimate_cost(step, *group.workload, group.terms_of(stack));
}

Plan make_plan(const PlanRequest& request, const Group& group, const Stack& stack, const Candidate& c) {
  Plan plan;
  plan.instance = group.instance;
  plan.instance_count = group.count;
  plan.market = group.market;
  plan.stack = &stack;
  for (const auto& own : request.own_stacks) {
    if (own.get() == &stack) plan.own_stack = own;
  }
  plan.strategy = c.strategy;
  plan.precision = group.workload->precision;
  plan.micro_batches = c.strategy.micro_batches(*group.workload);
  plan.memory = c.memory;
  plan.step = c.step;
  const Cluster cluster = group.cluster(stack);
  plan.unmeasured = unmeasured_traits(*group.workload, c.strategy, cluster, stack);
  plan.peak_interval = peak_interval(c.memory.wanted, stack);
  plan.out_of_memory_probability = out_of_memory_probability(c.memory, stack);
  set_interval(plan.step, stack, plan.unmeasured.size(), request.program);
  plan.cost = group_cost(group, stack, plan.step);
  if (plan.cost.input && plan.cost.input->needed > plan.cost.input->delivered) {
    const double steps = std::ceil(group.workload->tokens / group.workload->tokens_per_step());
    wait_for_input(plan.step, plan.cost.productive / steps);
  }
  plan.price = group.price;
  plan.on_demand = group.on_demand;
  plan.warnings = plan_warnings(request, plan);
  if (dispatches_out_of_reach(plan.strategy, cluster)) {
    plan.warnings.push_back(
        fmt::format("DeepEP and HybridEP as released do not reach other instances over the network of {}: use "
                    "--moe-dispatcher all-to-all, or expert groups inside an instance",
                    group.instance->name));
  }
  return plan;
}

}  // namespace smplan
