#include "planner/plan.hpp"

#include <charconv>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace smplan {
namespace {

/// AWS repriced the accelerated types twice in the year before; a quarter is how old a price may be
/// before a plan should say so.
constexpr int kOldPriceDays = 90;
/// Published large runs reach 30 to 55 % (Narayanan et al. 2021, table 1; Llama 3, Dubey et al. 2024,
/// table 4); below half of the low end the hardware mostly waits.
constexpr double kLowMfu = 0.15;
constexpr double kThinHeadroom = 0.05;

/// Day number of `YYYY-MM-DD`, `YYYY-MM` (its first day) or `YYYY`.
std::optional<std::int64_t> day_number(std::string_view date) {
  const auto part = [&](std::size_t begin, std::size_t length) -> std::optional<int> {
    if (date.size() < begin + length) return std::nullopt;
    int value = 0;
    const char* first = date.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    if (error != std::errc() || end != first + length) return std::nullopt;
    return value;
  };
  const auto year = part(0, 4);
  if (!year) return std::nullopt;
  const auto month = static_cast<unsigned>(part(5, 2).value_or(1));
  const auto day = static_cast<unsigned>(part(8, 2).value_or(1));
  const std::chrono::year_month_day ymd{std::chrono::year(*year), std::chrono::month(month), std::chrono::day(day)};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count();
}

void warn_of_price(const PlanRequest& request, const Price& price, std::vector<std::string>& out) {
  if (price.basis == PriceBasis::Derived) {
    out.push_back(fmt::format("price is derived, not quoted ({}, {})", price.formula, price.provenance.as_of));
  }
  if (!request.today) return;
  const auto now = day_number(*request.today);
  const auto then = day_number(price.provenance.as_of);
  if (now && then && *now - *then > kOldPriceDays) {
    out.push_back(fmt::format("price is of {}, {} days old: check it", price.provenance.as_of, *now - *then));
  }
}

void warn_of_support(const InstanceType& instance, std::vector<std::string>& out) {
  if (instance.support == TrainingSupport::OnDemand) return;
  const std::string reason =
      instance.support_reason.empty() ? std::string(to_string(instance.support)) : instance.support_reason;
  out.push_back(fmt::format("{} cannot be ordered on demand for SageMaker training: {}", instance.name, reason));
}

}  // namespace

std::vector<std::string> plan_warnings(const PlanRequest& request, const Plan& plan) {
  std::vector<std::string> out;
  const MemoryEstimate& m = plan.memory;
  if (!m.fits()) {
    out.push_back(
        fmt::format("out of memory: needs {} a device, has {}", format_bytes(m.peak_device), format_bytes(m.limit)));
  } else if (m.peak_device > m.limit * (1 - kThinHeadroom)) {
    out.push_back(fmt::format("only {} of {} device memory stays free: {} chance to run out",
                              format_bytes(m.limit - m.peak_device), format_bytes(m.limit),
                              format_percent(plan.out_of_memory_probability)));
  }
  if (!plan.unmeasured.empty()) {
    out.push_back(fmt::format("no measured run of {} had {}: the interval is wider for it", plan.stack->id,
                              fmt::join(plan.unmeasured, ", ")));
  }
  if (plan.over_job_limit()) {
    out.push_back(fmt::format("takes {}, longer than the {} days of one SageMaker job: needs restarts from checkpoints",
                              format_duration(plan.cost.time_to_train()), kMaxJobDays));
  }
  warn_of_support(*plan.instance, out);
  if (plan.price != nullptr) {
    warn_of_price(request, *plan.price, out);
  } else {
    out.push_back(fmt::format("no {} price of {} in {}: cost is not known", to_string(request.market),
                              plan.instance->name, request.region));
  }
  if (plan.step.mfu < kLowMfu) {
    out.push_back(
        fmt::format("model FLOPs utilisation of {} is low: {}", format_percent(plan.step.mfu), bottleneck(plan.step)));
  }
  return out;
}

}  // namespace smplan
