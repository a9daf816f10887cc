#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/render/catalog_page.hpp"
#include "cli/render/model_page.hpp"

namespace smplan::cli {
namespace {

const std::vector<std::string> kKinds = {"instances", "accelerators", "prices", "models", "stacks"};

struct CatalogFlags {
  std::string action;
  std::string name;
  std::optional<std::string> region, market;
  bool reference = false;
};

Answer done(const Listing& listing, const Context& context) { return {ExitCode::Done, render(listing, context), {}}; }

Result<Answer> list_prices(const CatalogFlags& flags, const Context& context) {
  std::optional<Market> market;
  if (flags.market) {
    market = market_from(*flags.market);
    if (!market) {
      return tl::unexpected<Diagnostics>(
          {unknown_name("market", *flags.market, "--market", {"on-demand", "spot", "capacity-block"})});
    }
  }
  const Listing listing = price_list(context.catalog, flags.region, market);
  if (listing.rows.empty() && flags.region) {
    std::vector<std::string> regions;
    for (const Price& price : context.catalog.prices()) {
      if (std::find(regions.begin(), regions.end(), price.region) == regions.end()) regions.push_back(price.region);
    }
    if (std::find(regions.begin(), regions.end(), *flags.region) == regions.end()) {
      return tl::unexpected<Diagnostics>({unknown_name("region", *flags.region, "--region", regions)});
    }
  }
  return done(listing, context);
}

Result<Answer> list(const CatalogFlags& flags, const Context& context) {
  const Catalog& catalog = context.catalog;
  if (flags.name == "prices") return list_prices(flags, context);
  if (flags.region || flags.market) {
    return fail("conflict", flags.region ? "--region" : "--market", "goes only with `catalog list prices`");
  }
  if (flags.name.empty()) return done(catalog_summary(catalog), context);
  if (flags.name == "instances") return done(instance_list(catalog, flags.reference), context);
  if (flags.name == "accelerators") return done(accelerator_list(catalog), context);
  if (flags.name == "models") return done(model_list(catalog.models()), context);
  if (flags.name == "stacks") return done(stack_list(catalog), context);
  return tl::unexpected<Diagnostics>({unknown_name("kind of fact", flags.name, "catalog list", kKinds)});
}

/// Whatever has this name: instance type, accelerator, stack or model.
Result<Answer> show(const CatalogFlags& flags, const Context& context) {
  const Catalog& catalog = context.catalog;
  if (flags.name.empty()) {
    return fail("missing-name", "catalog show", "needs the name of an instance type, accelerator, stack or model",
                "`smplan catalog list instances` lists names");
  }
  if (const auto* instance = catalog.find_instance(flags.name)) return done(instance_page(*instance, catalog), context);
  if (const auto* a = catalog.find_accelerator(flags.name)) return done(accelerator_page(*a, catalog), context);
  if (const auto* stack = catalog.find_stack(flags.name)) return done(stack_page(*stack), context);
  if (const auto* m = catalog.find_model(flags.name)) return done(model_page(m->architecture, m), context);
  std::vector<std::string> known;
  for (const InstanceType& i : catalog.instances()) known.push_back(i.name);
  for (const Accelerator& a : catalog.accelerators()) known.push_back(a.key);
  for (const Stack& s : catalog.stacks()) known.push_back(s.id);
  for (const ModelPreset& m : catalog.models()) known.push_back(m.architecture.name);
  return tl::unexpected<Diagnostics>({unknown_name("name", flags.name, "catalog show", known)});
}

Result<Answer> verify(const Context& context) {
  const Diagnostics faults = check(context.catalog);
  Listing listing;
  listing.table.columns = {
      {"FACT"}, {"CODE"}, {"WHAT IS WRONG", Align::Left, 0, 30}, {"WHAT TO DO", Align::Left, 0, 20}};
  for (const Diagnostic& d : faults) {
    listing.table.rows.push_back({d.location, d.code, d.message, d.hint});
    listing.rows.push_back({{"location", d.location}, {"code", d.code}, {"message", d.message}, {"hint", d.hint}});
  }
  Answer answer = done(listing, context);
  answer.code = faults.empty() ? ExitCode::Done : ExitCode::NoAnswer;
  if (context.format == Format::Table && faults.empty()) {
    const Catalog& c = context.catalog;
    answer.text = fmt::format(
        "The catalog is consistent: {} instance types, {} accelerators, {} prices, {} models, {} stacks.\n",
        c.instances().size(), c.accelerators().size(), c.prices().size(), c.models().size(), c.stacks().size());
  }
  if (!faults.empty()) answer.notes.push_back(fmt::format("{} facts are at fault", faults.size()));
  return answer;
}

Result<Answer> run_catalog(const CatalogFlags& flags, const Context& context) {
  if (flags.action == "list") return list(flags, context);
  if (flags.action == "show") return show(flags, context);
  if (flags.action == "verify" && flags.name.empty()) return verify(context);
  if (flags.action == "verify") {
    return fail("unexpected-argument", "catalog verify", fmt::format("takes no name, has '{}'", flags.name));
  }
  return tl::unexpected<Diagnostics>({unknown_name("action", flags.action, "catalog", {"list", "show", "verify"})});
}

}  // namespace

Command catalog_command() {
  auto flags = std::make_shared<CatalogFlags>();
  return {
      "catalog", "The facts that plans rest on: list them, show one, verify them all",
      "smplan catalog list instances\n  smplan catalog list prices --region us-west-2 --market spot --format csv\n"
      "  smplan catalog show ml.p5.48xlarge\n  smplan catalog verify --catalog overlay.json",
      [flags](CLI::App& app) {
        app.add_option("action", flags->action, "list, show or verify")->required()->type_name("");
        app.add_option("name", flags->name, "list: instances, accelerators, prices, models or stacks; show: any name")
            ->type_name("");
        app.add_option("--region", flags->region, "Prices of this region only")->type_name("NAME");
        app.add_option("--market", flags->market, "on-demand, spot or capacity-block prices only")->type_name("NAME");
        app.add_flag("--reference", flags->reference, "List measured systems that are no AWS types too");
      },
      [flags](const Context& context) { return run_catalog(*flags, context); }};
}

}  // namespace smplan::cli
