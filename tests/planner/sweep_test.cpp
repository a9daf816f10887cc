#include "planner/analysis/sweep.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "planner/request/names.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

using Json = nlohmann::json;

RequestSpec small_request() {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge,ml.g5.12xlarge";
  spec.count = "1..3";
  return spec;
}

SweepLine line_of(const RequestSpec& spec, const SweepOptions& options) {
  return sweep_line(sweep_question(spec, catalog(), options), catalog(), options);
}

TEST(SweepAxis, ReadsNameAndValues) {
  const Result<SweepAxis> axis = parse_sweep_axis("instances=ml.p4d*,ml.p5*|ml.g5*", "--vary");
  ASSERT_TRUE(axis);
  EXPECT_EQ(axis->name, "instances");
  EXPECT_EQ(axis->values, (std::vector<std::string>{"ml.p4d*,ml.p5*", "ml.g5*"}));
  for (const char* bad : {"params", "=7B", "params=", "params=7B||13B", "params=7B|"}) {
    EXPECT_FALSE(parse_sweep_axis(bad, "--vary")) << bad;
  }
}

TEST(SweepRequests, AreEveryCombinationOnce) {
  const auto requests =
      sweep_requests(small_request(), {{"top", {"1", "2"}}, {"min-headroom", {"0%", "5%", "10%"}}}, "--vary");
  ASSERT_TRUE(requests) << to_string(requests.error());
  std::set<std::string> keys;
  for (const RequestSpec& r : *requests) keys.insert(request_key(r));
  EXPECT_EQ(requests->size(), 6U);
  EXPECT_EQ(keys.size(), 6U);
  EXPECT_EQ((*requests)[1].min_headroom, "5%") << "the last axis is the fastest";
}

TEST(SweepRequests, RefuseUnknownNamesAndTooManyCombinations) {
  const auto unknown = sweep_requests(small_request(), {{"tokenz", {"1B"}}}, "--vary");
  ASSERT_FALSE(unknown);
  EXPECT_NE(to_string(unknown.error()).find("tokens"), std::string::npos);
  EXPECT_FALSE(sweep_requests(small_request(), {{"tp", {"1"}}, {"tp", {"2"}}}, "--vary")) << "one would hide the other";
  const std::vector<std::string> many(1000, "1");
  EXPECT_FALSE(sweep_requests(small_request(), {{"top", many}, {"dp", many}}, "--vary"));
}

TEST(SweepLine, HoldsThePlanThatTheSearchFinds) {
  const RequestSpec spec = small_request();
  const SweepLine line = line_of(spec, {});
  EXPECT_EQ(line.status, SweepLine::Status::Planned);
  EXPECT_EQ(line.text.find('\n'), line.text.size() - 1);
  const Json json = Json::parse(line.text);
  const Plan best = search(request_of(spec), catalog()).plans.at(0);
  EXPECT_EQ(json["plan"]["instance_type"], best.instance->name);
  EXPECT_EQ(json["plan"]["cost"]["total_usd"], best.cost.total().value());
  EXPECT_EQ(json["request"]["model"], "gpt2");
}

TEST(SweepLine, KeepsInvalidRequestsAndThoseThatDoNotFit) {
  RequestSpec spec = small_request();
  spec.tokens = "many";
  const SweepLine invalid = line_of(spec, {});
  EXPECT_EQ(invalid.status, SweepLine::Status::Invalid);
  EXPECT_NE(Json::parse(invalid.text)["message"].get<std::string>().find("--tokens"), std::string::npos);
  spec = small_request();
  spec.budget = "1";
  const SweepLine none = line_of(spec, {});
  EXPECT_EQ(none.status, SweepLine::Status::NoPlan);
  EXPECT_TRUE(Json::parse(none.text)["plan"].is_null());
}

// What makes a sweep resumable: a line says what it was made for.
TEST(SweepIdentity, OfALineIsThatOfItsRequest) {
  SweepOptions options;
  const RequestSpec spec = small_request();
  const SweepLine line = line_of(spec, options);
  EXPECT_EQ(sweep_identity(line.text), sweep_question(spec, catalog(), options).identity);
  EXPECT_EQ(sweep_status(line.text), SweepLine::Status::Planned);
  options.trials = Trials{4, 2};
  EXPECT_NE(sweep_identity(line.text), sweep_question(spec, catalog(), options).identity)
      << "trials make another question";
  EXPECT_EQ(sweep_identity(line_of(spec, options).text), sweep_question(spec, catalog(), options).identity);
  EXPECT_EQ(sweep_identity(line.text.substr(0, line.text.size() / 2)), std::nullopt) << "cut short";
  EXPECT_EQ(sweep_identity("{}"), std::nullopt);
}

TEST(TrialWords, AreCountsOfOneOrMore) {
  const auto read = read_trials({"64", "8", "3"});
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->count, 64);
  EXPECT_EQ((*read)->at_once, 8);
  EXPECT_EQ((*read)->keep, 3);
  const auto plain = read_trials({"1", std::nullopt, std::nullopt});
  ASSERT_TRUE(plain && *plain);
  EXPECT_EQ((*plain)->at_once, std::nullopt);
  EXPECT_EQ((*plain)->keep, 1);
  const auto none = read_trials({});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(TrialWords, NameTheFlagThatIsWrong) {
  const struct {
    TrialWords words;
    std::vector<std::string> where;
  } cases[] = {{{"0", "0", "0"}, {"--trials", "--at-once", "--early-stopping"}},
               {{"many", "2", "3"}, {"--trials"}},
               {{"10001", "9000000000000000000", "3"}, {"--trials", "--at-once"}},
               {{"4", "2", "1"}, {"--early-stopping"}},
               {{"4", "2", "101"}, {"--early-stopping"}},
               {{std::nullopt, "2", "3"}, {"--at-once", "--early-stopping"}},
               {{std::nullopt, std::nullopt, "3"}, {"--early-stopping"}}};
  for (const auto& c : cases) {
    const auto read = read_trials(c.words);
    ASSERT_FALSE(read);
    std::vector<std::string> where;
    for (const Diagnostic& d : read.error()) where.push_back(d.location);
    EXPECT_EQ(where, c.where);
  }
  EXPECT_TRUE(read_trials({"4", "1", "2"}));
  EXPECT_TRUE(read_trials({"4", "1", "100"}));
}

TEST(PlanTrials, EarlyStoppingPaysForFullRunsOnly) {
  const PlanRequest request = request_of(small_request());
  Trials trials;
  trials.count = 27;
  const auto all = plan_trials(request, trials, catalog());
  trials.keep = 3;
  const auto stopped = plan_trials(request, trials, catalog());
  ASSERT_TRUE(all);
  ASSERT_TRUE(stopped);
  // 27 trials of which one in three goes on are worth three full runs; the winner still runs to its end.
  EXPECT_NEAR(stopped->total / all->total, 3.0 / 27, 1e-9);
  EXPECT_EQ(stopped->makespan, all->makespan) << "all 27 at once";
}

/// Every number at a time and every plan of the space, without the search's shares.
struct Enumerated {
  double total = INFINITY;
  double makespan = INFINITY;
};
Enumerated cheapest_by_enumeration(const PlanRequest& request, const Trials& trials) {
  Enumerated best;
  const std::int64_t most = trials.at_once.value_or(trials.count);
  for (const InstanceType* type : request.instances) {
    for (const std::int32_t count : request.counts) {
      PlanRequest one = request;
      one.instances = {type};
      one.counts = {count};
      one.deadline.reset();
      one.budget.reset();
      one.max_hourly.reset();
      one.top = 1;
      const PlanSet set = search(one, catalog());
      if (set.plans.empty()) continue;
      const RunCost& cost = set.plans.front().cost;
      for (std::int64_t k = 1; k <= most; ++k) {
        const double waves = std::ceil(static_cast<double>(trials.count) / static_cast<double>(k));
        const double makespan = waves * cost.time_to_train().value();
        const double total = static_cast<double>(trials.count) * cost.total().value();
        if (request.deadline && makespan > request.deadline->value()) continue;
        if (request.budget && total > request.budget->value()) continue;
        if (request.max_hourly && static_cast<double>(k) * cost.hourly.value() > request.max_hourly->value()) continue;
        const bool by_time = request.objective == Objective::Time;
        const auto rank = [&](double t, double m) { return by_time ? std::pair(m, t) : std::pair(t, m); };
        if (rank(total, makespan) < rank(best.total, best.makespan)) best = {total, makespan};
      }
    }
  }
  return best;
}

TEST(Trials, AreScheduledAsWellAsEnumerationDoes) {
  for (const char* objective : {"cost", "time"}) {
    for (const char* hourly : {"", "30", "70", "200"}) {
      for (const char* deadline : {"", "30d", "8d"}) {
        RequestSpec spec = small_request();
        spec.tokens = "20B";
        spec.objective = objective;
        if (*hourly != '\0') spec.max_hourly = hourly;
        if (*deadline != '\0') spec.deadline = deadline;
        const PlanRequest request = request_of(spec);
        const Trials trials{10, 7};
        const auto schedule = plan_trials(request, trials, catalog());
        const Enumerated truth = cheapest_by_enumeration(request, trials);
        const std::string name = std::string(objective) + " " + hourly + " " + deadline;
        ASSERT_EQ(schedule.has_value(), std::isfinite(truth.total)) << name;
        if (!schedule) continue;
        EXPECT_NEAR(schedule->total.value(), truth.total, 1e-9 * truth.total) << name;
        EXPECT_NEAR(schedule->makespan.value(), truth.makespan, 1e-9 * truth.makespan) << name;
        EXPECT_GE(schedule->at_once * schedule->waves, 10);
        EXPECT_LE(schedule->at_once, 7);
      }
    }
  }
}

}  // namespace
}  // namespace smplan::test
