#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/instance.hpp"
#include "catalogs/operations.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"
#include "models/run/goodput.hpp"

namespace smplan {

/// Where checkpoints outlive the instances.
enum class CheckpointTarget {
  None,
  S3,  ///< to the local disk, from where SageMaker uploads in the background
  FsxLustre,
  Efs,
  Memory,  ///< host memory of the instances and of a neighbour each; from there to S3 in the background
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

/// What a stack's checkpoints hold and who writes them.
struct SaveFormat {
  double bytes_per_parameter = 14;
  bool one_writer = false;
  friend bool operator==(const SaveFormat&, const SaveFormat&) = default;
};
/// What training can go on from: weights, their fp32 master and the optimizer's moments, as the stack keeps them. With
/// AdamW 14 bytes where weights are 16-bit (Megatron, DeepSpeed), 12 where they are fp32 (FSDP, DDP). Published:
/// BLOOM-176B wrote 13.1, OPT-175B 9.6, Llama-3-70B in NeuronX 12.0.
SaveFormat save_format(const Workload& workload, const Stack& stack);

/// Bytes of a checkpoint; of adapters only where only they are trained.
Bytes checkpoint_size(const Workload& workload, const SaveFormat& format);

/// Capacity of a file system that holds `stored`, and, where its throughput grows with its capacity, takes a checkpoint
/// in two minutes and delivers `read`. Rounded up to what can be bought.
Bytes file_system_capacity(const StorageService& service, Bytes stored, Bytes checkpoint, BytesPerSecond read = {});

/// What saving and loading takes on `nodes` instances, which share the writing evenly; `one_writer`: one device of one
/// instance writes, and every instance reads all of it. `capacity` is that of the file system, where one is the target.
/// Precondition: the target is not None and the facts know it.
CheckpointTimes checkpoint_times(Bytes size, CheckpointTarget target, CheckpointMode mode, const InstanceType& instance,
                                 std::int32_t nodes, bool one_writer, Bytes capacity, const OperationFacts& facts);

/// The same for the memory tier: a save is in the instance's memory after the copy, and safe once a neighbour has it
/// too. A replacement reads its share from there. One instance alone has no neighbour: it is as safe as S3.
/// Precondition: the facts know S3.
CheckpointTimes memory_checkpoint_times(Bytes size, CheckpointMode mode, const InstanceType& instance,
                                        std::int32_t nodes, bool one_writer, const OperationFacts& facts);
/// What it takes of the memory of one instance: its share and its neighbour's, the last save and the one under way.
Bytes memory_for_checkpoints(Bytes size, std::int32_t nodes, bool one_writer);

/// Key of the target in the operational facts.
std::string_view storage_key(CheckpointTarget target);

}  // namespace smplan
