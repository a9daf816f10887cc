#include "planner/answer/quotas.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace smplan {
namespace {

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

}  // namespace smplan
