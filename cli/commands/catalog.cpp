#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "catalogs/dates.hpp"
#include "catalogs/import/import.hpp"
#include "catalogs/published.hpp"
#include "catalogs/refreshed_facts.hpp"
#include "cli/command.hpp"
#include "cli/commands/collectives.hpp"
#include "cli/refresh/refresh.hpp"
#include "cli/render/catalog_page.hpp"
#include "cli/render/model_page.hpp"
#include "planner/request/fields.hpp"

namespace smplan::cli {
namespace {

const std::vector<std::string> kKinds = {"instances", "accelerators", "prices", "models", "stacks"};

struct CatalogFlags {
  std::string action;
  std::vector<std::string> names;
  std::optional<std::string> region, market, as_of, max_age;
  std::optional<int> savings_plan_years;
  std::optional<std::string> what, cache, mirror, timeout;
  bool allow_http = false;
  CollectiveFlags collectives;
  bool reference = false;
  /// What list and show are asked for.
  [[nodiscard]] std::string name() const { return names.empty() ? std::string() : names.front(); }
};

Answer done(const Listing& listing, const Context& context) { return {ExitCode::Done, render(listing, context), {}}; }

Result<Answer> list_prices(const CatalogFlags& flags, const Context& context) {
  std::optional<Market> market;
  if (flags.market) {
    Diagnostics faults;
    market = parse_name(*flags.market, "market", "--market", market_names(), market_from, faults);
    if (!market) return tl::unexpected<Diagnostics>(std::move(faults));
  }
  std::optional<std::string> region;
  if (flags.region) {
    std::vector<std::string> regions;
    for (const Price& price : context.catalog.prices()) {
      if (std::find(regions.begin(), regions.end(), price.region) == regions.end()) regions.push_back(price.region);
    }
    region = known_spelling(*flags.region, regions);
    if (!region) return tl::unexpected<Diagnostics>({unknown_name("region", *flags.region, "--region", regions)});
  }
  return done(price_list(context.catalog, region, market), context);
}

Result<Answer> list(const CatalogFlags& flags, const Context& context) {
  const Catalog& catalog = context.catalog;
  if (flags.name() == "prices") return list_prices(flags, context);
  if (flags.region || flags.market) {
    return fail("conflict", flags.region ? "--region" : "--market", "goes only with `catalog list prices`");
  }
  if (flags.name().empty()) return done(catalog_summary(catalog), context);
  if (flags.name() == "instances") return done(instance_list(catalog, flags.reference), context);
  if (flags.name() == "accelerators") return done(accelerator_list(catalog), context);
  if (flags.name() == "models") return done(model_list(catalog.models()), context);
  if (flags.name() == "stacks") return done(stack_list(catalog), context);
  return tl::unexpected<Diagnostics>({unknown_name("kind of fact", flags.name(), "catalog list", kKinds)});
}

/// Whatever has this name: instance type, accelerator, stack or model.
Result<Answer> show(const CatalogFlags& flags, const Context& context) {
  const Catalog& catalog = context.catalog;
  if (flags.name().empty()) {
    return fail("missing-name", "catalog show", "needs the name of an instance type, accelerator, stack or model",
                "`smplan catalog list instances` lists names");
  }
  if (const auto instance = catalog.instance(flags.name(), ""); instance) {
    return done(instance_page(**instance, catalog), context);
  }
  std::vector<std::string> accelerators;
  for (const Accelerator& a : catalog.accelerators()) accelerators.push_back(a.key);
  if (const auto key = known_spelling(flags.name(), accelerators)) {
    return done(accelerator_page(*catalog.find_accelerator(*key), catalog), context);
  }
  if (const auto stack = catalog.stack(flags.name(), ""); stack) return done(stack_page(**stack), context);
  if (const auto* m = catalog.find_model(flags.name())) return done(model_page(m->architecture, m), context);
  std::vector<std::string> known;
  for (const InstanceType& i : catalog.instances()) known.push_back(i.name);
  for (const Accelerator& a : catalog.accelerators()) known.push_back(a.key);
  for (const Stack& s : catalog.stacks()) known.push_back(s.id);
  for (const ModelPreset& m : catalog.models()) known.push_back(m.architecture.name);
  return tl::unexpected<Diagnostics>({unknown_name("name", flags.name(), "catalog show", known)});
}

Listing fault_list(const Diagnostics& faults) {
  Listing listing;
  listing.table.columns = {
      {"FACT"}, {"CODE"}, {"WHAT IS WRONG", Align::Left, 0, 30}, {"WHAT TO DO", Align::Left, 0, 20}};
  for (const Diagnostic& d : faults) {
    listing.table.rows.push_back({d.location, d.code, d.message, d.hint});
    listing.rows.push_back({{"location", d.location}, {"code", d.code}, {"message", d.message}, {"hint", d.hint}});
  }
  return listing;
}

/// Prices older than `days` on a date: faults where an age was asked for, else one note.
std::vector<const Price*> stale_prices(const Catalog& catalog, const std::string& date, double days) {
  std::vector<const Price*> stale;
  for (const Price& price : catalog.prices()) {
    const auto age = days_between(price.provenance.as_of, date);
    if (age && static_cast<double>(*age) > days) stale.push_back(&price);
  }
  return stale;
}

/// What is dated after today would pass for fresh until then.
Diagnostics future_prices(std::span<const Price> prices, const std::string& date) {
  Diagnostics faults;
  for (const Price& p : prices) {
    const auto age = days_between(p.provenance.as_of, date);
    if (!age || *age >= 0) continue;
    faults.push_back({"future-price", fmt::format("prices/{} {} {}", p.instance, p.region, to_string(p.market)),
                      fmt::format("is of {}, after {}", p.provenance.as_of, date),
                      "correct the date, or give that of today with --as-of"});
  }
  return faults;
}

std::string stale_note(const Catalog& catalog, const std::vector<const Price*>& stale, const std::string& date) {
  const auto oldest = *std::min_element(stale.begin(), stale.end(), [](const Price* a, const Price* b) {
    return a->provenance.as_of < b->provenance.as_of;
  });
  return fmt::format(
      "{} of {} prices are older than {} days on {} (the oldest, {} in {}, is of {}): `smplan catalog refresh` gets "
      "those of today",
      stale.size(), catalog.prices().size(), kOldPriceDays, date, oldest->instance, oldest->region,
      oldest->provenance.as_of);
}

Result<std::string> date_of(const CatalogFlags& flags) {
  const std::string date = flags.as_of.value_or(today());
  if (is_day(date)) return date;
  return fail("bad-date", "--as-of", fmt::format("{} is no date", quote(date)), "write YYYY-MM-DD");
}

Result<Answer> verify(const CatalogFlags& flags, const Context& context) {
  const Result<std::string> date = date_of(flags);
  if (!date) return tl::unexpected<Diagnostics>(date.error());
  Diagnostics faults = check(context.catalog);
  for (Diagnostic& fault : future_prices(context.catalog.prices(), *date)) faults.push_back(std::move(fault));
  std::vector<std::string> notes;
  if (flags.max_age) {
    const Result<Seconds> age = parse_duration(*flags.max_age, "--max-age");
    if (!age) return tl::unexpected<Diagnostics>(age.error());
    for (const Price* p : stale_prices(context.catalog, *date, *age / days(1))) {
      faults.push_back(
          {"stale-price", fmt::format("prices/{} {} {}", p->instance, p->region, to_string(p->market)),
           fmt::format("is of {}, {} days old", p->provenance.as_of, *days_between(p->provenance.as_of, *date)),
           "`smplan catalog refresh` gets the current price list"});
    }
  } else if (const auto stale = stale_prices(context.catalog, *date, kOldPriceDays); !stale.empty()) {
    notes.push_back(stale_note(context.catalog, stale, *date));
  }
  Answer answer = done(fault_list(faults), context);
  answer.code = faults.empty() ? ExitCode::Done : ExitCode::NoAnswer;
  if (context.format == Format::Table && faults.empty()) {
    const Catalog& c = context.catalog;
    answer.text = fmt::format(
        "The catalog is consistent: {} instance types, {} accelerators, {} prices, {} models, {} stacks.\n",
        c.instances().size(), c.accelerators().size(), c.prices().size(), c.models().size(), c.stacks().size());
  }
  answer.notes = std::move(notes);
  if (!faults.empty()) answer.notes.push_back(fmt::format("{} facts are at fault", faults.size()));
  return answer;
}

Result<Answer> import(const CatalogFlags& flags, const Context& context) {
  if (flags.names.empty()) {
    return fail("missing-name", "catalog import", "needs a file that AWS wrote",
                "see `smplan catalog --help` for the commands that fetch one");
  }
  const Result<std::string> date = date_of(flags);
  if (!date) return tl::unexpected<Diagnostics>(date.error());
  if (flags.region && flags.region->find(',') != std::string::npos) {
    return fail("bad-region", "--region", fmt::format("takes one region here, has {}", quote(*flags.region)),
                "leave it out to import all of them");
  }
  ImportOptions options;
  options.region = flags.region;
  options.as_of = *date;
  options.savings_plan_years = flags.savings_plan_years.value_or(1);
  const Result<ImportedFacts> facts = import_files(flags.names, context.catalog, options);
  if (!facts) return tl::unexpected<Diagnostics>(facts.error());
  Answer answer;
  answer.text = overlay_of(*facts);
  // What cannot be merged must not be written.
  Catalog merged = context.catalog;
  const Result<JsonValue> overlay = parse_json(answer.text, "overlay");
  const Result<void> accepted = overlay ? merged.merge(*overlay) : tl::unexpected<Diagnostics>(overlay.error());
  if (!accepted) return tl::unexpected<Diagnostics>(accepted.error());
  const std::size_t changed = catalog_changes(context.catalog, merged).size();
  answer.notes = facts->notes;
  answer.notes.push_back(fmt::format(
      "{} prices, {} instance types and {} interruption rates taken, {} facts change; passed over: {} entries "
      "for other things, {} for instance types that the catalog lacks",
      facts->prices.size(), facts->instances.size(), facts->spot.size(), changed, facts->other, facts->unknown));
  if (changed == 0) answer.notes.emplace_back("the catalog says the same already");
  if (const Diagnostics future = future_prices(facts->prices, *date); !future.empty()) {
    answer.notes.push_back(
        fmt::format("{} prices are dated after {}, the first {}", future.size(), *date, to_string(future.front())));
  }
  for (const Diagnostic& d : check(merged)) answer.notes.push_back(to_string(d));
  return answer;
}

/// The names of a comma list, each once.
std::vector<std::string> names_in(const std::optional<std::string>& list) {
  std::vector<std::string> names;
  if (!list) return names;
  for (std::size_t begin = 0; begin <= list->size();) {
    const std::size_t end = std::min(list->find(',', begin), list->size());
    const std::string name = list->substr(begin, end - begin);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    begin = end + 1;
  }
  return names;
}

std::string source_names() {
  const Result<PublishedSources> sources = PublishedSources::shipped();
  return sources ? fmt::format("{}", fmt::join(sources->names(), ", ")) : std::string();
}

Result<Answer> refresh(const CatalogFlags& flags, const Context& context) {
  if (!flags.names.empty()) {
    return fail("unexpected-argument", "catalog refresh", fmt::format("takes no name, has {}", quote(flags.name())),
                "choose with --what and --region");
  }
  if (!context.overlays.empty()) {
    return fail("conflict", "--catalog",
                "says nothing to `catalog refresh`: what it writes lies over the shipped facts",
                "give the overlay to the commands that plan");
  }
  RefreshQuestion question;
  const auto usual = cache_folder();
  if (!flags.cache && !usual) {
    return fail("no-cache-folder", "--cache", "is needed where neither SMPLAN_CACHE nor XDG_CACHE_HOME nor HOME is set",
                "name the folder for what is downloaded");
  }
  question.cache = flags.cache ? std::filesystem::path(*flags.cache) : *usual;
  question.own_cache = flags.cache && (!usual || question.cache != *usual);
  if (flags.timeout) {
    const Result<Seconds> timeout = parse_duration(*flags.timeout, "--timeout");
    if (!timeout) return tl::unexpected<Diagnostics>(timeout.error());
    if (!(*timeout > Seconds(0)) || *timeout > days(1)) {
      return fail("out-of-range", "--timeout", fmt::format("is {}", quote(*flags.timeout)), "write 1s to 1d");
    }
    question.timeout = *timeout;
  }
  question.what = names_in(flags.what);
  question.regions = names_in(flags.region);
  if (flags.mirror && flags.mirror->empty()) return fail("bad-url", "--mirror", "is empty", "leave it out to ask AWS");
  question.mirror = flags.mirror.value_or("");
  question.allow_http = flags.allow_http;
  question.savings_plan_years = flags.savings_plan_years;
  Result<Answer> answer = cli::refresh(question, context);
  if (answer) answer->without_cache = true;
  return answer;
}

/// What an overlay changes in the catalog, or a second one in the first; without any, what was refreshed changes.
Result<Answer> diff(const CatalogFlags& flags, const Context& context) {
  const bool refreshed_only = flags.names.empty() && context.refreshed && context.overlays.empty();
  if (flags.names.size() > 2 || (flags.names.empty() && !refreshed_only)) {
    return fail("missing-name", "catalog diff", fmt::format("takes one or two overlays, has {}", flags.names.size()),
                "`smplan catalog diff NEW.json` compares with what is in use; without a name it shows what "
                "`smplan catalog refresh` changed, once it has run");
  }
  std::vector<Catalog> states = {context.catalog};
  if (refreshed_only) {
    const Result<Catalog> shipped = Catalog::shipped();
    if (!shipped) return tl::unexpected<Diagnostics>(shipped.error());
    states.insert(states.begin(), *shipped);
  }
  for (const std::string& name : flags.names) {
    const Result<JsonValue> overlay = read_json_file(name);
    if (!overlay) return tl::unexpected<Diagnostics>(overlay.error());
    Catalog next = context.catalog;
    const Result<void> merged = next.merge(*overlay);
    if (!merged) return tl::unexpected<Diagnostics>(merged.error());
    states.push_back(std::move(next));
  }
  Listing listing;
  listing.table.columns = {{"FACT"}, {"BEFORE"}, {"AFTER"}, {"CHANGE", Align::Right}};
  for (const CatalogChange& c : catalog_changes(states[states.size() - 2], states.back())) {
    const std::string change = c.ratio            ? fmt::format("{:+.1f}%", (*c.ratio - 1) * 100)
                               : c.before.empty() ? "new"
                               : c.after.empty()  ? "gone"
                                                  : "";
    listing.table.rows.push_back({c.fact, c.before, c.after, change});
    listing.rows.push_back({{"fact", c.fact}, {"before", c.before}, {"after", c.after}, {"change", change}});
  }
  Answer answer = done(listing, context);
  if (listing.rows.empty()) answer.notes.emplace_back("nothing differs");
  return answer;
}

/// A flag that an action would ignore is a misunderstanding.
Result<void> flags_fit(const CatalogFlags& flags) {
  struct Rule {
    bool given;
    const char* flag;
    std::vector<std::string> actions;
  };
  const Rule rules[] = {{flags.region.has_value(), "--region", {"list", "import", "refresh"}},
                        {flags.market.has_value(), "--market", {"list"}},
                        {flags.as_of.has_value(), "--as-of", {"import", "verify"}},
                        {flags.max_age.has_value(), "--max-age", {"verify"}},
                        {flags.savings_plan_years.has_value(), "--savings-plan-years", {"import", "refresh"}},
                        {flags.what.has_value(), "--what", {"refresh"}},
                        {flags.cache.has_value(), "--cache", {"refresh"}},
                        {flags.mirror.has_value(), "--mirror", {"refresh"}},
                        {flags.timeout.has_value(), "--timeout", {"refresh"}},
                        {flags.allow_http, "--allow-http", {"refresh"}},
                        {flags.collectives.any(), "--instances, --count, --op and --sizes", {"collectives"}},
                        {flags.reference, "--reference", {"list"}}};
  for (const Rule& rule : rules) {
    if (!rule.given || std::count(rule.actions.begin(), rule.actions.end(), flags.action) != 0) continue;
    return fail("conflict", rule.flag,
                fmt::format("says nothing to `catalog {}`, only to `catalog {}`", flags.action,
                            fmt::join(rule.actions, "` and `catalog ")));
  }
  return {};
}

Result<Answer> run_catalog(const CatalogFlags& flags, const Context& context) {
  if (const Result<void> fit = flags_fit(flags); !fit) return tl::unexpected<Diagnostics>(fit.error());
  if (flags.action == "import") return import(flags, context);
  if (flags.action == "refresh") return refresh(flags, context);
  if (flags.action == "diff") return diff(flags, context);
  if (flags.names.size() > 1) {
    return fail("unexpected-argument", "catalog " + flags.action,
                fmt::format("takes one name, has {}", flags.names.size()));
  }
  if (flags.action == "collectives" && !flags.names.empty()) {
    return fail("unexpected-argument", "catalog collectives", fmt::format("takes no name, has '{}'", flags.name()),
                "give the instance type with --instances");
  }
  if (flags.action == "collectives") return list_collectives(flags.collectives, context);
  if (flags.action == "list") return list(flags, context);
  if (flags.action == "show") return show(flags, context);
  if (flags.action == "verify" && flags.names.empty()) return verify(flags, context);
  if (flags.action == "verify") {
    return fail("unexpected-argument", "catalog verify", fmt::format("takes no name, has '{}'", flags.name()));
  }
  return tl::unexpected<Diagnostics>({unknown_name(
      "action", flags.action, "catalog", {"list", "show", "collectives", "refresh", "import", "diff", "verify"})});
}

}  // namespace

Command catalog_command() {
  auto flags = std::make_shared<CatalogFlags>();
  return {
      "catalog", "The facts that plans rest on: list, show, time collectives, refresh from AWS, compare, verify",
      "smplan catalog list prices --region us-west-2 --market spot --format csv\n"
      "  smplan catalog show ml.p5.48xlarge\n"
      "  smplan catalog collectives --instances ml.p5.48xlarge --count 2 --op all_reduce --sizes 1MiB..1GiB\n"
      "  smplan catalog refresh --what spot-prices --region us-west-2\n"
      "  aws ec2 describe-spot-price-history --start-time \"$(date -u +%FT%TZ)\" > spot.json\n"
      "  smplan catalog import spot.json --output prices.json\n"
      "  smplan catalog diff prices.json\n"
      "  smplan plan --params 13B --catalog prices.json\n"
      "  smplan catalog verify --catalog prices.json --max-age 90d",
      [flags](Flags& app) {
        app.add_option("action", flags->action, "What to do")
            ->required()
            ->type_name("list|show|collectives|refresh|import|diff|verify");
        app.add_option("names", flags->names,
                       "list: instances, accelerators, prices, models or stacks; show: any name; import: files of AWS; "
                       "diff: one or two overlays")
            ->type_name("");
        app.add_list("--region", flags->region,
                     "Prices of this region only; refresh: regions, or all [those of the on-demand prices]")
            ->type_name("REGION");
        app.add_list("--what", flags->what, fmt::format("refresh: sources [all of {}]", source_names()))
            ->type_name("LIST");
        app.add_option("--cache", flags->cache, "refresh: folder of what is downloaded [SMPLAN_CACHE, ~/.cache/smplan]")
            ->type_name("DIR");
        app.add_option("--mirror", flags->mirror, "refresh: a server with AWS's paths, in place of AWS's")
            ->type_name("URL");
        app.add_option("--timeout", flags->timeout, "refresh: longest time for one file [10m], and for aws [2m]")
            ->type_name("TIME");
        app.add_flag("--allow-http", flags->allow_http, "refresh: a mirror without https, on another machine too");
        app.add_option("--market", flags->market, "Prices of this market only")
            ->type_name("on-demand|spot|capacity-block|training-plan|savings-plan");
        app.add_option("--as-of", flags->as_of, "Date for ages, and for imported facts that carry none [today]")
            ->type_name("YYYY-MM-DD");
        app.add_option("--max-age", flags->max_age, "verify: older prices are faults, e.g. 90d")->type_name("TIME");
        app.add_option("--savings-plan-years", flags->savings_plan_years,
                       "import, refresh: rates of plans of 1 or 3 years [1]")
            ->one_of({1, 3})
            ->type_name("1|3");
        app.add_option("--instances", flags->collectives.instances, "collectives: an instance type")->type_name("NAME");
        app.add_option("--count", flags->collectives.count, "collectives: instances [1]")->type_name("N");
        app.add_option("--op", flags->collectives.op, "collectives: the operation of all accelerators [all-reduce]")
            ->type_name("all-reduce|all-gather|reduce-scatter|all-to-all|point-to-point");
        app.add_option("--sizes", flags->collectives.sizes,
                       "collectives: sizes as nccl-tests counts them, a range in powers of two or a list [1KiB..1GiB]")
            ->type_name("SIZE..SIZE");
        app.add_flag("--reference", flags->reference, "List measured systems that are no AWS types too");
      },
      [flags](const Context& context) { return run_catalog(*flags, context); }};
}

}  // namespace smplan::cli
