#include "cli/render/rl_page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/figures.hpp"
#include "base/markdown.hpp"
#include "cli/render/plan_table.hpp"
#include "models/layers/layers.hpp"
#include "planner/search/constraints.hpp"

namespace smplan::cli {
namespace {

std::string gib_of(Bytes used, Bytes limit) { return fmt::format("{:.1f}/{:.1f}", in_gib(used), in_gib(limit)); }

std::string money(const RlPlan& plan, Usd amount) { return plan.price == nullptr ? "-" : format_usd(amount); }

/// `split 3+1`: those that train and those that generate.
std::string placed(const RlPlan& p) {
  const std::string name(to_string(p.placement));
  const std::string offloads = p.offloads ? ", offloaded" : "";
  if (p.placement == RlPlacement::Colocated) return name + offloads;
  return fmt::format("{} {}+{}{}", name, p.training_instances, p.rollout_instances, offloads);
}

std::string hardware(const RlPlan& p) { return fmt::format("{} x {}", p.instances, p.instance->name); }

std::string work(const RlRequest& r) {
  const Architecture& a = r.training.workload.architecture;
  return fmt::format(
      "{} of {} ({}), {} x {} responses a step, prompts of {}, responses of {:.0f} (at most {}), {} steps",
      r.algorithm.name, a.name, format_count(static_cast<double>(count_parameters(a).total())), r.prompts,
      r.algorithm.samples, r.prompt_length, r.lengths.mean, r.lengths.limit, r.steps);
}

std::string target(const RlRequest& r) {
  std::string text = fmt::format("{} | {} {}", work(r), r.training.region, market_list(r.training));
  if (r.training.deadline) text += " | deadline " + format_duration(*r.training.deadline);
  if (r.training.budget) text += " | budget " + format_usd(*r.training.budget);
  if (r.training.max_hourly) text += " | at most " + format_usd_per_hour(*r.training.max_hourly);
  return text;
}

/// Of the parts of a step that take a hundredth of it or more.
std::string shares(const RlPlan& p) {
  constexpr double kShown = 0.01;
  std::string text;
  for (const RlPart& part : rl_parts()) {
    const double share = p.parts.*part.time / p.step();
    if (share < kShown) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.title, format_percent(share));
  }
  if (p.placement == RlPlacement::Split) text += "; generating and training run beside each other";
  const double tail = p.rollout.tail / p.rollout.total();
  return text + fmt::format("; for {} of the time that generating takes fewer than an eighth of the sequences are left",
                            format_percent(tail));
}

std::string settings(const RlRequest& r, const RlPlan& p) {
  std::string text = fmt::format("{} {:.2f}, {} sequences at once on each of {} replicas", r.engine->share_setting,
                                 p.engine_share(*r.engine), p.engine.running, p.replicas);
  if (r.start_rate > 0) {
    text += fmt::format("; {:g} responses start each second, those of a step in {} or more", r.start_rate,
                        format_duration(r.starting()));
  }
  return text;
}

Table ranking(const RlRequest& request, const RlPlanSet& set) {
  Table table;
  table.columns = {{"#", Align::Right},
                   {"INSTANCE"},
                   {"N", Align::Right},
                   {"PLACEMENT", Align::Left, 0, 12},
                   {"TRAINING", Align::Left, 2, 20},
                   {"STACK", Align::Left, 6},
                   {"ROLLOUT", Align::Left, 5},
                   {"STEP s", Align::Right},
                   {"GENERATE", Align::Right, 4},
                   {"LOG-PROBS", Align::Right, 7},
                   {"UPDATE", Align::Right, 8},
                   {"SYNC", Align::Right, 9},
                   {"P10-P90", Align::Right, 3},
                   {"TRAIN GiB", Align::Right, 10},
                   {"ROLLOUT GiB", Align::Right, 11},
                   {"TIME", Align::Right},
                   {"$/h", Align::Right, 1},
                   {"TOTAL", Align::Right}};
  const bool several = request.training.markets.size() > 1;
  if (several) table.columns.insert(table.columns.begin() + 3, {"MARKET"});
  std::size_t rank = 0;
  for (const RlPlan& p : set.plans) {
    const RlParts& t = p.parts;
    table.rows.push_back({std::to_string(++rank), p.instance->name, std::to_string(p.instances), placed(p),
                          to_string(p.training.strategy), p.training.stack->id, fmt::format("tp{}", p.rollout_tensor),
                          seconds(p.step()), seconds(t.generate), seconds(t.score + t.log_probs + t.reference),
                          seconds(t.critic + t.update), seconds(t.sync + t.swap),
                          fmt::format("{}-{}", seconds(p.interval.p10), seconds(p.interval.p90)),
                          gib_of(p.memory.training, p.memory.limit), gib_of(p.memory.generation, p.memory.limit),
                          format_duration(p.cost.time_to_train()), money(p, Usd(in_usd_per_hour(p.cost.hourly))),
                          money(p, p.cost.total())});
    if (several) table.rows.back().insert(table.rows.back().begin() + 3, std::string(to_string(p.market)));
  }
  return table;
}

std::string candidates(const RlPlanSet& set) {
  const std::string refused = rejections(set.rejected);
  return fmt::format("{} layouts priced{}", set.considered, refused.empty() ? "" : "; refused: " + refused);
}

/// The prices that the shown plans rest on, and when they were seen.
std::string prices(const RlRequest& request, const RlPlanSet& set) {
  std::string text = fmt::format("{} {}", request.training.region, market_list(request.training));
  std::vector<std::string> said;
  for (const RlPlan& p : set.plans) {
    if (p.price == nullptr) continue;
    const Price& price = *p.price;
    std::string one = fmt::format("{} {} ({} {})", p.instance->name, to_string(p.market), to_string(price.basis),
                                  price.provenance.as_of);
    if (std::find(said.begin(), said.end(), one) == said.end()) said.push_back(std::move(one));
  }
  return said.empty() ? text + ": none known, no cost is given"
                      : text + ": " + fmt::format("{}", fmt::join(said, ", "));
}

/// Labels and what stands behind them, as lines of any format.
std::vector<std::pair<std::string, std::string>> footing(const RlRequest& request, const RlPlanSet& set) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!set.plans.empty()) {
    const RlPlan& first = set.plans.front();
    lines.emplace_back("Step:", shares(first));
    lines.emplace_back("Engine:", settings(request, first));
  }
  lines.emplace_back("Not measured:", rl_caveat(request));
  if (!set.plans.empty()) lines.emplace_back("Prices:", prices(request, set));
  lines.emplace_back("Candidates:", candidates(set));
  if (!request.assumptions.empty()) {
    lines.emplace_back("Assumed:", fmt::format("{}", fmt::join(request.assumptions, "; ")));
  }
  return lines;
}

std::string footing_text(const RlRequest& request, const RlPlanSet& set, const Style& style) {
  std::string text;
  for (const auto& [label, words] : footing(request, set)) text += labelled(label, words, style);
  return text;
}

}  // namespace

std::string rl_words(const RlRequest& r, const RlPlan& p) {
  return fmt::format("{}, {}, {} {}, {} tp{}: {} a step ({} to {}), {}, {} ({} to {})", hardware(p), placed(p),
                     p.training.stack->id, to_string(p.training.strategy), r.engine->title, p.rollout_tensor,
                     format_duration(p.step()), format_duration(p.interval.p10), format_duration(p.interval.p90),
                     format_duration(p.cost.time_to_train()), money(p, p.cost.total()), money(p, p.cost.low),
                     money(p, p.cost.high));
}

Listing rl_listing(const RlRequest& request, const RlPlanSet& set) {
  Listing listing;
  listing.table = ranking(request, set);
  listing.rows = rl_rows(request, set);
  return listing;
}

std::string rl_text(const RlRequest& request, const RlPlanSet& set, const Style& style) {
  std::string text = labelled("Target:", target(request), style);
  text += labelled("Best:  ", rl_words(request, set.plans.front()), style);
  text += '\n' + render_ranking(ranking(request, set), style);
  return text + '\n' + footing_text(request, set, style);
}

std::string rl_markdown(const RlRequest& request, const RlPlanSet& set) {
  std::string text = "<!-- smplan -->\n**Target:** " + target(request) + "\n\n**Best:** " +
                     rl_words(request, set.plans.front()) + "\n\n" + render_markdown(ranking(request, set)) + '\n';
  for (const auto& [label, words] : footing(request, set)) text += "- **" + label + "** " + markdown_text(words) + '\n';
  return text;
}

std::string no_rl_plan_text(const RlRequest& request, const RlPlanSet& set, const Style& style) {
  return labelled("Answer:", no_rl_plan_reason(request, set), style) + '\n' + labelled("Work:", work(request), style) +
         footing_text(request, set, style);
}

}  // namespace smplan::cli
