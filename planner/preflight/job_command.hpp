#pragma once

#include <string>
#include <string_view>

#include "planner/preflight/job.hpp"

namespace smplan {

/// A container's command and arguments as a tree of options: a shell's words in one text, as `sh -c` takes them, are
/// split.
Result<Node> words_of(const Node* command, const Node* args, const std::string& file);

/// Whether torchrun, one of its modules or hyperpodrun is among the words of a program.
bool starts_launcher(std::string_view program);
/// What torchrun or hyperpodrun is told, from a command's tree of options; nothing where the command starts neither.
void read_job_command(const Node& words, const Where& where, JobCommand& command);
/// The same of the only torchrun that a script starts, wherever it stands in its line (`srun -l torchrun`).
void read_launched(const LauncherCalls& launches, JobCommand& command);

/// The launchers that a container's words start.
void read_launches(const Node* command, const Node* args, Job& job);

/// The commands of a job that is submitted with its container's command and arguments.
void read_container_command(const Node* command, const Node* args, Job& job);

/// What a script says beside its options: Slurm's directives and the devices that it makes visible.
void read_script_lines(std::string_view text, Job& job);

}  // namespace smplan
