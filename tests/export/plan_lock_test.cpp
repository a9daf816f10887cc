#include "fixture.hpp"

#include "planner/answer/plan_lock.hpp"

// The plan beside an exported job: the same bytes from the search and from its file, and the same job again from it.

namespace smplan {
namespace {

PlanSet several() {
  RequestSpec spec = test::request("fsdp", "llama-3-8b", "ml.p4de.24xlarge", "1,2,4");
  spec.top = "3";
  return search(resolve(spec, test::shipped(), std::nullopt).value(), test::shipped());
}

TEST(PlanLock, IsTheSameFromTheSearchAndFromItsFile) {
  const PlanSet set = several();
  ASSERT_EQ(set.plans.size(), 3U);
  const JsonValue file = parse_json(to_json(set), "plan.json").value();
  for (const std::size_t rank : {std::size_t{1}, std::size_t{3}}) {
    const std::string lock = plan_lock(set, rank);
    EXPECT_EQ(lock, plan_lock(file, rank));
    const JsonValue again = parse_json(lock, "plan.json").value();
    EXPECT_EQ(lock, plan_lock(again, rank)) << "and from itself";
    EXPECT_EQ(lock.find("\"rank\": 2"), std::string::npos);
  }
}

TEST(PlanLock, IsWrittenBesideTheJobWhichIsTheSameFromIt) {
  const PlanSet set = several();
  const std::string lock = plan_lock(set, 3);
  const TrainingPlan plan = training_plan_of(set.request, set.plans[2], 3);
  const TrainingPlan again =
      read_training_plan(parse_json(lock, "plan.json").value(), kFirstPlan, test::shipped()).value();
  EXPECT_EQ(again.rank, 3U);
  const ExportOptions options;
  for (const ExportTarget& target : export_targets()) {
    const Result<Export> first = export_plan({plan, options, test::shipped(), lock}, target.name);
    if (!first) continue;
    const std::string second_lock = plan_lock(parse_json(lock, "plan.json").value(), again.rank);
    const Export second = export_plan({again, options, test::shipped(), second_lock}, target.name).value();
    EXPECT_EQ(first->files, second.files) << target.name;
    EXPECT_NE(first->files.front().path, kLockFile) << "another file stands for the whole";
    const ExportFile& notes = first->files.back();
    EXPECT_EQ(notes.path, "NOTES.md");
    EXPECT_NE(notes.content.find("- plan.json\n"), std::string::npos) << target.name;
    const bool there = std::any_of(first->files.begin(), first->files.end(), [&](const ExportFile& file) {
      return file.path == kLockFile && file.content == lock;
    });
    EXPECT_TRUE(there) << target.name;
  }
}

TEST(PlanLock, IsLeftOutWhereTheCallerHasNone) {
  const Export out = test::exported(test::plan(test::request("fsdp")), "create-training-job").value();
  for (const ExportFile& file : out.files) EXPECT_NE(file.path, kLockFile);
}

TEST(PlanLock, TakesTheFirstPlanOfAFileWithoutARank) {
  const PlanSet set = several();
  const JsonValue file = parse_json(to_json(set), "plan.json").value();
  EXPECT_EQ(read_training_plan(file, kFirstPlan, test::shipped())->rank, 1U);
  EXPECT_FALSE(read_training_plan(parse_json(plan_lock(set, 3), "plan.json").value(), 1, test::shipped()));
}

}  // namespace
}  // namespace smplan
