#pragma once

#include "catalogs/architecture.hpp"
#include "cli/render/listing.hpp"

namespace smplan::cli {

/// One line a model, by family in catalog order.
Listing model_list(const std::vector<ModelPreset>& models);

/// Widths, parameters by part and where the facts come from. `preset` is nullptr for a model from a
/// file or a size.
Listing model_page(const Architecture& architecture, const ModelPreset* preset);

}  // namespace smplan::cli
