#include "planner/answer/plan_lock.hpp"

#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "planner/answer/plan_json.hpp"

namespace smplan {
namespace {

/// The plan alone is its own frontier.
Json point_of(const Json& plan) {
  Json out;
  for (const std::string_view key : {"rank", "instance_type", "instance_count", "n_gpus"}) out[key] = plan[key];
  out["market"] = plan["cost"]["market"];
  for (const std::string_view key : {"stack", "strategy", "time_to_train_s"}) out[key] = plan[key];
  for (const std::string_view key : {"hourly_usd", "total_usd"}) out[key] = plan["cost"][key];
  return out;
}

std::string lock_of(Json schema, Json version, Json request, Json plan, const Json& rank) {
  Json out;
  out["schema_version"] = std::move(schema);
  out["smplan_version"] = std::move(version);
  out["request"] = std::move(request);
  out["plans"] = Json::array();
  out["pareto"] = Json::array();
  out["frontier"] = Json::array();
  out["frontier"].push_back(point_of(plan));
  out["plans"].push_back(std::move(plan));
  out["pareto"].push_back(rank);
  Json rejected = Json::object();
  for (int i = 0; i < kRejectionReasonCount; ++i) {
    rejected[std::string(to_string(static_cast<RejectionReason>(i)))] = 0;
  }
  out["rejected"] = std::move(rejected);
  out["nearest_miss"] = nullptr;
  Json search;
  search["space"] = 1;
  search["evaluated"] = 1;
  search["pruned"] = 0;
  search["seconds"] = 0.0;
  search["exact"] = true;
  out["search"] = std::move(search);
  // Of a file come texts that nobody reads before they are written again.
  return printable_json(out.dump(2)) + "\n";
}

}  // namespace

std::string plan_lock(const JsonValue& plan_set, std::size_t rank) {
  const Json whole = plan_set.copy();
  const Json wanted(rank);
  Json plan;
  for (const Json& one : whole["plans"].elements()) {
    if (plan.is_null() && one["rank"] == wanted) plan = one;
  }
  return lock_of(whole["schema_version"], whole["smplan_version"], whole["request"], std::move(plan), wanted);
}

std::string plan_lock(const PlanSet& set, std::size_t rank) {
  Json plan = plan_json(set.request, set.plans[rank - 1], rank);
  return lock_of(plan_schema_version(), std::string(version()), Json::parse(to_json(set.request)), std::move(plan),
                 rank);
}

}  // namespace smplan
