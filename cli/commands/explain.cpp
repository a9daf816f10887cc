#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/commands/timed_search.hpp"
#include "cli/render/listing.hpp"
#include "cli/render/no_plan.hpp"
#include "cli/request_options.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/analysis/whatif.hpp"

namespace smplan::cli {
namespace {

struct ExplainFlags {
  RequestSpec spec;
  std::string rank = "1";
  bool sensitivity = false;
};

Answer unexplained(const PlanSet& set, const ExplainFlags& flags, const Context& context) {
  Answer answer;
  answer.code = ExitCode::NoAnswer;
  const std::optional<WayOut> way = way_out(set, flags.spec, context.catalog);
  answer.text = no_plan_text(set, way, context.style);
  return answer;
}

Result<Answer> run_explain(const ExplainFlags& flags, const Context& context) {
  const Result<std::int64_t> rank = parse_integer_count(flags.rank, "--rank");
  if (!rank) return tl::unexpected<Diagnostics>(rank.error());
  const Result<PlanRequest> request = resolve(flags.spec, context.catalog, environment_region(), Purpose::Plan, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const PlanSet set = timed_search(*request, context.catalog);
  if (set.plans.empty()) return unexplained(set, flags, context);
  if (*rank > static_cast<std::int64_t>(set.plans.size())) {
    return fail("out-of-range", "--rank", fmt::format("the list has {} plans, there is no {}", set.plans.size(), *rank),
                "choose a smaller rank, or a larger --top");
  }
  Listing listing;
  listing.table.columns = {{"WHY", Align::Left, 0, 40}};
  std::string paragraphs;
  std::vector<std::string> sentences = explain(set, context.catalog, static_cast<std::size_t>(*rank));
  if (flags.sensitivity) {
    for (std::string& sentence : explain_sensitivity(set, context.catalog)) sentences.push_back(std::move(sentence));
  }
  for (const std::string& sentence : sentences) {
    listing.table.rows.push_back({sentence});
    listing.rows.push_back({{"rank", *rank}, {"sentence", sentence}});
    paragraphs += labelled("-", sentence, context.style);
  }
  return Answer{ExitCode::Done, context.format == Format::Table ? paragraphs : render(listing, context), {}};
}

}  // namespace

Command explain_command() {
  auto flags = std::make_shared<ExplainFlags>();
  return {"explain", "Say why a plan won, what bounds it, and why its neighbours lost or do not fit",
          "smplan explain --params 13B\n  smplan explain --model llama-3-8b --instances 'ml.p5*' --rank 2",
          [flags](Flags& app) {
            add_request_options(app, flags->spec);
            app.add_option("--rank", flags->rank, "Plan to explain [1, the best]")->type_name("N");
            app.add_flag("--sensitivity", flags->sensitivity,
                         "Search again with other facts: what changes the best plan, and one instance more or less");
          },
          [flags](const Context& context) { return run_explain(*flags, context); }};
}

}  // namespace smplan::cli
