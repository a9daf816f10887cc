#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "catalogs/catalog.hpp"
#include "catalogs/refreshed_facts.hpp"
#include "cli/flags.hpp"
#include "cli/render/table.hpp"
#include "cli/stated_prices.hpp"

namespace smplan::cli {

enum class Format { Table, Json, Csv, Markdown };

/// What every command takes, as typed by the user.
struct CommonOptions {
  std::string format;  ///< empty: the command's first
  std::string output = "-";
  std::string color = "auto";
  bool quiet = false;
  std::vector<std::string> catalogs;
  std::vector<std::string> calibrations;
  bool no_cache = false;
  StatedPrices prices;
};

/// What --format takes.
struct Formats {
  std::vector<std::string> names;  ///< the default first; empty: those of tables
  std::string on_terminal;         ///< the default where a terminal shows the answer; empty: the same
};

/// Adds the options that every command has, in a help group of their own.
void add_common_options(Flags& command, CommonOptions& options, const Formats& formats);

/// What a command works with once the options are understood.
struct Context {
  Catalog catalog;
  Format format = Format::Table;  ///< where the command has the formats of tables
  std::string format_name;
  std::string output = "-";  ///< where the answer goes, for commands that write as they go
  Style style;
  bool quiet = false;
  /// What was asked to lie over the shipped catalog beside what `catalog refresh` wrote.
  std::vector<std::string> overlays;
  /// The refreshed facts in use; nullopt where there are none.
  std::optional<RefreshedFacts> refreshed;
  /// What to say of them, or why they are left out.
  std::vector<std::string> notes;
};

/// Understands the options and loads the catalog with its overlays. Collects every fault.
Result<Context> make_context(const CommonOptions& options, const Formats& formats);

}  // namespace smplan::cli
