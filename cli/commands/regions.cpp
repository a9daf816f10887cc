#include <memory>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/render/regions_page.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"

namespace smplan::cli {
namespace {

struct RegionFlags {
  RequestSpec spec;
};

Result<Answer> run_regions(const RegionFlags& flags, const Context& context) {
  const Result<RegionAnswer> answer = compare_regions(flags.spec, context.catalog, now());
  if (!answer) return tl::unexpected<Diagnostics>(answer.error());
  Answer out;
  if (!answer->request) out.code = ExitCode::NoAnswer;
  out.text = context.format == Format::Table ? regions_text(*answer, context.style)
                                             : render(regions_listing(*answer), context);
  std::vector<Plan> plans;
  for (const RegionRow& row : answer->rows) {
    if (const RegionCell* best = row.cheapest()) plans.push_back(*best->plan);
  }
  out.notes = stale_price_notes(plans);
  return out;
}

}  // namespace

Command regions_command() {
  auto flags = std::make_shared<RegionFlags>();
  return {"regions", "Compare regions and markets: what the same work costs where",
          "smplan regions --params 13B\n"
          "  smplan regions --model llama-3.1-8b --tokens 1B --market on-demand,spot --region us-east-1,eu-west-1",
          [flags](Flags& app) { add_request_options(app, flags->spec); },
          [flags](const Context& context) { return run_regions(*flags, context); }};
}

}  // namespace smplan::cli
