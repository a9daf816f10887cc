#include "models/run/recovery.hpp"

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Platform, 3> kPlatforms = {{{Platform::TrainingJob, "training-job"},
                                                {Platform::HyperPodEks, "hyperpod-eks"},
                                                {Platform::HyperPodSlurm, "hyperpod-slurm"}}};
constexpr EnumNames<RecoveryMode, 3> kModes = {{{RecoveryMode::Restart, "restart"},
                                                {RecoveryMode::Checkpointless, "checkpointless"},
                                                {RecoveryMode::Elastic, "elastic"}}};

template <typename Names>
std::vector<std::string> names_of(const Names& names) {
  std::vector<std::string> out;
  for (const auto& entry : names) out.emplace_back(entry.second);
  return out;
}

}  // namespace

std::string_view to_string(Platform platform) { return name_of(kPlatforms, platform); }
std::optional<Platform> platform_from(std::string_view name) { return value_of(kPlatforms, name); }
std::vector<std::string> platform_names() { return names_of(kPlatforms); }

std::string_view to_string(RecoveryMode mode) { return name_of(kModes, mode); }
std::optional<RecoveryMode> recovery_mode_from(std::string_view name) { return value_of(kModes, name); }
std::vector<std::string> recovery_mode_names() { return names_of(kModes); }

double no_spare_probability(std::int32_t spares, double load) {
  if (!(load > 0)) return spares > 0 ? 0 : 1;
  double blocked = 1;
  for (std::int32_t n = 1; n <= spares; ++n) blocked = load * blocked / (n + load * blocked);
  return blocked;
}

Seconds wait_for_instance(std::int32_t spares, Seconds replacement, Seconds apart) {
  const double load = apart > Seconds() ? replacement / apart : 0;
  return replacement * (no_spare_probability(spares, load) / (spares + 1));
}

}  // namespace smplan
