#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded_file.hpp"
#include "base/result.hpp"

namespace smplan {

/// One member of a CreateTrainingJob request.
struct RequestField {
  enum class Type { String, Integer, Boolean, Structure, List, Map };
  std::string path;  ///< `InputDataConfig[].ChannelName`, `Environment<key>`
  Type type = Type::String;
  bool required = false;
  bool required_unless_serverless = false;
  std::optional<std::int64_t> min, max;  ///< of a string's length, a list's entries, a number
  std::string pattern;                   ///< ECMAScript; empty where any text will do
  std::vector<std::string> values;       ///< of an enumeration
};

/// Keyword arguments of the SDK that share what they may be.
struct ArgumentTypes {
  std::vector<RequestField::Type> types;  ///< any of these
  std::vector<std::string> arguments;
};

/// What a class, function or method of the SDK takes.
struct SdkSignature {
  std::string name;
  std::vector<std::string> arguments;  ///< in the order of positional ones
  std::vector<std::string> required;
  bool open = false;            ///< takes others too
  bool returns_itself = false;  ///< a method whose call is such an object again
};

/// A class or function that launch scripts call, by every path that it is imported by.
struct SdkCallable {
  std::vector<std::string> paths;
  SdkSignature made;                  ///< the constructor, or the function itself
  std::vector<SdkSignature> methods;  ///< of classes that submit jobs; empty of others
  std::vector<std::string> attributes;
};

/// The ways to give what an estimator needs; each names the arguments that it takes together.
using ArgumentNeed = std::vector<std::vector<std::string>>;

/// A class of SDK 2, by what it has beside the arguments of all estimators.
struct EstimatorClass {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<ArgumentNeed> needs;
};

/// The names that can be imported from a module of the SDK.
struct SdkModule {
  std::string name;
  std::vector<std::string> names;
};

/// What SageMaker's API and its Python SDK take: names and limits, no formulas.
struct SagemakerLimits {
  std::vector<RequestField> fields;
  std::vector<std::string> training_types;  ///< sorted
  std::vector<std::string> cluster_types;   ///< of HyperPod, sorted
  std::vector<std::string> regions;         ///< that have SageMaker
  std::vector<std::string> estimator_base;
  std::vector<ArgumentNeed> estimator_needs;
  std::vector<EstimatorClass> estimator_classes;
  std::vector<ArgumentTypes> estimator_types, model_trainer_types;
  std::vector<std::pair<std::string, std::string>> renamed;  ///< SDK v1 name, v2 name
  std::vector<std::string> distribution, torchrun_versions, smp_v2_versions, smp_v1, smp_v2, model_trainer,
      sdk3_trainers;                                              ///< classes of SDK 3 beside ModelTrainer
  std::vector<std::pair<std::string, std::string>> smddp_images;  ///< repository, newest version with SMDDP inside
  std::vector<std::string> smddp_instances, smddp_legacy_instances, smp_v1_instances, smp_v2_instances,
      no_debugger_regions;
  std::vector<std::string> toolkit_efa_instances;  ///< that the training toolkit sets EFA up for
  /// Families of types that the Training Compiler takes, and that smdistributed's own launchers do not start.
  std::vector<std::string> compiler_families, torchrun_families;
  std::vector<SdkCallable> sdk_callables;
  std::vector<SdkModule> sdk_modules;
  /// Families of training types that the catalog has no entry of: with processors alone, with GPUs, with disks.
  std::vector<std::string> cpu_families, gpu_families, disk_families;

  [[nodiscard]] const RequestField* find(std::string_view path) const;
  /// Names of the members directly under a structure; `` is the request.
  [[nodiscard]] std::vector<std::string> members_of(std::string_view path) const;
  [[nodiscard]] bool is_training_type(std::string_view name) const;
  [[nodiscard]] bool is_cluster_type(std::string_view name) const;
  /// nullptr for what is in no table.
  [[nodiscard]] const SdkCallable* find_callable(std::string_view path) const;
  [[nodiscard]] const SdkModule* find_module(std::string_view name) const;

  /// The facts compiled into the library.
  static Result<SagemakerLimits> shipped();
};

bool contains(const std::vector<std::string>& names, std::string_view name);

/// Generated at build time from catalogs/data/sagemaker.
std::span<const EmbeddedFile> shipped_sagemaker_files();

}  // namespace smplan
