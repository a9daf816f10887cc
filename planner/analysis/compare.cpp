#include "planner/analysis/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/job/dimensions.hpp"
#include "planner/answer/plan_json.hpp"

namespace smplan {
namespace {

/// What a plan decides, as paths into its JSON: what is bought, how the work is split, what follows.
std::vector<std::string_view> choices() {
  std::vector<std::string_view> paths{"instance_type", "instance_count", "n_gpus", "stack"};
  for (const DimensionRow& row : dimensions()) paths.push_back(row.path);
  paths.insert(paths.end(), {"gradient_accumulation", "dtype"});
  return paths;
}

/// What comes of it.
constexpr std::array<std::string_view, 11> kOutcomes{"cost/total_usd",
                                                     "cost/hourly_usd",
                                                     "time_to_train_s",
                                                     "goodput",
                                                     "step_time_s",
                                                     "step_time_interval_s/0",
                                                     "step_time_interval_s/1",
                                                     "tokens_per_s",
                                                     "tokens_per_s_per_gpu",
                                                     "mfu",
                                                     "memory/peak_gib"};

/// Objects of numbers that sum to one of them.
constexpr std::array<std::string_view, 4> kParts{"step_components_s", "time_components_s", "cost/components_usd",
                                                 "memory/components_gib"};

/// The member at a path of keys separated by slashes; of a pair `0` or `1`.
const Json* at(const Json& json, std::string_view path) {
  const Json* value = &json;
  while (!path.empty() && value != nullptr) {
    const std::size_t slash = path.find('/');
    const std::string_view key = path.substr(0, slash);
    if (value->is_array()) {
      const std::size_t index = key == "1" ? 1 : 0;
      value = index < value->elements().size() ? &value->elements()[index] : nullptr;
    } else {
      value = value->find(key);
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return value;
}

std::optional<double> number_at(const Json& plan, std::string_view path) {
  const Json* value = at(plan, path);
  return value != nullptr && value->is_number() ? std::optional(value->number()) : std::nullopt;
}

std::string choice_at(const Json& plan, std::string_view path) {
  const Json* value = at(plan, path);
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? value->text() : value->dump();
}

tl::unexpected<Diagnostics> no_such_rank(std::string place, std::size_t plans, std::int64_t rank) {
  return fail("out-of-range", std::move(place), fmt::format("has {} plans, there is no {}", plans, rank),
              "choose another rank");
}

bool is_rank(std::int64_t rank, std::size_t plans) { return rank >= 1 && std::cmp_less_equal(rank, plans); }

void add_parts(const Json& a, const Json& b, std::string_view object, std::vector<ComparedNumber>& out) {
  std::vector<std::string> names;
  for (const Json* plan : {&a, &b}) {
    const Json* members = at(*plan, object);
    if (members == nullptr || !members->is_object()) continue;
    for (const auto& [key, value] : members->members()) {
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
    }
  }
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", object, name);
    const ComparedNumber part{path, number_at(a, path).value_or(0), number_at(b, path).value_or(0)};
    if (part.a != part.b) out.push_back(part);
  }
  std::stable_sort(out.begin() + first, out.end(), [](const ComparedNumber& x, const ComparedNumber& y) {
    return std::abs(x.difference()) > std::abs(y.difference());
  });
}

}  // namespace

Result<Json> ranked_plan(const JsonValue& document, std::int64_t rank) {
  const auto plans = document.is_object() ? document.find("plans") : std::nullopt;
  if (!plans || !plans->is_array()) {
    return fail("no-plans", document.location(), "is no answer of `smplan plan --format json`",
                "write the file with `smplan plan --format json --output FILE`");
  }
  Diagnostics faults;
  const std::vector<JsonValue> list = plans->as_array(faults);
  if (!is_rank(rank, list.size())) return no_such_rank(plans->location(), list.size(), rank);
  const JsonValue& plan = list[static_cast<std::size_t>(rank - 1)];
  Json json = plan.copy();
  for (const std::string_view path : {"step_time_s", "time_to_train_s", "cost/total_usd"}) {
    if (at(json, path) == nullptr) {
      faults.push_back({"missing-key", plan.location(), fmt::format("'{}' is missing", path),
                        "write the file with this version of smplan"});
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return json;
}

Result<Json> ranked_plan(const PlanSet& set, std::string_view where, std::int64_t rank) {
  if (!is_rank(rank, set.plans.size())) return no_such_rank(std::string(where), set.plans.size(), rank);
  const auto index = static_cast<std::size_t>(rank - 1);
  return plan_json(set.request, set.plans[index], index + 1);
}

Comparison compare(const Json& a, const Json& b) {
  Comparison out;
  for (const std::string_view path : choices()) {
    ComparedChoice choice{std::string(path), choice_at(a, path), choice_at(b, path)};
    if (choice.a != choice.b) out.choices.push_back(std::move(choice));
  }
  for (const std::string_view path : kOutcomes) {
    const auto x = number_at(a, path);
    const auto y = number_at(b, path);
    if (x && y) out.outcomes.push_back({std::string(path), *x, *y});
  }
  for (const std::string_view object : kParts) add_parts(a, b, object, out.parts);
  return out;
}

}  // namespace smplan
