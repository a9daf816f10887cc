#include "tests/fuzz/planning.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "planner/answer/plan_json.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {

const Catalog& shipped_catalog() {
  static const Catalog catalog = Catalog::shipped().value();
  return catalog;
}

void estimate_all(const RequestSpec& spec, const Catalog& catalog) {
  const Result<PlanRequest> request = resolve(spec, catalog, std::nullopt, Purpose::Estimate);
  if (!request) {
    require(!request.error().empty(), "a refusal says why");
    return;
  }
  const Result<PlanSet> set = estimate(*request, catalog, {.threads = 1});
  if (!set) return;
  const Result<JsonValue> again = parse_json(to_json(*set), "answer");
  require(again.has_value(), "an answer is JSON that our own reader takes");
}

std::string file_of(std::string_view bytes) {
  static const int descriptor = ::memfd_create("smplan_fuzz", 0);
  require(descriptor >= 0 && ::ftruncate(descriptor, 0) == 0, "a file in memory");
  const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), 0);
  require(written >= 0 && std::cmp_equal(written, bytes.size()), "a file in memory takes the bytes");
  return fmt::format("/proc/self/fd/{}", descriptor);
}

}  // namespace smplan::fuzz
