#include "base/csv_reader.hpp"
#include "planner/plan_json.hpp"

namespace smplan {
namespace {

std::string number(double value) { return format_shortest(value); }

std::vector<std::string> row_of(const PlanSet& set, std::size_t index) {
  const Plan& p = set.plans[index];
  const Strategy& s = p.strategy;
  const bool priced = p.price != nullptr;
  const auto text = [](auto integer) { return std::to_string(integer); };
  return {text(index + 1),
          p.instance->name,
          text(p.instance_count),
          text(p.gpus()),
          p.stack->id,
          std::string(to_string(s.collectives)),
          text(s.data_parallel),
          text(s.tensor_parallel),
          text(s.pipeline_parallel),
          text(s.virtual_pipeline),
          text(s.context_parallel),
          text(s.expert_parallel),
          s.sequence_parallel ? "1" : "0",
          std::string(to_string(s.sharding)),
          text(s.shard_degree),
          text(s.micro_batch),
          text(p.micro_batches),
          text(set.request.workload.global_batch),
          std::string(to_string(s.recompute)),
          to_string(s.offload),
          std::string(to_string(p.precision)),
          p.memory.fits() ? "1" : "0",
          number(in_gib(p.memory.peak_device)),
          number(in_gib(p.memory.limit)),
          number(p.step.time().value()),
          number(p.step.tokens_per_s),
          number(p.step.tokens_per_s_per_gpu),
          number(p.step.mfu),
          number(p.cost.time_to_train().value()),
          number(p.cost.goodput),
          priced ? number(in_usd_per_hour(p.cost.hourly)) : "",
          priced ? number(p.cost.total().value()) : "",
          priced ? p.price->provenance.as_of : "",
          std::string(to_string(p.market)),
          s.recompute_layers > 0 ? text(s.recompute_layers) : ""};
}

}  // namespace

std::string to_csv(const PlanSet& set) {
  std::string out = csv_line({"rank",
                              "instance_type",
                              "instance_count",
                              "n_gpus",
                              "stack",
                              "collectives",
                              "data",
                              "tensor",
                              "pipeline",
                              "virtual_pipeline",
                              "context",
                              "expert",
                              "sequence",
                              "sharding",
                              "shard_degree",
                              "micro_batch",
                              "gradient_accumulation",
                              "global_batch",
                              "recompute",
                              "offload",
                              "dtype",
                              "fits",
                              "peak_gib",
                              "limit_gib",
                              "step_time_s",
                              "tokens_per_s",
                              "tokens_per_s_per_gpu",
                              "mfu",
                              "time_to_train_s",
                              "goodput",
                              "hourly_usd",
                              "total_usd",
                              "price_date",
                              "market",
                              "recompute_layers"});
  for (std::size_t i = 0; i < set.plans.size(); ++i) out += csv_line(row_of(set, i));
  return out;
}

}  // namespace smplan
