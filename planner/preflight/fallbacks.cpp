#include "planner/preflight/fallbacks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/export/target.hpp"
#include "planner/search/constraints.hpp"
#include "planner/search/estimate.hpp"

namespace smplan {
namespace {

/// Members of a job's hyperparameters that name the job, or follow from how long a step takes.
constexpr std::array<std::string_view, 5> kOfTheJob{"sagemaker_job_name", "sagemaker_submit_directory",
                                                    "sagemaker_instance_type", "save_interval", "plan_id"};

/// What a job starts with, whatever machines it is on: image and settings. Empty where it cannot be exported.
Json start_of(const TrainingPlan& plan, const Catalog& catalog) {
  const Result<Export> job = export_plan({plan, ExportOptions{}, catalog}, "create-training-job");
  if (!job) return {};
  Json request = Json::parse(job->files.front().content);
  Json start;
  start["image"] = request["AlgorithmSpecification"]["TrainingImage"];
  start["settings"] = request["HyperParameters"];
  for (const std::string_view name : kOfTheJob) start["settings"].erase(std::string(name));
  return start;
}

/// Predictions of one plan on other machines.
class Elsewhere {
 public:
  Elsewhere(const Lock& lock, const Catalog& catalog, const std::optional<std::string>& region)
      : lock_(lock), catalog_(catalog), region_(region), start_(start_of(lock.plan, catalog)) {}

  /// The plan on as many accelerators of this type; else why it cannot run there.
  [[nodiscard]] Result<Plan> on(const InstanceType& type) const {
    const std::int64_t devices = lock_.plan.world_size();
    if (devices % type.accelerator_count != 0) {
      return no(type, fmt::format("{} accelerators are no whole number of instances", devices));
    }
    TrainingPlan there = lock_.plan;
    there.instance = &type;
    there.instance_count = static_cast<std::int32_t>(devices / type.accelerator_count);
    if (type.network.kind != lock_.plan.instance->network.kind && there.instance_count > 1) {
      return no(type, "its nodes talk over another kind of network, which the containers are told beforehand");
    }
    if (!(start_of(there, catalog_) == start_)) return no(type, "its job has another image or other settings");
    RequestSpec spec = lock_.said;
    fill_open(spec, lock_.goals, {RequestGroup::Goal, RequestGroup::Memory});
    spec.instances = type.name;
    spec.count = std::to_string(there.instance_count);
    const Result<PlanRequest> request = resolve(spec, catalog_, region_, Purpose::Estimate);
    if (!request) return no(type, request.error().front().message);
    const Result<PlanSet> answer = estimate(*request, catalog_);
    if (!answer) return no(type, answer.error().front().message);
    const Plan& plan = answer->plans.front();
    const double chance = plan.out_of_memory_probability;
    if (chance > request->max_oom_probability.value_or(kDefaultOutOfMemory) ||
        memory_rejection(plan.memory, request->min_headroom)) {
      return no(type, fmt::format("{} of device memory are wanted, {} are there", format_bytes(plan.memory.wanted),
                                  format_bytes(plan.memory.limit)));
    }
    if (std::string broken = broken_goal(*request, plan); !broken.empty()) return no(type, std::move(broken), kGoal);
    return plan;
  }

  /// Code of a type that could run the job, and not as the plan had to.
  static constexpr const char* kGoal = "misses-goal";

 private:
  [[nodiscard]] static Result<Plan> no(const InstanceType& type, std::string why, const char* code = "no-fallback") {
    return fail(code, type.name, std::move(why), "leave it out");
  }

  /// What the plan had to keep to and would not there; empty if all is kept.
  [[nodiscard]] std::string broken_goal(const PlanRequest& request, const Plan& plan) const {
    if (const auto costly = hourly_rejection(request, plan.cost.hourly)) return shortfall(*costly);
    if (const auto over = limit_rejection(request, plan.cost)) {
      const bool asked = request.confidence && over->reason != RejectionReason::NoCheckpoints;
      return shortfall(*over) + (asked ? fmt::format(", to be kept with {}", format_percent(*request.confidence)) : "");
    }
    const bool over_itself = lock_.plan.prediction.time_to_train > days(kMaxJobDays);
    if (!plan.over_job_limit() || over_itself) return {};
    return fmt::format("takes {}, one training job runs for {} days at most",
                       format_duration(plan.cost.time_to_train()), kMaxJobDays);
  }

  const Lock& lock_;
  const Catalog& catalog_;
  const std::optional<std::string>& region_;
  Json start_;
};

}  // namespace

Result<Fallbacks> fallbacks_of(const Lock& lock, const Catalog& catalog,
                               const std::optional<std::string>& environment_region) {
  if (lock.plan.market == Market::Spot) {
    return fail("conflict", "--fallbacks", "SageMaker takes no list of types for managed spot training",
                "plan with --market on-demand, or leave --fallbacks out");
  }
  if (lock.plan.market == Market::CapacityBlock) {
    return fail("conflict", "--fallbacks", "a training plan is of one type, and each type of a list needs its own",
                "plan with --market on-demand, or leave --fallbacks out");
  }
  Fallbacks out;
  std::ptrdiff_t n_by_goal = 0;
  const Elsewhere elsewhere(lock, catalog, environment_region);
  for (const InstanceType& type : catalog.instances()) {
    const bool sold = type.support == TrainingSupport::OnDemand &&
                      catalog.find_price(type.name, lock.plan.region, lock.plan.market) != nullptr;
    if (!sold || type.name == lock.plan.instance->name || type.accelerator_count <= 0) continue;
    Result<Plan> plan = elsewhere.on(type);
    if (plan) {
      out.plans.push_back(std::move(*plan));
    } else {
      const Diagnostic& why = plan.error().front();
      const bool by_goal = why.code == Elsewhere::kGoal;
      out.refused.emplace(by_goal ? out.refused.begin() + n_by_goal++ : out.refused.end(), type.name, why.message);
    }
  }
  std::stable_sort(out.plans.begin(), out.plans.end(),
                   [](const Plan& a, const Plan& b) { return a.cost.total() < b.cost.total(); });
  return out;
}

std::vector<InstanceChoice> choices_of(const Fallbacks& fallbacks, std::size_t n) {
  std::vector<InstanceChoice> out;
  for (const Plan& plan : fallbacks.plans) {
    if (out.size() == n) break;
    const double slow = plan.step.p90 / plan.step.time();
    out.push_back({plan.instance->name, plan.instance_count, slow * plan.cost.time_to_train()});
  }
  return out;
}

}  // namespace smplan
