#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/accelerator.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/containers.hpp"
#include "catalogs/instance.hpp"
#include "catalogs/operations.hpp"
#include "catalogs/price.hpp"
#include "catalogs/profile.hpp"
#include "catalogs/stack.hpp"

namespace smplan {

/// Every fact that planning rests on. Immutable once loaded; look-ups are by exact name or alias.
class Catalog {
 public:
  /// The catalog compiled into the library.
  static Result<Catalog> shipped();

  /// Adds or replaces facts from an overlay (`smplan.catalog/1`): an entry with a known key
  /// replaces the whole entry in its place. Nothing changes if the overlay has any fault, a
  /// reference to an unknown accelerator or instance type among them.
  Result<void> merge(const JsonValue& overlay);

  /// Hash of the overlays merged so far, in their order; empty for the shipped catalog, which is a part of the build.
  [[nodiscard]] const std::string& overlays() const { return overlays_; }

  /// What calibration puts in the place of shipped figures; a name that the catalog lacks is a
  /// fault of the caller and ignored.
  void set_stack_profile(const StackProfile& profile);
  void set_sustained_rate(const SustainedRate& rate);

  [[nodiscard]] const std::vector<Accelerator>& accelerators() const { return accelerators_; }
  [[nodiscard]] const std::vector<InstanceType>& instances() const { return instances_; }
  [[nodiscard]] const std::vector<Price>& prices() const { return prices_; }
  [[nodiscard]] const std::vector<ModelPreset>& models() const { return models_; }
  [[nodiscard]] const std::vector<Stack>& stacks() const { return stacks_; }
  [[nodiscard]] const std::vector<AcceleratorProfile>& accelerator_profiles() const { return accelerator_profiles_; }
  [[nodiscard]] const std::vector<FabricProfile>& fabric_profiles() const { return fabric_profiles_; }
  [[nodiscard]] const ContainerFacts& containers() const { return containers_; }
  [[nodiscard]] const OperationFacts& operations() const { return operations_; }

  /// Pointers stay valid while the catalog lives unmerged; nullptr if unknown.
  [[nodiscard]] const Accelerator* find_accelerator(std::string_view key) const;
  [[nodiscard]] const InstanceType* find_instance(std::string_view name) const;
  /// However it is spelled, with or without publisher and kind of training: model_names.hpp.
  [[nodiscard]] const ModelPreset* find_model(std::string_view name_or_alias) const;
  [[nodiscard]] const Stack* find_stack(std::string_view id_or_alias) const;
  [[nodiscard]] const AcceleratorProfile* find_accelerator_profile(std::string_view accelerator) const;
  [[nodiscard]] const FabricProfile* find_fabric_profile(std::string_view fabric) const;
  [[nodiscard]] const Price* find_price(std::string_view instance, std::string_view region, Market market) const;

  /// As find_*, but as people type: in any case, instance types without `ml.`, stacks with any marks between their
  /// words, accelerators with maker and form factor (`NVIDIA H100 80GB HBM3`). An unknown name is a diagnostic with the
  /// nearest names.
  Result<const Accelerator*> accelerator(std::string_view name, std::string_view where) const;
  Result<const InstanceType*> instance(std::string_view name, std::string_view where) const;
  Result<const ModelPreset*> model(std::string_view name, std::string_view where) const;
  Result<const Stack*> stack(std::string_view name, std::string_view where) const;
  /// Instance types that match a glob (`ml.p5*`, `p5*`), catalog order; a glob without a match is refused.
  Result<std::vector<const InstanceType*>> instances_matching(std::string_view glob, std::string_view where) const;

 private:
  void apply_stack_profiles(std::string_view where, Diagnostics& out);
  void share_profiles(std::string_view where, Diagnostics& out);
  void apply_sustained_rates(std::string_view where, Diagnostics& out);
  /// A name or alias and where its entry stands; sorted by name.
  struct IndexEntry {
    std::string name;
    std::uint32_t position = 0;
  };
  using Index = std::vector<IndexEntry>;
  template <typename T>
  static const T* find(const std::vector<T>& entries, const Index& index, std::string_view name);

  /// An overlay replaces what is known; two shipped files that know the same key contradict each other.
  enum class Known { Replace, Refuse };
  void read(const JsonValue& document, Known known, Diagnostics& out);
  void rebuild_indexes(std::string_view where, Diagnostics& out);

  std::string overlays_;
  std::vector<Accelerator> accelerators_;
  std::vector<InstanceType> instances_;
  std::vector<Price> prices_;
  std::vector<ModelPreset> models_;
  std::vector<Stack> stacks_;
  std::vector<StackProfile> stack_profiles_;    ///< as read; stacks hold copies
  std::vector<SustainedRate> sustained_rates_;  ///< as read; accelerator profiles hold copies
  std::vector<AcceleratorProfile> accelerator_profiles_;
  std::vector<FabricProfile> fabric_profiles_;
  ContainerFacts containers_;
  OperationFacts operations_;
  Index accelerator_index_;
  Index instance_index_;
  Index model_index_;
  Index stack_index_;
  Index accelerator_profile_index_;
  Index fabric_profile_index_;
  std::vector<std::uint32_t> price_index_;  ///< sorted by (instance, region, market)
};

/// Facts that contradict each other or lack a source (`smplan catalog verify`).
Diagnostics check(const Catalog& catalog);

}  // namespace smplan
