#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan::python {

/// A text that came from a file, for messages and for pickling.
struct NamedText {
  std::string name;
  std::string text;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

/// A catalog as Python holds it: shared, immutable, and known by what was laid over the shipped one.
struct CatalogHandle {
  std::shared_ptr<const Catalog> catalog;
  std::vector<NamedText> overlays;
  /// Day of the facts of `smplan catalog refresh` among them, YYYY-MM-DD.
  std::optional<std::string> refreshed_on;
};

/// The shipped catalog with the overlays merged in their order.
CatalogHandle make_catalog(const std::vector<NamedText>& overlays);

}  // namespace smplan::python
