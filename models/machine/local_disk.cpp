#include "models/machine/local_disk.hpp"

#include <algorithm>

namespace smplan {
namespace {

BytesPerSecond disk_rate(const InstanceType& instance, const OperationFacts& facts, BytesPerSecond stated,
                         BytesPerSecond StorageService::*most) {
  if (stated > BytesPerSecond()) return stated;
  const bool nvme = instance.local_nvme > Bytes();
  const StorageService* service = facts.storage(nvme ? "nvme" : "volume");
  if (service == nullptr) return {};
  BytesPerSecond rate = service->*most;
  if (nvme && service->throughput_per_tib > BytesPerSecond()) {
    rate = std::min(rate, service->throughput_per_tib * (instance.local_nvme / Bytes(kTiB)));
  }
  if (!nvme && instance.ebs_bandwidth > BytesPerSecond()) rate = std::min(rate, instance.ebs_bandwidth);
  return rate;
}

}  // namespace

BytesPerSecond local_write_rate(const InstanceType& instance, const OperationFacts& facts) {
  return disk_rate(instance, facts, instance.local_nvme_write, &StorageService::write_per_node);
}

BytesPerSecond local_read_rate(const InstanceType& instance, const OperationFacts& facts) {
  return disk_rate(instance, facts, instance.local_nvme_read, &StorageService::read_per_node);
}

}  // namespace smplan
