#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogs/containers.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// One version of a framework or a built-in algorithm.
struct NamedImage {
  std::string version;
  std::string base;                       ///< of Hugging Face: `pytorch2.8.0`
  std::vector<std::string> base_aliases;  ///< `pytorch2.8`
  std::vector<std::string> pythons;       ///< empty where the image is found without one
  std::vector<std::string> processors;    ///< likewise: `cpu`, `gpu`, or families of instances
  std::string tag;                        ///< beginning of the tag, where it is not the version
  std::string repository;
  const std::vector<ContainerRegistry::Account>* accounts = nullptr;

  /// Account of a region; empty where the image is not served there.
  [[nodiscard]] std::string_view account_in(std::string_view region) const;
};

/// What `image_uris.retrieve(framework, ...)` of the SageMaker Python SDKs knows for these scopes.
struct NamedImages {
  std::string framework;
  std::vector<std::string> scopes;
  std::vector<std::pair<std::string, std::string>> aliases;  ///< a shorter version, the one that it is
  std::vector<NamedImage> versions;

  [[nodiscard]] std::string_view full_version(std::string_view version) const;
};

struct NamedImageTables {
  Provenance provenance;
  std::vector<std::vector<ContainerRegistry::Account>> registries;
  std::vector<NamedImages> images;

  [[nodiscard]] std::vector<const NamedImage*> of_repository(std::string_view repository) const;
};

/// Made by scripts/refresh sdk.
const NamedImageTables& named_images();

}  // namespace smplan
