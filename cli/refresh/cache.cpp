#include "cli/refresh/cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "catalogs/dates.hpp"

namespace smplan::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string left_out(const std::string& path, const std::string& why) {
  return fmt::format(
      "{}: {}: left out, the shipped facts are used (write it anew with `smplan catalog refresh`, or remove it)", path,
      why);
}

/// The day that the overlay says it was written on.
Result<std::string> day_of(const JsonValue& overlay, const std::string& path) {
  const auto refreshed = overlay.find("refreshed");
  const auto on = refreshed ? refreshed->find("on") : std::nullopt;
  Diagnostics faults;
  std::string day = on ? on->as_string(faults) : std::string();
  if (is_day(day)) return day;
  return fail("bad-cache", path, "is of another release or no file of `smplan catalog refresh`: it has no day", "");
}

/// The first fault without its place, which is the file's.
std::string reason(const Diagnostics& faults, const std::string& path) {
  const Diagnostic& first = faults.front();
  return first.location == path ? first.message : fmt::format("{} {}", first.location, first.message);
}

}  // namespace

bool cache_is_off() {
  const std::string off = variable("SMPLAN_NO_CACHE");
  return !off.empty() && off != "0";
}

std::optional<std::filesystem::path> cache_folder() {
  if (const std::string own = variable("SMPLAN_CACHE"); !own.empty()) return own;
  // Relative ones are to be ignored. Source: XDG Base Directory Specification 0.8.
  if (const std::string caches = variable("XDG_CACHE_HOME"); caches.starts_with('/')) {
    return std::filesystem::path(caches) / "smplan";
  }
  if (const std::string home = variable("HOME"); home.starts_with('/')) {
    return std::filesystem::path(home) / ".cache" / "smplan";
  }
  return std::nullopt;
}

std::string newest_price(const Catalog& catalog) {
  std::string newest;
  for (const Price& price : catalog.prices()) newest = std::max(newest, price.provenance.as_of);
  return newest;
}

std::optional<RefreshedFacts> merge_refreshed(Catalog& catalog, std::vector<std::string>& notes) {
  const auto folder = cache_folder();
  std::error_code error;
  if (!folder || !std::filesystem::exists(*folder / kRefreshedFile, error)) return std::nullopt;
  const std::string path = (*folder / kRefreshedFile).string();
  if (!std::filesystem::is_regular_file(path, error)) {  // a pipe would never end
    notes.push_back(left_out(path, "is no file"));
    return std::nullopt;
  }
  const Result<JsonValue> overlay = read_json_file(path);
  const Result<std::string> day = overlay ? day_of(*overlay, path) : tl::unexpected<Diagnostics>(overlay.error());
  if (day) {
    const std::string newest = newest_price(catalog);
    if (*day < newest) {
      notes.push_back(left_out(path, fmt::format("is of {}, before the shipped prices of {}", *day, newest)));
      return std::nullopt;
    }
  }
  const Result<void> merged = day ? catalog.merge(*overlay) : tl::unexpected<Diagnostics>(day.error());
  if (!merged) {
    notes.push_back(left_out(path, reason(merged.error(), path)));
    return std::nullopt;
  }
  notes.push_back(fmt::format("facts refreshed on {} are used, from {} (--no-cache leaves them out)", *day, path));
  return RefreshedFacts{path, *day};
}

}  // namespace smplan::cli
