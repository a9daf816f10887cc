#include <iostream>

#include "base/units.hpp"
#include "catalogs/catalog.hpp"
#include "planner/request.hpp"

// A stranger's program: the installed headers, libraries and embedded catalogs are all that it has.
int main() {
  const auto catalog = smplan::Catalog::shipped();
  if (!catalog) {
    std::cerr << smplan::to_string(catalog.error());
    return 1;
  }
  smplan::RequestSpec spec;
  spec.params = "13B";
  const auto request = smplan::resolve(spec, *catalog, std::nullopt);
  if (!request) {
    std::cerr << smplan::to_string(request.error());
    return 1;
  }
  std::cout << request->instances.size() << " instance types, " << smplan::format_bytes(smplan::gib(80)) << '\n';
  return request->instances.empty() ? 1 : 0;
}
