#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/preflight/rule.hpp"

namespace smplan {

/// What a file says of one setting, in words that all formats share.
struct Said {
  bool stated = false;
  std::optional<std::string> value;  ///< nullopt: a placeholder, or unstated
  Where where;
  bool follows = false;  ///< from other settings of the file
};

/// A setting that files of a job state. The only list of what is compared between two of them.
struct JobSetting {
  std::string_view name;
  Said (*of)(const Job&, const Catalog&) = nullptr;  ///< nullptr: a member of Execution
  /// Two files of one job mean the same by it: where they differ, one of them is not what trains.
  bool shared = true;
  const DimensionRow* told = nullptr;

  [[nodiscard]] Said said_by(const Job& job, const Catalog& catalog) const;
};
std::span<const JobSetting> job_settings();

/// What differs between a file as planned and as it is. Values that the plan leaves to the user are passed over.
/// A place is named once, however many settings follow from it.
void add_changes(const Job& planned, const Job& found, const std::string& file, const Catalog& catalog,
                 const std::vector<std::string>& placeholders, std::vector<Change>& out);

/// A file and a place in it, in words.
std::string place_in(const std::string& file, const Where& where);

/// `~ instance_count: 4 -> 3 (create_training_job.json /ResourceConfig/InstanceCount)`.
std::string to_string(const Change& change);

/// Two files of a job that say different things of one setting.
struct Contradiction {
  std::string_view name;
  std::string first_file, second_file;
  Said first, second;
};
/// Each by its path; the first goes before the others.
using JobFiles = std::vector<std::pair<std::string, const Job*>>;
std::vector<Contradiction> contradictions_in(const JobFiles& files, const Catalog& catalog);

}  // namespace smplan
