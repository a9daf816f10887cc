#include <array>

#include "base/csv_reader.hpp"
#include "planner/plan_json.hpp"

namespace smplan {
namespace {

/// One plan of the table.
struct Row {
  const PlanSet& set;
  std::size_t index;
  const Plan& plan;
  const Strategy& strategy;

  [[nodiscard]] bool has_experts() const { return set.request.workload.architecture.is_moe(); }
  [[nodiscard]] bool priced() const { return plan.price != nullptr; }
};

struct Column {
  std::string_view name;
  std::string (*cell)(const Row&);
};

std::string text(std::int64_t count) { return std::to_string(count); }
std::string number(double value) { return format_shortest(value); }
std::string flag(bool value) { return value ? "1" : "0"; }

constexpr std::array<Column, 40> kColumns{{
    {"rank", [](const Row& r) { return text(static_cast<std::int64_t>(r.index) + 1); }},
    {"instance_type", [](const Row& r) { return r.plan.instance->name; }},
    {"instance_count", [](const Row& r) { return text(r.plan.instance_count); }},
    {"n_gpus", [](const Row& r) { return text(r.plan.gpus()); }},
    {"stack", [](const Row& r) { return r.plan.stack->id; }},
    {"collectives", [](const Row& r) { return std::string(to_string(r.strategy.collectives)); }},
    {"data", [](const Row& r) { return text(r.strategy.data_parallel); }},
    {"tensor", [](const Row& r) { return text(r.strategy.tensor_parallel); }},
    {"pipeline", [](const Row& r) { return text(r.strategy.pipeline_parallel); }},
    {"virtual_pipeline", [](const Row& r) { return text(r.strategy.virtual_pipeline); }},
    {"schedule",
     [](const Row& r) {
       return r.strategy.pipeline_parallel > 1 ? std::string(to_string(r.strategy.schedule)) : std::string();
     }},
    {"context", [](const Row& r) { return text(r.strategy.context_parallel); }},
    {"expert", [](const Row& r) { return text(r.strategy.expert_parallel); }},
    {"expert_tensor", [](const Row& r) { return r.has_experts() ? text(r.strategy.expert_tensor()) : std::string(); }},
    {"sequence", [](const Row& r) { return flag(r.strategy.sequence_parallel); }},
    {"sharding", [](const Row& r) { return std::string(to_string(r.strategy.sharding)); }},
    {"shard_degree", [](const Row& r) { return text(r.strategy.shard_degree); }},
    {"micro_batch", [](const Row& r) { return text(r.strategy.micro_batch); }},
    {"gradient_accumulation", [](const Row& r) { return text(r.plan.micro_batches); }},
    {"global_batch", [](const Row& r) { return text(r.set.request.workload.global_batch); }},
    {"recompute", [](const Row& r) { return std::string(to_string(r.strategy.recompute)); }},
    {"offload", [](const Row& r) { return to_string(r.strategy.offload); }},
    {"dtype", [](const Row& r) { return std::string(to_string(r.plan.precision)); }},
    {"fits", [](const Row& r) { return flag(r.plan.memory.fits()); }},
    {"peak_gib", [](const Row& r) { return number(in_gib(r.plan.memory.wanted)); }},
    {"limit_gib", [](const Row& r) { return number(in_gib(r.plan.memory.limit)); }},
    {"step_time_s", [](const Row& r) { return number(r.plan.step.time().value()); }},
    {"tokens_per_s", [](const Row& r) { return number(r.plan.step.tokens_per_s); }},
    {"tokens_per_s_per_gpu", [](const Row& r) { return number(r.plan.step.tokens_per_s_per_gpu); }},
    {"mfu", [](const Row& r) { return number(r.plan.step.mfu); }},
    {"time_to_train_s", [](const Row& r) { return number(r.plan.cost.time_to_train().value()); }},
    {"goodput", [](const Row& r) { return number(r.plan.cost.goodput); }},
    {"hourly_usd", [](const Row& r) { return r.priced() ? number(in_usd_per_hour(r.plan.cost.hourly)) : ""; }},
    {"total_usd", [](const Row& r) { return r.priced() ? number(r.plan.cost.total().value()) : ""; }},
    {"price_date", [](const Row& r) { return r.priced() ? r.plan.price->provenance.as_of : ""; }},
    {"market", [](const Row& r) { return std::string(to_string(r.plan.market)); }},
    {"recompute_layers",
     [](const Row& r) { return r.strategy.recompute_layers > 0 ? text(r.strategy.recompute_layers) : std::string(); }},
    {"peak_gib_p10", [](const Row& r) { return number(in_gib(r.plan.peak_interval.p10)); }},
    {"peak_gib_p90", [](const Row& r) { return number(in_gib(r.plan.peak_interval.p90)); }},
    {"out_of_memory_probability", [](const Row& r) { return number(r.plan.out_of_memory_probability); }},
}};

}  // namespace

std::string to_csv(const PlanSet& set) {
  std::vector<std::string> cells;
  for (const Column& column : kColumns) cells.emplace_back(column.name);
  std::string out = csv_line(cells);
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    const Row row{set, i, set.plans[i], set.plans[i].strategy};
    for (std::size_t c = 0; c < kColumns.size(); ++c) cells[c] = kColumns[c].cell(row);
    out += csv_line(cells);
  }
  return out;
}

}  // namespace smplan
