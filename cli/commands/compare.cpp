#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "cli/command.hpp"
#include "cli/commands/timed_search.hpp"
#include "cli/render/comparison_page.hpp"
#include "cli/request_options.hpp"
#include "planner/answer/plan_json.hpp"
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

/// A plan file as it is, or the answer to the request that the words make of the flags.
Result<JsonValue> document_of(const std::string& side, const std::string& where, const RequestSpec& base,
                              const Context& context) {
  if (names_file(side)) return read_json_file(side);
  const Result<RequestSpec> spec = read_request_words(side, base, where);
  if (!spec) return tl::unexpected<Diagnostics>(spec.error());
  const Result<PlanRequest> request = resolve(*spec, context.catalog, environment_region(), Purpose::Plan, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  return parse_json(to_json(timed_search(*request, context.catalog)), where);
}

bool has_plans(const JsonValue& document) {
  Diagnostics ignored;
  const auto plans = document.is_object() ? document.find("plans") : std::nullopt;
  return !plans || !plans->is_array() || !plans->as_array(ignored).empty();
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
  const auto a = take(document_of(flags.a, "A", flags.spec, context));
  const auto b = take(document_of(flags.b, "B", flags.spec, context));
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  Answer answer;
  for (const auto& [name, document] : {std::pair("A", &*a), std::pair("B", &*b)}) {
    if (has_plans(*document)) continue;
    answer.code = ExitCode::NoAnswer;
    answer.notes.push_back(fmt::format("nothing fits in {}; `smplan plan` says why", name));
  }
  if (answer.code == ExitCode::NoAnswer) return answer;
  const Result<Comparison> comparison = compare({*a, *rank_a}, {*b, *rank_b});
  if (!comparison) return tl::unexpected<Diagnostics>(comparison.error());
  answer.text = render(comparison_listing(*comparison), context);
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
