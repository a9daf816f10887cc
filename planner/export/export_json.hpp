#pragma once

#include <string>

#include "planner/export/target.hpp"

namespace smplan {

/// The export in one document: `target`, `plan_id`, `files` (path, content), `placeholders` (text, meaning), `notes`.
std::string to_json(const Export& exported);

}  // namespace smplan
