#include "cli/render/sweep_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::expect_page;

Context context_of(const std::string& format) {
  Context context;
  context.format_name = format;
  return context;
}

const std::vector<std::string> kVaried = {"global-batch", "region"};

const std::string kPlanned =
    R"({"request":{"global_batch":"64","region":"north-1"},"status":"planned","plan":{"instance_type":"ml.small",)"
    R"("instance_count":3,"stack":"sail","parallel":{"data":3,"tensor":1,"pipeline":1,"virtual_pipeline":1,"context":1,)"
    R"("expert":1,"sequence_parallel":false},"sharding":{"strategy":"none","degree":1},"schedule":null,"micro_batch":2,)"
    R"("gradient_accumulation":1,"global_batch":6,"recompute":"none","offload":"none","collectives":"nccl",)"
    R"("dtype":"bf16","time_to_train_s":7200,)"
    R"("time_to_train_interval_s":[3600,10800],"memory":{"out_of_memory_probability":0.25},"cost":{"market":"spot",)"
    R"("hourly_usd":7.5,"total_usd":15,"total_interval_usd":[10.5,20]}},)"
    R"("trials":{"count":12,"at_once":4,"keep":3,"makespan_s":86400,"total_usd":180}})"
    "\n";
const std::string kRefused =
    R"({"request":{"global_batch":"1"},"status":"invalid","message":"--tokens: is wrong\n--tp: too\n"})"
    "\n";
/// As somebody may have left it: everything has the wrong type or sign.
const std::string kSpoiled =
    R"({"request":7,"status":"planned","plan":{"instance_type":1,"instance_count":"x","time_to_train_s":-1,)"
    R"("time_to_train_interval_s":[1],"memory":[],"cost":{"hourly_usd":null,"total_usd":-0.5,)"
    R"("total_interval_usd":["a",2]}},"trials":{"count":1e16,"makespan_s":0,"total_usd":0}})"
    "\n";

TEST(RenderSweep, ShowsLinesInEveryFormat) {
  const std::vector<std::string> lines = {kPlanned, kRefused, kSpoiled, "no line\n"};
  expect_page("sweep.txt", render_sweep(lines, kVaried, context_of("table")));
  expect_page("sweep.csv", render_sweep(lines, kVaried, context_of("csv")));
  expect_page("sweep.md", render_sweep(lines, kVaried, context_of("markdown")));
  EXPECT_EQ(render_sweep({"{\"a\":1}\n", "{\"b\":2}\n"}, {}, context_of("json")), "[\n{\"a\":1},\n{\"b\":2}\n]\n");
}

TEST(RenderSweep, LeavesOutColumnsThatNobodyNeeds) {
  const std::string plan = kPlanned.substr(0, kPlanned.find(",\"trials\"")) + "}\n";
  expect_page("sweep_planned.txt", render_sweep({plan, plan}, {}, context_of("table")));
  expect_page("sweep_refused.txt", render_sweep({kRefused}, kVaried, context_of("table")));
}

TEST(RenderSweep, BeginsTheTableOfOneLineWithItsTrials) {
  const std::string words =
      "12 trials, of which one in 3 goes on at each rung: 4 at a time, each on 3 x ml.small; all "
      "done in 24.0 h for $180";
  EXPECT_EQ(trials_in_words(kPlanned), words);
  EXPECT_THAT(render_sweep({kPlanned}, {}, context_of("table")), testing::StartsWith("Best: " + words + "\n\n"));
  EXPECT_THAT(render_sweep({kPlanned, kPlanned}, {}, context_of("table")), testing::Not(testing::HasSubstr("Best:")));
  EXPECT_EQ(trials_in_words(kRefused), "");
  EXPECT_EQ(trials_in_words(R"({"plan":{},"trials":{"count":2,"at_once":1}})"),
            "2 trials: 1 at a time, each on - x ; all done in - for -");
  EXPECT_EQ(trials_in_words(R"({"plan":{},"trials":{"count":2}})"), "");
  EXPECT_EQ(trials_in_words(R"({"plan":{},"trials":{"at_once":2}})"), "");
  EXPECT_EQ(trials_in_words(R"({"trials":{"count":2,"at_once":1}})"), "");
}

TEST(RenderSweep, CutsALongMessage) {
  const std::string line = R"({"status":"invalid","message":")" + std::string(2000, 'x') + "\"}\n";
  EXPECT_EQ(render_sweep({line}, {}, context_of("csv")), "status,message\ninvalid," + std::string(1000, 'x') + "...\n");
}

}  // namespace
}  // namespace smplan::cli
