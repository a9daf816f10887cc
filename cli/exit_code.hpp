#pragma once

namespace smplan::cli {

/// What the process returns; part of the interface contract.
enum class ExitCode : int {
  Done = 0,
  NoAnswer = 1,  ///< a true negative: nothing fits, a check found faults
  BadInput = 2,  ///< the request or an input file is invalid
  Fault = 3,     ///< our bug
};

}  // namespace smplan::cli
