#include "catalogs/refreshed_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "catalogs/dates.hpp"

namespace smplan {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool cache_is_off() {
  const std::string off = variable("SMPLAN_NO_CACHE");
  return !off.empty() && off != "0";
}

tl::unexpected<Diagnostics> left_out(const std::string& path, const std::string& why) {
  return fail("bad-cache", path, fmt::format("{}: left out, the shipped facts are used", why),
              "write it anew with `smplan catalog refresh`, or remove it");
}

/// The first fault without its place, which is the file's.
std::string reason(const Diagnostics& faults, const std::string& path) {
  const Diagnostic& first = faults.front();
  return first.location == path ? first.message : fmt::format("{} {}", first.location, first.message);
}

}  // namespace

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

std::optional<std::filesystem::path> refreshed_file() {
  const auto folder = cache_is_off() ? std::nullopt : cache_folder();
  std::error_code error;
  if (!folder || !std::filesystem::exists(*folder / kRefreshedFile, error)) return std::nullopt;
  return *folder / kRefreshedFile;
}

std::string newest_price(const Catalog& catalog) {
  std::string newest;
  for (const Price& price : catalog.prices()) newest = std::max(newest, price.provenance.as_of);
  return newest;
}

std::optional<std::string> refresh_day(const JsonValue& overlay) {
  const auto refreshed = overlay.find("refreshed");
  const auto on = refreshed ? refreshed->find("on") : std::nullopt;
  Diagnostics faults;
  std::string day = on ? on->as_string(faults) : std::string();
  return is_day(day) ? std::optional(std::move(day)) : std::nullopt;
}

Result<RefreshedFacts> merge_refreshed(Catalog& catalog, const std::filesystem::path& file) {
  const std::string path = file.string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return left_out(path, "is no file");  // a pipe would never end
  Result<std::string> text = read_text_file(path);
  if (!text) return left_out(path, reason(text.error(), path));
  const Result<JsonValue> overlay = parse_json(*text, path);
  if (!overlay) return left_out(path, reason(overlay.error(), path));
  const std::optional<std::string> day = refresh_day(*overlay);
  if (!day) {
    return left_out(path, "is of another release or no file of `smplan catalog refresh`: it has no day");
  }
  if (const std::string newest = newest_price(catalog); *day < newest) {
    return left_out(path, fmt::format("is of {}, before the shipped prices of {}", *day, newest));
  }
  if (const Result<void> merged = catalog.merge(*overlay); !merged) {
    return left_out(path, reason(merged.error(), path));
  }
  return RefreshedFacts{path, *day, std::move(*text)};
}

}  // namespace smplan
