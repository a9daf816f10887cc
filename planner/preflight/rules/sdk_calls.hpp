#pragma once

#include <string>
#include <vector>

#include "planner/preflight/rule.hpp"

namespace smplan {

/// A fault of a call that a launch script makes of the SDK.
struct CallFault {
  enum class Kind { UnknownArgument, MissingArgument, UnknownMethod };
  Kind kind;
  Where where;
  std::string name;                ///< of the argument or the method
  std::string callee;              ///< `PyTorch.fit()`
  std::vector<std::string> known;  ///< names that are there
};

/// Of the calls that a script's reader wrote beside the job's arguments; of what no table knows nothing is said.
std::vector<CallFault> call_faults(const CheckInput& in, CallFault::Kind kind);

/// An import path that the SDK's modules have not; false where the module is not known.
bool is_missing_import(const SagemakerLimits& limits, const std::string& path);

}  // namespace smplan
