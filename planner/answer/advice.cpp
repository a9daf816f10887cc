#include "planner/answer/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace smplan {
namespace {

constexpr double kSure = 0.999;
/// What insurance may cost to be worth a line.
constexpr double kCheap = 1.05;
/// Half a percent less for a month more is nobody's choice.
constexpr double kWorthWaiting = 0.98;
/// A quarter of a step that a larger batch would spread is a quarter of the bill.
constexpr double kMuch = 0.25;

constexpr std::array kFixed = {&StepComponents::pipeline_bubble, &StepComponents::data_comm,
                               &StepComponents::optimizer};

bool compares_cost(const PlanRequest& request) {
  return request.objective == Objective::Cost || request.objective == Objective::Balanced;
}

}  // namespace

bool nothing_ends_in_time(const PlanSet& set) {
  return compares_cost(set.request) && !set.plans.empty() &&
         set.plans.front().cost.time_to_train() > set.request.horizon;
}

const Plan* cheaper_later(const PlanSet& set) {
  if (!compares_cost(set.request) || set.plans.empty() || set.frontier.empty()) return nullptr;
  const Plan& cheapest = set.frontier.front();
  const bool later = cheapest.cost.time_to_train() > set.request.horizon;
  return later && cheapest.cost.total() < set.plans.front().cost.total() * kWorthWaiting ? &cheapest : nullptr;
}

double days_for(const Plan& plan) { return std::ceil(plan.cost.spread.at(kDefaultConfidence) / days(1)); }

std::optional<double> chance_to_keep(const PlanRequest& request, const Plan& plan) {
  if (!request.deadline && !request.budget) return std::nullopt;
  const double in_time = request.deadline ? plan.cost.spread.probability(*request.deadline) : 1;
  const double in_budget = request.budget ? plan.cost.cost_probability(*request.budget) : 1;
  return std::min(in_time, in_budget);
}

const Plan* surer_plan(const PlanSet& set) {
  if (set.plans.empty()) return nullptr;
  const Plan& best = set.plans.front();
  const auto chance = chance_to_keep(set.request, best);
  if (!chance || *chance > kSure) return nullptr;
  const Plan* surer = nullptr;
  for (const std::vector<Plan>* list : {&set.plans, &set.frontier}) {
    for (const Plan& p : *list) {
      const bool sure = chance_to_keep(set.request, p) > kSure;
      if (!sure || p.cost.total() > best.cost.total() * kCheap) continue;
      if (surer == nullptr || p.cost.total() < surer->cost.total()) surer = &p;
    }
  }
  return surer;
}

std::optional<double> saving(const Plan& plan) {
  if (plan.market == Market::OnDemand || plan.price == nullptr || plan.on_demand == nullptr) return std::nullopt;
  return 1 - plan.price->rate / plan.on_demand->rate;
}

double fixed_part(const StepEstimate& step) {
  Seconds fixed;
  for (const auto part : kFixed) fixed += step.components.*part;
  return fixed / step.time();
}

std::string batch_bound(const Workload& workload, const StepEstimate& step) {
  const double part = fixed_part(step);
  if (part <= kMuch) return {};
  std::string shares;
  for (const StepPart& p : longest_parts(step.components)) {
    if (std::find(kFixed.begin(), kFixed.end(), p.time) == kFixed.end()) continue;
    const double share = step.components.*p.time / step.time();
    if (share < 0.01) break;
    shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", p.words, format_percent(share));
  }
  return fmt::format("the batch of {} sequences ({} tokens) bounds it: {} of a step ({}) would not grow with the batch",
                     workload.global_batch, format_count(workload.tokens_per_step()), format_percent(part), shares);
}

}  // namespace smplan
