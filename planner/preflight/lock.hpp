#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "planner/export/training_plan.hpp"
#include "planner/preflight/check.hpp"
#include "planner/request/names.hpp"

namespace smplan {

struct JobFolder;

/// The plan in a job's folder: what the job was exported from.
struct Lock {
  TrainingPlan plan;
  /// All of it as a request, for what neither the job's files nor the flags say.
  RequestSpec said;
  /// What it had to keep to: deadline, money, memory. Money only where the catalog has the facts that it was planned
  /// by.
  RequestSpec goals;
  std::string due;           ///< the instant that the deadline was taken for; empty where it is a duration
  bool other_facts = false;  ///< the catalog has other overlays than it was planned by
};

/// Reads plan.json: a plan file of one plan.
Result<Lock> read_lock(const std::string& text, const Catalog& catalog);

/// What the files of the folder say otherwise than the plan, exported again as the job is. Fails where it cannot be.
Result<std::vector<Change>> drift_of(const JobFolder& folder, const Lock& lock, const Catalog& catalog,
                                     CheckCache& cache);

/// Whether the flags name no other model than the plan's.
bool models_alike(const RequestSpec& flags, const Lock& lock, const Catalog& catalog);

/// What flags say otherwise than the plan.
std::vector<Change> drift_of_flags(const RequestSpec& flags, const Lock& lock, const Catalog& catalog);

/// Members of `spec` that are open get what `other` says, of these groups.
void fill_open(RequestSpec& spec, const RequestSpec& other, std::initializer_list<RequestGroup> groups);

}  // namespace smplan
