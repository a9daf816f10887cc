#include "bindings/request.hpp"

#include <algorithm>

#include "bindings/errors.hpp"
#include "planner/request/names.hpp"

namespace smplan::python {

RequestSpec spec_of(const Arguments& arguments) {
  RequestSpec spec;
  Diagnostics faults;
  const auto known = request_names();
  for (const auto& argument : arguments) {
    const auto match =
        std::find_if(known.begin(), known.end(), [&](const RequestName& n) { return n.name == argument.first; });
    if (match != known.end()) {
      match->of(spec) = argument.second;
    } else {
      faults.push_back(unknown_name("keyword", argument.first, argument.first, keyword_names()));
      if (std::string hint = hint_for_foreign_word(argument.first); !hint.empty()) faults.back().hint = std::move(hint);
    }
  }
  if (!faults.empty()) throw Refused{std::move(faults)};
  return spec;
}

std::vector<std::string> keyword_names() {
  std::vector<std::string> names;
  for (const RequestName& known : request_names()) names.emplace_back(known.name);
  return names;
}

}  // namespace smplan::python
