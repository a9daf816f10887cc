#include <algorithm>

#include <fmt/format.h>

#include "cli/render/plan_table.hpp"
#include "planner/export/launchable.hpp"
#include "planner/search/constraints.hpp"

namespace smplan::cli {
namespace {

constexpr std::size_t kNamesShown = 6;

std::string shortened(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamesShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// The prices that the shown plans rest on: how each came to be, when, and from where.
std::string prices(const PlanSet& set) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Plan& plan : set.plans) {
    if (plan.price == nullptr) continue;
    const Price& p = *plan.price;
    std::string how = set.request.markets.size() > 1 ? fmt::format("{}, ", to_string(p.market)) : std::string();
    how += fmt::format("{} {}", to_string(p.basis), p.provenance.as_of);
    how += p.formula.empty() ? fmt::format(", {}", p.provenance.source) : fmt::format(", {}", p.formula);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == how; });
    if (group == groups.end()) group = groups.insert(groups.end(), {how, {}});
    add_once(group->second, plan.instance->name);
  }
  std::string text = fmt::format("{} {}", set.request.region, market_list(set.request));
  if (groups.empty()) return text + ": none known, no cost is given";
  for (const auto& group : groups) text += fmt::format("; {} ({})", shortened(group.second), group.first);
  return text;
}

/// `1, 3-5` of ascending ranks.
std::string spans(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (j > i) text += fmt::format("-{}", ranks[j]);
    i = j + 1;
  }
  return text;
}

/// Each warning once, with the ranks of the plans that it is about where there are several plans.
std::string warnings(const PlanSet& set, const Style& style) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> notes;
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    for (const std::string& warning : set.plans[i].warnings) {
      auto note = std::find_if(notes.begin(), notes.end(), [&](const auto& n) { return n.first == warning; });
      if (note == notes.end()) note = notes.insert(notes.end(), {warning, {}});
      note->second.push_back(i + 1);
    }
  }
  std::string text;
  for (const auto& note : notes) {
    const std::string about = set.plans.size() > 1 ? fmt::format("#{}: ", spans(note.second)) : std::string();
    text += labelled("Note:", about + note.first, style);
  }
  return text;
}

std::string candidates(const PlanSet& set) {
  const SearchStats& s = set.search;
  std::string text = fmt::format("{} considered, {} priced in full, {} dismissed by bounds{}", s.space, s.evaluated,
                                 s.pruned, s.exact ? "" : " (the search was cut short)");
  const std::string refused = rejections(set.rejected);
  return refused.empty() ? text : text + "; refused: " + refused;
}

/// Types grouped by the reason, in catalog order of their first.
void add_left_out(const PlanRequest& request, const Style& style, std::string& text) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& entry : request.left_out) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == entry.second; });
    if (group == groups.end()) group = groups.insert(groups.end(), {entry.second, {}});
    group->second.push_back(entry.first);
  }
  for (const auto& group : groups) {
    text += labelled("Left out:", shortened(group.second) + ": " + group.first, style);
  }
}

/// Who starts the jobs of each stack, where plans may be such that no export starts them.
void add_launching(const PlanSet& set, const Style& style, std::string& text) {
  std::vector<const Stack*> said;
  for (const Plan& p : set.plans) {
    if (std::find_if(said.begin(), said.end(), [&](const Stack* s) { return s->id == p.stack->id; }) != said.end()) {
      continue;
    }
    said.push_back(p.stack);
    text += labelled("Launch:", p.stack->id + ": " + launching(set.request.workload, *p.stack, set.request.target).how,
                     style);
  }
}

}  // namespace

std::string footing(const PlanSet& set, const Style& style) {
  std::string text = warnings(set, style);
  if (!set.request.launchable || set.request.target != nullptr) add_launching(set, style, text);
  if (!set.plans.empty()) text += labelled("Prices:", prices(set), style);
  text += labelled("Candidates:", candidates(set), style);
  add_left_out(set.request, style, text);
  for (const auto& [stack, reason] : set.request.stacks_left_out) {
    text += labelled("Left out:", fmt::format("{}: {} (--launchable any plans it)", stack, reason), style);
  }
  if (!set.request.assumptions.empty()) {
    text += labelled("Assumed:", fmt::format("{}", fmt::join(set.request.assumptions, "; ")), style);
  }
  return text;
}

}  // namespace smplan::cli
