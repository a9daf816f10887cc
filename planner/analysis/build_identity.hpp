#pragma once

#include <string_view>

namespace smplan {

/// SHA-256 of the sources and data that answers rest on. Two builds with the same answer alike.
std::string_view build_identity();

}  // namespace smplan
