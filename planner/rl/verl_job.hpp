#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "planner/export/launch.hpp"
#include "planner/rl/rl_export.hpp"

namespace smplan {

/// Release whose configuration and packages are written: of 2026-09 (PyPI).
inline constexpr std::string_view kVerlRelease = "0.9.1";
inline constexpr std::string_view kVerlFile = "verl_rl.yaml";
/// Starts Ray and verl, planner/export/programs.
inline constexpr std::string_view kVerlProgram = "start_verl.py";

/// Where a job finds its data and leaves its checkpoints.
struct VerlPaths {
  std::string train;
  std::string validation;
  std::string checkpoints;
};

/// What verl has no words for, all of it.
void check_verl_job(const RlJob& job, Diagnostics& faults);

/// The file of verl.trainer.main_ppo, without its comments: what differs from verl's own files, and what the prediction
/// rests on beside it under `smplan`. `whole` is the plan as a job of all instances.
Json verl_config(const RlJob& job, const ExportJob& whole, const VerlPaths& paths, Export& out);

/// What HyperPod's recipes have no words for.
void check_verl_recipe(const RlJob& job, Diagnostics& faults);
Json verl_recipe(const RlJob& job, const ExportJob& whole, Export& out);

}  // namespace smplan
