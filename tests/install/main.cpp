#include <iostream>

#include "smplan.hpp"

// A stranger's program: the installed headers, libraries and embedded catalogs are all that it has.
int main() {
  const auto catalog = smplan::Catalog::shipped();
  if (!catalog) {
    std::cerr << smplan::to_string(catalog.error());
    return 1;
  }
  smplan::RequestSpec spec;
  spec.params = "1.3B";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  const auto request = smplan::resolve(spec, *catalog, std::nullopt);
  if (!request) {
    std::cerr << smplan::to_string(request.error());
    return 1;
  }
  const smplan::PlanSet plans = smplan::search(*request, *catalog);
  for (const smplan::Plan& plan : plans.plans) {
    std::cout << plan.instance->name << ' ' << smplan::to_string(plan.strategy) << ' '
              << smplan::format_duration(plan.step.time()) << '\n';
  }
  return plans.plans.empty() ? 1 : 0;
}
