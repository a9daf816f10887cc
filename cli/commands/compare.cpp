#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "cli/command.hpp"
#include "cli/commands/timed_search.hpp"
#include "cli/render/comparison_page.hpp"
#include "cli/request_options.hpp"
#include "planner/request/names.hpp"

namespace smplan::cli {
namespace {

struct CompareFlags {
  RequestSpec spec;
  std::string a;
  std::string b;
  std::string rank_a = "1";
  std::string rank_b = "1";
};

bool names_file(const std::string& side) {
  return side == "-" || side.ends_with(".json") || side.find('=') == std::string::npos;
}

bool has_plans(const JsonValue& document) {
  Diagnostics ignored;
  const auto plans = document.is_object() ? document.find("plans") : std::nullopt;
  return !plans || !plans->is_array() || !plans->as_array(ignored).empty();
}

/// One side: a plan, or nothing where its answer has none.
Result<std::optional<Json>> plan_of(const std::string& side, std::int64_t rank, const std::string& where,
                                    const RequestSpec& base, const Context& context) {
  const auto found = [](Result<Json> plan) -> Result<std::optional<Json>> {
    if (!plan) return tl::unexpected<Diagnostics>(std::move(plan.error()));
    return std::optional(std::move(*plan));
  };
  if (names_file(side)) {
    const Result<JsonValue> document = read_json_file(side);
    if (!document) return tl::unexpected<Diagnostics>(document.error());
    if (!has_plans(*document)) return std::nullopt;
    return found(ranked_plan(*document, rank));
  }
  const Result<RequestSpec> spec = read_request_words(side, base, where);
  if (!spec) return tl::unexpected<Diagnostics>(spec.error());
  const Result<PlanRequest> request = resolve(*spec, context.catalog, environment_region(), Purpose::Plan, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const PlanSet set = timed_search(*request, context.catalog);
  if (set.plans.empty()) return std::nullopt;
  return found(ranked_plan(set, where, rank));
}

Result<Answer> run_compare(const CompareFlags& flags, const Context& context) {
  Diagnostics faults;
  const auto take = [&faults](auto result) {
    if (!result) faults.insert(faults.end(), result.error().begin(), result.error().end());
    return result;
  };
  const auto rank_a = take(parse_integer_count(flags.rank_a, "--rank-a"));
  const auto rank_b = take(parse_integer_count(flags.rank_b, "--rank-b"));
  if (flags.a == "-" && flags.b == "-") {
    faults.push_back({"conflict", "A and B", "both are standard input", "name a file for one of them"});
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  const auto a = take(plan_of(flags.a, *rank_a, "A", flags.spec, context));
  const auto b = take(plan_of(flags.b, *rank_b, "B", flags.spec, context));
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  Answer answer;
  for (const auto& [name, plan] : {std::pair("A", &*a), std::pair("B", &*b)}) {
    if (*plan) continue;
    answer.code = ExitCode::NoAnswer;
    answer.notes.push_back(fmt::format("nothing fits in {}; `smplan plan` says why", name));
  }
  if (answer.code == ExitCode::NoAnswer) return answer;
  answer.text = render(comparison_listing(compare(**a, **b)), context);
  return answer;
}

}  // namespace

Command compare_command() {
  auto flags = std::make_shared<CompareFlags>();
  return {"compare", "Put two plans side by side, with the terms that differ",
          "smplan compare one.json two.json\n"
          "  smplan compare --params 13B 'instances=ml.p4d*' 'instances=ml.p5* what_if=price=-20%'",
          [flags](Flags& app) {
            app.add_option("A", flags->a, "Plan file, or words such as 'count=8 stack=fsdp' that complete the request")
                ->required();
            app.add_option("B", flags->b, "The other")->required();
            app.add_option("--rank-a", flags->rank_a, "Plan of A [1, the best]")->type_name("N");
            app.add_option("--rank-b", flags->rank_b, "Plan of B [1, the best]")->type_name("N");
            add_request_options(app, flags->spec);
          },
          [flags](const Context& context) { return run_compare(*flags, context); }};
}

}  // namespace smplan::cli
