#include <array>
#include <cmath>

#include "models/layers/flops.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/search/estimate.hpp"
#include "tests/properties/laws.hpp"

namespace smplan::properties {
namespace {

// Sums in another order differ in their last digits.
constexpr double kRounding = 1e-9;

bool near(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

Plan again(const Configuration& c, const PlanRequest& request, const Catalog& catalog) {
  return evaluate(request, catalog, *c.instance, c.count, *c.stack, c.strategy).value();
}

Plan in_world(const Configuration& c, const Catalog& catalog, double Scenario::*knob, double factor) {
  PlanRequest request = c.request;
  request.scenario.*knob = factor;
  return again(c, request, catalog);
}

template <double Scenario::*Knob>
bool more_never_slows(const Configuration& c, const Catalog& catalog) {
  const Plan faster = in_world(c, catalog, Knob, 2);
  return faster.step.time().value() <= c.plan.step.time().value() * (1 + kRounding) &&
         faster.cost.time_to_train().value() <= c.plan.cost.time_to_train().value() * (1 + kRounding) &&
         faster.cost.total().value() <= c.plan.cost.total().value() * (1 + kRounding);
}

bool more_memory_keeps_it(const Configuration& c, const Catalog& catalog) {
  const Plan larger = in_world(c, catalog, &Scenario::memory, 1.5);
  return (!c.plan.memory.fits() || larger.memory.fits()) && larger.memory.limit > c.plan.memory.limit &&
         larger.out_of_memory_probability <= c.plan.out_of_memory_probability;
}

/// Time lost may differ: the best interval between checkpoints weighs waiting instances against stored bytes.
bool dearer_costs_more(const Configuration& c, const Catalog& catalog) {
  const Plan dearer = in_world(c, catalog, &Scenario::price, 1.5);
  return dearer.cost.total() >= c.plan.cost.total() &&
         near(dearer.cost.productive.value(), c.plan.cost.productive.value()) &&
         near(dearer.cost.bill.compute.value(), 1.5 * c.plan.cost.bill.compute.value());
}

bool parts_sum_to_totals(const Configuration& c, const Catalog&) {
  double step = 0;
  for (const StepPart& part : step_parts()) {
    const double seconds = (c.plan.step.components.*part.time).value();
    if (!(seconds >= 0)) return false;
    step += seconds;
  }
  double bill = 0;
  for (const BillPart& part : bill_parts()) {
    const double usd = (c.plan.cost.bill.*part.amount).value();
    if (!(usd >= 0)) return false;
    bill += usd;
  }
  const RunCost& cost = c.plan.cost;
  return near(step, c.plan.step.time().value()) && near(bill, cost.total().value()) &&
         near(c.plan.memory.components.total().value(), c.plan.memory.wanted.value()) &&
         near((cost.productive + cost.startup + cost.lost()).value(), cost.time_to_train().value()) &&
         near(cost.productive / cost.time_to_train(), cost.goodput);
}

bool numbers_are_sane(const Configuration& c, const Catalog&) {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const Plan& p = c.plan;
  return positive(p.step.time().value()) && positive(p.cost.time_to_train().value()) &&
         positive(p.cost.total().value()) && positive(p.memory.wanted.value()) && positive(p.step.tokens_per_s) &&
         p.step.p10 < p.step.time() && p.step.p90 > p.step.time() && p.peak_interval.p10 < p.memory.wanted &&
         p.peak_interval.p90 > p.memory.wanted && p.out_of_memory_probability >= 0 && p.out_of_memory_probability <= 1;
}

/// Rates that the devices have on paper bound what a step can do: of causal attention, the half that devices compute
/// (the plan's MFU and HFU count the whole square, as is the custom).
bool stays_under_the_roofline(const Configuration& c, const Catalog&) {
  const auto hardware = [&](AttentionCounting counting) {
    return step_flops(c.request.workload, c.strategy.recompute, counting).hardware;
  };
  const double computed = hardware(AttentionCounting::CausalHalf) / hardware(AttentionCounting::FullSquare);
  return c.plan.step.hfu * computed <= 1;
}

bool degrees_multiply_to_devices(const Configuration& c, const Catalog&) {
  const Strategy& s = c.plan.strategy;
  const std::int64_t product =
      std::int64_t{s.data_parallel} * s.tensor_parallel * s.pipeline_parallel * s.context_parallel;
  // A parameter server has one worker a host, whatever devices the host has.
  const std::int32_t used = c.plan.stack->parameter_server ? 1 : c.instance->accelerator_count;
  return product == std::int64_t{c.count} * used && product == c.plan.gpus() &&
         std::int64_t{s.data_parallel} * s.micro_batch * c.plan.micro_batches == c.request.workload.global_batch;
}

bool twice_the_tokens_take_twice(const Configuration& c, const Catalog& catalog) {
  PlanRequest request = c.request;
  request.workload.tokens *= 2;
  const Plan twice = again(c, request, catalog);
  return near(twice.cost.productive.value(), 2 * c.plan.cost.productive.value()) &&
         near(twice.cost.bill.compute.value(), 2 * c.plan.cost.bill.compute.value()) &&
         twice.cost.time_to_train() > c.plan.cost.time_to_train() && twice.cost.total() > c.plan.cost.total();
}

constexpr std::array<Law, 12> kLaws{
    {{"more compute never slows a plan or makes it dearer", more_never_slows<&Scenario::compute>},
     {"more memory bandwidth never slows a plan or makes it dearer", more_never_slows<&Scenario::memory_bandwidth>},
     {"more bandwidth in the node never slows a plan or makes it dearer", more_never_slows<&Scenario::nvlink>},
     {"more network never slows a plan or makes it dearer", more_never_slows<&Scenario::efa>},
     {"a faster host link never slows a plan or makes it dearer", more_never_slows<&Scenario::host_link>},
     {"more memory never removes a plan", more_memory_keeps_it},
     {"a dearer price never makes a plan cheaper or slower", dearer_costs_more},
     {"parts sum to totals and none is negative", parts_sum_to_totals},
     {"every number is finite, and positive where it must be", numbers_are_sane},
     {"no step is faster than the roofline", stays_under_the_roofline},
     {"data x tensor x pipeline x context = devices", degrees_multiply_to_devices},
     {"twice the tokens take twice the steps, time and money", twice_the_tokens_take_twice}}};

}  // namespace

std::span<const Law> configuration_laws() { return kLaws; }

}  // namespace smplan::properties
