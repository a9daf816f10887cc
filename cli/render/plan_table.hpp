#pragma once

#include <cstdint>
#include <string>

#include "cli/render/table.hpp"
#include "planner/answer/plan.hpp"

namespace smplan::cli {

/// One row a plan, best first.
Table plan_table(const PlanSet& set);
/// The time/cost frontier, cheapest first, thinned to what fits a screen.
Table frontier_table(const PlanSet& set);

/// The whole answer: what was asked, the best plan, the ranking, the frontier, and on what it rests.
std::string plan_text(const PlanSet& set, const Style& style);
std::string plan_markdown(const PlanSet& set);

/// Three digits or more, without the unit: `0.42`, `19.8`, `118`.
std::string seconds(Seconds s);
/// `8 x ml.p5.48xlarge`.
std::string hardware(const Plan& plan);
/// `llama-2-13b (13B), 260B tokens, sequences of 4096, 1024 a step, adamw`.
std::string work(const PlanRequest& request);

/// Lines on prices, candidates, types left out and assumptions.
std::string footing(const PlanSet& set, const Style& style);

/// What to expect beside the expectation: P10 to P90 of time and cost, and whether the deadline is met.
std::string chances(const Plan& plan, const PlanRequest& request);
/// The line of the account's quotas that limit the plan; empty where none does.
std::string quotas(const Plan& plan, const PlanRequest& request, const Style& style);

}  // namespace smplan::cli
