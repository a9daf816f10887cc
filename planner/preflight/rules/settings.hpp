#pragma once

#include "planner/preflight/rule.hpp"

namespace smplan {

// Files and command lines of training frameworks, against the tables that scripts/refresh reads out of them
// (catalogs/framework_settings.hpp). Each is the check of one rule.

/// The kinds of file that have such a table.
inline constexpr Kinds kFrameworkFiles = kDeepSpeed | kAccelerate | kMegatron | kTorchTitan | one(JobKind::Trl) |
                                         one(JobKind::Axolotl) | one(JobKind::LlamaFactory) | one(JobKind::Torchtune) |
                                         one(JobKind::Verl) | one(JobKind::NemoRl) | kHyperpodJob | kRecipe;

/// Whether a command line runs a program that is not TRL's, and may have arguments of its own.
bool runs_own_script(const Job& job);
/// Keys that the framework does not know.
void unknown_settings(const CheckInput& in, Report& report);
/// Overrides of Hydra's that add what is there, or set what has to be added.
void wrong_signs(const CheckInput& in, Report& report);
/// Values that the framework refuses: their type as its reader takes them, their range, their words.
void wrong_settings(const CheckInput& in, Report& report);
/// Keys that have a successor, or that the newest version no longer has.
void old_settings(const CheckInput& in, Report& report);
/// Keys without which the framework raises.
void missing_settings(const CheckInput& in, Report& report);

}  // namespace smplan
