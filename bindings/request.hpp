#pragma once

#include <map>
#include <string>
#include <vector>

#include "planner/request/request.hpp"

namespace smplan::python {

/// A request as Python gives it: the text of each keyword.
using Arguments = std::map<std::string, std::string>;

/// Keywords to the fields of a request; unknown ones are refused with the nearest names.
RequestSpec spec_of(const Arguments& arguments);

std::vector<std::string> keyword_names();

}  // namespace smplan::python
