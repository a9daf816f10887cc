#pragma once

#include <string>
#include <string_view>

#include "planner/preflight/job.hpp"

namespace smplan {

/// A container's command and arguments as a tree of options: a shell's words in one text, as `sh -c` takes them, are
/// split.
Result<Node> words_of(const Node* command, const Node* args, const std::string& file);

/// Whether torchrun, one of its modules or hyperpodrun is started.
bool starts_torchrun(const StartedPrograms& started);
/// What the only torchrun or hyperpodrun is told, wherever it stands in its line (`srun -l torchrun`). `where` is the
/// place of a list of words, which have none of their own; of a script it is empty.
void read_launched(const StartedPrograms& started, const Where& where, JobCommand& command);

/// The programs that a container's words start.
StartedPrograms started_by(const Node* command, const Node* args, const std::string& file);

/// The commands of a job that is submitted with its container's command and arguments.
void read_container_command(const Node* command, const Node* args, Job& job);

/// What a script says beside its options: Slurm's directives and the devices that it makes visible.
void read_script_lines(std::string_view text, Job& job);

}  // namespace smplan
