#pragma once

#include <string_view>

#include "planner/preflight/node.hpp"

namespace smplan {

/// What stands behind the equals sign of one of Hydra's overrides: `[a, 1]`, `{k: v}`, 'text', true, null, a number or
/// a word. Brackets that do not close, and what the shell or Hydra fills in (`$`), stay text. `plus` is the override's.
/// Source: Hydra 1.3.2, hydra/grammar/OverrideLexer.g4 and OverrideParser.g4.
Node override_value(std::string_view text, const Where& where, int plus);

}  // namespace smplan
