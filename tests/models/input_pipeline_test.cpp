#include "models/input_pipeline.hpp"

#include <gtest/gtest.h>

#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_catalog;

InputPlan plan_of(const InputData& data, const char* instance, std::int32_t nodes = 1, Bytes kept = {}) {
  const OperationFacts& facts = step_catalog().operations();
  return plan_input(data, *step_catalog().find_instance(instance), nodes, kept, Bytes(10 * kTiB), facts,
                    facts.values());
}

struct ModeCase {
  const char* name;
  double gb;
  std::int64_t files;
  InputMode mode;
  InputReason reason;
};
class ChosenMode : public ::testing::TestWithParam<ModeCase> {};

TEST_P(ChosenMode, FollowsSizeAndFiles) {
  const ModeCase& c = GetParam();
  InputData data;
  data.size = Bytes(c.gb * 1e9);
  data.files = c.files;
  const auto [mode, reason] = choose_input_mode(data, Bytes(1e12));
  EXPECT_EQ(mode, c.mode);
  EXPECT_EQ(reason, c.reason);
}
INSTANTIATE_TEST_SUITE_P(
    Guidance, ChosenMode,
    ::testing::Values(ModeCase{"small", 50, 0, InputMode::File, InputReason::Small},
                      ModeCase{"shards", 500, 2000, InputMode::FastFile, InputReason::LargeFiles},
                      ModeCase{"images", 150, 10'000'000, InputMode::FsxLustre, InputReason::SmallFiles},
                      ModeCase{"beyond_the_disk", 5000, 0, InputMode::FastFile, InputReason::TooLargeForDisk}),
    [](const auto& test) { return test.param.name; });

TEST(InputPlan, CopiesFiftyGigabytesInFiveMinutes) {
  // SageMaker developer guide: 50 GB in 100 MB shards, File mode.
  InputData data;
  data.size = Bytes(50e9);
  data.files = 500;
  EXPECT_NEAR(plan_of(data, "ml.p4d.24xlarge").download.value(), 300, 1e-6);
  data.mode = InputMode::FastFile;
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge").download, Seconds());
}

TEST(InputPlan, ManySmallFilesFromS3StarveTheDevices) {
  InputData data;
  data.size = Bytes(150e9);
  data.files = 10'000'000;  // 15 kB each
  data.mode = InputMode::FastFile;
  // 96 CPUs open 15 kB every 30 ms: 48 MB/s.
  InputPlan s3 = plan_of(data, "ml.p4d.24xlarge");
  EXPECT_NEAR(s3.delivered.value(), 96 * 15e3 / 0.030, 1);
  s3.needed = BytesPerSecond(100e6);
  EXPECT_FALSE(s3.keeps_fed());
  data.mode = InputMode::FsxLustre;
  InputPlan lustre = plan_of(data, "ml.p4d.24xlarge");
  lustre.needed = s3.needed;
  EXPECT_TRUE(lustre.keeps_fed());
}

TEST(InputPlan, APipeHasOneReader) {
  InputData data;
  data.size = Bytes(5e12);
  data.mode = InputMode::Pipe;
  const BytesPerSecond pipe = plan_of(data, "ml.p4d.24xlarge").delivered;
  data.mode = InputMode::FastFile;
  EXPECT_LT(pipe, plan_of(data, "ml.p4d.24xlarge").delivered);
}

TEST(InputPlan, CountsLoadersPerDevice) {
  InputPlan plan = plan_of({Bytes(1e12), 0, InputMode::FastFile, false}, "ml.p4d.24xlarge", 2);
  EXPECT_EQ(plan.devices, 16);
  EXPECT_EQ(plan.most_workers, 12);
  plan.needed = BytesPerSecond(16 * 250e6);  // 250 MB/s a device at 100 MB/s a process
  EXPECT_EQ(plan.workers_per_device(), 3);
}

TEST(InputPlan, AsksForAVolumeOnlyWhereNoNvmeIsBuiltIn) {
  const InputData data{Bytes(90e9), 0, InputMode::File, false};
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge").volume, Bytes());
  // 90 GB at nine tenths full, and the 30 GB that every job has.
  EXPECT_EQ(plan_of(data, "ml.p3.16xlarge").volume, Bytes(130e9));
  EXPECT_FALSE(plan_of({Bytes(1e12), 0, InputMode::File, false}, "ml.g5.2xlarge").fits_disk);
}

TEST(ExplainInput, SaysModeReasonAndWhetherDevicesWait) {
  const InputData data{Bytes(150e9), 10'000'000, std::nullopt, false};
  InputPlan plan = plan_of(data, "ml.p4d.24xlarge");
  const std::string text = explain_input(plan, data);
  EXPECT_NE(text.find("fsx-lustre"), std::string::npos) << text;
  EXPECT_NE(text.find("too small for S3"), std::string::npos) << text;
  plan.needed = BytesPerSecond(1e15);
  EXPECT_NE(explain_input(plan, data).find("wait for data"), std::string::npos);
}

}  // namespace
}  // namespace smplan
