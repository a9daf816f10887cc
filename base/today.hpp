#pragma once

#include <string>

namespace smplan {

/// ISO date of the clock, or of SOURCE_DATE_EPOCH (reproducible-builds.org) where that is set: what ages are counted
/// to. Results read no other clock.
std::string today();

}  // namespace smplan
