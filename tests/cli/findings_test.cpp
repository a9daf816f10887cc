#include "cli/render/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::expect_page;
using testing::HasSubstr;
using testing::Not;

/// One finding of each severity and rules that were not run; names hold what each format must escape.
Findings made_up() {
  Findings all;
  all.file = "jobs: a, 50%\n<b>.json";
  all.findings = {{"C001", Severity::Error, {"/a:b,c%", 7}, "too <few> 100%, a: b", "write \"more\"", "a page", {}},
                  {"C002", Severity::Warning, {"", 0}, "odd\x1b[1m", "leave it", "a page", {}},
                  {"C003", Severity::Info, {"/c", 1}, "so it is", "nothing", "a page", {}},
                  {"C003", Severity::Error, {"/d", 0}, "twice", "once", "a page", {}}};
  all.ignored = {{all.findings[0], "we know"}, {all.findings[1], ""}};
  all.rules_run = 1;
  all.skipped = {{"C004", "no <budget> & no deadline"}, {"C005", "no <budget> & no deadline"}, {"C006", "no script"}};
  all.not_predicted = {{"ml.x", "too\nlittle"}};
  return all;
}

TEST(FindingsText, ShowsEveryPart) { expect_page("findings.txt", findings_text(made_up(), {})); }

TEST(FindingsText, ColoursBySeverity) {
  const std::string text = findings_text(made_up(), {true, 0});
  EXPECT_THAT(text, HasSubstr("\x1b[1;31merror\x1b[0m C001"));
  EXPECT_THAT(text, HasSubstr("\x1b[1;33mwarning\x1b[0m C002"));
  EXPECT_THAT(text, HasSubstr("\x1b[1;36minfo\x1b[0m C003"));
}

TEST(FindingsText, SaysThatNothingWasFound) {
  Findings none;
  none.file = "job.json";
  none.rules_run = 2;
  EXPECT_EQ(findings_text(none, {}), "job.json: 0 errors, 0 warnings, 0 notes; 2 rules run, 0 not run\n");
}

TEST(FindingsText, SaysWhatWasNotRead) {
  Findings found;
  found.file = "job.yaml";
  found.unread = {{{"/optimizer", 3}, "is no\x1b optimizer"}};
  EXPECT_THAT(findings_text(found, {}), HasSubstr("not read: /optimizer is no? optimizer\n"));
}

TEST(FindingsText, ShowsPredictions) {
  const test::MadeUpPlans plans;
  Findings found;
  found.file = "job.json";
  Prediction p;
  p.plan = plans.first();
  p.time_to_train = hours(5);
  p.cost = Usd(70);
  p.out_of_memory = 0.02;
  found.prediction = p;
  p.plan.price = nullptr;
  p.left_open = "stack, sharding";
  found.other_predictions = {p};
  p.plan.memory.wanted = gib(50);
  p.length_unknown = "no\ntokens";
  found.other_predictions.push_back(p);
  expect_page("findings_predicted.txt", findings_text(found, {}));
}

TEST(FindingsGithub, EscapesMessagesAndMoreOfProperties) { expect_page("findings.github", findings_github(made_up())); }

TEST(FindingsJunit, CountsFailuresByStrictness) {
  const std::string report = findings_junit(made_up(), false);
  EXPECT_THAT(report, HasSubstr("<testsuite name=\"smplan check jobs: a, 50%?&lt;b&gt;.json\" tests=\""));
  EXPECT_THAT(report, HasSubstr(" failures=\"2\" errors=\"0\" skipped=\"3\">"));
  EXPECT_THAT(report,
              HasSubstr("><failure type=\"C001\">\n      jobs: a, 50%?&lt;b&gt;.json:7 /a:b,c%: too &lt;few&gt; "
                        "100%, a: b. write &quot;more&quot;\n    </failure></testcase>\n"));
  EXPECT_THAT(report, HasSubstr("><system-out>\n      jobs: a, 50%?&lt;b&gt;.json: odd?[1m. leave it\n    "
                                "</system-out></testcase>\n"));
  EXPECT_THAT(report, HasSubstr("once\n    </failure><system-out>\n"));
  EXPECT_THAT(report, HasSubstr("><skipped message=\"no &lt;budget&gt; &amp; no deadline\"/></testcase>\n"));
  EXPECT_THAT(findings_junit(made_up(), true), HasSubstr(" failures=\"3\" errors=\"0\" skipped=\"3\">"));
}

TEST(FindingsJunit, HasACaseForEveryRule) {
  std::size_t rules = 0;
  for (const RuleFamily& family : rule_families()) rules += family.rules.size();
  const std::string report = findings_junit(Findings{}, false);
  EXPECT_THAT(report, HasSubstr("tests=\"" + std::to_string(rules) + "\" failures=\"0\" errors=\"0\" skipped=\"0\">"));
  std::size_t cases = 0;
  for (std::size_t at = report.find("\"/>\n"); at != std::string::npos; at = report.find("\"/>\n", at + 1)) ++cases;
  EXPECT_EQ(cases, rules);
}

TEST(Findings, CutWhatIsLongInReports) {
  Findings found = made_up();
  found.findings[0].message = std::string(5000, 'x');
  EXPECT_THAT(findings_github(found), HasSubstr(std::string(4096, 'x') + "..."));
  EXPECT_THAT(findings_github(found), Not(HasSubstr(std::string(4097, 'x'))));
}

CheckedJobs two_and_a_half() {
  CheckedJobs checked;
  checked.jobs = {made_up(), Findings{}};
  checked.jobs.back().file = "clean.json";
  checked.unreadable.push_back({"no\x1b.json", "is <none>"});
  return checked;
}

TEST(CheckedJobs, AreSummedUp) {
  const CheckedJobs checked = two_and_a_half();
  const Findings one = made_up();
  EXPECT_EQ(checked.count(Severity::Error), one.count(Severity::Error));
  const std::string text = jobs_text(checked, Style{});
  EXPECT_THAT(text, HasSubstr("clean.json: 0 errors"));
  EXPECT_THAT(text, HasSubstr("2 jobs, 1 with errors: "));
  EXPECT_THAT(text, HasSubstr("; 1 not checked\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(CheckedJobs, KeepTheDocumentOfEachJob) {
  const CheckedJobs checked = two_and_a_half();
  Json document = Json::parse(jobs_json(checked));
  EXPECT_EQ(document["schema"].text(), "smplan.checks/1");
  ASSERT_EQ(document["jobs"].elements().size(), 2U);
  Json first = document["jobs"].elements()[0];
  EXPECT_EQ(first, Json::parse(to_json(made_up())));
  EXPECT_EQ(document["not_checked"].elements().size(), 1U);
}

TEST(CheckedJobs, AreOneReportOfManySuites) {
  const std::string report = jobs_junit(two_and_a_half(), false);
  EXPECT_THAT(report, HasSubstr("<testsuite name=\"smplan check clean.json\""));
  EXPECT_THAT(report, HasSubstr("<error>is &lt;none&gt;</error>"));
  EXPECT_EQ(report.find("<?xml"), report.rfind("<?xml"));
  EXPECT_THAT(jobs_github(two_and_a_half()), HasSubstr("::error file=no"));
}

}  // namespace
}  // namespace smplan::cli
