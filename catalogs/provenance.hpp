#pragma once

#include <string>

namespace smplan {

/// Where a fact comes from and when it was true.
struct Provenance {
  std::string source;  ///< URL, repository path or publication
  std::string as_of;   ///< ISO date `YYYY-MM-DD`, or `YYYY-MM`, `YYYY` where the source is no more exact

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

}  // namespace smplan
