// Every number that a rule compares with, at the limit and one beyond: tests/data/jobs/limits.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;

const Json& limit_rows() {
  static const Json rows = Json::parse(test::read_test_file("limits.json"))["rows"];
  return rows;
}

Json numbered(const Json& value, std::int64_t number) {
  std::string text = value.dump();
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at)) {
    text.replace(at, 1, std::to_string(number));
  }
  return Json::parse(text);
}

/// The value with its {"letters": n}, {"names": n}, {"named": n} and {"copies": n, "of": x} written out.
Json written_out(const Json& value) {
  if (value.is_object() && value.contains("letters")) {
    std::string text = value.value("after", "");
    text.resize(value["letters"].get<std::size_t>(), 'a');
    return text;
  }
  if (value.is_object() && value.contains("named")) {
    return {{std::string(value["named"].get<std::size_t>(), 'a'), "1"}};
  }
  Json out = value;
  if (value.is_object() && value.contains("names")) {
    out = Json::object();
    for (int i = 1; i <= value["names"].get<int>(); ++i) out["v" + std::to_string(i)] = "1";
  } else if (value.is_object() && value.contains("copies")) {
    out = Json::array();
    for (int i = 1; i <= value["copies"].get<int>(); ++i) out.push_back(numbered(value["of"], i));
  } else if (value.is_structured()) {
    for (auto& item : out) item = written_out(item);
  }
  return out;
}

/// What a row is about, `job`, `facts` and `flags`, with its `at` or `beyond` in place.
Json written_case(const Json& row, const std::string& which) {
  Json job = test::rule_cases()["bases"][row["base"].get<std::string>()];
  if (row.contains("with")) job.merge_patch(row["with"]);
  Json all = {
      {"job", job}, {"facts", row.value("facts", Json::object())}, {"flags", row.value("flags", Json::object())}};
  all[Json::json_pointer(row["set"].get<std::string>())] = written_out(row[which]);
  return all;
}

/// Findings of the row's rule, and the other rules that found something.
struct Answer {
  int own = 0;
  std::multiset<std::string> others;
};

Answer answer_of(const Json& row, const std::string& which) {
  const Json all = written_case(row, which);
  const std::string base = row["base"];
  CheckOptions options;
  if (!all["facts"].empty()) options.facts = test::facts_from(all["facts"]);
  if (!all["flags"].empty()) options.request = test::request_from(all["flags"]);
  const std::vector<std::string> also = row.value("also", std::vector<std::string>());
  Answer answer;
  for (const Finding& f :
       test::check_text(test::job_text(base, all["job"]), test::kind_of_base(base), options).findings) {
    if (f.rule != row["rule"]) {
      if (std::find(also.begin(), also.end(), f.rule) == also.end()) answer.others.insert(f.rule);
    } else if (!row.contains("severity") || to_string(f.severity) == row["severity"].get<std::string>()) {
      ++answer.own;
    }
  }
  return answer;
}

class LimitPair : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LimitPair, IsSilentAtTheLimitAndReportsOneBeyond) {
  const Json& row = limit_rows()[GetParam()];
  SCOPED_TRACE(row["rule"].get<std::string>() + ", " + row["limit"].get<std::string>());
  const Answer at = answer_of(row, "at");
  const Answer beyond = answer_of(row, "beyond");
  EXPECT_EQ(at.own, 0);
  EXPECT_EQ(beyond.own, 1);
  EXPECT_EQ(at.others, beyond.others) << "other rules should not tell the two jobs apart";
}

INSTANTIATE_TEST_SUITE_P(All, LimitPair, ::testing::Range<std::size_t>(0, limit_rows().size()), [](const auto& info) {
  return limit_rows()[info.param]["rule"].template get<std::string>() + "_" + std::to_string(info.param + 1);
});

/// Every number that a value is or has: how many letters, members or entries.
void collect_sizes(const Json& value, std::set<std::int64_t>& sizes) {
  if (value.is_number_integer()) sizes.insert(value.get<std::int64_t>());
  if (value.is_string()) sizes.insert(static_cast<std::int64_t>(value.get<std::string>().size()));
  if (!value.is_structured()) return;
  sizes.insert(static_cast<std::int64_t>(value.size()));
  for (const auto& [key, item] : value.items()) {
    sizes.insert(static_cast<std::int64_t>(key.size()));
    collect_sizes(item, sizes);
  }
}

/// The table of the API's limits and the rows, which were written apart from it, say the same numbers.
TEST(LimitRows, HoldEveryLimitOfARequest) {
  std::map<std::string, std::set<std::int64_t>> known;
  for (const Json& row : limit_rows()) {
    if (row.contains("field")) collect_sizes(written_out(row["at"]), known[row["field"].get<std::string>()]);
  }
  const Json unchecked = Json::parse(test::read_test_file("limits.json"))["unchecked"];
  for (const auto& [reason, fields] : unchecked.items()) {
    for (const Json& field : fields) {
      ASSERT_NE(test::shipped_limits().find(field.get<std::string>()), nullptr) << field;
      EXPECT_EQ(known.count(field.get<std::string>()), 0U) << field << " is checked after all";
    }
  }
  const auto is_listed = [&](const std::string& path) {
    return std::any_of(unchecked.begin(), unchecked.end(), [&](const Json& fields) {
      return std::find(fields.begin(), fields.end(), path) != fields.end();
    });
  };
  for (const RequestField& field : test::shipped_limits().fields) {
    // Texts of one letter and lists of one entry are everywhere; a role's form is longer than the 20 that it must have.
    const bool from = field.min.value_or(0) > 1 && field.path != "RoleArn";
    if ((!from && !field.max) || is_listed(field.path)) continue;
    if (field.max) {
      EXPECT_EQ(known[field.path].count(*field.max), 1U) << field.path << ", at most " << *field.max;
    }
    if (from) {
      EXPECT_EQ(known[field.path].count(*field.min), 1U) << field.path << ", at least " << *field.min;
    }
  }
}

}  // namespace
}  // namespace smplan
