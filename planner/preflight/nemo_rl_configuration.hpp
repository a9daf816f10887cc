#pragma once

#include <string>
#include <string_view>

#include "planner/preflight/node.hpp"

namespace smplan {

struct Job;

/// Which of NeMo-RL's configurations a file or a command line is.
struct NemoRlConfiguration {
  std::string name;    ///< `grpo`; `any` where nothing says it
  bool whole = false;  ///< all that it goes on from is known
};

NemoRlConfiguration nemo_rl_configuration(const Node& root);
/// The configuration of a program by the name of its script (`examples/run_grpo.py`); empty for others.
std::string_view nemo_rl_program(std::string_view word);
/// Whether a line of a shell starts one of its programs.
bool starts_nemo_rl(const Node& arguments);

/// Lays the files that the job goes on from below it: those of `defaults`, and of a command line its `--config`, by
/// their paths from the file, else from a folder above it. Where one cannot be read, the job stays as it was.
void read_inherited(Job& job);

}  // namespace smplan
