#include "planner/analysis/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/job/dimensions.hpp"

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
constexpr std::array<std::string_view, 9> kOutcomes{
    "cost/total_usd", "cost/hourly_usd", "time_to_train_s",      "goodput",
    "step_time_s",    "tokens_per_s",    "tokens_per_s_per_gpu", "mfu",
    "memory/peak_gib"};

/// Objects of numbers that sum to one of them.
constexpr std::array<std::string_view, 4> kParts{"step_components_s", "time_components_s", "cost/components_usd",
                                                 "memory/components_gib"};

/// The member at a path of keys separated by slashes.
std::optional<JsonValue> at(JsonValue value, std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const auto member = value.is_object() ? value.find(path.substr(0, slash)) : std::nullopt;
    if (!member) return std::nullopt;
    value = *member;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return value;
}

std::optional<double> number_at(const JsonValue& plan, std::string_view path) {
  const auto value = at(plan, path);
  Diagnostics ignored;  // the kind has been asked for
  return value && value->is_number() ? std::optional(value->as_number(ignored)) : std::nullopt;
}

std::string choice_at(const JsonValue& plan, std::string_view path) {
  const auto value = at(plan, path);
  Diagnostics ignored;
  if (!value || value->is_null()) return {};
  return value->is_string() ? value->as_string(ignored) : value->dump();
}

Result<JsonValue> plan_of(const RankedDocument& source) {
  const auto plans = source.document.is_object() ? source.document.find("plans") : std::nullopt;
  if (!plans || !plans->is_array()) {
    return fail("no-plans", source.document.location(), "is no answer of `smplan plan --format json`",
                "write the file with `smplan plan --format json --output FILE`");
  }
  Diagnostics faults;
  const std::vector<JsonValue> list = plans->as_array(faults);
  if (source.rank < 1 || source.rank > static_cast<std::int64_t>(list.size())) {
    return fail("out-of-range", plans->location(),
                fmt::format("has {} plans, there is no {}", list.size(), source.rank), "choose another rank");
  }
  const JsonValue& plan = list[static_cast<std::size_t>(source.rank - 1)];
  for (const std::string_view path : {"step_time_s", "time_to_train_s", "cost/total_usd"}) {
    if (!at(plan, path)) {
      faults.push_back({"missing-key", plan.location(), fmt::format("'{}' is missing", path),
                        "write the file with this version of smplan"});
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return plan;
}

void add_parts(const JsonValue& a, const JsonValue& b, std::string_view object, std::vector<ComparedNumber>& out) {
  std::vector<std::string> names;
  Diagnostics ignored;
  for (const JsonValue* plan : {&a, &b}) {
    const auto members = at(*plan, object);
    if (!members || !members->is_object()) continue;
    for (std::string& key : members->keys(ignored)) {
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(std::move(key));
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

Result<Comparison> compare(const RankedDocument& first, const RankedDocument& second) {
  const Result<JsonValue> a = plan_of(first);
  const Result<JsonValue> b = plan_of(second);
  Diagnostics faults;
  for (const auto* plan : {&a, &b}) {
    if (!*plan) faults.insert(faults.end(), plan->error().begin(), plan->error().end());
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  Comparison out;
  for (const std::string_view path : choices()) {
    ComparedChoice choice{std::string(path), choice_at(*a, path), choice_at(*b, path)};
    if (choice.a != choice.b) out.choices.push_back(std::move(choice));
  }
  for (const std::string_view path : kOutcomes) {
    const auto x = number_at(*a, path);
    const auto y = number_at(*b, path);
    if (x && y) out.outcomes.push_back({std::string(path), *x, *y});
  }
  for (const std::string_view object : kParts) add_parts(*a, *b, object, out.parts);
  return out;
}

}  // namespace smplan
