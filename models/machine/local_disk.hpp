#pragma once

#include "catalogs/instance.hpp"
#include "catalogs/operations.hpp"

namespace smplan {

/// One instance's local disk: NVMe where it has some, else its storage volume.
BytesPerSecond local_write_rate(const InstanceType& instance, const OperationFacts& facts);
BytesPerSecond local_read_rate(const InstanceType& instance, const OperationFacts& facts);

}  // namespace smplan
