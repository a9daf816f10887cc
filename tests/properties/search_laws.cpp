#include <algorithm>
#include <array>
#include <locale>
#include <string>

#include "planner/answer/plan_json.hpp"
#include "planner/search/objective.hpp"
#include "tests/properties/laws.hpp"

namespace smplan::properties {
namespace {

PlanSet plans_of(const PlanRequest& request, const Catalog& catalog, int threads = 1) {
  return search(request, catalog, {.threads = threads});
}

PlanSet plans_in(PlanRequest request, const Catalog& catalog, double Scenario::*knob, double factor,
                 Objective objective) {
  request.scenario.*knob = factor;
  request.objective = objective;
  return plans_of(request, catalog);
}

template <double Scenario::*Knob>
bool more_never_slows_the_best(const PlanRequest& request, const Catalog& catalog) {
  const PlanSet before = plans_in(request, catalog, Knob, 1, Objective::Time);
  const PlanSet after = plans_in(request, catalog, Knob, 2, Objective::Time);
  if (before.plans.empty()) return after.plans.empty() || Knob == &Scenario::memory;
  return !after.plans.empty() && after.plans.front().cost.time_to_train().value() <=
                                     before.plans.front().cost.time_to_train().value() * kSimplerMayCost;
}

bool dearer_is_never_cheaper(const PlanRequest& request, const Catalog& catalog) {
  const PlanSet before = plans_in(request, catalog, &Scenario::price, 1, Objective::Cost);
  const PlanSet after = plans_in(request, catalog, &Scenario::price, 1.5, Objective::Cost);
  if (before.plans.empty() || after.plans.empty()) return before.plans.empty() == after.plans.empty();
  // The first plan may be dearer than the cheapest for being simpler.
  return after.plans.front().cost.total() * kSimplerMayCost >= before.plans.front().cost.total();
}

bool threads_change_nothing(const PlanRequest& request, const Catalog& catalog) {
  return to_json(plans_of(request, catalog)) == to_json(plans_of(request, catalog, 3));
}

/// Commas for points and dots between thousands, as in German.
class German : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

bool locale_changes_nothing(const PlanRequest& request, const Catalog& catalog) {
  const PlanSet set = plans_of(request, catalog);
  const std::string plain = to_json(set) + to_csv(set);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new German));
  const PlanSet abroad = plans_of(request, catalog);
  const std::string german = to_json(abroad) + to_csv(abroad);
  std::locale::global(before);
  return plain == german;
}

bool order_changes_nothing(const PlanRequest& request, const Catalog& catalog) {
  PlanRequest turned = request;
  std::reverse(turned.instances.begin(), turned.instances.end());
  std::reverse(turned.counts.begin(), turned.counts.end());
  const PlanSet one = plans_of(request, catalog);
  const PlanSet other = plans_of(turned, catalog);
  const auto same = [](const Plan& a, const Plan& b) {
    return a.instance == b.instance && a.instance_count == b.instance_count && a.stack == b.stack &&
           a.strategy == b.strategy && a.cost.total() == b.cost.total();
  };
  return std::equal(one.plans.begin(), one.plans.end(), other.plans.begin(), other.plans.end(), same) &&
         one.search.space == other.search.space;
}

bool json_reads_back(const PlanRequest& request, const Catalog& catalog) {
  const std::string text = to_json(plans_of(request, catalog));
  const Result<JsonValue> read = parse_json(text, "plans.json");
  if (!read) return false;
  const std::string compact = read->dump();
  const Result<JsonValue> again = parse_json(compact, "again.json");
  return again && again->dump() == compact;
}

constexpr std::array<SearchLaw, 9> kLaws{
    {{"more compute never slows the fastest plan", more_never_slows_the_best<&Scenario::compute>},
     {"more network never slows the fastest plan", more_never_slows_the_best<&Scenario::efa>},
     {"more bandwidth in the node never slows the fastest plan", more_never_slows_the_best<&Scenario::nvlink>},
     {"more memory never removes the fastest plan", more_never_slows_the_best<&Scenario::memory>},
     {"a dearer price never makes a cheaper plan", dearer_is_never_cheaper},
     {"results do not depend on threads", threads_change_nothing},
     {"results do not depend on the locale", locale_changes_nothing},
     {"results do not depend on the order of the catalog", order_changes_nothing},
     {"JSON reads back", json_reads_back}}};

}  // namespace

std::span<const SearchLaw> search_laws() { return kLaws; }

}  // namespace smplan::properties
