#include "cli/render/no_plan.hpp"

#include <fmt/format.h>

#include "cli/render/plan_table.hpp"
#include "models/layers/layers.hpp"
#include "models/run/markets.hpp"
#include "planner/search/constraints.hpp"

namespace smplan::cli {
namespace {

std::string described(const Plan& plan) {
  return fmt::format("{}, {} {}", hardware(plan), plan.stack->id, to_string(plan.strategy));
}

/// How sure deadline and budget are kept, where one of them was missed.
std::string certainty(const PlanSet& set) {
  const RejectionReason reason = set.nearest_miss->rejection.reason;
  const bool judged = reason == RejectionReason::Deadline || reason == RejectionReason::Budget;
  if (!judged || !set.request.confidence) return {};
  return fmt::format(" ({} sure; --confidence says otherwise)", format_percent(*set.request.confidence));
}

/// Where more instances would help and the request never said how many there may be.
std::string own_bound(const PlanSet& set) {
  const PlanRequest& r = set.request;
  const NearestMiss& miss = *set.nearest_miss;
  const std::int32_t most = r.counts.empty() ? 0 : r.counts.back();
  const bool at_the_bound = r.counts_defaulted && miss.plan.instance_count == most;
  if (!at_the_bound || miss.rejection.reason == RejectionReason::Budget) return {};
  return fmt::format("; {} instances are the most that smplan tries by itself, --count 1..{} allows more", most,
                     4 * most);
}

}  // namespace

bool is_short_of_memory(const PlanSet& set) {
  return !set.nearest_miss || set.nearest_miss->rejection.reason <= RejectionReason::OutOfMemoryRisk;
}

std::string no_plan_reason(const PlanSet& set, const std::optional<WayOut>& way) {
  const Architecture& a = set.request.workload.architecture;
  const std::string model =
      fmt::format("{} ({})", a.name, format_count(static_cast<double>(count_parameters(a).total())));
  std::string why = "no plan: ";
  if (set.nearest_miss) {
    const NearestMiss& miss = *set.nearest_miss;
    why += fmt::format("{} on {}: {}{}{}", model, described(miss.plan), shortfall(miss.rejection), certainty(set),
                       own_bound(set));
  } else {
    why += fmt::format("{}: no split of the work fits the request ({})", model, rejections(set.rejected));
  }
  if (set.rejected[static_cast<std::size_t>(RejectionReason::TrainingPlan)] > 0) {
    why += fmt::format("; a job takes its instances from one training plan, and none on offer has more than {}",
                       kMostPlanInstances);
  }
  if (way) {
    const Plan& p = way->plan;
    why +=
        fmt::format("; {}: {} ({:.1f} of {:.1f} GiB, {})",
                    way->other_software ? "other software can, --stack " + p.stack->id : "smallest that fits",
                    described(p), in_gib(p.memory.wanted), in_gib(p.memory.limit), format_usd_per_hour(p.cost.hourly));
  }
  return why;
}

std::string no_plan_text(const PlanSet& set, const std::optional<WayOut>& way, const Style& style) {
  return labelled("Answer:", no_plan_reason(set, way), style) + '\n' + labelled("Work:", work(set.request), style) +
         footing(set, style);
}

}  // namespace smplan::cli
