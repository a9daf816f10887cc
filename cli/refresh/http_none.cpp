#include "cli/refresh/http.hpp"

// In place of http_curl.cpp where smplan is built without libcurl.

namespace smplan::cli {

Result<void> http_available() {
  return fail("not-built-in", "catalog refresh", "needs libcurl, without which this smplan was built, as the wheel is",
              "use the Debian package or a build with libcurl, or `catalog import` what curl and aws fetch: "
              "docs/catalog.md has the commands");
}

Result<Fetched> http_get(const std::string&, const Version&, const HttpLimits&, Body&, const Progress&) {
  return tl::unexpected<Diagnostics>(http_available().error());
}

Result<void> check_mirror(const std::string&, bool) { return {}; }

std::string host_of(const std::string&) { return {}; }

}  // namespace smplan::cli
