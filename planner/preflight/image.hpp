#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smplan {

/// Parts of an ECR image URI; empty where the URI does not say (or holds a placeholder).
struct ImageName {
  std::string account;
  std::string region;
  std::string repository;
  std::string tag;
  std::string version;      ///< leading dotted number of the tag
  std::string accelerator;  ///< `gpu`, `cpu`, `neuronx`
  std::string python;       ///< `py311`
  std::string toolkit;      ///< `cu130`
};

/// nullopt where there is no repository to be seen.
std::optional<ImageName> parse_image(std::string_view uri);

}  // namespace smplan
