#include "planner/rl/rl_answer.hpp"

#include <fmt/format.h>

#include "base/figures.hpp"
#include "base/units.hpp"
#include "planner/search/constraints.hpp"

namespace smplan {
namespace {

Json row(const RlRequest& request, const RlPlan& p, std::size_t rank) {
  Json json{{"rank", rank},
            {"instance", p.instance->name},
            {"instances", p.instances},
            {"market", to_string(p.market)},
            {"placement", to_string(p.placement)},
            {"training_instances", p.training_instances},
            {"rollout_instances", p.rollout_instances},
            {"offloads_states", p.offloads},
            {"stack", p.training.stack->id},
            {"training_plan", to_string(p.training.strategy)},
            {"engine", request.engine->name},
            {"rollout_tensor", p.rollout_tensor},
            {"rollout_replicas", p.replicas},
            {"rollout_sequences_at_once", p.engine.running},
            {"engine_memory_share", p.engine_share(*request.engine)},
            {"step_s", p.step().value()},
            {"step_p10_s", p.interval.p10.value()},
            {"step_p90_s", p.interval.p90.value()}};
  for (const RlPart& part : rl_parts()) json[std::string(part.key) + "_s"] = (p.parts.*part.time).value();
  json["generate_tail_s"] = p.rollout.tail.value();
  json["tokens_per_s"] = p.rollout.tokens * static_cast<double>(p.replicas) / p.parts.generate.value();
  json["training_memory_gib"] = in_gib(p.memory.training);
  json["generation_memory_gib"] = in_gib(p.memory.generation);
  json["device_memory_gib"] = in_gib(p.memory.limit);
  json["host_memory_gib"] = in_gib(p.memory.host);
  json["time_to_train_s"] = p.cost.time_to_train().value();
  const bool priced = p.price != nullptr;
  json["hourly_usd"] = priced ? Json(in_usd_per_hour(p.cost.hourly)) : Json();
  json["total_usd"] = priced ? Json(p.cost.total().value()) : Json();
  json["total_p10_usd"] = priced ? Json(p.cost.low.value()) : Json();
  json["total_p90_usd"] = priced ? Json(p.cost.high.value()) : Json();
  return json;
}

}  // namespace

Json rl_rows(const RlRequest& request, const RlPlanSet& set) {
  Json rows = Json::array();
  for (const RlPlan& plan : set.plans) rows.push_back(row(request, plan, rows.size() + 1));
  return rows;
}

std::string no_rl_plan_reason(const RlRequest& request, const RlPlanSet& set) {
  const std::string& name = request.training.workload.architecture.name;
  if (!set.nearest_miss) {
    const std::string refused = rejections(set.rejected);
    return fmt::format(
        "no plan: nothing to place {} on: split needs two instances, and --max-gpus, the sizes that are "
        "sold and devices that no engine runs on leave others out{}",
        name, refused.empty() ? "" : " (" + refused + ")");
  }
  const RlMiss& miss = *set.nearest_miss;
  std::string lacks = shortfall(miss.rejection);
  if (miss.rejection.reason == RejectionReason::Divisibility) {
    lacks = "does not divide: change --prompts, --samples, --mini-batches or --rollout-tp";
  }
  if (lacks.empty()) lacks = fmt::format("is refused ({})", to_string(miss.rejection.reason));
  if (miss.rejection.reason == RejectionReason::HostMemory) lacks += " of the host's memory";
  const bool judged =
      miss.rejection.reason == RejectionReason::Deadline || miss.rejection.reason == RejectionReason::Budget;
  if (judged && request.training.confidence) {
    lacks += fmt::format(" ({} sure; --confidence says otherwise)", format_percent(*request.training.confidence));
  }
  return fmt::format("no plan: {} on {} x {}, {}: {} {}", name, miss.instances, miss.instance->name,
                     to_string(miss.placement), miss.what, lacks);
}

std::string rl_caveat(const RlRequest& request) {
  const RolloutEngine& engine = *request.engine;
  return fmt::format(
      "no step of reinforcement learning. Generating is a model of {}, whose P10 and P90 are {:.0f} % and {:.0f} % of "
      "the "
      "memory bandwidth, {:g} ms and {:g} ms of the host an iteration, and other spreads of lengths. Tools and "
      "verifiers that responses wait for are not in it",
      engine.title, 100 * engine.bandwidth_share.high, 100 * engine.bandwidth_share.low, engine.iteration_us.low / 1e3,
      engine.iteration_us.high / 1e3);
}

}  // namespace smplan
