#pragma once

#include <span>
#include <string_view>

namespace smplan {

/// A data file compiled into the library.
struct EmbeddedFile {
  std::string_view name;  ///< file name without folder
  std::string_view content;
};

/// The shipped catalog files (generated at build time).
std::span<const EmbeddedFile> shipped_catalog_files();

}  // namespace smplan
