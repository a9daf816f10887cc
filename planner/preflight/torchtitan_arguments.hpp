#pragma once

#include <string_view>

#include "planner/preflight/node.hpp"
#include "planner/preflight/started_programs.hpp"

namespace smplan {

struct Job;

inline constexpr std::string_view kTitanProgram = "torchtitan.train";

/// TorchTitan's program among those that a script starts; nullptr where none of them is.
const StartedProgram* titan_program(const StartedPrograms& started);

/// Its arguments as its TOML has them, over what that says: `--parallelism.tensor_parallel_degree 2` is a member of a
/// member. Versions without a TOML name a module and a function of theirs (`--module llama3 --config llama3_8b`).
Node titan_settings(const StartedPrograms& started, Node file);

/// Lays the file that the arguments name (`--job.config_file`) below them, where it lies beside the script.
void read_titan_file(Job& job);

}  // namespace smplan
