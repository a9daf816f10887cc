#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/refresh/http.hpp"

namespace smplan::cli {

/// What is to be downloaded, and where to.
struct RefreshQuestion {
  std::vector<std::string> what;     ///< names of sources; empty: all
  std::vector<std::string> regions;  ///< empty: those of the catalog's on-demand prices; `all`: those that AWS lists
  std::filesystem::path cache;
  bool own_cache = false;  ///< another folder than the one that commands read
  std::string mirror;      ///< stands for AWS's hosts; empty: none does
  std::optional<Seconds> timeout;
  bool allow_http = false;
  std::optional<int> savings_plan_years;
};

/// Downloads what AWS publishes, asks the user's `aws` for what takes an account, and turns all of it into one overlay
/// in the cache. Where a download fails, the overlay stays as it was; what the user's `aws` cannot say is left out with
/// a note, unless it was asked for by name.
Result<Answer> refresh(const RefreshQuestion& question, const Context& context);

}  // namespace smplan::cli
