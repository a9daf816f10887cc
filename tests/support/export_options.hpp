#pragma once

#include <fmt/format.h>

#include "planner/export/target.hpp"

namespace smplan::test {

/// What a user says of a job: nothing, everything, and data on a file system, in turn.
inline ExportOptions export_options(int turn, bool warm_pool) {
  ExportOptions options;
  if (turn % 3 == 1) {
    options.role = "arn:aws:iam::111122223333:role/training";
    options.bucket = "models-111122223333";
    options.script = "pretrain.py";
    options.job_name = fmt::format("run-{}", turn);
    options.input_mode = "File";
    if (warm_pool) options.warm_pool = Seconds(1800);
  } else if (turn % 3 == 2) {
    options.file_system = "fs-0123456789abcdef0";
  }
  return options;
}

}  // namespace smplan::test
