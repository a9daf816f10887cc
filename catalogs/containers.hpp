#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// The accounts that serve a family of images, by region.
struct ContainerRegistry {
  struct Account {
    std::string account;  ///< twelve digits
    std::vector<std::string> regions;
    friend bool operator==(const Account&, const Account&) = default;
  };
  std::string key;  ///< `deep-learning-containers`
  std::vector<std::string> repositories;
  std::vector<Account> accounts;
  Provenance provenance;

  /// Account of a region; empty where the family is not served there.
  [[nodiscard]] std::string_view account_in(std::string_view region) const;
  friend bool operator==(const ContainerRegistry&, const ContainerRegistry&) = default;
};

/// An image that SageMaker training can run.
struct Container {
  std::string repository;     ///< `pytorch-training`
  std::string framework;      ///< `pytorch`, `tensorflow`, ...
  std::string version;        ///< of the framework, in full: `2.10.0`
  std::string python;         ///< `py313`
  std::string accelerator;    ///< `gpu`, `cpu`, `neuronx`
  std::string transformers;   ///< version in Hugging Face images, else empty
  std::string library;        ///< version of the SageMaker library inside (SMP), else empty
  std::string toolkit;        ///< `cu130`; the SDK's version for Neuron
  std::string tag;            ///< of the image
  std::string released;       ///< ISO date, empty where unknown
  std::string patched_until;  ///< last day with security patches, empty where unknown
  /// Ten times the least compute capability that it has kernels for, where its framework was built for less than its
  /// toolkit can; 0: all that the toolkit can.
  int least_capability = 0;
  Provenance provenance;

  /// False where the last day of patches is past on `date` (ISO), or is not known.
  [[nodiscard]] bool patched_on(std::string_view date) const { return !patched_until.empty() && patched_until >= date; }
  friend bool operator==(const Container&, const Container&) = default;
};

/// A CUDA toolkit, and the devices that code built by it runs on: a framework has no kernels for others.
struct Toolkit {
  std::string key;            ///< `cu130`, as tags of images have it
  int least_capability = 0;   ///< ten times the compute capability, as Accelerator::capability() has it
  int newest_capability = 0;  ///< likewise; devices of the same major version run its code too
  Provenance provenance;
  friend bool operator==(const Toolkit&, const Toolkit&) = default;
};

/// What the SageMaker Python SDK v2 makes of an exact framework version.
enum class SdkVerdict {
  NotApplicable,  ///< the table has no such launcher
  Refused,
  Accepted,
};

/// A version that the Python SDK v2 maps to an image by name.
struct FrameworkVersion {
  std::string table;    ///< `pytorch`, `tensorflow`, `huggingface`, `pytorch-smp`, ...
  std::string version;  ///< `2.8.0`; `4.56.2/pytorch2.8.0` for Hugging Face
  std::vector<std::string> pythons;
  std::string repository;
  std::vector<std::string> aliases;                 ///< `2.8`: shorter names of the same image
  SdkVerdict torchrun = SdkVerdict::NotApplicable;  ///< torch_distributed on GPUs, with exactly this version string
  SdkVerdict smddp = SdkVerdict::NotApplicable;     ///< smdistributed.dataparallel, likewise
  Provenance provenance;
  friend bool operator==(const FrameworkVersion&, const FrameworkVersion&) = default;
};

/// Every container fact. Keys: registry; repository and tag; table and version; toolkit.
struct ContainerFacts {
  std::vector<ContainerRegistry> registries;
  std::vector<Container> images;
  std::vector<FrameworkVersion> versions;
  std::vector<Toolkit> toolkits;

  [[nodiscard]] const Toolkit* find_toolkit(std::string_view key) const;
  /// Whether the image has kernels for a device of this capability; true where the capability (0) or the toolkit is
  /// not known.
  [[nodiscard]] bool runs_on(const Container& image, int capability) const;
  /// The registry of a repository; nullptr if unknown.
  [[nodiscard]] const ContainerRegistry* registry_of(std::string_view repository) const;
  /// The image with the highest framework version of a repository and accelerator kind, then the highest
  /// toolkit, of those that run on a device of this capability (0: of any); nullptr if there is none. Images without
  /// support dates count.
  [[nodiscard]] const Container* newest(std::string_view repository, std::string_view accelerator,
                                        int capability = 0) const;
  /// Day on which the newest of these facts was true: what "in support" is judged against, because results
  /// read no clock.
  [[nodiscard]] std::string as_of() const;
  /// `763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.10.0-...`; empty where no registry
  /// serves the region.
  [[nodiscard]] std::string image_uri(const Container& image, std::string_view region) const;
  friend bool operator==(const ContainerFacts&, const ContainerFacts&) = default;
};

ContainerRegistry read_container_registry(const JsonValue& value, Diagnostics& out);
Container read_container(const JsonValue& value, Diagnostics& out);
FrameworkVersion read_framework_version(const JsonValue& value, Diagnostics& out);
Toolkit read_toolkit(const JsonValue& value, Diagnostics& out);

/// Orders dotted versions by their numbers: 2.9.0 before 2.10.0.
bool version_before(std::string_view a, std::string_view b);

}  // namespace smplan
