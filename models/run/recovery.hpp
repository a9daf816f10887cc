#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "catalogs/operations.hpp"

namespace smplan {

/// What runs the job.
enum class Platform {
  TrainingJob,    ///< a SageMaker training job: instances start for it and end with it
  HyperPodEks,    ///< a standing HyperPod cluster under Kubernetes
  HyperPodSlurm,  ///< a standing HyperPod cluster under Slurm
};
std::string_view to_string(Platform platform);
std::optional<Platform> platform_from(std::string_view name);
std::vector<std::string> platform_names();
constexpr bool is_standing(Platform platform) { return platform != Platform::TrainingJob; }

/// How a job goes on after an instance failed.
enum class RecoveryMode {
  Restart,         ///< all processes start again from the last checkpoint
  Checkpointless,  ///< processes stay; the new instance gets the state from a replica's memory
  Elastic,         ///< goes on without the instance until another is there
};
std::string_view to_string(RecoveryMode mode);
std::optional<RecoveryMode> recovery_mode_from(std::string_view name);
std::vector<std::string> recovery_mode_names();

/// More instances in waiting would be another cluster.
inline constexpr std::int32_t kMostSpares = 1000;

/// What keeps a job going, beside its checkpoints.
struct Recovery {
  Platform platform = Platform::TrainingJob;
  RecoveryMode mode = RecoveryMode::Restart;
  std::int32_t spares = 0;  ///< instances that stand idle until one of the job's fails
  Seconds preempted_every;  ///< mean time between two evictions by a job of higher priority; zero: never
  Seconds preempted_for;    ///< mean time that an evicted job waits
  friend bool operator==(const Recovery&, const Recovery&) = default;
};

/// Probability that all of `spares` replacements are under way when the next failure comes, where `load` is the mean
/// number under way (failure rate times time of a replacement). Source: Erlang 1917, the loss formula B(spares, load).
double no_spare_probability(std::int32_t spares, double load);

/// Mean time that a failure waits for an instance. Without a spare the first of the spares + 1 replacements under way
/// ends after replacement / (spares + 1).
Seconds wait_for_instance(std::int32_t spares, Seconds replacement, Seconds apart);

}  // namespace smplan
