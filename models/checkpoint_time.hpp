#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/instance.hpp"
#include "catalogs/operations.hpp"
#include "models/goodput.hpp"
#include "models/workload.hpp"

namespace smplan {

/// Where checkpoints outlive the instances.
enum class CheckpointTarget {
  None,
  S3,  ///< to the local disk, from where SageMaker uploads in the background
  FsxLustre,
  Efs,
};
std::string_view to_string(CheckpointTarget target);
std::optional<CheckpointTarget> checkpoint_target_from(std::string_view name);
std::vector<std::string> checkpoint_target_names();

/// How long a save holds the steps up.
enum class CheckpointMode {
  Sync,   ///< until the data is on the local disk (S3) or in the file system
  Async,  ///< until the data has left device memory
};
std::string_view to_string(CheckpointMode mode);
std::optional<CheckpointMode> checkpoint_mode_from(std::string_view name);

/// Bytes of a checkpoint that training can go on from: 16-bit weights, their fp32 master and the optimizer's
/// moments; of adapters only where only they are trained. Published: 14 bytes a parameter with AdamW; BLOOM-176B
/// wrote 13.1, Llama-3-70B in NeuronX 12.0.
Bytes checkpoint_size(const Workload& workload);

/// One instance's local disk: NVMe where it has some, else its storage volume.
BytesPerSecond local_write_rate(const InstanceType& instance, const OperationFacts& facts);
BytesPerSecond local_read_rate(const InstanceType& instance, const OperationFacts& facts);

/// Capacity of a file system that holds `stored`, and takes a checkpoint in two minutes where its throughput grows
/// with its capacity. Rounded up to what can be bought.
Bytes file_system_capacity(const StorageService& service, Bytes stored, Bytes checkpoint);

/// What saving and loading takes on `nodes` instances, which share the writing evenly (PyTorch's distributed
/// checkpoint and Megatron's do, replicated states included). `capacity` is that of the file system, where one
/// is the target. Precondition: the target is not None and the facts know it.
CheckpointTimes checkpoint_times(Bytes size, CheckpointTarget target, CheckpointMode mode, const InstanceType& instance,
                                 std::int32_t nodes, Bytes capacity, const OperationFacts& facts);

/// Key of the target in the operational facts.
std::string_view storage_key(CheckpointTarget target);

}  // namespace smplan
