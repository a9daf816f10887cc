// What programs of nccl-tests write, and what the models say of it.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/validation/nccl_tests.hpp"
#include "tests/support/shipped_catalog.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n";

std::string rank(int n, const char* host) {
  return "#  Rank " + std::to_string(n) + " Group  0 Pid  1 on " + host + " device  0 [0x53] NVIDIA H100 80GB HBM3\n";
}

NcclSweep read(const std::string& text, std::string_view where = "sweep.txt") {
  Result<NcclSweep> sweep = read_nccl_tests(text, where);
  EXPECT_TRUE(sweep) << (sweep ? "" : to_string(sweep.error()));
  return sweep ? std::move(*sweep) : NcclSweep{};
}

std::string refused(const std::string& text) {
  const Result<NcclSweep> sweep = read_nccl_tests(text, "sweep.txt");
  return sweep ? "" : to_string(sweep.error());
}

TEST(NcclTests, AreKnownByTheHeaderOfTheirColumns) {
  EXPECT_TRUE(is_nccl_tests(std::string("# nThread 1\n") + kHeader));
  EXPECT_FALSE(is_nccl_tests("id,model,time\na,gpt2,1\n"));
  EXPECT_FALSE(is_nccl_tests("# a table of size, time and busbw\n")) << "words of a comment";
  EXPECT_FALSE(is_nccl_tests(""));
}

TEST(NcclTests, SayWhoTookPartAndWhatItTook) {
  const NcclSweep sweep = read("# Collective test starting: all_gather_perf\n" + rank(0, "a") + rank(1, "a") +
                               rank(2, "b") + rank(3, "b") + kHeader +
                               "  0  0  float  sum  -1  0.1  0  0  0  0.1  0  0  0\n"
                               "  1048576  262144  float  sum  -1  181.2  5.79  8.68  0  180.9  5.8  8.7  0\n"
                               "node-a:101:101 [0] NCCL INFO comm 0x55 rank 0\n"
                               "# Avg bus bandwidth    : 8.68\n");
  EXPECT_EQ(sweep.kind, CollectiveKind::AllGather);
  EXPECT_EQ(sweep.machine.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(sweep.machine.n_gpus, 4);
  EXPECT_EQ(sweep.machine.gpus_per_node, 2);
  ASSERT_EQ(sweep.points.size(), 1U) << "an empty message exchanges nothing";
  EXPECT_EQ(sweep.points[0].size, Bytes(1048576));
  EXPECT_DOUBLE_EQ(sweep.points[0].time.value(), 181.2e-6);
}

TEST(NcclTests, OfOtherReleasesHaveOtherColumns) {
  const NcclSweep sweep = read(
      "#       size         count      type   redop     time   algbw   busbw  error\n"
      "  1024  256  float  sum  20.5  0.05  0.09  1e-07\n");
  ASSERT_EQ(sweep.points.size(), 1U);
  EXPECT_DOUBLE_EQ(sweep.points[0].time.value(), 20.5e-6);
  EXPECT_EQ(sweep.kind, std::nullopt);
  EXPECT_EQ(read(std::string(kHeader) + "8 2 float sum -1 9 0 0 0 9 0 0 0\n", "alltoall_perf.log").kind,
            CollectiveKind::AllToAll)
      << "the file's name";
}

TEST(NcclTests, NameTheLineThatIsWrong) {
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("sweep.txt: holds no line of figures"));
  EXPECT_THAT(refused(std::string(kHeader) + "8 2 float sum -1 fast 0 0 0 9 0 0 0\n"),
              HasSubstr("sweep.txt:2: 'fast' is no number"));
  EXPECT_THAT(refused(std::string(kHeader) + "8 2 float sum -1 0 0 0 0\n"), HasSubstr("not positive"));
  EXPECT_THAT(refused(std::string(kHeader) + "8 2 float\n"), HasSubstr("has 3 figures"));
  EXPECT_THAT(refused(std::string(kHeader) + "8 2 float sum -1 inf 0 0 0 9 0 0 0\n"), HasSubstr("'inf' is no number"));
  EXPECT_THAT(refused(std::string(kHeader) + "8 2 float sum -1 \x1b[31m 0 0 0 9 0 0 0\n"),
              testing::Not(HasSubstr("\x1b")));
}

// 2 (n - 1) / n of the buffer over a link, as nccl-tests has it.
TEST(NcclTests, AreComparedWithTheWholeCluster) {
  const Result<const InstanceType*> p5 = test::shipped_catalog().instance("ml.p5.48xlarge", "test");
  ASSERT_TRUE(p5);
  const Result<Cluster> cluster = make_cluster(test::shipped_catalog(), **p5, 2);
  ASSERT_TRUE(cluster);
  NcclSweep sweep;
  sweep.points = {{gib(1), Seconds(0.01)}};
  const auto compared = compare_collectives(sweep, CollectiveKind::AllReduce, *cluster);
  ASSERT_EQ(compared.size(), 1U);
  const GroupShape all{.ranks = 16, .per_domain = 8, .concurrent_per_node = 1};
  const CollectiveTime expected = collective_time(CollectiveKind::AllReduce, gib(1), all, *cluster, Collectives::Nccl);
  EXPECT_EQ(compared[0].predicted.time, expected.time);
  EXPECT_DOUBLE_EQ(compared[0].ratio(), expected.time.value() / 0.01);
}

}  // namespace
}  // namespace smplan
