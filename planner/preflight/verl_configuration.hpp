#pragma once

#include <string>

#include "planner/preflight/node.hpp"

namespace smplan {

/// Which of verl's configurations a file or a command line goes on from, and by which engine.
struct VerlConfiguration {
  std::string name;        ///< `ppo_trainer`; empty where it is the user's own, or not known
  std::string engine;      ///< `megatron`; empty where the configuration's own counts
  bool whole = false;      ///< what is not said is as verl's own file has it
  bool validated = false;  ///< what is started asks verl's validation, as far as is known
};

VerlConfiguration verl_configuration(const Node& root);

}  // namespace smplan
