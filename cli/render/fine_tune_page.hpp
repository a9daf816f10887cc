#pragma once

#include <string>

#include "cli/render/listing.hpp"
#include "planner/analysis/fine_tune.hpp"

namespace smplan::cli {

/// The methods side by side, a row each.
Listing fine_tune_listing(const FineTuneAnswer& answer);

/// What stands above and below them for people: work, data, quality, launch, what was assumed, the next command.
std::string fine_tune_text(const FineTuneQuestion& question, const FineTuneAnswer& answer, const Style& style);

}  // namespace smplan::cli
