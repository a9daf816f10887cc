#include "planner/answer/quotas.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "models/run/markets.hpp"

namespace smplan {
namespace {

constexpr double kDaysPerYear = 365;

std::string amount(const AccountQuota& quota, double value) {
  return quota.unit == "s" ? format_duration(Seconds(value)) : fmt::format("{:g}", value);
}

}  // namespace

std::vector<QuotaNeed> quota_needs(const PlanRequest& request, const Plan& plan) {
  std::vector<QuotaNeed> out;
  const auto need = [&](std::string_view use, double needed) {
    const AccountQuota& quota = account_quota(use);
    out.push_back({&quota, quota.name(plan.instance->name), needed});
  };
  const auto need_more = [&](std::string_view use, double needed) {
    need(use, needed);
    if (!out.back().must_be_raised()) out.pop_back();
  };
  const double instances = plan.instance_count + request.run.recovery.spares;
  if (plan.market != Market::CapacityBlock) {
    need(plan.cost.standing ? "cluster" : plan.market == Market::Spot ? "spot" : "training-job", instances);
  }
  if (plan.cost.standing) return out;
  if (request.run.warm_pool) need("warm-pool", instances);
  need_more("instances", instances);
  need_more("run-time", std::ceil(plan.cost.time_to_train().value()));
  return out;
}

std::string quota_words(const std::vector<QuotaNeed>& needs) {
  std::string text;
  for (const QuotaNeed& need : needs) {
    text += fmt::format("{}\"{}\" {} (a new account has {})", text.empty() ? "" : ", ", need.name,
                        amount(*need.quota, need.needed), amount(*need.quota, need.quota->new_account));
  }
  return text;
}

std::string capacity_words(const Plan& plan) {
  if (plan.cost.standing && plan.market != Market::SavingsPlan) return {};
  const std::string fleet = fmt::format("{} x {}", plan.instance_count, plan.instance->name);
  const bool scarce = plan.instance->is_scarce();
  switch (plan.market) {
    case Market::OnDemand:
      if (!scarce) return {};
      return fmt::format(
          "may never start: {} on demand is not promised; a training plan reserves it, where one is on offer", fleet);
    case Market::Spot:
      if (scarce && plan.instance_count > 1) {
        return fmt::format(
            "may never start: {} are rarely free together on spot, and nobody publishes the chance; --market on-demand "
            "or training-plan is surer",
            fleet);
      }
      return fmt::format("may never start: {} on spot is not promised; --market on-demand is surer", fleet);
    case Market::CapacityBlock:
      return fmt::format(
          "{} days of {} instances, paid whether used or not; a longer run extends the plan, if an "
          "extension is on offer",
          std::llround(plan.cost.reserved / days(1)), purchasable_instances(plan.market, plan.instance_count));
    case Market::SavingsPlan: {
      if (plan.price == nullptr) return {};
      const Usd year = plan.cost.hourly * days(kDaysPerYear);
      return fmt::format(
          "a year of the commitment is {}, of which this run uses {}: cheaper than on-demand only if "
          "other jobs use the rest",
          format_usd(year), format_percent(plan.cost.bill.total() / year));
    }
  }
  return {};
}

}  // namespace smplan
