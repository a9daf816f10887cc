#include "planner/validation/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

namespace smplan {
namespace {

std::string count_text(const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "?"; }

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part).append("|");
  return text;
}

/// The work, the machine and the software: what a choice of split starts from.
std::string comparable_group(const MeasuredRun& r) {
  const StatedModel& m = r.model;
  const std::string_view dtype = r.precision ? to_string(*r.precision) : "";
  const std::string_view optimizer = r.optimizer ? to_string(*r.optimizer) : "";
  const std::string_view network = r.machine.network ? to_string(*r.machine.network) : "";
  const std::string_view trained = to_string(r.trained.value_or(TrainedPart{}).mode);
  return joined({r.source, m.name, count_text(m.n_layers), count_text(m.hidden), r.machine.gpu, r.machine.instance,
                 network, r.stack, r.framework, dtype, optimizer, trained, count_text(r.machine.n_gpus),
                 count_text(r.seq_len), count_text(r.global_batch)});
}

/// How the work is split, and what is kept for the backward pass.
std::string split(const MeasuredRun& r) {
  std::string text;
  for (const DimensionRow& row : dimensions()) {
    const bool keeps = row.dimension == Dimension::RecomputeModules || row.dimension == Dimension::FlashAttention;
    if ((!row.of_execution || keeps) && r.states(row.dimension)) {
      text += std::string(row.keyword) + row.text(row.get(r.strategy)) + ' ';
    }
  }
  return text;
}

std::string parallelism(const MeasuredRun& run) {
  std::string text;
  for (const Dimension d : {Dimension::Tensor, Dimension::Pipeline, Dimension::Context, Dimension::Expert}) {
    const DimensionRow& row = row_of(d);
    if (row.get(run.strategy) > 1) text += (text.empty() ? "" : "+") + std::string(row.keyword);
  }
  return text.empty() ? "data only" : text;
}

std::string group_name(const ComparedRun& r, GroupBy by) {
  switch (by) {
    case GroupBy::All:
      return "all";
    case GroupBy::Source:
      return r.run.source.empty() ? "(not stated)" : r.run.source;
    case GroupBy::Model:
      return r.run.model.name.empty() ? "(not stated)" : r.run.model.name;
    case GroupBy::Accelerator:
      return r.prediction.accelerator;
    case GroupBy::Stack:
      return r.prediction.stack;
    case GroupBy::Parallelism:
      return parallelism(r.run);
    case GroupBy::Precision:
      return std::string(to_string(r.prediction.precision));
  }
  return "?";
}

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Order of the measured times against ours inside one group of alternatives.
struct Ranking {
  double concordance = 0;
  double pairs = 0;
  double top1_regret = 0;
  double top3_regret = 0;
};

Ranking rank(std::vector<const ComparedRun*> members) {
  Ranking ranking;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      if (members[i]->split == members[j]->split) continue;
      const double measured = (*members[i]->measured_time - *members[j]->measured_time).value();
      const double predicted = (members[i]->prediction.step.time() - members[j]->prediction.step.time()).value();
      if (measured == 0) continue;
      ranking.pairs += 1;
      if (predicted != 0) ranking.concordance += measured * predicted > 0 ? 1 : -1;
    }
  }
  std::stable_sort(members.begin(), members.end(), [](const ComparedRun* a, const ComparedRun* b) {
    return a->prediction.step.time() < b->prediction.step.time();
  });
  const auto quickest = [&](std::size_t first) {
    Seconds best = *members.front()->measured_time;
    for (std::size_t i = 1; i < std::min(first, members.size()); ++i) best = std::min(best, *members[i]->measured_time);
    return best;
  };
  const Seconds best = quickest(members.size());
  ranking.top1_regret = quickest(1) / best - 1;
  ranking.top3_regret = quickest(3) / best - 1;
  return ranking;
}

void fill_ranking(ErrorSummary& s, const std::vector<const ComparedRun*>& runs) {
  std::map<std::string, std::vector<const ComparedRun*>> groups;
  for (const ComparedRun* r : runs) groups[r->comparable_group].push_back(r);
  Ranking sum;
  for (const auto& [name, members] : groups) {
    const Ranking r = rank(members);
    if (r.pairs == 0) continue;
    ++s.ranked_groups;
    sum.concordance += r.concordance;
    sum.pairs += r.pairs;
    s.mean_tau += r.concordance / r.pairs;
    sum.top1_regret += r.top1_regret;
    sum.top3_regret += r.top3_regret;
  }
  if (s.ranked_groups == 0) return;
  const auto n = static_cast<double>(s.ranked_groups);
  s.kendall_tau = sum.concordance / sum.pairs;
  s.mean_tau /= n;
  s.top1_regret = sum.top1_regret / n;
  s.top3_regret = sum.top3_regret / n;
}

void largest_first(std::vector<ErrorSummary>& summaries) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const ErrorSummary& a, const ErrorSummary& b) { return a.n > b.n; });
}

using Members = std::vector<const ComparedRun*>;

ErrorSummary summarise(std::string name, const Members& runs, double (ComparedRun::*ratio)() const,
                       bool (ComparedRun::*inside)() const) {
  std::vector<double> ratios;
  for (const ComparedRun* r : runs) ratios.push_back((r->*ratio)());
  ErrorSummary s = summarise_ratios(std::move(name), ratios);
  const auto held = std::count_if(runs.begin(), runs.end(), [&](const ComparedRun* r) { return (r->*inside)(); });
  if (s.n > 0) s.coverage = static_cast<double>(held) / static_cast<double>(s.n);
  return s;
}

std::vector<ErrorSummary> summarise_peaks(const std::map<std::string, Members>& groups) {
  std::vector<ErrorSummary> list;
  for (const auto& [name, members] : groups) {
    list.push_back(summarise(name, members, &ComparedRun::memory_ratio, &ComparedRun::memory_inside));
  }
  largest_first(list);
  return list;
}

}  // namespace

namespace {

constexpr std::array<std::pair<GroupBy, std::string_view>, 7> kGroupings{{{GroupBy::All, "all"},
                                                                          {GroupBy::Source, "source"},
                                                                          {GroupBy::Model, "model"},
                                                                          {GroupBy::Accelerator, "accelerator"},
                                                                          {GroupBy::Stack, "stack"},
                                                                          {GroupBy::Parallelism, "parallelism"},
                                                                          {GroupBy::Precision, "precision"}}};

}  // namespace

std::optional<bool> ComparedRun::ran_out() const {
  if (run.ran_out) return run.ran_out;
  const bool has_figure = measured_time.has_value() || run.peak_mem_gib_per_gpu.value_or(0) > 0;
  return has_figure ? std::optional(false) : std::nullopt;
}

std::vector<VerdictSummary> summarise_verdicts(const std::vector<ComparedRun>& runs) {
  std::vector<VerdictSummary> list{{.name = "all"}};
  std::map<std::string, VerdictSummary> by_stack;
  for (const ComparedRun& r : runs) {
    const std::optional<bool> ran_out = r.ran_out();
    if (r.prediction.status != RunStatus::Ok || !ran_out) continue;
    const bool refused = verdict_of(r.prediction.out_of_memory_probability) == Verdict::DoesNotFit;
    for (VerdictSummary* s : {&list.front(), &by_stack[r.prediction.stack]}) {
      s->ran_out += *ran_out;
      s->recognised += *ran_out && refused;
      s->ran += !*ran_out;
      s->false_alarms += !*ran_out && refused;
    }
  }
  for (auto& [name, summary] : by_stack) {
    summary.name = name;
    list.push_back(std::move(summary));
  }
  std::stable_sort(list.begin() + 1, list.end(), [](const VerdictSummary& a, const VerdictSummary& b) {
    return a.ran_out + a.ran > b.ran_out + b.ran;
  });
  return list;
}

std::string_view to_string(GroupBy by) {
  for (const auto& [grouping, name] : kGroupings) {
    if (grouping == by) return name;
  }
  return "?";
}

std::optional<GroupBy> group_by_from(std::string_view wanted) {
  for (const auto& [grouping, name] : kGroupings) {
    if (name == wanted) return grouping;
  }
  return std::nullopt;
}

std::vector<ComparedRun> compare_runs(const std::vector<MeasuredRun>& runs, const Catalog& catalog) {
  std::vector<ComparedRun> compared;
  compared.reserve(runs.size());
  for (const MeasuredRun& run : runs) {
    ComparedRun c;
    c.run = run;
    c.prediction = predict_run(run, catalog);
    if (c.prediction.status == RunStatus::Ok) c.measured_time = measured_step_time(run, catalog);
    c.comparable_group = comparable_group(run);
    c.split = split(run);
    compared.push_back(std::move(c));
  }
  return compared;
}

ErrorSummary summarise_ratios(std::string name, const std::vector<double>& ratios) {
  ErrorSummary s;
  s.name = std::move(name);
  s.n = ratios.size();
  if (ratios.empty()) return s;
  std::vector<double> errors;
  double log_sum = 0;
  double sum = 0;
  double under = 0;
  for (const double ratio : ratios) {
    if (ratio < 0.95) under += 1;
    errors.push_back(std::abs(ratio - 1));
    sum += errors.back();
    log_sum += std::log(ratio);
  }
  std::sort(errors.begin(), errors.end());
  const auto n = static_cast<double>(ratios.size());
  s.mape = sum / n;
  s.median = quantile(errors, 0.5);
  s.p90 = quantile(errors, 0.9);
  s.max = errors.back();
  s.under = under / n;
  s.bias = std::exp(log_sum / n) - 1;
  return s;
}

std::vector<ErrorSummary> summarise_time(const std::vector<ComparedRun>& runs, GroupBy by) {
  std::map<std::string, Members> groups;
  for (const ComparedRun& r : runs) {
    if (r.has_time_error()) groups[group_name(r, by)].push_back(&r);
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, members] : groups) {
    summaries.push_back(summarise(name, members, &ComparedRun::time_ratio, &ComparedRun::time_inside));
    fill_ranking(summaries.back(), members);
  }
  largest_first(summaries);
  return summaries;
}

std::vector<ErrorSummary> summarise_memory(const std::vector<ComparedRun>& runs) {
  Members all;
  std::map<std::string, Members> by_kind;
  std::map<std::string, Members> by_source;
  for (const ComparedRun& r : runs) {
    if (!r.has_memory_error()) continue;
    const std::string kind(to_string(r.run.memory_kind));
    all.push_back(&r);
    by_kind[kind].push_back(&r);
    by_source[kind + ", " + r.run.source].push_back(&r);
  }
  if (all.empty()) return {};
  std::vector<ErrorSummary> list = summarise_peaks({{"all", all}});
  for (ErrorSummary& s : summarise_peaks(by_kind)) list.push_back(std::move(s));
  for (ErrorSummary& s : summarise_peaks(by_source)) list.push_back(std::move(s));
  return list;
}

std::vector<std::size_t> worst_runs(const std::vector<ComparedRun>& runs, std::size_t limit) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].has_time_error()) order.push_back(i);
  }
  const auto size_of_error = [&](std::size_t i) { return std::abs(std::log(runs[i].time_ratio())); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size_of_error(a) > size_of_error(b); });
  if (order.size() > limit) order.resize(limit);
  return order;
}

RunCounts count_runs(const std::vector<ComparedRun>& runs) {
  RunCounts counts;
  counts.rows = runs.size();
  for (const ComparedRun& r : runs) {
    if (r.prediction.status == RunStatus::Ok) ++counts.predicted;
    if (r.prediction.status == RunStatus::Unsupported) ++counts.unsupported;
    if (r.prediction.status == RunStatus::Invalid) ++counts.invalid;
    if (r.has_time_error()) ++counts.timed;
    if (r.has_memory_error()) ++counts.with_memory;
  }
  return counts;
}

std::vector<Refusal> refusals(const std::vector<ComparedRun>& runs) {
  std::vector<Refusal> list;
  std::map<std::string, std::size_t> known;
  for (const ComparedRun& r : runs) {
    if (r.prediction.status == RunStatus::Ok) continue;
    const std::string key = std::string(to_string(r.prediction.status)) + "|" + r.prediction.message;
    const auto [at, added] = known.emplace(key, list.size());
    if (added) list.push_back({r.prediction.status, r.prediction.message, 0, r.run.id});
    ++list[at->second].rows;
  }
  std::stable_sort(list.begin(), list.end(), [](const Refusal& a, const Refusal& b) { return a.rows > b.rows; });
  return list;
}

}  // namespace smplan
