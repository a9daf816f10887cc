#pragma once

#include <string>

#include "catalogs/catalog.hpp"
#include "cli/interface/description.hpp"

namespace smplan::cli {

/// Completion scripts: commands, flags, and the values of flags that have a known set of them. Names of models,
/// instance types, stacks and regions are those of the catalog.
std::string bash_completion(const Interface& interface, const Catalog& catalog);
std::string zsh_completion(const Interface& interface, const Catalog& catalog);
std::string fish_completion(const Interface& interface, const Catalog& catalog);

}  // namespace smplan::cli
