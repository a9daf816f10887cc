#include "cli/render/plan_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "base/markdown.hpp"
#include "models/layers/layers.hpp"
#include "planner/answer/advice.hpp"
#include "planner/answer/quotas.hpp"

namespace smplan::cli {
namespace {

constexpr std::size_t kFrontierRows = 8;

std::string memory_cell(const MemoryEstimate& m) {
  return fmt::format("{:.1f}/{:.1f}", in_gib(m.wanted), in_gib(m.limit));
}

/// `<0.1%`: in a table's words.
std::string chance_cell(double probability) {
  constexpr double kShown = 0.001;
  return probability < kShown ? "<0.1%" : format_percent(probability);
}

std::string money(const Plan& plan, Usd amount) { return plan.price == nullptr ? "-" : format_usd(amount); }
std::string hourly(const Plan& plan) { return money(plan, Usd(in_usd_per_hour(plan.cost.hourly))); }

std::string duration_cell(const Plan& plan) {
  return format_duration(plan.cost.time_to_train()) + (plan.over_job_limit() ? "*" : "");
}

std::string objective_words(const PlanSet& set) {
  const PlanRequest& r = set.request;
  if (nothing_ends_in_time(set)) return "shortest time, as nothing ends within a year";
  // A deadline is a horizon that the line shows anyway.
  const std::string horizon = r.deadline ? "" : " within " + format_duration(r.horizon);
  switch (r.objective) {
    case Objective::Cost:
      return "lowest cost" + horizon;
    case Objective::Time:
      return "shortest time";
    case Objective::Balanced:
      return "cost x time" + horizon;
    case Objective::Pareto:
      return "the time/cost frontier";
  }
  return {};
}

std::string target(const PlanSet& set) {
  const PlanRequest& r = set.request;
  std::string text = fmt::format("{} | {} | {} {}", objective_words(set), work(r), r.region, market_list(r));
  if (r.deadline) text += " | deadline " + format_duration(*r.deadline);
  if (r.due) text += fmt::format(" ({})", to_string(*r.due));
  if (r.budget) text += " | budget " + format_usd(*r.budget);
  if (r.confidence) text += fmt::format(" | {} sure to be kept", format_percent(*r.confidence));
  if (r.max_hourly) text += " | at most " + format_usd_per_hour(*r.max_hourly);
  if (r.max_oom_probability)
    text += fmt::format(" | at most {} chance to run out of memory", format_percent(*r.max_oom_probability));
  if (r.min_headroom > 0) text += " | headroom " + format_percent(r.min_headroom);
  return text;
}

std::string best(const Plan& p) {
  return fmt::format("{}, {} {}: {}, {}, {} a step ({} to {}), {} MFU, {} of {} GiB ({} chance to run out)",
                     hardware(p), p.stack->id, to_string(p.strategy), format_duration(p.cost.time_to_train()),
                     money(p, p.cost.total()), format_duration(p.step.time()), format_duration(p.step.p10),
                     format_duration(p.step.p90), format_percent(p.step.mfu),
                     fmt::format("{:.1f}", in_gib(p.memory.wanted)), fmt::format("{:.1f}", in_gib(p.memory.limit)),
                     format_chance(p.out_of_memory_probability));
}

bool any_over_limit(const std::vector<Plan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return p.over_job_limit(); });
}

/// Ends always, the rest evenly spaced.
std::vector<std::size_t> thinned(std::size_t n) {
  std::vector<std::size_t> indices;
  const std::size_t shown = std::min(n, kFrontierRows);
  for (std::size_t i = 0; i < shown; ++i) indices.push_back(shown == 1 ? 0 : i * (n - 1) / (shown - 1));
  return indices;
}

std::string job_limit_note() {
  return fmt::format("longer than {:g} days, SageMaker's limit for one job: run as several from checkpoints",
                     kMaxJobDays);
}

}  // namespace

std::string seconds(Seconds s) {
  const double v = s.value();
  return fmt::format("{:.{}f}", v, v < 10 ? 2 : v < 100 ? 1 : 0);
}

std::string hardware(const Plan& plan) { return fmt::format("{} x {}", plan.instance_count, plan.instance->name); }

std::string quotas(const Plan& plan, const PlanRequest& request, const Style& style) {
  const std::string words = quota_words(quota_needs(request, plan));
  std::string text;
  if (!words.empty()) text = labelled("Quota: ", words + "; ask under Service Quotas", style);
  const std::string capacity = capacity_words(plan);
  if (!capacity.empty()) text += labelled("Supply:", capacity, style);
  return text;
}

std::string chances(const Plan& plan, const PlanRequest& request) {
  const RunCost& c = plan.cost;
  std::string text = fmt::format("{} to {}", format_duration(c.spread.at(0.1)), format_duration(c.spread.at(0.9)));
  if (plan.price != nullptr) text += fmt::format(", {} to {}", format_usd(c.low), format_usd(c.high));
  if (const auto saved = saving(plan)) {
    text += fmt::format(", {} {} on-demand", format_percent(std::abs(*saved)), *saved >= 0 ? "below" : "above");
  }
  text += fmt::format(" (P10 to P90); goodput {}, {} interruptions", format_percent(c.goodput),
                      format_expected(c.loss.interruptions));
  if (request.deadline) {
    text += fmt::format("; done within {} with {} probability", format_duration(*request.deadline),
                        format_chance(c.spread.probability(*request.deadline)));
  }
  if (request.budget && plan.price != nullptr) {
    text += fmt::format("; costs at most {} with {} probability", format_usd(*request.budget),
                        format_chance(c.cost_probability(*request.budget)));
  }
  if (request.due) {
    const auto finish = [&](Seconds time) { return day_after_order(*request.due, time.value()); };
    text += fmt::format(", expected on {} (P90 {})", finish(c.time_to_train()), finish(c.spread.at(0.9)));
  }
  return text;
}

namespace {

/// `fine-tuning, LoRA of rank 16`, `fine-tuning, 20 virtual tokens (prompt_tuning)`.
std::string fine_tuning_by(const Workload& w) {
  const bool four_bits = w.finetune == FineTune::Qlora;
  const Lora& lora = w.lora;
  std::string text = lora.trains_prompt()
                         ? fmt::format("fine-tuning, {} virtual tokens ({}){}", lora.virtual_tokens, lora.method->name,
                                       four_bits ? " of a 4-bit base" : "")
                         : fmt::format("fine-tuning, {} of rank {}", four_bits ? "QLoRA" : "LoRA", lora.rank);
  if (lora.method != nullptr && !lora.trains_prompt()) text += fmt::format(" ({})", lora.method->name);
  if (lora.count > 1) text += fmt::format(", {} at once", lora.count);
  return text;
}

std::string fine_tuning_words(const Workload& w) {
  std::string text = "fine-tuning, all weights";
  if (w.trained_layers) text = fmt::format("fine-tuning, {} alone", trained_words(*w.trained_layers));
  if (w.finetune != FineTune::Full) {
    text = fine_tuning_by(w);
  }
  if (w.loss == nullptr) return text;
  text += fmt::format(", {} ({})", w.loss->name, w.loss->title);
  if (w.teacher) text += " of " + w.teacher->name;
  if (w.loss->frozen == FrozenModel::Reference) text += fmt::format(", reference: {}", to_string(w.reference));
  return text;
}

/// Where a region or market has prices of few types, the list compares these and no others: that comes first.
std::string few_prices(const PlanRequest& r, const Style& style) {
  std::string text;
  if (2 * r.types_priced < r.types_orderable) {
    text += labelled("Prices:",
                     fmt::format("of {} instance types that can be ordered {} have a price in {} ({}): the rest is "
                                 "not compared; add prices with `smplan catalog import`",
                                 r.types_orderable, r.types_priced, r.region, market_list(r)),
                     style);
  }
  for (const Market market : r.markets_without_prices) {
    text += labelled(
        "Prices:", fmt::format("no {} price is known in {}: that market is not compared", to_string(market), r.region),
        style);
  }
  return text;
}

/// What a reader of the best plan would ask for next.
std::string advice(const PlanSet& set, const Style& style) {
  const Plan& best = set.plans.front();
  std::string text;
  if (const Plan* later = cheaper_later(set)) {
    text += labelled("Later: ",
                     fmt::format("{}, {} {} costs {} ({}) and takes {}: --deadline {:.0f}d", hardware(*later),
                                 later->stack->id, to_string(later->strategy), format_usd(later->cost.total()),
                                 format_change(best.cost.total().value(), later->cost.total().value()),
                                 format_duration(later->cost.time_to_train()), days_for(*later)),
                     style);
  }
  if (const Plan* surer = surer_plan(set)) {
    text += labelled("Surer: ",
                     fmt::format("{}, {} {} costs {} ({}) and keeps the limits with {} probability", hardware(*surer),
                                 surer->stack->id, to_string(surer->strategy), format_usd(surer->cost.total()),
                                 format_change(best.cost.total().value(), surer->cost.total().value()),
                                 format_chance(*chance_to_keep(set.request, *surer))),
                     style);
  }
  return text;
}

}  // namespace

std::string work(const PlanRequest& request) {
  const Workload& w = request.workload;
  const auto parameters = static_cast<double>(count_parameters(w.architecture).total());
  const SequenceLengths lengths = w.data_lengths();
  std::string text = fmt::format("{} ({} {}), {} tokens, sequences of {}, {} a step, {}", w.architecture.name,
                                 format_count(parameters), w.architecture.is_moe() ? "MoE" : "dense",
                                 format_count(w.tokens), lengths.longest, w.global_batch, to_string(w.optimizer));
  if (lengths.mean > 0) text += fmt::format(", {} tokens in an average sequence", lengths.mean);
  if (w.fine_tunes) text += ", " + fine_tuning_words(w);
  return text;
}

Table plan_table(const PlanSet& set) {
  Table table;
  table.columns = {{"#", Align::Right},          {"INSTANCE"},
                   {"N", Align::Right},          {"PLAN", Align::Left, 0, 24},
                   {"STACK", Align::Left, 5},    {"DTYPE", Align::Left, 9},
                   {"MEM GiB", Align::Right, 1}, {"OOM", Align::Right, 6},
                   {"STEP s", Align::Right, 3},  {"P10-P90", Align::Right, 7},
                   {"MFU", Align::Right, 2},     {"TOKENS/s", Align::Right, 8},
                   {"TIME", Align::Right},       {"$/h", Align::Right, 4},
                   {"TOTAL", Align::Right}};
  const bool several = set.request.markets.size() > 1;
  if (several) table.columns.insert(table.columns.begin() + 2, {"MARKET"});
  std::size_t rank = 0;
  for (const Plan& p : set.plans) {
    table.rows.push_back({std::to_string(++rank), p.instance->name, std::to_string(p.instance_count),
                          to_string(p.strategy), p.stack->id, std::string(to_string(p.precision)),
                          memory_cell(p.memory), chance_cell(p.out_of_memory_probability), seconds(p.step.time()),
                          fmt::format("{}-{}", seconds(p.step.p10), seconds(p.step.p90)), format_percent(p.step.mfu),
                          format_count(p.step.tokens_per_s), duration_cell(p), hourly(p), money(p, p.cost.total())});
    if (several) table.rows.back().insert(table.rows.back().begin() + 2, std::string(to_string(p.market)));
  }
  return table;
}

Table frontier_table(const PlanSet& set) {
  Table table;
  table.columns = {{"TIME", Align::Right}, {"TOTAL", Align::Right},      {"$/h", Align::Right, 2}, {"N", Align::Right},
                   {"INSTANCE"},           {"PLAN", Align::Left, 0, 24}, {"STACK", Align::Left, 1}};
  const bool several = set.request.markets.size() > 1;
  if (several) table.columns.insert(table.columns.begin() + 5, {"MARKET"});
  for (const std::size_t i : thinned(set.frontier.size())) {
    const Plan& p = set.frontier[i];
    table.rows.push_back({duration_cell(p), money(p, p.cost.total()), hourly(p), std::to_string(p.instance_count),
                          p.instance->name, to_string(p.strategy), p.stack->id});
    if (several) table.rows.back().insert(table.rows.back().begin() + 5, std::string(to_string(p.market)));
  }
  return table;
}

std::string plan_text(const PlanSet& set, const Style& style) {
  std::string text = labelled("Target:", target(set), style);
  text += few_prices(set.request, style);
  text += labelled("Best:  ", best(set.plans.front()), style);
  text += labelled("Chance:", chances(set.plans.front(), set.request), style);
  text += quotas(set.plans.front(), set.request, style);
  text += advice(set, style);
  text += '\n' + render_ranking(plan_table(set), style);
  if (any_over_limit(set.plans)) text += labelled("*", job_limit_note(), style);
  if (set.frontier.size() > 1) {
    const std::size_t shown = std::min(set.frontier.size(), kFrontierRows);
    text += '\n' + labelled("Frontier:",
                            fmt::format("what more money buys in time ({} of {} undominated plans)", shown,
                                        set.frontier.size()),
                            style);
    text += render_text(frontier_table(set), style);
    if (!any_over_limit(set.plans) && any_over_limit(set.frontier)) text += labelled("*", job_limit_note(), style);
  }
  return text + '\n' + footing(set, style);
}

std::string plan_markdown(const PlanSet& set) {
  std::string text = "<!-- smplan -->\n**Target:** " + target(set) + "\n\n";
  text += "**Best:** " + best(set.plans.front()) + "\n\n" + render_markdown(plan_table(set));
  if (any_over_limit(set.plans)) text += "\n\\* " + job_limit_note() + '\n';
  if (set.frontier.size() > 1) text += "\n**Frontier** (time against cost)\n\n" + render_markdown(frontier_table(set));
  std::string rest = footing(set, {});
  text += '\n';
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    text += "- " + markdown_text(rest.substr(0, end)) + '\n';
    rest.erase(0, end + 1);
  }
  return text;
}

}  // namespace smplan::cli
