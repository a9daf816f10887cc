#pragma once

#include <initializer_list>

#include "catalogs/execution.hpp"

namespace smplan::test {

inline LayerModules modules(std::initializer_list<LayerModule> named) {
  LayerModules out;
  for (const LayerModule module : named) out.add(module);
  return out;
}

}  // namespace smplan::test
