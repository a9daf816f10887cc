#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/validation/report.hpp"

namespace smplan {

/// A part of a step that a training program can time, beside what the prediction has for it.
struct PartComparison {
  std::string name;
  Seconds measured;
  std::optional<Seconds> predicted;  ///< nullopt: the prediction has no such part
};

/// The parts that the row states: waiting for data, forward and backward passes, update. Empty where it states none, or
/// nothing was predicted. The passes hold all that is neither data nor update: communication that compute does not hide
/// is among them.
std::vector<PartComparison> compare_parts(const ComparedRun& run);

/// What the measurement says of the prediction and of the program, and what to do about it; a sentence each.
std::vector<std::string> run_advice(const ComparedRun& run);

}  // namespace smplan
