// smplan_properties REQUESTS [SEED]: tries every law on so many random requests, every thousandth of them as a whole
// search, and says how fast that was. Exit status 1 names the laws that were broken.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/properties/laws.hpp"

namespace {

using namespace smplan;
using namespace smplan::properties;

constexpr std::uint64_t kSeed = 20261121;
constexpr long kSearchEvery = 1000;

/// Broken laws with how often, and the first request of each.
struct Breaches {
  std::map<std::string_view, std::pair<long, std::string>> by_law;

  void add(std::string_view law, const std::string& request) {
    auto& [times, first] = by_law[law];
    if (++times == 1) first = request;
  }
};

std::string name_of(const Configuration& c, long number) {
  const Workload& w = c.request.workload;
  return "request " + std::to_string(number) + ": " + w.architecture.name + " on " + std::to_string(c.count) + " x " +
         c.instance->name + ", " + c.stack->id + ", " + to_string(c.strategy) + ", sequences " +
         std::to_string(w.global_batch) + " of " + std::to_string(w.seq_len) + ", " +
         std::string(to_string(c.plan.precision)) + ", " + std::string(to_string(w.finetune)) + ", " +
         std::string(to_string(w.optimizer));
}

}  // namespace

int main(int argc, char** argv) {
  const long requests = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (requests <= 0 || argc > 3) {
    std::fputs("usage: smplan_properties REQUESTS [SEED]\n", stderr);
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : kSeed;
  const Catalog catalog = Catalog::shipped().value();
  RandomRequests random(catalog, seed);
  Breaches breaches;
  long searches = 0;
  long fits = 0;
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < requests; ++i) {
    const Configuration c = random.next();
    fits += c.plan.memory.fits() ? 1 : 0;
    for (const Law& law : configuration_laws()) {
      if (!law.holds(c, catalog)) breaches.add(law.words, name_of(c, i));
    }
    if (i % kSearchEvery != 0) continue;
    ++searches;
    const PlanRequest request = random.search_request(c);
    for (const SearchLaw& law : search_laws()) {
      if (!law.holds(request, catalog)) breaches.add(law.words, name_of(c, i));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const auto& [law, found] : breaches.by_law) {
    std::printf("BROKEN %.*s: %ld times, first by %s\n", static_cast<int>(law.size()), law.data(), found.first,
                found.second.c_str());
  }
  std::printf("%ld requests (%ld fit), %zu laws; %ld searches, %zu laws; seed %llu; %.1f s, %.0f requests/s\n",
              requests, fits, configuration_laws().size(), searches, search_laws().size(),
              static_cast<unsigned long long>(seed), took.count(), static_cast<double>(requests) / took.count());
  return breaches.by_law.empty() ? 0 : 1;
}
