#include "cli/render/fine_tune_page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/figures.hpp"
#include "cli/render/plan_table.hpp"
#include "planner/export/launchable.hpp"
#include "planner/export/target.hpp"

namespace smplan::cli {
namespace {

std::string data_words(const FineTuneQuestion& q, const FineTuneAnswer& a) {
  const ExampleLengths& l = q.lengths;
  std::string text = fmt::format(
      "{} {}: sequences of {:.0f} tokens on average, half up to {}, 95% up to {}, the "
      "longest {} ({})",
      format_count(static_cast<double>(l.examples)), l.pairs ? "pairs" : "examples", l.mean(), l.quantile(0.5),
      l.quantile(0.95), l.tokens.back(), q.source);
  if (a.cut > 0) text += fmt::format("; {} are cut to {}", a.cut, a.seq_len);
  text += fmt::format("; {:g} epochs, packing {}", q.epochs, to_string(a.packing));
  if (q.evaluation > 0) text += fmt::format(", {} held back for evaluation", format_percent(q.evaluation));
  return text;
}

}  // namespace

Listing fine_tune_listing(const FineTuneAnswer& answer) {
  Listing listing;
  listing.table.columns = {{"METHOD"},
                           {"INSTANCE"},
                           {"N", Align::Right},
                           {"STACK"},
                           {"PLAN", Align::Left, 0, 20},
                           {"MEM GiB", Align::Right},
                           {"OOM", Align::Right},
                           {"STEP s", Align::Right, 2},
                           {"STEPS", Align::Right, 1},
                           {"TIME", Align::Right},
                           {"TOTAL", Align::Right},
                           {"P10-P90", Align::Right, 3},
                           {"TRAINS", Align::Right, 4},
                           {"SAVES", Align::Right, 5}};
  for (const FineTuneRow& row : answer.rows) {
    const std::string trains = row.trained > 0 ? format_count(static_cast<double>(row.trained)) : "-";
    const std::string saves = row.trained > 0 ? format_bytes(row.saved) : "-";
    if (!row.plan) {
      listing.table.rows.push_back(
          {row.method->name, "-", "-", "-", row.why_not, "-", "-", "-", "-", "-", "-", "-", trains, saves});
      continue;
    }
    const Plan& p = *row.plan;
    const bool priced = p.price != nullptr;
    listing.table.rows.push_back(
        {row.method->name, p.instance->name, std::to_string(p.instance_count), p.stack->id, to_string(p.strategy),
         fmt::format("{:.1f}/{:.1f}", in_gib(p.memory.wanted), in_gib(p.memory.limit)),
         format_chance(p.out_of_memory_probability), fmt::format("{:.3g}", p.step.time().value()),
         std::to_string(row.steps), format_duration(p.cost.time_to_train()), priced ? format_usd(p.cost.total()) : "-",
         priced ? fmt::format("{}-{}", format_usd(p.cost.low), format_usd(p.cost.high)) : "-", trains, saves});
  }
  listing.rows = fine_tune_rows(answer);
  return listing;
}

std::string fine_tune_text(const FineTuneQuestion& q, const FineTuneAnswer& a, const Style& style) {
  std::string text;
  const FineTuneRow* best = a.cheapest();
  if (best != nullptr) {
    PlanRequest all = best->request;
    if (all.workload.loss == nullptr) all.workload.fine_tunes = false;  // each row says its own method
    text += labelled("Work:", work(all), style);
  }
  text += labelled("Data:", data_words(q, a), style);
  text += '\n' + render_text(fine_tune_listing(a).table, style) + '\n';
  for (const FineTuneRow& row : a.rows) {
    text += labelled("Quality:", fmt::format("{}: {} ({})", row.method->name, row.method->quality, row.method->paper),
                     style);
  }
  for (const FineTuneRow& row : a.rows) {
    if (!row.plan) continue;
    text += labelled(
        "Launch:", row.method->name + ": " + launching(row.request.workload, *row.plan->stack, row.request.target).how,
        style);
  }
  std::vector<std::string> warnings;
  for (const FineTuneRow& row : a.rows) {
    if (!row.plan) continue;
    for (const std::string& w : row.plan->warnings) {
      if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
    }
  }
  for (const std::string& w : warnings) text += labelled("Note:", w, style);
  std::vector<std::string> assumed = a.assumptions;
  if (best != nullptr)
    assumed.insert(assumed.end(), best->request.assumptions.begin(), best->request.assumptions.end());
  if (!assumed.empty()) text += labelled("Assumed:", fmt::format("{}", fmt::join(assumed, "; ")), style);
  if (best == nullptr) return text;
  const ExportTarget* tool = best->request.target;
  const bool exported = launching(best->request.workload, *best->plan->stack, tool).by != "hand";
  const std::string target(tool != nullptr ? tool->name : "sagemaker-sdk-v3");
  RequestSpec next = best->spec;
  if (exported) next.launchable.reset();  // as the export's target says
  text += labelled("Next:", command_of(next) + (exported ? " --export " + target + " --output job" : ""), style);
  return text;
}

}  // namespace smplan::cli
