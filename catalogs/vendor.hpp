#pragma once

#include <string_view>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {

/// Who makes an accelerator, and with that the software that its frameworks are built on: CUDA, ROCm, Neuron.
enum class Vendor { Nvidia, Amd, Aws };

std::string_view to_string(Vendor vendor);

/// Members `vendor` and `vendors`; both must be there.
Vendor read_vendor(ObjectReader& reader);
std::vector<Vendor> read_vendors(ObjectReader& reader);

}  // namespace smplan
