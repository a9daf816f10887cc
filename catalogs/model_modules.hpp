#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace smplan {

/// What transformers' classes of some model types are made of, in any version that was read. Source:
/// catalogs/data/modules, made by scripts/refresh.
struct ModelModules {
  std::vector<std::string> types;    ///< `model_type` of config.json
  std::vector<std::string> classes;  ///< that their modeling files define
  std::vector<std::string> layers;   ///< of those, what FSDP wraps by itself: parts for images, sound and tokens too
  std::vector<std::string> names;    ///< of members that may carry adapters
  std::vector<std::string> heads;    ///< of those, what stands at the top of a model
  bool open = false;                 ///< it holds parts of other models too
};

const std::vector<ModelModules>& model_modules();
/// nullptr for a type that transformers has no language model of.
const ModelModules* modules_of(std::string_view model_type);
/// The class of the type's blocks, which FSDP wraps; empty where it has several kinds, or is not known.
std::string_view block_class_of(std::string_view model_type);
/// The version of transformers and the files.
std::string_view source_of_modules();

}  // namespace smplan
