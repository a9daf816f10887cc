#pragma once

#include <string>
#include <string_view>

#include "planner/request/request.hpp"

namespace smplan::fuzz {

/// The shipped catalog, read once.
const Catalog& shipped_catalog();

/// What was read, taken through resolve(), estimate() and to_json(): numbers that a reader lets through must
/// not break what follows.
void estimate_all(const RequestSpec& spec, const Catalog& catalog);

/// The bytes as a file that readers open by name; the next one takes its place.
std::string file_of(std::string_view bytes);

}  // namespace smplan::fuzz
