#include "cli/options.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "cli/interface/description.hpp"

namespace smplan::cli {
namespace {

const std::vector<std::string> kFormats = {"table", "json", "csv", "markdown"};
const std::vector<std::string> kColors = {"auto", "always", "never"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Position of `name` in `names`; an unknown one is reported.
std::optional<std::size_t> choose(const std::string& name, const std::vector<std::string>& names, std::string_view kind,
                                  std::string_view flag, Diagnostics& out) {
  const auto found = std::find(names.begin(), names.end(), lower_case(name));
  if (found != names.end()) return found - names.begin();
  out.push_back(unknown_name(kind, name, flag, names));
  return std::nullopt;
}

/// `table|json`, for the help.
std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : "|") + name;
  return out;
}

/// NO_COLOR (no-color.org) and TERM=dumb switch colour off unless --color says always.
bool wants_color(std::size_t mode, bool terminal) {
  if (mode != 0) return mode == 1;
  return terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

/// COLUMNS, else the terminal's width, else no limit.
int output_width(bool terminal) {
  const std::string columns = environment("COLUMNS");
  if (!columns.empty()) {
    const auto width = parse_integer_count(columns, "COLUMNS");
    if (width && *width <= 100000) return static_cast<int>(*width);
  }
  winsize size{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) return size.ws_col;
  return 0;
}

void merge_overlays(Catalog& catalog, const std::vector<std::string>& files, Diagnostics& out) {
  for (const std::string& file : files) {
    const Result<JsonValue> overlay = read_json_file(file);
    const Result<void> merged = overlay ? catalog.merge(*overlay) : tl::unexpected<Diagnostics>(overlay.error());
    if (!merged) out.insert(out.end(), merged.error().begin(), merged.error().end());
  }
}

/// Lays what `catalog refresh` wrote over the catalog, and notes it, or why it is left out.
void use_refreshed(Catalog& catalog, Context& context) {
  const auto file = refreshed_file();
  if (!file) return;
  Result<RefreshedFacts> facts = merge_refreshed(catalog, *file);
  if (!facts) {
    context.notes.push_back(to_string(facts.error().front()));
    return;
  }
  context.notes.push_back(
      fmt::format("facts refreshed on {} are used, from {} (--no-cache leaves them out)", facts->on, facts->path));
  context.refreshed = std::move(*facts);
}

}  // namespace

void add_common_options(Flags& command, CommonOptions& options, const Formats& formats) {
  const std::vector<std::string>& names = formats.names.empty() ? kFormats : formats.names;
  const std::string usual =
      names.front() + (formats.on_terminal.empty() ? std::string() : "; on a terminal " + formats.on_terminal);
  const auto add = [&](const char* name, auto& value, const std::string& text, const std::string& type) {
    return command.add_option(name, value, text)->type_name(type)->group(kCommonGroup);
  };
  add("--format", options.format, "How to print the answer [" + usual + "]", joined(names));
  add("--output", options.output, "Write the answer to FILE, whole or not at all [- is standard output]", "FILE");
  command.add_flag("--quiet", options.quiet, "No notes on standard error, only faults")->group(kCommonGroup);
  add("--color", options.color, "Colour in tables [auto: on a terminal, unless NO_COLOR is set]", "auto|always|never");
  add("--catalog", options.catalogs, "Facts that add to or replace the shipped ones; may be repeated", "FILE")
      ->one_value_each();
  add("--calibration", options.calibrations, "Fitted profiles that replace the shipped ones; may be repeated", "FILE")
      ->one_value_each();
  add("--price", options.prices.prices,
      "A price of your own in USD an hour: ml.p5.48xlarge=38, ml.p5.48xlarge@eu-west-1=41/spot; may be repeated",
      "TYPE=USD")
      ->one_value_each();
  add("--discount", options.prices.discount, "What your contract takes off all other prices, e.g. 12%", "PART");
  command.add_flag("--no-cache", options.no_cache, "Without the facts that `smplan catalog refresh` downloaded")
      ->group(kCommonGroup);
}

Result<Context> make_context(const CommonOptions& options, const Formats& formats) {
  const std::vector<std::string>& names = formats.names.empty() ? kFormats : formats.names;
  const bool terminal = options.output == "-" && isatty(STDOUT_FILENO) == 1;
  const std::string& usual = terminal && !formats.on_terminal.empty() ? formats.on_terminal : names.front();
  Diagnostics faults;
  const auto format = choose(options.format.empty() ? usual : options.format, names, "format", "--format", faults);
  const auto color = choose(options.color, kColors, "colour mode", "--color", faults);
  Result<Catalog> catalog = Catalog::shipped();
  Context context;
  if (!catalog) {
    faults.insert(faults.end(), catalog.error().begin(), catalog.error().end());
  } else {
    if (!options.no_cache) use_refreshed(*catalog, context);
    merge_overlays(*catalog, options.catalogs, faults);
    merge_overlays(*catalog, options.calibrations, faults);
    merge_stated_prices(*catalog, options.prices, faults);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  context.catalog = std::move(*catalog);
  context.overlays = options.catalogs;
  context.overlays.insert(context.overlays.end(), options.calibrations.begin(), options.calibrations.end());
  if (formats.names.empty()) context.format = static_cast<Format>(*format);
  context.format_name = names[*format];
  context.output = options.output;
  context.style.color = wants_color(*color, terminal);
  context.style.width = options.output == "-" ? output_width(terminal) : 0;
  context.quiet = options.quiet;
  return context;
}

}  // namespace smplan::cli
