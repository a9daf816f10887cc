#pragma once

#include <string>

namespace smplan {

/// How often something is expected: two digits, never an exponent: `0.21`, `25`, `172`, `under 0.0001`.
std::string format_expected(double times);

/// A change relative to what was before: `+3.1%`, `-0.2%`, `+1234%`; `under 0.001%` where nobody would notice.
std::string format_change(double before, double after);

/// A probability: `12%`, `under 0.1%`, `over 99.9%`; no model of ours is surer than that.
std::string format_chance(double probability);

}  // namespace smplan
