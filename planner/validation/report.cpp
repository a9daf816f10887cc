#include "planner/validation/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace smplan {
namespace {

std::string count_text(const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "?"; }

std::string comparable_group(const MeasuredRun& run) {
  return run.source + "|" + run.model + "|" + run.gpu + "|" + run.dtype + "|" + count_text(run.n_gpus) + "|" +
         count_text(run.seq_len) + "|" + count_text(run.global_batch);
}

std::string parallelism(const MeasuredRun& run) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<std::int64_t>& degree) {
    if (degree.value_or(1) > 1) text += (text.empty() ? "" : "+") + std::string(name);
  };
  add("tp", run.tp);
  add("pp", run.pp);
  add("cp", run.cp);
  add("ep", run.ep);
  return text.empty() ? "data only" : text;
}

std::string group_name(const ComparedRun& r, GroupBy by) {
  switch (by) {
    case GroupBy::All:
      return "all";
    case GroupBy::Source:
      return r.run.source;
    case GroupBy::Model:
      return r.run.model;
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

void fill_errors(ErrorSummary& s, const std::vector<double>& ratios) {
  s.n = ratios.size();
  if (ratios.empty()) return;
  std::vector<double> errors;
  double log_sum = 0;
  double sum = 0;
  for (const double ratio : ratios) {
    errors.push_back(std::abs(ratio - 1));
    sum += errors.back();
    log_sum += std::log(ratio);
  }
  std::sort(errors.begin(), errors.end());
  const double n = static_cast<double>(ratios.size());
  s.mape = sum / n;
  s.median = quantile(errors, 0.5);
  s.p90 = quantile(errors, 0.9);
  s.max = errors.back();
  s.bias = std::exp(log_sum / n) - 1;
}

/// Order of the measured times against ours inside each group of alternatives.
void fill_ranking(ErrorSummary& s, const std::vector<const ComparedRun*>& runs) {
  std::map<std::string, std::vector<const ComparedRun*>> groups;
  for (const ComparedRun* r : runs) groups[r->comparable_group].push_back(r);
  double concordant = 0;
  double pairs = 0;
  double regret = 0;
  for (const auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    ++s.ranked_groups;
    const ComparedRun* chosen = members.front();
    const ComparedRun* best = members.front();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const ComparedRun* a = members[i];
      if (a->prediction.step.time() < chosen->prediction.step.time()) chosen = a;
      if (*a->measured_time < *best->measured_time) best = a;
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        const double measured = (*a->measured_time - *members[j]->measured_time).value();
        const double predicted = (a->prediction.step.time() - members[j]->prediction.step.time()).value();
        if (measured == 0) continue;
        pairs += 1;
        if (predicted != 0) concordant += measured * predicted > 0 ? 1 : -1;
      }
    }
    regret += *chosen->measured_time / *best->measured_time - 1;
  }
  if (pairs > 0) s.kendall_tau = concordant / pairs;
  if (s.ranked_groups > 0) s.top1_regret = regret / static_cast<double>(s.ranked_groups);
}

ErrorSummary summarise(std::string name, const std::vector<const ComparedRun*>& runs) {
  ErrorSummary s;
  s.name = std::move(name);
  std::vector<double> ratios;
  double inside = 0;
  for (const ComparedRun* r : runs) {
    ratios.push_back(r->time_ratio());
    if (*r->measured_time >= r->prediction.step.p10 && *r->measured_time <= r->prediction.step.p90) inside += 1;
  }
  fill_errors(s, ratios);
  if (s.n > 0) s.coverage = inside / static_cast<double>(s.n);
  fill_ranking(s, runs);
  return s;
}

void largest_first(std::vector<ErrorSummary>& summaries) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const ErrorSummary& a, const ErrorSummary& b) { return a.n > b.n; });
}

}  // namespace

std::string_view to_string(GroupBy by) {
  switch (by) {
    case GroupBy::All:
      return "all";
    case GroupBy::Source:
      return "source";
    case GroupBy::Model:
      return "model";
    case GroupBy::Accelerator:
      return "accelerator";
    case GroupBy::Stack:
      return "stack";
    case GroupBy::Parallelism:
      return "parallelism";
    case GroupBy::Precision:
      return "precision";
  }
  return "?";
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
    compared.push_back(std::move(c));
  }
  return compared;
}

std::vector<ErrorSummary> summarise_time(const std::vector<ComparedRun>& runs, GroupBy by) {
  std::map<std::string, std::vector<const ComparedRun*>> groups;
  for (const ComparedRun& r : runs) {
    if (r.has_time_error()) groups[group_name(r, by)].push_back(&r);
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, members] : groups) summaries.push_back(summarise(name, members));
  largest_first(summaries);
  return summaries;
}

std::vector<ErrorSummary> summarise_memory(const std::vector<ComparedRun>& runs) {
  std::map<std::string, std::vector<double>> groups;
  for (const ComparedRun& r : runs) {
    if (!r.has_memory_error()) continue;
    groups[(r.run.mem_kind.empty() ? "unknown" : r.run.mem_kind) + ", " + r.run.source].push_back(r.memory_ratio());
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, ratios] : groups) {
    ErrorSummary s;
    s.name = name;
    fill_errors(s, ratios);
    summaries.push_back(std::move(s));
  }
  largest_first(summaries);
  return summaries;
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

}  // namespace smplan
