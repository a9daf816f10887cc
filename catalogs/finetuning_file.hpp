#pragma once

#include "catalogs/shipped_rows.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_finetuning_files();

/// The rows of the shipped file of catalogs/data/finetuning that has an array of this name.
template <typename Read>
auto finetuning_rows(std::string_view array, Read read) {
  return shipped_rows(shipped_finetuning_files(), array, read);
}

}  // namespace smplan
