#include "cli/render/no_plan.hpp"

#include <fmt/format.h>

#include "cli/render/plan_table.hpp"
#include "models/layers.hpp"
#include "planner/constraints.hpp"

namespace smplan::cli {
namespace {

std::string described(const Plan& plan) {
  return fmt::format("{}, {} {}", hardware(plan), plan.stack->id, to_string(plan.strategy));
}

}  // namespace

bool is_short_of_memory(const PlanSet& set) {
  return !set.nearest_miss || set.nearest_miss->rejection.reason <= RejectionReason::Headroom;
}

std::string no_plan_reason(const PlanSet& set, const std::optional<Plan>& smallest) {
  const Architecture& a = set.request.workload.architecture;
  const std::string model =
      fmt::format("{} ({})", a.name, format_count(static_cast<double>(count_parameters(a).total())));
  std::string why = "no plan: ";
  if (set.nearest_miss) {
    const NearestMiss& miss = *set.nearest_miss;
    why += fmt::format("{} on {}: {}", model, described(miss.plan), shortfall(miss.rejection));
  } else {
    why += fmt::format("{}: no split of the work fits the request ({})", model, rejections(set));
  }
  if (smallest) {
    why += fmt::format("; smallest that fits: {} ({:.1f} of {:.1f} GiB, {})", described(*smallest),
                       in_gib(smallest->memory.peak_device), in_gib(smallest->memory.limit),
                       format_usd_per_hour(smallest->cost.hourly));
  }
  return why;
}

std::string no_plan_text(const PlanSet& set, const std::optional<Plan>& smallest, const Style& style) {
  return labelled("Answer:", no_plan_reason(set, smallest), style) + '\n' +
         labelled("Work:", work(set.request), style) + footing(set, style);
}

}  // namespace smplan::cli
