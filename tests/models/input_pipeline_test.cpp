#include "models/run/input_pipeline.hpp"

#include <gtest/gtest.h>

#include "models/run/checkpoint_time.hpp"
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

TEST(InputPlan, AFileSystemIsReadAtItsOwnRate) {
  const StorageService& efs = *step_catalog().operations().storage("efs");
  InputData data;
  data.size = Bytes(5e12);
  data.mode = InputMode::Efs;
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge").storage, efs.read_per_node);
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge", 16).storage, 16.0 * efs.read_per_node);
  // 60 GiB/s in all, of 0.5 GB/s each: enough for 128 instances.
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge", 128).storage, 128.0 * efs.read_per_node);
  EXPECT_NEAR(plan_of(data, "ml.p4d.24xlarge", 512).storage.value(), 60 * 1.073741824e9, 0.03e9);
}

TEST(InputPlan, APipeHasOneReader) {
  InputData data;
  data.size = Bytes(5e12);
  data.mode = InputMode::Pipe;
  const BytesPerSecond pipe = plan_of(data, "ml.p4d.24xlarge").delivered;
  data.mode = InputMode::FastFile;
  EXPECT_LT(pipe, plan_of(data, "ml.p4d.24xlarge").delivered);
}

InputPlan chosen(const InputData& data, const char* instance, double most_gb_per_s) {
  const OperationFacts& facts = step_catalog().operations();
  const auto capacity = [&](InputMode mode) {
    if (mode != InputMode::FsxLustre) return Bytes();
    return file_system_capacity(*facts.storage("fsx-lustre"), data.size, {}, BytesPerSecond(most_gb_per_s * 1e9));
  };
  return choose_input(data, *step_catalog().find_instance(instance), 1, {}, BytesPerSecond(most_gb_per_s * 1e9),
                      capacity, facts, facts.values());
}

TEST(ChooseInput, FollowsGuidanceWhereItKeepsTheDevicesFed) {
  InputData data;
  data.size = Bytes(5e12);
  const InputPlan plan = chosen(data, "ml.p4d.24xlarge", 0.5);
  EXPECT_EQ(plan.mode, InputMode::FastFile);
  EXPECT_EQ(plan.reason, InputReason::LargeFiles);
}

TEST(ChooseInput, LeavesAStreamThatWouldLetTheDevicesWait) {
  // One instance streams 1.1 GB/s from S3; a file system is bought large enough for the rate.
  InputData data;
  data.size = Bytes(5e12);
  const InputPlan plan = chosen(data, "ml.p4d.24xlarge", 5);
  EXPECT_EQ(plan.mode, InputMode::FsxLustre);
  EXPECT_EQ(plan.reason, InputReason::KeepsFed);
  EXPECT_GE(plan.delivered, BytesPerSecond(5e9));
  const std::string text = explain_input(plan, data);
  EXPECT_NE(text.find("fastfile delivers"), std::string::npos) << text;
}

TEST(ChooseInput, SaysWhereNoModeIsFastEnough) {
  // 96 loader processes of 100 MB/s deliver 9.6 GB/s, whatever the storage.
  InputData data;
  data.size = Bytes(5e12);
  const InputPlan plan = chosen(data, "ml.p4d.24xlarge", 50);
  EXPECT_EQ(plan.reason, InputReason::LeastWaits);
  EXPECT_EQ(plan.loaders, BytesPerSecond(9.6e9));
  EXPECT_NE(explain_input(plan, data).find("no mode delivers"), std::string::npos);
}

TEST(InputPlan, CpusThatPrepareDeliverWhatTheyPrepare) {
  InputData data;
  data.size = Bytes(150e9);
  data.files = 2000;
  data.preparation = Preparation::Jpeg;
  const InputPlan images = plan_of(data, "ml.g5.xlarge");
  EXPECT_EQ(images.loaders, BytesPerSecond(4 * 29e6)) << "four virtual CPUs";
  EXPECT_EQ(images.delivered, images.loaders);
  EXPECT_NE(explain_input(images, data).find("which decode the images"), std::string::npos);
  data.preparation = Preparation::Tokenize;
  EXPECT_EQ(plan_of(data, "ml.g5.xlarge").loaders, BytesPerSecond(4 * 2.4e6));
  data.preparation = Preparation::None;
  EXPECT_EQ(plan_of(data, "ml.g5.xlarge").loaders, BytesPerSecond(4 * 100e6));
}

TEST(InputPlan, ReadsWhatASequenceIsMadeOf) {
  const Operations operations = step_catalog().operations().values();
  Workload w;
  w.seq_len = 1000;
  InputData data;
  EXPECT_EQ(bytes_per_sequence(data, w, operations), Bytes(4000));
  data.preparation = Preparation::Tokenize;
  EXPECT_EQ(bytes_per_sequence(data, w, operations), Bytes(4000)) << "four characters a token";
  data.preparation = Preparation::Jpeg;
  EXPECT_EQ(bytes_per_sequence(data, w, operations), Bytes(115e3));
  data.sample = Bytes(500e3);
  EXPECT_EQ(bytes_per_sequence(data, w, operations), Bytes(500e3));
}

TEST(ChooseInput, LeavesAStatedModeAlone) {
  const InputData data{Bytes(5e12), 0, {}, InputMode::Pipe, false};
  const InputPlan plan = chosen(data, "ml.p4d.24xlarge", 50);
  EXPECT_EQ(plan.mode, InputMode::Pipe);
  EXPECT_EQ(plan.reason, InputReason::Stated);
}

TEST(MostNeeded, IsWhatDevicesReadAtTwoThirdsOfTheirPeak) {
  Workload w;
  w.architecture = step_catalog().find_model("llama-2-7b")->architecture;
  w.seq_len = 4096;
  w.global_batch = 8;
  // 6 FLOPs a parameter and token, and attention: 1 PFLOP/s takes at most 16,000 tokens a second, four sequences.
  const BytesPerSecond most = most_needed(w, Bytes(1e6), FlopsPerSecond(1e15));
  EXPECT_LT(most, BytesPerSecond(4e6));
  EXPECT_GT(most, BytesPerSecond(3e6));
  EXPECT_EQ(most_needed(w, Bytes(1e6), FlopsPerSecond()), BytesPerSecond());
}

TEST(InputPlan, CountsLoadersPerDevice) {
  InputPlan plan = plan_of({Bytes(1e12), 0, {}, InputMode::FastFile, false}, "ml.p4d.24xlarge", 2);
  EXPECT_EQ(plan.devices, 16);
  EXPECT_EQ(plan.most_workers, 12);
  plan.needed = BytesPerSecond(16 * 250e6);  // 250 MB/s a device at 100 MB/s a process
  EXPECT_EQ(plan.workers_per_device(), 3);
}

TEST(InputPlan, AsksForAVolumeOnlyWhereNoNvmeIsBuiltIn) {
  const InputData data{Bytes(90e9), 0, {}, InputMode::File, false};
  EXPECT_EQ(plan_of(data, "ml.p4d.24xlarge").volume, Bytes());
  // 90 GB at nine tenths full, and the 30 GB that every job has.
  EXPECT_EQ(plan_of(data, "ml.p3.16xlarge").volume, Bytes(130e9));
  EXPECT_FALSE(plan_of({Bytes(1e12), 0, {}, InputMode::File, false}, "ml.g5.2xlarge").fits_disk);
}

TEST(ExplainInput, SaysModeReasonAndWhetherDevicesWait) {
  const InputData data{Bytes(150e9), 10'000'000, {}, std::nullopt, false};
  InputPlan plan = plan_of(data, "ml.p4d.24xlarge");
  const std::string text = explain_input(plan, data);
  EXPECT_NE(text.find("fsx-lustre"), std::string::npos) << text;
  EXPECT_NE(text.find("too small for S3"), std::string::npos) << text;
  plan.needed = BytesPerSecond(1e15);
  EXPECT_NE(explain_input(plan, data).find("wait for data"), std::string::npos);
}

}  // namespace
}  // namespace smplan
