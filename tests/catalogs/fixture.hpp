#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "catalogs/catalog.hpp"

namespace smplan::test {

inline JsonValue json(std::string_view text) {
  auto value = parse_json(text, "test.json");
  EXPECT_TRUE(value.has_value()) << (value ? "" : to_string(value.error()));
  return *value;
}

/// The shipped catalog, loaded once.
inline const Catalog& shipped() {
  static const Result<Catalog> catalog = Catalog::shipped();
  EXPECT_TRUE(catalog.has_value()) << (catalog ? "" : to_string(catalog.error()));
  return *catalog;
}

inline bool has_code(const Diagnostics& diagnostics, std::string_view code) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& d) { return d.code == code; });
}

/// An overlay with one section.
inline std::string overlay(std::string_view section, std::string_view entries) {
  return std::string(R"({"schema": "smplan.catalog/1", ")") + std::string(section) + "\": [" + std::string(entries) +
         "]}";
}

/// The shipped catalog with one section overlaid; the overlay must be accepted.
inline Catalog with(std::string_view section, std::string_view entries) {
  Catalog catalog = shipped();
  const auto merged = catalog.merge(json(overlay(section, entries)));
  EXPECT_TRUE(merged.has_value()) << (merged ? "" : to_string(merged.error()));
  return catalog;
}

}  // namespace smplan::test
