#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

/// A number that both plans have. Names are the JSON's, `cost/total_usd`.
struct ComparedNumber {
  std::string name;
  double a = 0;
  double b = 0;
  [[nodiscard]] double difference() const { return b - a; }
};

/// What is decided differently: stack, degrees, sharding ...; a value that one plan lacks is empty.
struct ComparedChoice {
  std::string name;
  std::string a;
  std::string b;
};

/// Two plans side by side.
struct Comparison {
  std::vector<ComparedChoice> choices;   ///< those that differ, in the order of the file
  std::vector<ComparedNumber> outcomes;  ///< cost, time, speed, memory: all
  /// Parts of the outcomes that differ: of the step, the run, the bill, the memory; largest share first in each.
  std::vector<ComparedNumber> parts;
};

/// A plan of an answer (`plan --format json`, parsed), by rank. Errors: no answer, no such rank, no outcome.
Result<Json> ranked_plan(const JsonValue& document, std::int64_t rank);
/// A plan of an answer that was just found; `where` names the answer in errors.
Result<Json> ranked_plan(const PlanSet& set, std::string_view where, std::int64_t rank);

/// Two plans as plan files write them.
Comparison compare(const Json& a, const Json& b);

}  // namespace smplan
