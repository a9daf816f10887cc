#include <array>

#include "base/csv_reader.hpp"
#include "planner/answer/plan_json.hpp"

namespace smplan {
namespace {

/// One plan of the table.
struct Row {
  const PlanSet& set;
  std::size_t index;
  const Plan& plan;

  [[nodiscard]] bool priced() const { return plan.price != nullptr; }
};

struct Column {
  std::string_view name;
  std::string (*cell)(const Row&);
};

std::string text(std::int64_t count) { return std::to_string(count); }
std::string number(double value) { return format_shortest(value); }
std::string flag(bool value) { return value ? "1" : "0"; }

constexpr std::array<Column, 5> kPurchase{{
    {"rank", [](const Row& r) { return text(static_cast<std::int64_t>(r.index) + 1); }},
    {"instance_type", [](const Row& r) { return r.plan.instance->name; }},
    {"instance_count", [](const Row& r) { return text(r.plan.instance_count); }},
    {"n_gpus", [](const Row& r) { return text(r.plan.gpus()); }},
    {"stack", [](const Row& r) { return r.plan.stack->id; }},
}};

constexpr std::array<Column, 19> kAnswer{{
    {"gradient_accumulation", [](const Row& r) { return text(r.plan.micro_batches); }},
    {"global_batch", [](const Row& r) { return text(r.set.request.workload.global_batch); }},
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
    {"peak_gib_p10", [](const Row& r) { return number(in_gib(r.plan.peak_interval.p10)); }},
    {"peak_gib_p90", [](const Row& r) { return number(in_gib(r.plan.peak_interval.p90)); }},
    {"out_of_memory_probability", [](const Row& r) { return number(r.plan.out_of_memory_probability); }},
}};

std::string cell(const DimensionRow& row, const Strategy& s) {
  if (!row.applies(s)) return {};
  const std::int32_t value = row.get(s);
  return row.kind == DimensionRow::Kind::Switch ? flag(value != 0) : row.text(value);
}

}  // namespace

std::string to_csv(const PlanSet& set) {
  std::vector<std::string> cells;
  for (const Column& column : kPurchase) cells.emplace_back(column.name);
  for (const DimensionRow& row : dimensions()) cells.emplace_back(row.column);
  for (const Column& column : kAnswer) cells.emplace_back(column.name);
  std::string out = csv_line(cells);
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    const Row row{set, i, set.plans[i]};
    cells.clear();
    for (const Column& column : kPurchase) cells.push_back(column.cell(row));
    for (const DimensionRow& dimension : dimensions()) cells.push_back(cell(dimension, row.plan.strategy));
    for (const Column& column : kAnswer) cells.push_back(column.cell(row));
    out += csv_line(cells);
  }
  return out;
}

}  // namespace smplan
