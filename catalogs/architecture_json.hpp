#pragma once

#include <string>

#include "catalogs/architecture.hpp"

namespace smplan {

class Json;

/// The whole of a model as a `smplan.architecture/1` object in one line, which read_architecture() reads back. What the
/// model's file describes beside it (`left_out`) is no part of it.
std::string architecture_json(const Architecture& architecture);
/// The same as a value.
Json architecture_member(const Architecture& architecture);

}  // namespace smplan
