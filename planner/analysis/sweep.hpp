#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// One member of the request that a sweep varies, with its values.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};
/// `params=7B|13B`: values are separated by `|`, since a value may be a list itself.
Result<SweepAxis> parse_sweep_axis(std::string_view text, std::string_view where);

/// Most requests of one sweep.
inline constexpr std::size_t kMaxSweepRequests = 100'000;

/// Every combination, the last axis fastest. Fails for unknown and repeated names and more than kMaxSweepRequests.
Result<std::vector<RequestSpec>> sweep_requests(const RequestSpec& base, const std::vector<SweepAxis>& axes,
                                                std::string_view where);

/// Most trials of one request: far beyond a tuning job's 750, and each number of them at a time is a search.
inline constexpr std::int64_t kMaxTrials = 10'000;

/// Independent runs of one request, such as the trials of a hyperparameter search.
struct Trials {
  std::int64_t count = 1;
  std::optional<std::int64_t> at_once;  ///< most jobs at a time, such as an account's quota allows
  int keep = 1;                         ///< early stopping: one trial in so many goes on at each rung; 1 is none
};

/// Trials as flags and keywords give them.
struct TrialWords {
  std::optional<std::string> count, at_once, early_stopping;
};
/// nullopt if none are asked for. Collects every fault.
Result<std::optional<Trials>> read_trials(const TrialWords& words);

/// How all trials are run: `at_once` of them at a time on the plan's hardware, `waves` times. Trials that stop early
/// make room for the next: `makespan` is then the work over the places, and one full run at least.
struct TrialSchedule {
  Plan plan;
  std::int64_t at_once = 1;
  std::int64_t waves = 1;
  Seconds makespan;
  Usd total;
};
/// The best way to run the trials: budget, deadline and hourly limit are those of all of them together.
/// Exact: every number of waves is searched with its share of the limits.
std::optional<TrialSchedule> plan_trials(const PlanRequest& request, const Trials& trials, const Catalog& catalog,
                                         const SearchOptions& options = {});

/// One request planned, as one line of JSON: `{"identity": .., "request": .., "smplan_version": .., "status":
/// "planned|no_plan|invalid", "message": .., "plan": .., "trials": ..}`, newline at the end.
struct SweepOptions {
  std::optional<Trials> trials;
  std::optional<std::string> environment_region;
  std::optional<Instant> now;
  SearchOptions search;
};
struct SweepLine {
  enum class Status { Planned, NoPlan, Invalid };
  Status status = Status::Planned;
  std::string text;
};
/// A request, resolved once, and what its line is known by.
struct SweepQuestion {
  RequestSpec spec;
  Result<PlanRequest> request;
  /// Sixteen hex digits over everything that a line rests on: the request as resolved, the files that it names, trials,
  /// overlays of the catalog, the date, the build. Lines with equal identities are equal.
  std::string identity;
};
/// The question points into the catalog, which must outlive it.
SweepQuestion sweep_question(RequestSpec spec, const Catalog& catalog, const SweepOptions& options);
/// Precondition: catalog and options are those that the question was made with, but for the monitor.
SweepLine sweep_line(const SweepQuestion& question, const Catalog& catalog, const SweepOptions& options);

/// The identity in a line that was read back. nullopt if the text is no line of a sweep, as the last one of an
/// interrupted sweep.
std::optional<std::string> sweep_identity(std::string_view line);
/// How every line begins.
inline constexpr std::string_view kSweepLineStart = R"({"identity":")";
/// Status of a line that was read back. Precondition: it has an identity.
SweepLine::Status sweep_status(std::string_view line);

}  // namespace smplan
