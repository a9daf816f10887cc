#pragma once

#include <utility>

#include <gtest/gtest.h>

#include "catalogs/catalog.hpp"

namespace smplan::test {

inline const Catalog& shipped_catalog() {
  static const Catalog catalog = [] {
    Result<Catalog> c = Catalog::shipped();
    if (!c) ADD_FAILURE() << to_string(c.error());
    return c ? std::move(*c) : Catalog();
  }();
  return catalog;
}

}  // namespace smplan::test
