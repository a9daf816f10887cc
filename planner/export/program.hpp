#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "planner/export/launch.hpp"

namespace smplan {

/// How a program's ranks share the work; the word that smplan_job.json has for it.
enum class Engine { Ddp, Fsdp, DeepSpeed };

/// Of plain PyTorch the one that its program names; under accelerate the strategy decides.
Engine engine_of(TrainingProgram program, const Strategy& strategy);

/// What a program cannot train of the plan, whatever the cluster.
void check_program(const TrainingPlan& plan, TrainingProgram program, Diagnostics& faults);

/// Whether an export brings this program: not where the user names a script, and not beside SMDDP, whose last image has
/// a PyTorch before it.
bool brings_program(const ExportJob& job, TrainingProgram program);

/// Writes the program's files into `folder` ("src/", or nothing), and puts what it is told in front of the settings.
void add_program(const ExportJob& job, TrainingProgram program, std::string_view folder, Export& out,
                 Settings& settings);

/// A program of planner/export/programs as a file of an export.
ExportFile program_file(std::string_view name, std::string_view folder);

/// A usual peak of the learning rate: of pre-training, of all weights trained on, of adapters. The user chooses his.
double learning_rate(const TrainingPlan& plan);

/// A line of the requirements that the programs are tested with: `accelerate` is `accelerate==1.15.0`.
std::string pinned(std::string_view package);

/// Whether it quantizes the base or updates the weights.
bool needs_bitsandbytes(const TrainingPlan& plan);

/// A shell script that starts the processes of one machine in `folder` beside it: by torchrun, or by accelerate with
/// its file. Further arguments of the script go to the program.
std::string launch_script(const ExportJob& job, const Launch& launch, std::string_view folder, bool by_accelerate,
                          bool has_requirements);

}  // namespace smplan
