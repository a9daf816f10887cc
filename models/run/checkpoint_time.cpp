#include "models/run/checkpoint_time.hpp"

#include <algorithm>
#include <cmath>

#include "catalogs/reading.hpp"
#include "models/engines/state_widths.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/local_disk.hpp"

namespace smplan {
namespace {

constexpr EnumNames<CheckpointTarget, 5> kTargets = {{{CheckpointTarget::None, "none"},
                                                      {CheckpointTarget::S3, "s3"},
                                                      {CheckpointTarget::FsxLustre, "fsx-lustre"},
                                                      {CheckpointTarget::Efs, "efs"},
                                                      {CheckpointTarget::Memory, "memory"}}};
constexpr EnumNames<CheckpointMode, 2> kModes = {{{CheckpointMode::Sync, "sync"}, {CheckpointMode::Async, "async"}}};

/// A save to a file system should not hold the steps up for longer: what its throughput is bought for.
constexpr Seconds kSaveWithin = Seconds(120);

/// Those whose states are saved.
double stateful_parameters(const Workload& w) {
  if (w.finetune == FineTune::Full && !w.trained_layers) {
    const ParameterCount count = count_parameters(w.architecture);
    return static_cast<double>(count.total() + count.further_tokens);
  }
  return static_cast<double>(trained_parameters(w));
}

/// All nodes together, at the slowest of clients, network and file system.
BytesPerSecond together(const StorageService& service, BytesPerSecond per_node, BytesPerSecond total,
                        const InstanceType& instance, std::int32_t nodes, Bytes capacity) {
  BytesPerSecond node = per_node;
  if (instance.network.bandwidth_per_node > BytesPerSecond())
    node = std::min(node, instance.network.bandwidth_per_node);
  BytesPerSecond rate = node * static_cast<double>(nodes);
  if (service.throughput_per_tib > BytesPerSecond()) {
    rate = std::min(rate, service.throughput_per_tib * (capacity / Bytes(kTiB)));
  }
  return total > BytesPerSecond() ? std::min(rate, total) : rate;
}

Seconds time_of(Bytes bytes, BytesPerSecond rate) { return rate > BytesPerSecond() ? bytes / rate : Seconds(); }

/// From the devices of `writers` instances to their host memory. Where the link is not known, the copy is no faster
/// than the disk.
Seconds copy_time(Bytes size, const InstanceType& instance, double writers, bool one_writer,
                  const OperationFacts& facts) {
  const bool known = instance.host_link > BytesPerSecond() && instance.accelerator_count > 0;
  if (!known) return time_of(size, local_write_rate(instance, facts) * writers);
  return time_of(size, instance.host_link * (one_writer ? 1 : writers * instance.accelerator_count));
}

}  // namespace

std::string_view to_string(CheckpointTarget target) { return name_of(kTargets, target); }
std::optional<CheckpointTarget> checkpoint_target_from(std::string_view name) { return value_of(kTargets, name); }
std::vector<std::string> checkpoint_target_names() {
  std::vector<std::string> names;
  for (const auto& entry : kTargets) names.emplace_back(entry.second);
  return names;
}
std::string_view to_string(CheckpointMode mode) { return name_of(kModes, mode); }
std::optional<CheckpointMode> checkpoint_mode_from(std::string_view name) { return value_of(kModes, name); }
std::string_view storage_key(CheckpointTarget target) { return to_string(target); }

SaveFormat save_format(const Workload& w, const Stack& stack) {
  const StateWidths widths = state_widths(w, Strategy{}, stack);
  return {widths.weight + widths.optimizer, stack.one_writer};
}

Bytes checkpoint_size(const Workload& w, const SaveFormat& format) {
  const double trained = stateful_parameters(w);
  double bytes = format.bytes_per_parameter * trained;
  // A model of which part is trained is saved whole; beside adapters the base is left out.
  if (w.trained_layers) {
    bytes += tensor_bytes(w.precision) * (static_cast<double>(count_parameters(w.architecture).total()) - trained);
  }
  return Bytes(bytes);
}

Bytes file_system_capacity(const StorageService& service, Bytes stored, Bytes checkpoint, BytesPerSecond read) {
  Bytes wanted = std::max(stored, service.min_capacity);
  if (service.throughput_per_tib > BytesPerSecond()) {
    const BytesPerSecond rate = std::max(checkpoint / kSaveWithin, read);
    wanted = std::max(wanted, Bytes(kTiB) * (rate / service.throughput_per_tib));
  }
  if (!(service.capacity_step > Bytes()) || wanted <= service.min_capacity) return wanted;
  return service.capacity_step * std::ceil(wanted / service.capacity_step);
}

CheckpointTimes checkpoint_times(Bytes size, CheckpointTarget target, CheckpointMode mode, const InstanceType& instance,
                                 std::int32_t nodes, bool one_writer, Bytes capacity, const OperationFacts& facts) {
  const StorageService& service = *facts.storage(storage_key(target));
  const std::int32_t writers = one_writer ? 1 : nodes;
  const double n = writers;
  const Seconds local = time_of(size, local_write_rate(instance, facts) * n);
  const Seconds copy = copy_time(size, instance, n, one_writer, facts);
  const Seconds write =
      time_of(size, together(service, service.write_per_node, service.write_total, instance, writers, capacity));
  CheckpointTimes times;
  times.size = size;
  times.load = time_of(one_writer ? size * static_cast<double>(nodes) : size,
                       together(service, service.read_per_node, service.read_total, instance, nodes, capacity));
  if (target == CheckpointTarget::S3) {
    times.stall = mode == CheckpointMode::Sync ? std::max(copy, local) : copy;
    times.drain = mode == CheckpointMode::Sync ? write : std::max(local, write);
  } else {
    times.stall = mode == CheckpointMode::Sync ? std::max(copy, write) : copy;
    times.drain = mode == CheckpointMode::Sync ? Seconds() : write;
  }
  return times;
}

CheckpointTimes memory_checkpoint_times(Bytes size, CheckpointMode mode, const InstanceType& instance,
                                        std::int32_t nodes, bool one_writer, const OperationFacts& facts) {
  const double n = one_writer ? 1 : nodes;
  const Seconds copy = copy_time(size, instance, n, one_writer, facts);
  CheckpointTimes times;
  if (nodes > 1) {
    const Bytes share = size / n;
    const Seconds replicate = time_of(share, instance.network.bandwidth_per_node);
    times.stall = mode == CheckpointMode::Sync ? copy + replicate : copy;
    times.drain = mode == CheckpointMode::Sync ? Seconds() : replicate;
    times.load = replicate + copy;
  } else {
    times = checkpoint_times(size, CheckpointTarget::S3, mode, instance, nodes, one_writer, {}, facts);
    times.drain = std::max(times.drain, times.stall - copy);
    times.stall = copy;
  }
  times.size = size;
  return times;
}

Bytes memory_for_checkpoints(Bytes size, std::int32_t nodes, bool one_writer) {
  constexpr double kSaves = 2;
  const double copies = nodes > 1 ? 2 : 1;
  return size * (kSaves * copies / (one_writer ? 1.0 : nodes));
}

}  // namespace smplan
