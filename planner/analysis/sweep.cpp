#include "planner/analysis/sweep.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "models/run/trials.hpp"
#include "planner/analysis/build_identity.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/request/names.hpp"
#include "planner/search/objective.hpp"

namespace smplan {
namespace {
std::string_view to_string(SweepLine::Status status) {
  switch (status) {
    case SweepLine::Status::Planned:
      return "planned";
    case SweepLine::Status::NoPlan:
      return "no_plan";
    case SweepLine::Status::Invalid:
      return "invalid";
  }
  return "invalid";
}

Json trials_identity(const std::optional<Trials>& trials) {
  if (!trials) return nullptr;
  Json out;
  out["count"] = trials->count;
  out["keep"] = trials->keep;
  out["limit"] = trials->at_once ? Json(*trials->at_once) : Json(nullptr);
  return out;
}

/// The request as asked and as resolved, the files that it names, trials, overlays, date and build.
std::string identity_of(const RequestSpec& spec, const Result<PlanRequest>& request, const Catalog& catalog,
                        const SweepOptions& options) {
  Json facts = Json::array({request_key(spec), request ? to_json(*request) : smplan::to_string(request.error()),
                            trials_identity(options.trials), catalog.overlays(),
                            options.now ? utc_date(*options.now) : std::string(), std::string(build_identity())});
  for (const std::optional<std::string>* file : {&spec.hf_config, &spec.arch}) {
    if (*file) facts.push_back(hash_text(read_text_file(**file).value_or("")));
  }
  return hash_text(facts.dump());
}

std::string why_none(const PlanSet& set) {
  if (!set.nearest_miss) return "no candidate is valid";
  return fmt::format("nothing fits: the nearest fails on {}", smplan::to_string(set.nearest_miss->rejection.reason));
}

/// A share of the request's limits: one of `at_once` jobs of one of `waves`.
/// `runs` full runs in all, `rounds` one after the other.
PlanRequest one_trial(const PlanRequest& all, double runs, std::int64_t at_once, double rounds) {
  PlanRequest one = all;
  one.top = 1;
  if (one.budget) one.budget = *one.budget / runs;
  if (one.deadline) one.deadline = *one.deadline / rounds;
  if (one.max_hourly) one.max_hourly = *one.max_hourly / static_cast<double>(at_once);
  return one;
}

/// Beyond this nothing is compared any more.
constexpr std::int64_t kMostKept = 100;

bool better(const PlanRequest& request, const TrialSchedule& a, const TrialSchedule& b) {
  const Score sa = score(request, a.makespan, a.total);
  const Score sb = score(request, b.makespan, b.total);
  // A job's limit of 28 days holds for each trial, which the search has judged; here the sum of waves ranks.
  return std::tie(sa.value, sa.second, a.waves) < std::tie(sb.value, sb.second, b.waves);
}

}  // namespace

Result<SweepAxis> parse_sweep_axis(std::string_view text, std::string_view where) {
  const std::size_t equals = text.find('=');
  SweepAxis axis;
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return fail("bad-axis", std::string(where), fmt::format("'{}' varies nothing", text),
                "write NAME=VALUE|VALUE, such as 'params=7B|13B'");
  }
  axis.name = text.substr(0, equals);
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.size(), text.find('|', begin));
    axis.values.emplace_back(text.substr(begin, end - begin));
    if (axis.values.back().empty()) {
      return fail("bad-axis", std::string(where), fmt::format("'{}' has an empty value", text), "remove a '|'");
    }
    begin = end + 1;
  }
  return axis;
}

Result<std::vector<RequestSpec>> sweep_requests(const RequestSpec& base, const std::vector<SweepAxis>& axes,
                                                std::string_view where) {
  std::vector<RequestSpec> requests{base};
  Diagnostics faults;
  for (const SweepAxis& axis : axes) {
    const auto same = [&](const SweepAxis& other) { return other.name == axis.name; };
    if (std::count_if(axes.begin(), axes.end(), same) > 1) {
      return fail("repeated-axis", std::string(where), fmt::format("{} is varied twice", axis.name),
                  fmt::format("give all its values at once: '{}=A|B'", axis.name));
    }
    if (requests.size() * axis.values.size() > kMaxSweepRequests) {
      return fail("out-of-range", std::string(where),
                  fmt::format("the axes have more than {} combinations", kMaxSweepRequests), "give fewer values");
    }
    std::vector<RequestSpec> more;
    for (const RequestSpec& request : requests) {
      for (const std::string& value : axis.values) {
        more.push_back(request);
        const Result<void> set = assign(more.back(), axis.name, value, where);
        if (!set && faults.empty()) faults = set.error();
      }
    }
    requests = std::move(more);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return requests;
}

Result<std::optional<Trials>> read_trials(const TrialWords& words) {
  Diagnostics faults;
  const auto positive = [&](const std::string& text, const char* where) -> std::int64_t {
    const Result<std::int64_t> n = parse_integer_count(text, where);
    if (!n) faults.insert(faults.end(), n.error().begin(), n.error().end());
    if (n && *n > kMaxTrials) {
      faults.push_back({"out-of-range", where, fmt::format("{} is not between 1 and {}", *n, kMaxTrials),
                        "plan fewer trials, and multiply"});
    }
    return n.value_or(1);
  };
  if (!words.count) {
    for (const auto& [given, where] :
         {std::pair(&words.at_once, "--at-once"), std::pair(&words.early_stopping, "--early-stopping")}) {
      if (*given) faults.push_back({"conflict", where, "needs --trials", "say how many trials there are"});
    }
    if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
    return std::optional<Trials>();
  }
  Trials trials{positive(*words.count, "--trials"), std::nullopt};
  if (words.at_once) trials.at_once = positive(*words.at_once, "--at-once");
  if (words.early_stopping) {
    const std::int64_t keep = positive(*words.early_stopping, "--early-stopping");
    if (faults.empty() && (keep < 2 || keep > kMostKept)) {
      faults.push_back({"out-of-range", "--early-stopping", fmt::format("{} is not between 2 and {}", keep, kMostKept),
                        "3 keeps one trial in three at each rung"});
    }
    trials.keep = static_cast<int>(keep);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return std::optional(trials);
}

std::optional<TrialSchedule> plan_trials(const PlanRequest& request, const Trials& trials, const Catalog& catalog,
                                         const SearchOptions& options) {
  const std::int64_t most = std::min(trials.count, trials.at_once.value_or(trials.count));
  const double runs = full_runs(trials.count, trials.keep);
  std::optional<TrialSchedule> best;
  for (std::int64_t at_once = most; at_once >= 1;) {
    const std::int64_t waves = (trials.count + at_once - 1) / at_once;
    // Fewer at a time in as many waves leave each a larger share of the hourly limit.
    at_once = (trials.count + waves - 1) / waves;
    const double rounds =
        trials.keep > 1 ? std::max(1.0, runs / static_cast<double>(at_once)) : static_cast<double>(waves);
    const PlanSet set = search(one_trial(request, runs, at_once, rounds), catalog, options);
    if (!set.plans.empty()) {
      const RunCost& cost = set.plans.front().cost;
      TrialSchedule schedule{set.plans.front(), at_once, waves, cost.time_to_train() * rounds, cost.total() * runs};
      if (!best || better(request, schedule, *best)) best = std::move(schedule);
    }
    // Without an hourly limit more waves only take longer.
    if (!request.max_hourly || stopped(options.monitor)) break;
    --at_once;
  }
  return best;
}

SweepQuestion sweep_question(RequestSpec spec, const Catalog& catalog, const SweepOptions& options) {
  auto request = resolve(spec, catalog, options.environment_region, Purpose::Plan, options.now);
  std::string identity = identity_of(spec, request, catalog, options);
  if (request && options.now) request->today = utc_date(*options.now);
  return {std::move(spec), std::move(request), std::move(identity)};
}

SweepLine sweep_line(const SweepQuestion& question, const Catalog& catalog, const SweepOptions& options) {
  const Result<PlanRequest>& request = question.request;
  Json line;
  line["identity"] = question.identity;
  line["request"] = Json::parse(request_key(question.spec));
  line["smplan_version"] = std::string(version());
  SweepLine out;
  std::string message;
  Json plan = nullptr;
  Json trials = trials_identity(options.trials);
  if (!request) {
    out.status = SweepLine::Status::Invalid;
    message = smplan::to_string(request.error());
  } else if (options.trials) {
    if (const auto schedule = plan_trials(*request, *options.trials, catalog, options.search)) {
      plan = plan_json(*request, schedule->plan, 1);
      trials["at_once"] = schedule->at_once;
      trials["waves"] = schedule->waves;
      trials["makespan_s"] = schedule->makespan.value();
      trials["total_usd"] = schedule->total.value();
    } else {
      out.status = SweepLine::Status::NoPlan;
      message = "no way to run the trials keeps the limits";
    }
  } else {
    PlanRequest one = *request;
    one.top = 1;
    const PlanSet set = search(one, catalog, options.search);
    if (set.plans.empty()) {
      out.status = SweepLine::Status::NoPlan;
      message = why_none(set);
    } else {
      plan = plan_json(*request, set.plans.front(), 1);
    }
  }
  line["status"] = std::string(to_string(out.status));
  line["message"] = message;
  line["plan"] = std::move(plan);
  line["trials"] = std::move(trials);
  out.text = printable_json(line.dump()) + '\n';
  return out;
}

std::optional<std::string> sweep_identity(std::string_view line) {
  // Our own reader first: it bounds how deep a line can nest.
  if (!parse_json(line, "line")) return std::nullopt;
  const Json json = Json::parse(line);
  if (!json.contains("status") || !json["identity"].is_string()) return std::nullopt;
  return json["identity"].text();
}

SweepLine::Status sweep_status(std::string_view line) {
  const Json status = Json::parse(line)["status"];
  for (const auto s : {SweepLine::Status::Planned, SweepLine::Status::NoPlan}) {
    if (status == Json(to_string(s))) return s;
  }
  return SweepLine::Status::Invalid;
}

}  // namespace smplan
