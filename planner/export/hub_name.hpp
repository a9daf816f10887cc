#pragma once

#include <string>

#include "planner/export/target.hpp"

namespace smplan {

/// Name of the plan's model on the Hugging Face hub, `meta-llama/Llama-2-13b-hf`: as it was asked for, else the
/// repository whose configuration the preset cites, else its first alias of that form. Empty for a model that the
/// catalog does not know.
std::string hub_name(const ExportJob& job);

/// The name, else a placeholder that is added to `out` with its meaning.
std::string hub_name_or(const ExportJob& job, const std::string& placeholder, const std::string& meaning, Export& out);

}  // namespace smplan
