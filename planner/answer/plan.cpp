#include "planner/answer/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/figures.hpp"
#include "catalogs/dates.hpp"
#include "models/job/execution.hpp"
#include "models/run/markets.hpp"
#include "planner/answer/advice.hpp"

namespace smplan {
namespace {

/// Published large runs reach 30 to 55 % (Narayanan et al. 2021, table 1; Llama 3, Dubey et al. 2024,
/// table 4); below half of the low end the hardware mostly waits.
constexpr double kLowMfu = 0.15;

void warn_of_price(const PlanRequest& request, const Price& price, std::vector<std::string>& out) {
  if (price.basis == PriceBasis::Derived) {
    out.push_back(fmt::format("price is derived, not quoted ({}, {})", price.formula, price.provenance.as_of));
  }
  if (!request.today) return;
  const auto age = days_between(price.provenance.as_of, *request.today);
  if (age && *age > kOldPriceDays) {
    out.push_back(fmt::format("price is of {}, {} days old: check it", price.provenance.as_of, *age));
  }
}

void warn_of_support(const InstanceType& instance, std::vector<std::string>& out) {
  if (instance.support == TrainingSupport::OnDemand) return;
  const std::string reason =
      instance.support_reason.empty() ? std::string(to_string(instance.support)) : instance.support_reason;
  out.push_back(fmt::format("{} cannot be ordered on demand for SageMaker training: {}", instance.name, reason));
}

/// What the stack's name, collectives or number format promise and the models do not have.
void warn_of_strategy(const PlanRequest& request, const Plan& plan, std::vector<std::string>& out) {
  for (const auto& [stack, note] : request.stack_notes) {
    if (stack->id == plan.stack->id) out.push_back(note);
  }
  const int devices = plan.instance->accelerator_count;
  const int used = plan.stack->devices_used(devices);
  if (used < devices) {
    out.push_back(fmt::format("{} runs one worker a host: {} of the {} devices of each {} stay idle", plan.stack->name,
                              devices - used, devices, plan.instance->name));
  }
  if (plan.strategy.collectives == Collectives::Smddp) {
    out.emplace_back(
        "SMDDP is priced as NCCL: no measured run tells them apart, an advantage is not assumed, and the interval is "
        "wider "
        "for it");
  }
  if (!request[Dimension::Schedule].any() && plan.strategy.pipeline_parallel == 1) {
    out.emplace_back("--schedule has no effect: this plan has no pipeline, which --pp asks for");
  }
  if (is_on(plan.strategy.execution.pure_half)) {
    out.push_back(
        fmt::format("weights, gradients and moments are taken in {} without fp32 copies: exported jobs have "
                    "mixed precision, so the script must load and keep them so",
                    to_string(plan.precision)));
  }
}

}  // namespace

std::vector<std::string> plan_warnings(const PlanRequest& request, const Plan& plan) {
  std::vector<std::string> out;
  const MemoryEstimate& m = plan.memory;
  const Architecture& model = request.workload.architecture;
  if (!model.left_out.empty()) out.push_back(fmt::format("{} is planned without {}", model.name, model.left_out));
  warn_of_strategy(request, plan, out);
  if (!m.fits_device()) {
    out.push_back(
        fmt::format("out of memory: needs {} a device, has {}", format_bytes(m.wanted), format_bytes(m.limit)));
  } else if (plan.out_of_memory_probability > kDefaultOutOfMemory) {
    out.push_back(fmt::format("only {} of {} device memory stays free: {} chance to run out",
                              format_bytes(m.limit - m.wanted), format_bytes(m.limit),
                              format_chance(plan.out_of_memory_probability)));
  }
  if (std::string short_of = host_shortfall(m); !short_of.empty()) out.push_back(std::move(short_of));
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
    out.push_back(fmt::format("no {} price of {} in {}: cost is not known", to_string(plan.market), plan.instance->name,
                              request.region));
  }
  const std::string_view rule = market_rule(plan.market, plan.cost.standing);
  if (!rule.empty()) out.emplace_back(rule);
  if (plan.cost.unsafe) out.emplace_back("nothing is saved: spot capacity taken away means starting anew");
  if (plan.cost.input && !(plan.cost.input->keeps_fed() && plan.cost.input->fits_disk)) {
    out.push_back(explain_input(*plan.cost.input, *request.run.data));
  }
  if (plan.market == Market::CapacityBlock && plan.instance_count > kMostPlanInstances) {
    out.push_back(
        fmt::format("{} instances are more than the {} of a training plan on offer, and a job takes its "
                    "instances from one plan: ask AWS first",
                    plan.instance_count, kMostPlanInstances));
  }
  if (plan.market == Market::CapacityBlock && plan.cost.time_to_train() > days(kMostPlanDays)) {
    out.push_back(fmt::format("takes longer than the {} days of one training plan", kMostPlanDays));
  }
  if (plan.step.mfu < kLowMfu) {
    const std::string bound = batch_bound(request.workload, plan.step);
    out.push_back(fmt::format(
        "model FLOPs utilisation of {} is low: {}", format_percent(plan.step.mfu),
        bound.empty() ? std::string(bottleneck(plan.step)) : bound + "; --global-batch-tokens says another"));
  }
  return out;
}

}  // namespace smplan
