#pragma once

#include "planner/preflight/rules/tools.hpp"

namespace smplan {

/// The model-parallel library is on, by its version. torchrun starts version 2, MPI version 1.
bool is_smp_v1(const CheckInput& in);
bool is_smp_v2(const CheckInput& in);
/// A parameter of the library; nullptr if it is not given.
const Node* smp_parameter(const CheckInput& in, std::string_view name);
/// Why the job's framework version or image cannot hold the library; empty where nothing in the file forbids it.
std::string smp_obstacle(const CheckInput& in);
std::optional<std::int64_t> smp_count(const CheckInput& in, std::string_view name);

}  // namespace smplan
