#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "planner/calibration/calibrate.hpp"
#include "planner/calibration/calibration_overlay.hpp"
#include "planner/calibration/calibration_report.hpp"
#include "planner/calibration/error_sample.hpp"
#include "planner/calibration/fit_knobs.hpp"
#include "planner/calibration/run_groups.hpp"
#include "planner/validation/prediction.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

constexpr const char* kFsdpRun =
    "id,source,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,shard,micro_batch,global_batch\n"
    "mine,me,llama-2-7b,A100-40GB,32,8,fsdp,bf16,4096,fsdp-full,1,64\n";

/// The run of kFsdpRun, measured `factor` times slower than what the catalog predicts.
std::vector<MeasuredRun> slower(double factor, std::size_t copies = 1) {
  MeasuredRun run = test::runs_from(kFsdpRun).at(0);
  run.step_time_s = factor * predict_run(run, shipped_catalog()).step.time().value();
  return std::vector<MeasuredRun>(copies, run);
}

/// Part of the way from the old prediction to the measurement, on the scale of ratios.
double way_moved(const std::vector<MeasuredRun>& runs, const CalibrationOptions& options = {}) {
  const Result<CalibrationResult> fit = calibrate(runs, shipped_catalog(), options);
  if (!fit) {
    ADD_FAILURE() << to_string(fit.error());
    return 0;
  }
  const double before = predict_run(runs[0], shipped_catalog()).step.time().value();
  const double after = predict_run(runs[0], fit->catalog).step.time().value();
  return std::log(after / before) / std::log(*runs[0].step_time_s / before);
}

TEST(Calibrate, OneSlowRunMovesItsPredictionPartOfTheWay) {
  const double moved = way_moved(slower(1.2));
  EXPECT_GT(moved, 0.2);
  EXPECT_LT(moved, 0.9);
}

TEST(Calibrate, OneFastRunMovesItTheOtherWay) {
  const double moved = way_moved(slower(0.85));
  EXPECT_GT(moved, 0.2);
  EXPECT_LT(moved, 0.9);
}

// A program is slow as a whole: one run says it of another model, batch and length.
TEST(Calibrate, OneRunMovesOtherRunsOfItsProgramAsFar) {
  const Result<CalibrationResult> fit = calibrate(slower(1.3), shipped_catalog(), {});
  ASSERT_TRUE(fit);
  for (const char* other : {"llama-2-13b,A100-40GB,32,8,fsdp,bf16,2048,fsdp-full,2,128",
                            "llama-3.1-8b,H100-80GB,8,8,fsdp,bf16,8192,fsdp-full,1,8"}) {
    const std::string header =
        "id,source,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,shard,micro_batch,global_batch\nx,me,";
    const MeasuredRun run = test::runs_from(header + other + "\n").at(0);
    const double ratio = predict_run(run, fit->catalog).step.time() / predict_run(run, shipped_catalog()).step.time();
    EXPECT_GT(ratio, 1.13) << other;
    EXPECT_LT(ratio, 1.3) << other;
  }
}

TEST(Calibrate, MoreRunsMoveItFurther) {
  const double one = way_moved(slower(1.2, 1));
  const double ten = way_moved(slower(1.2, 10));
  const double hundred = way_moved(slower(1.2, 100));
  EXPECT_LT(one, ten);
  EXPECT_LT(ten, hundred);
  EXPECT_GT(hundred, 0.9);
}

TEST(Calibrate, WiderPriorsMoveItFurther) {
  EXPECT_LT(way_moved(slower(1.2), {.prior_scale = 0.1}), way_moved(slower(1.2), {.prior_scale = 1}));
}

TEST(Calibrate, OtherStacksAndAcceleratorsStayAsTheyAre) {
  const Result<CalibrationResult> fit = calibrate(slower(1.2), shipped_catalog(), {});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->stacks, std::vector<std::string>{"fsdp"});
  EXPECT_TRUE(fit->accelerators.empty());
  for (const Stack& stack : shipped_catalog().stacks()) {
    if (stack.id == "fsdp" || stack.runs_like == "fsdp") continue;
    EXPECT_EQ(*fit->catalog.find_stack(stack.id), stack) << stack.id;
  }
  EXPECT_EQ(fit->catalog.accelerator_profiles(), shipped_catalog().accelerator_profiles());
}

TEST(Calibrate, NumbersThatNoRunDependsOnStayToTheLastDigit) {
  const Result<CalibrationResult> fit = calibrate(slower(1.2), shipped_catalog(), {});
  ASSERT_TRUE(fit);
  const StackProfile& before = shipped_catalog().find_stack("fsdp")->profile;
  const StackProfile& after = fit->catalog.find_stack("fsdp")->profile;
  // A dense model without tensor or expert parallelism.
  EXPECT_EQ(after.tensor_overlap, before.tensor_overlap);
  EXPECT_EQ(after.expert_overlap, before.expert_overlap);
  EXPECT_EQ(after.host_time_moe_layer, before.host_time_moe_layer);
  EXPECT_EQ(after.allocator_slack, before.allocator_slack);
  EXPECT_NE(after.gemm_slowdown, before.gemm_slowdown);
}

TEST(Calibrate, DevicesMoveOnlyWhenAsked) {
  CalibrationOptions options;
  options.scope = CalibrationScope::StacksAndDevices;
  const Result<CalibrationResult> fit = calibrate(slower(1.2, 20), shipped_catalog(), options);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->accelerators, std::vector<std::string>{"A100-40GB"});
  EXPECT_LT(fit->catalog.find_accelerator_profile("A100-40GB")->sustained_fraction,
            shipped_catalog().find_accelerator_profile("A100-40GB")->sustained_fraction);
}

TEST(Calibrate, CardsWithTheSameSiliconSustainTheSame) {
  std::vector<MeasuredRun> runs = slower(1.2, 20);
  runs.push_back(runs[0]);
  runs.back().machine.gpu = "A100-80GB";
  const Result<CalibrationResult> fit =
      calibrate(runs, shipped_catalog(), calibration_options(CalibrationScope::StacksAndDevices));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->accelerators, (std::vector<std::string>{"A100-40GB", "A100-80GB"}));
  const auto sustained = [&](const char* key) {
    return fit->catalog.find_accelerator_profile(key)->sustained_fraction;
  };
  EXPECT_EQ(sustained("A100-40GB"), sustained("A100-80GB"));
  EXPECT_LT(sustained("A100-80GB"), shipped_catalog().find_accelerator_profile("A100-80GB")->sustained_fraction);
}

TEST(Calibrate, WhatNoRunTellsOfASiliconIsLeftToEachCard) {
  Catalog catalog = shipped_catalog();
  catalog.set_sustained_rate({.accelerator = "A100-40GB", .attention = 0.9});
  catalog.set_sustained_rate({.accelerator = "A100-80GB", .attention = 0.8});
  std::vector<MeasuredRun> runs = slower(1.2, 2);
  runs[1].machine.gpu = "A100-80GB";
  CalibrationOptions options = calibration_options(CalibrationScope::StacksAndDevices);
  options.least_narrowing = 1;
  const Result<CalibrationResult> fit = calibrate(runs, catalog, options);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->catalog.find_accelerator_profile("A100-40GB")->sustained_attention, 0.9);
  EXPECT_EQ(fit->catalog.find_accelerator_profile("A100-80GB")->sustained_attention, 0.8);
}

// The same library multiplies in every stack: what is slow of it is the accelerator's, if that may move.
TEST(Calibrate, ProductsAreHeldCloserBesideAccelerators) {
  const auto spread = [](CalibrationScope scope) {
    const Result<CalibrationResult> fit = calibrate(slower(1), shipped_catalog(), {.scope = scope});
    for (const FittedParameter& p : fit.value().parameters) {
      if (p.key == "gemm_slowdown") return p.prior_spread;
    }
    return 0.0;
  };
  EXPECT_NEAR(spread(CalibrationScope::StacksAndDevices) / spread(CalibrationScope::Stacks), 0.3, 0.01);
}

TEST(Calibrate, WhatRunsHardlyNarrowKeepsItsPrior) {
  const auto moved = [](double least_narrowing) {
    CalibrationOptions options = calibration_options(CalibrationScope::StacksAndDevices);
    options.least_narrowing = least_narrowing;
    std::set<std::string> keys;
    const Result<CalibrationResult> fit = calibrate(slower(1.2, 4), shipped_catalog(), options);
    for (const FittedParameter& p : fit.value().parameters) {
      if (p.value != p.prior) keys.insert(p.key);
    }
    return keys;
  };
  const std::set<std::string> all = moved(0);
  const std::set<std::string> told = moved(0.1);
  EXPECT_TRUE(told.contains("sustained_fraction"));
  EXPECT_LT(told.size(), all.size());
  EXPECT_TRUE(std::includes(all.begin(), all.end(), told.begin(), told.end()));
  EXPECT_TRUE(moved(1).empty());
}

TEST(Calibrate, NumbersThatStacksShareAreFittedOnce) {
  std::vector<MeasuredRun> runs = test::runs_from(
      "id,source,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,tp,micro_batch,global_batch\n"
      "a,me,opt-1.3b,A100-80GB,8,8,Megatron-LM,bf16,1024,8,1,64\n"
      "b,me,opt-1.3b,A100-80GB,8,8,Megatron-DeepSpeed,bf16,1024,8,1,64\n");
  for (MeasuredRun& run : runs) {
    run.step_time_s = 1.3 * predict_run(run, shipped_catalog()).step.time().value();
  }
  const Result<CalibrationResult> fit = calibrate(runs, shipped_catalog(), {.prior_scale = 1});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->stacks, (std::vector<std::string>{"megatron", "megatron-deepspeed"}));
  const auto of_key = [&](std::string_view key) {
    std::vector<std::string> owners;
    for (const FittedParameter& p : fit->parameters) {
      if (p.key == key) owners.push_back(p.owner);
    }
    return owners;
  };
  EXPECT_EQ(of_key("host_collective_us"), std::vector<std::string>{"every stack"});
  EXPECT_EQ(of_key("gemm_slowdown"), (std::vector<std::string>{"megatron", "megatron-deepspeed"}));
  const auto collective = [](const Catalog& catalog, const char* stack) {
    return catalog.find_stack(stack)->profile.host_collective;
  };
  EXPECT_GT(collective(fit->catalog, "megatron"), collective(shipped_catalog(), "megatron"));
  EXPECT_EQ(collective(fit->catalog, "megatron"), collective(fit->catalog, "megatron-deepspeed"));
}

TEST(Calibrate, RefusesRunsWithoutATime) {
  const Result<CalibrationResult> fit = calibrate(test::runs_from(kFsdpRun), shipped_catalog(), {});
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().front().code, "no-runs");
}

TEST(Calibrate, DoubtfulRunsAreReportedAndTeachNothing) {
  std::vector<MeasuredRun> runs = slower(1.2, 4);
  runs[3].id = "odd";
  runs[3].step_time_s = 7 * *runs[3].step_time_s;
  CalibrationOptions options;
  options.not_fitted = {"odd"};
  const Result<CalibrationResult> screened = calibrate(runs, shipped_catalog(), options);
  const Result<CalibrationResult> without = calibrate(slower(1.2, 3), shipped_catalog(), {});
  ASSERT_TRUE(screened && without);
  EXPECT_EQ(screened->runs, 3U);
  EXPECT_EQ(screened->catalog.find_stack("fsdp")->profile, without->catalog.find_stack("fsdp")->profile);
  EXPECT_GT(screened->mape_after, without->mape_after);

  std::vector<std::string> groups = {"a", "b", "a", "b"};
  const auto errors = cross_validate(runs, shipped_catalog(), options, groups);
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->size(), 4U);
}

TEST(Calibrate, ReducesTheErrorOfTheMeasuredRuns) {
  CalibrationOptions options;
  options.fit.max_iterations = 3;
  const Result<CalibrationResult> fit = calibrate(test::measured_runs(), shipped_catalog(), options);
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->runs, 1500U);
  EXPECT_LE(fit->mape_after, fit->mape_before + 1e-3);
}

TEST(CalibrationOverlay, ReadsBackAsTheFittedProfiles) {
  CalibrationOptions options;
  options.scope = CalibrationScope::StacksAndDevices;
  const Result<CalibrationResult> fit = calibrate(slower(1.3, 5), shipped_catalog(), options);
  ASSERT_TRUE(fit);
  const std::string text = calibration_overlay(*fit, "runs.csv", "2026-11-20");
  const Result<JsonValue> json = parse_json(text, "overlay.json");
  ASSERT_TRUE(json) << to_string(json.error());
  Catalog merged = shipped_catalog();
  const Result<void> done = merged.merge(*json);
  ASSERT_TRUE(done) << to_string(done.error());
  for (const StackParameter& p : stack_parameters()) {
    const double fitted = p.get(fit->catalog.find_stack("fsdp")->profile);
    EXPECT_NEAR(p.get(merged.find_stack("fsdp")->profile), fitted, 1e-5 * std::abs(fitted)) << p.key;
  }
  const Provenance& told = merged.find_stack("fsdp")->profile.provenance;
  EXPECT_EQ(told.source, "fitted on 5 runs of runs.csv");
  EXPECT_EQ(told.as_of, "2026-11-20");
  EXPECT_NEAR(merged.find_accelerator_profile("A100-40GB")->sustained_fraction,
              fit->catalog.find_accelerator_profile("A100-40GB")->sustained_fraction, 1e-5);
  EXPECT_EQ(predict_run(slower(1)[0], merged).status, RunStatus::Ok);
}

TEST(CalibrationOverlay, WithoutDevicesHasNoSustainedRates) {
  const Result<CalibrationResult> fit = calibrate(slower(1.2), shipped_catalog(), {});
  ASSERT_TRUE(fit);
  EXPECT_EQ(calibration_overlay(*fit, "runs.csv", "2026-11-20").find("sustained_rates"), std::string::npos);
}

TEST(CalibrationOverlay, SurvivesFileNamesThatAreNoText) {
  const Result<CalibrationResult> fit = calibrate(slower(1.2), shipped_catalog(), {});
  ASSERT_TRUE(fit);
  EXPECT_TRUE(parse_json(calibration_overlay(*fit, "\xff\xfe.csv", "2026-11-20"), "overlay"));
}

// P10-P90 of a normal distribution is 1.2816 standard deviations each way.
TEST(IntervalSigma, HoldsFourFifthsOfManyErrors) {
  std::vector<double> errors;
  for (int i = 1; i <= 1000; ++i) errors.push_back(i % 2 == 0 ? 0.001 * i : -0.001 * i);
  EXPECT_NEAR(interval_sigma(errors, 0.15, 1000), 0.8 / 1.28155, 0.01);
}

TEST(IntervalSigma, FewErrorsStayNearThePrior) {
  EXPECT_DOUBLE_EQ(interval_sigma({}, 0.2, 0), 0.2);
  const double one = interval_sigma({0.6}, 0.15, 1);
  EXPECT_GT(one, 0.15);
  EXPECT_LT(one, 0.25);
}

TEST(IntervalSigma, OfRunsThatAreNotIndependentStaysNearerThePrior) {
  const std::vector<double> errors(400, 0.0512624);  // one standard deviation is 0.04
  EXPECT_NEAR(interval_sigma(errors, 0.15, 400), 0.0459, 1e-4);
  EXPECT_NEAR(interval_sigma(errors, 0.15, 10), std::sqrt((0.15 * 0.15 + 0.04 * 0.04) / 2), 1e-6);
}

TEST(IntervalSigma, OutliersDoNotWidenIt) {
  std::vector<double> errors(95, 0.1);
  const double before = interval_sigma(errors, 0.15, 100);
  errors.insert(errors.end(), 5, 3.0);
  EXPECT_NEAR(interval_sigma(errors, 0.15, 100), before, 0.002);
}

std::vector<std::string> sources(const std::vector<MeasuredRun>& runs) {
  std::vector<std::string> names;
  for (const MeasuredRun& run : runs) names.push_back(run.source);
  return names;
}

TEST(CrossValidate, LeavesEachGroupOutOnce) {
  std::vector<MeasuredRun> runs = slower(1.2, 4);
  runs[0].source = runs[1].source = "other";
  const auto errors = cross_validate(runs, shipped_catalog(), {}, sources(runs));
  ASSERT_TRUE(errors);
  ASSERT_EQ(errors->size(), 4U);
  for (const LeftOutError& e : *errors) {
    EXPECT_EQ(e.stack, "fsdp");
    // Told by the other group only: better than 1 / 1.2, not perfect.
    EXPECT_GT(e.ratio, 1 / 1.2);
    EXPECT_LT(e.ratio, 1);
  }
}

TEST(CrossValidate, WhatIsLeftOutTeachesNothing) {
  std::vector<MeasuredRun> runs = slower(1, 4);
  runs[0].source = runs[1].source = "odd";
  runs[0].step_time_s = runs[1].step_time_s = 5 * *runs[0].step_time_s;
  const auto errors = cross_validate(runs, shipped_catalog(), {}, sources(runs));
  ASSERT_TRUE(errors);
  for (const LeftOutError& e : *errors) {
    if (e.group == "odd") {
      EXPECT_NEAR(e.ratio, 0.2, 0.01);
    }
  }
}

TEST(CrossValidate, OneGroupIsRefused) {
  const std::vector<MeasuredRun> runs = slower(1.2, 3);
  const auto errors = cross_validate(runs, shipped_catalog(), {}, sources(runs));
  ASSERT_FALSE(errors);
  EXPECT_EQ(errors.error().front().code, "one-group");
}

TEST(CrossValidate, IntervalsOfLeftOutGroupsAreWiderThanTheFits) {
  std::vector<MeasuredRun> runs = slower(1.5, 40);
  for (std::size_t i = 0; i < 20; ++i) {
    runs[i].source = "other";
    runs[i].step_time_s = *runs[i].step_time_s / 2.25;
  }
  CalibrationOptions options;
  options.prior_scale = 1;
  const Result<CalibrationResult> fitted = calibrate(runs, shipped_catalog(), options);
  options.interval_groups = sources(runs);
  const Result<CalibrationResult> left_out = calibrate(runs, shipped_catalog(), options);
  ASSERT_TRUE(fitted && left_out);
  EXPECT_GT(left_out->catalog.find_stack("fsdp")->profile.residual_sigma,
            1.2 * fitted->catalog.find_stack("fsdp")->profile.residual_sigma);
}

TEST(LeftOutReport, AveragesOverGroupsOfTenOrMore) {
  std::vector<LeftOutError> errors;
  for (int i = 0; i < 10; ++i) errors.push_back({0, "large", "fsdp", 1.1});
  for (int i = 0; i < 20; ++i) errors.push_back({0, "larger", "fsdp", 0.7});
  errors.push_back({0, "small", "fsdp", 9});
  const LeftOutReport report = summarise_left_out("source", errors);
  EXPECT_EQ(report.large_groups, 2U);
  EXPECT_NEAR(report.mean_of_large, 0.2, 1e-12);
  EXPECT_NEAR(report.worst_of_large, 0.3, 1e-12);
  EXPECT_EQ(report.groups.front().name, "larger");
  EXPECT_EQ(report.all.n, 31U);
}

/// Two numbers of a profile and three errors, all made up, so that what a report holds can be read off here.
struct MadeUp {
  CalibrationResult result;
  std::vector<MeasuredRun> runs = slower(1, 2);
  LeftOutReport left_out;

  MadeUp() {
    result.runs = 2;
    result.mape_before = 0.5;
    result.mape_after = 0.25;
    result.parameters = {{"fsdp", "gemm_slowdown", "time of products, relative", 1.5, 0.5, 1.25, 0.125, 2, true},
                         {"H200", "sustained_fraction", "speed", 1, 0.1, 1, 0.1, 0, false}};
    runs[1].id = "the, other";
    left_out = summarise_left_out("source", {{0, "me", "fsdp", 1.5, 0, true, true}, {1, "you", "fsdp", 0.75}});
  }
};

TEST(CalibrationReport, JsonHoldsEveryNumberAndEveryLeftOutRun) {
  const MadeUp made_up;
  const auto json = nlohmann::json::parse(calibration_json(made_up.result, &made_up.left_out, made_up.runs));
  EXPECT_EQ(json.at("schema_version"), 1);
  EXPECT_EQ(json.at("runs"), 2);
  EXPECT_EQ(json.at("mape_before"), 0.5);
  EXPECT_EQ(json.at("mape_after"), 0.25);
  const nlohmann::json first = {{"owner", "fsdp"},
                                {"key", "gemm_slowdown"},
                                {"meaning", "time of products, relative"},
                                {"prior", 1.5},
                                {"prior_spread", 0.5},
                                {"value", 1.25},
                                {"spread", 0.125},
                                {"runs", 2},
                                {"determined", true}};
  ASSERT_EQ(json.at("parameters").size(), 2U);
  EXPECT_EQ(json.at("parameters").at(0), first);
  EXPECT_EQ(json.at("parameters").at(1).at("determined"), false);
  const nlohmann::json& left_out = json.at("left_out");
  EXPECT_EQ(left_out.at("by"), "source");
  EXPECT_EQ(left_out.at("all").at("n"), 2);
  EXPECT_EQ(left_out.at("all").at("mape"), 0.375);
  EXPECT_EQ(left_out.at("groups").size(), 2U);
  EXPECT_EQ(left_out.at("groups_of_ten_or_more"), 0);
  const nlohmann::json second = {{"id", "the, other"},   {"group", "you"},
                                 {"stack", "fsdp"},      {"predicted_over_measured", 0.75},
                                 {"in_interval", false}, {"fitted", true}};
  EXPECT_EQ(left_out.at("runs").at(1), second);
  EXPECT_EQ(left_out.at("runs").at(0).at("in_interval"), true);
}

TEST(CalibrationReport, WithoutCrossValidationNothingIsLeftOut) {
  const MadeUp made_up;
  EXPECT_FALSE(nlohmann::json::parse(calibration_json(made_up.result, nullptr, made_up.runs)).contains("left_out"));
}

TEST(CalibrationReport, CsvQuotesWhatHoldsACommaAndKeepsEveryDigit) {
  const MadeUp made_up;
  EXPECT_EQ(left_out_csv(made_up.left_out, made_up.runs),
            "id,group,stack,predicted_over_measured\n"
            "mine,me,fsdp,1.5\n"
            "\"the, other\",you,fsdp,0.75\n");
  EXPECT_EQ(fitted_csv(made_up.result),
            "owner,key,prior,prior_spread,value,spread,runs,determined,meaning\n"
            "fsdp,gemm_slowdown,1.5,0.5,1.25,0.125,2,1,\"time of products, relative\"\n"
            "H200,sustained_fraction,1,0.1,1,0.1,0,0,speed\n");
}

TEST(AcceleratorFamily, IsOneDesign) {
  MeasuredRun run = test::runs_from(kFsdpRun).at(0);
  const auto family = [&](const char* gpu) {
    run.machine.gpu = gpu;
    return accelerator_family(run, shipped_catalog());
  };
  EXPECT_EQ(family("A100-40GB"), family("A100-80GB"));
  EXPECT_EQ(family("H100-80GB"), family("H200"));
  EXPECT_NE(family("B200"), family("GB200"));
  EXPECT_EQ(family("B200"), family("B300"));
  EXPECT_NE(family("A10G"), family("A100-40GB"));
  EXPECT_EQ(family("unheard-of"), "unheard-of");
}

TEST(RunGroups, ArePairsOfStackAndDesignWhereBothAreAskedFor) {
  std::vector<MeasuredRun> runs = slower(1, 3);
  runs[1].framework = "Megatron-LM";
  runs[1].machine.gpu = "H100-80GB";
  runs[2].framework.clear();
  runs[2].machine.gpu = "A100-80GB";
  const std::vector<std::string> files(runs.size(), "runs.csv");
  const std::string family = accelerator_family(runs[0], shipped_catalog());
  const std::vector<std::string> pairs = run_groups("stack-gpu", runs, files, shipped_catalog());
  EXPECT_EQ(pairs[0], "fsdp on " + family);
  EXPECT_EQ(pairs[1], "megatron on " + accelerator_family(runs[1], shipped_catalog()));
  EXPECT_EQ(pairs[2], "fsdp on " + family) << "by its sharding";
  EXPECT_EQ(run_groups("file", runs, files, shipped_catalog()), files);
}

TEST(StackProfiles, ShareWhatIsOfNoStack) {
  for (const StackParameter& p : stack_parameters()) {
    if (!p.shared) continue;
    for (const Stack& stack : shipped_catalog().stacks()) {
      EXPECT_EQ(p.get(stack.profile), p.get(shipped_catalog().find_stack("megatron")->profile)) << stack.id << p.key;
    }
  }
}

TEST(StackProfiles, WithoutRunsOfExpertsTakeTheirCostFromTheStackThatHasThem) {
  const StackProfile& measured = shipped_catalog().find_stack("megatron")->profile;
  EXPECT_GT(measured.moe_slowdown, 1.5);
  for (const Stack& stack : shipped_catalog().stacks()) {
    const std::vector<std::string>& had = stack.profile.measured;
    if (std::find(had.begin(), had.end(), "mixture of experts") != had.end()) continue;
    EXPECT_EQ(stack.profile.moe_slowdown, measured.moe_slowdown) << stack.id;
    const bool launches = stack.profile.host_time_dense_layer > Seconds();
    EXPECT_EQ(stack.profile.host_time_moe_layer, launches ? measured.host_time_moe_layer : Seconds()) << stack.id;
  }
}

TEST(FitKnobs, EveryNumberOfAProfileIsFittedOrKnownNotToBe) {
  for (const StackParameter& p : stack_parameters()) {
    const bool of_memory_or_interval =
        p.key == "allocator_slack" || p.key == "residual_sigma" || p.key == "program_sigma" || p.key == "memory_sigma";
    // Runs tell it and `moe_slowdown` only together.
    const bool beside_another = p.key == "narrow_expert";
    EXPECT_EQ(find_fit_knob(p.key) == nullptr, of_memory_or_interval || beside_another) << p.key;
  }
}

}  // namespace
}  // namespace smplan
