#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "planner/analysis/explain.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/report/report.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan {
namespace {

using test::catalog;
using testing::HasSubstr;
using testing::Not;

PlanSet small_set() {
  RequestSpec spec;
  spec.model = "llama-2-7b";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1,2";
  spec.top = "3";
  return search(test::request_of(spec), catalog());
}

/// What stands in a script element of the page.
std::string script_text(const std::string& page, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(ReportPage, HoldsThePlanJsonUnchanged) {
  const PlanSet set = small_set();
  const std::string page = report_html(report_data(set, catalog()));
  EXPECT_EQ(nlohmann::ordered_json::parse(script_text(page, "plan")).dump(2) + "\n", to_json(set));
}

TEST(ReportPage, ExplainsAndDrawsEveryPlan) {
  const PlanSet set = small_set();
  const auto extras = nlohmann::json::parse(script_text(report_html(report_data(set, catalog())), "extras"));
  ASSERT_EQ(extras.size(), set.plans.size());
  for (std::size_t i = 0; i < extras.size(); ++i) {
    EXPECT_EQ(extras[i]["why"], explain(set, catalog(), i + 1));
    EXPECT_EQ(extras[i]["timeline"]["step_time_s"], set.plans[i].step.time().value());
  }
}

TEST(ReportPage, SaysTheDayThatItsCallerGives) {
  ReportData data = report_data(small_set(), catalog());
  data.made = "2026-11-26";
  EXPECT_THAT(report_html(data), HasSubstr("Made on <time>2026-11-26</time>"));
}

TEST(ReportPage, LoadsNothing) {
  const std::string page = report_html(report_data(small_set(), catalog()));
  for (const char* loader : {"<link", "<img", "<iframe", "@import", "src=\"", "fetch(", "XMLHttpRequest", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(loader)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("Permission is hereby granted")) << "the chart library's licence travels with it";
}

TEST(ReportPage, DataNeverBecomesMarkup) {
  PlanSet set = small_set();
  set.request.workload.architecture.name = "</script><script>alert(1)</script>{{scripts}}";
  const std::string page = report_html(report_data(set, catalog()));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  const auto plan = nlohmann::json::parse(script_text(page, "plan"));
  EXPECT_EQ(plan["request"]["model"]["name"], set.request.workload.architecture.name);
}

TEST(ReportPage, OfAFileHasTheSameTimelines) {
  const PlanSet set = small_set();
  const ReportData live = report_data(set, catalog());
  const Result<ReportData> read = report_data(to_json(set), "plan.json", catalog());
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->plans.size(), live.plans.size());
  for (std::size_t i = 0; i < live.plans.size(); ++i) EXPECT_EQ(read->plans[i].timeline, live.plans[i].timeline);
}

TEST(ReportPage, RefusesWhatIsNoPlanFile) {
  const Result<ReportData> read = report_data("{}", "x.json", catalog());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().front().code, "no-plan-file");
  for (const char* nameless :
       {R"({"plans": []})", R"({"plans": [], "request": {}})", R"({"plans": [], "request": {"model": {"name": 1}}})"}) {
    EXPECT_FALSE(report_data(nameless, "x.json", catalog())) << nameless << " has no name for the page's title";
  }
}

}  // namespace
}  // namespace smplan
