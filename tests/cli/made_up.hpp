#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "cli/interface/description.hpp"
#include "cli/render/table.hpp"
#include "planner/answer/plan.hpp"
#include "tests/planner/fixtures.hpp"

/// Values that no catalog has, so that pages of them change only with the code that writes them.
namespace smplan::cli::test {

/// Compares a page with tests/cli/pages/NAME; SMPLAN_UPDATE_GOLDEN=1 writes it.
inline void expect_page(const std::string& name, const std::string& page) {
  const std::string path = std::string(SMPLAN_TEST_DATA "/cli/pages/") + name;
  const char* update = std::getenv("SMPLAN_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(page, std::string(std::istreambuf_iterator<char>(file), {})) << path;
}

/// What a table does where the width is short: each column with its side and, where it has them, the order in which it
/// is dropped and the width down to which it folds.
inline std::string columns_of(const Table& table) {
  std::string text;
  for (const Column& column : table.columns) {
    text += column.name + (column.align == Align::Right ? ": right" : ": left");
    if (column.drop > 0) text += ", drop " + std::to_string(column.drop);
    if (column.fold > 0) text += ", fold " + std::to_string(column.fold);
    text += '\n';
  }
  return text + '\n';
}

/// A command line with every kind of argument, and with marks that mean something to a shell or a formatter.
inline Interface made_up_interface() {
  const ArgumentHelp help{{"--help", "-h"}, "", "Print this help", "", false, false, false};
  const ArgumentHelp format{{"--format"}, "table|json", "How to print [table]", kCommonGroup, false, false, false};
  Interface all;
  all.about = ".Plans what it's told; 50% [of] it: a\\b";
  all.exit_codes = {{"0", "done"}, {"2", "bad | worse"}};
  all.environment = {{"TZ", "Zone of the days"}, {"NO_COLOR", "'No' colour"}};
  all.examples = {"smplan fly --to 'the moon'", "smplan `date`"};
  all.arguments = {help, {{"--version", "-V"}, "", "It's the version", "", false, false, false}};
  CommandHelp fly;
  fly.name = "fly";
  fly.summary = "Fly: it's [fast] \\o/";
  fly.examples = {"smplan fly A", "smplan fly A --to 'here'"};
  fly.arguments = {help,
                   {{"FROM"}, "", "File to leave from", "", true, true, false},
                   {{"way"}, "air|sea", "Which way", "", true, false, false},
                   {{"stops"}, "FOLDER", "Folders on the way", "", true, false, true},
                   {{"--to", "-t"}, "PLACE", "Where it's bound", "", false, false, false},
                   {{"--map"}, "FILE", "Map of the | way", "Papers", false, false, true},
                   {{"--deck"}, "air|sea", "Where to sit", "Papers", false, false, false},
                   {{"--slow"}, "", "Take the time", "Papers", false, false, false},
                   format};
  CommandHelp land;
  land.name = "land-on";
  land.summary = "Land";
  land.examples = {"smplan land-on"};
  land.arguments = {help,
                    {{"name"}, "NAME", "Of the place", "", true, true, false},
                    {{"where"}, "up|down", "On what", "", true, true, true},
                    format};
  all.commands = {fly, land};
  return all;
}

/// Two plans and all that they point to: the first priced by a formula, the second too long for one job.
class MadeUpPlans {
 public:
  MadeUpPlans() {
    small_.name = "ml.small";
    small_.accelerator = "Chip-1";
    large_.name = "ml.large";
    large_.accelerator = "Chip-2";
    stack_.id = "sail";
    stack_.name = "The Sail Stack";
    derived_ = {"ml.small",          "north-1",   Market::OnDemand,        usd_per_hour(2.5),
                PriceBasis::Derived, "EC2 x 1.2", {"list A", "2026-01-02"}};
    measured_ = {
        "ml.large", "north-1", Market::Spot, usd_per_hour(40), PriceBasis::Measured, "", {"list B", "2026-03-04"}};
  }
  MadeUpPlans(const MadeUpPlans&) = delete;
  MadeUpPlans& operator=(const MadeUpPlans&) = delete;

  [[nodiscard]] Plan first() const {
    Plan p;
    p.instance = &small_;
    p.instance_count = 3;
    p.stack = &stack_;
    p.micro_batches = 1;
    p.price = p.on_demand = &derived_;
    p.memory.components = {gib(8), gib(4), gib(2), gib(1), gib(0.5), gib(0.25), gib(0.125), gib(0.125)};
    p.memory.wanted = gib(16);
    p.memory.limit = gib(40);
    p.memory.peak_allocated = gib(14);
    p.memory.peak_reserved = gib(15);
    p.memory.host_limit = gib(64);
    p.memory.nvme_limit = gib(128);
    p.memory.worst_stage = 2;
    p.peak_interval = {gib(15), gib(17)};
    p.out_of_memory_probability = 0.001;
    p.step.components.compute = Seconds(8);
    p.step.components.attention = Seconds(1.5);
    p.step.components.straggler = Seconds(0.5);
    p.step.p10 = Seconds(9.99);
    p.step.p90 = Seconds(100);
    p.step.tokens_per_s = 12000;
    p.step.tokens_per_s_per_gpu = 1500;
    p.step.model_flops_per_gpu = FlopsPerSecond(1.5e14);
    p.step.mfu = 0.45;
    p.step.hfu = 0.5;
    p.cost.productive = hours(20);
    p.cost.startup = hours(1);
    p.cost.loss.checkpoints = hours(2);
    p.cost.loss.rework = hours(0.5);
    p.cost.loss.restarts = hours(0.5);
    p.cost.loss.interval = hours(3);
    p.cost.loss.interruptions = 0.25;
    p.cost.goodput = 0.8;
    p.cost.hourly = usd_per_hour(7.5);
    p.cost.bill.compute = Usd(150);
    p.cost.bill.startup = Usd(7);
    p.cost.bill.checkpoints = Usd(15);
    p.cost.bill.rework = Usd(3);
    p.cost.bill.restarts = Usd(4);
    p.cost.bill.volume = Usd(1);
    p.cost.spread = {hours(24), 0.1};
    p.cost.low = Usd(160);
    p.cost.high = Usd(200);
    p.cost.failures = 0.25;
    p.cost.checkpoint = CheckpointTimes{gib(10), Seconds(30), Seconds(90), Seconds(5)};
    p.warnings = {"the first is odd"};
    return p;
  }

  [[nodiscard]] Plan second() const {
    Plan p = first();
    p.instance = &large_;
    p.instance_count = 1;
    p.market = Market::Spot;
    p.micro_batches = 4;
    p.price = &measured_;
    p.on_demand = nullptr;
    p.out_of_memory_probability = 0.01;
    p.memory.host_per_node = gib(32);
    p.memory.nvme_per_node = gib(100);
    p.step.p10 = Seconds(10);
    p.step.p90 = Seconds(99.9);
    p.cost.productive = days(30);
    p.cost.spread = {days(31), 0.2};
    p.cost.bill.compute = Usd(90);
    p.cost.reclaims = 2;
    p.cost.checkpoint->drain = Seconds();
    p.warnings = {"the first is odd", "the second is old"};
    return p;
  }

  [[nodiscard]] PlanSet set() const {
    PlanSet set;
    set.request.workload.architecture = smplan::test::small_model(4, 256, 4);
    set.request.workload.seq_len = 2048;
    set.request.workload.global_batch = 16;
    set.request.workload.tokens = 1e9;
    set.request.region = "north-1";
    set.request.types_orderable = set.request.types_priced = 2;
    set.plans = {first(), second()};
    set.frontier = {second(), first()};
    set.search.space = 30;
    set.search.evaluated = 20;
    set.search.pruned = 4;
    return set;
  }

 private:
  InstanceType small_, large_;
  Stack stack_;
  Price derived_, measured_;
};

}  // namespace smplan::cli::test
