#pragma once

#include <string>
#include <vector>

#include "catalogs/quotas.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

/// What a plan needs of a quota.
struct QuotaNeed {
  const AccountQuota* quota = nullptr;
  std::string name;   ///< in the console
  double needed = 0;  ///< in the quota's unit
  /// A new account has less.
  [[nodiscard]] bool must_be_raised() const { return needed > quota->new_account; }
};

/// Those that limit the plan: of its type, in the market and on the platform of the request, of warm pools where the
/// request keeps one, and of a job's instances and time where a new account has less. None of a training plan, whose
/// purchase reserves its instances.
std::vector<QuotaNeed> quota_needs(const PlanRequest& request, const Plan& plan);

/// `"ml.p5.48xlarge for training job usage" 8 (a new account has 0)`, one after the other; empty for none.
std::string quota_words(const std::vector<QuotaNeed>& needs);

/// What is not sure of the plan's instances, or was bought with them: spot and scarce types may never start, a training
/// plan and a savings plan are paid whether used or not. Empty where nothing is to be said, as of a standing cluster.
std::string capacity_words(const Plan& plan);

}  // namespace smplan
