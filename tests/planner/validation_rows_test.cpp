// Properties of predicting rows: measured columns are never read, no row does harm.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/answer/plan_json.hpp"
#include "planner/search/search.hpp"
#include "planner/validation/report.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;
using testing::HasSubstr;

MeasuredRun without_measurements(MeasuredRun run) {
  run.step_time_s = run.tokens_per_s_per_gpu = run.samples_per_s = run.tflops_per_gpu = run.mfu_pct = run.hfu_pct =
      run.peak_mem_gib_per_gpu = std::nullopt;
  run.flops_kind = FlopsKind::Model;
  return run;
}

TEST(MeasuredColumns, BlankingThemChangesNoPrediction) {
  const auto& runs = test::measured_runs();
  ASSERT_GT(runs.size(), 1500U);
  std::vector<MeasuredRun> blanked;
  for (const MeasuredRun& run : runs) blanked.push_back(without_measurements(run));
  EXPECT_EQ(report_csv(compare_runs(runs, shipped_catalog())), report_csv(compare_runs(blanked, shipped_catalog())));
}

TEST(MeasuredColumns, OtherFiguresChangeNoPrediction) {
  std::vector<MeasuredRun> changed = test::measured_runs();
  for (MeasuredRun& run : changed) {
    run.step_time_s = 1;
    run.tokens_per_s_per_gpu = 1;
    run.peak_mem_gib_per_gpu = 1;
  }
  EXPECT_EQ(report_csv(compare_runs(test::measured_runs(), shipped_catalog())),
            report_csv(compare_runs(changed, shipped_catalog())));
}

TEST(MeasuredColumns, WordsInThemChangeNoPrediction) {
  const char* header = "id,model,gpu,n_gpus,framework,seq_len,micro_batch,step_time_s,peak_mem_gib_per_gpu\n";
  const auto stated = test::runs_from(std::string(header) + "x,llama-2-7b,A100-40GB,8,fsdp,4096,1,OOM,-3\n");
  const auto blank = test::runs_from(std::string(header) + "x,llama-2-7b,A100-40GB,8,fsdp,4096,1,,\n");
  EXPECT_EQ(stated[0].measured_faults.size(), 2U);
  const auto compared = compare_runs(stated, shipped_catalog());
  EXPECT_EQ(report_csv(compared), report_csv(compare_runs(blank, shipped_catalog())));
  EXPECT_EQ(compared[0].prediction.status, RunStatus::Ok);
  EXPECT_FALSE(compared[0].has_time_error() || compared[0].has_memory_error());
}

TEST(MeasuredRuns, TheOrderOfRowsChangesNoPrediction) {
  std::vector<MeasuredRun> reversed(test::measured_runs().rbegin(), test::measured_runs().rend());
  const auto forth = compare_runs(test::measured_runs(), shipped_catalog());
  const auto back = compare_runs(reversed, shipped_catalog());
  for (std::size_t i = 0; i < forth.size(); ++i) {
    const ComparedRun& same = back[back.size() - 1 - i];
    ASSERT_EQ(forth[i].prediction.step.time(), same.prediction.step.time()) << forth[i].run.id;
  }
}

TEST(MeasuredRuns, ColumnsInAnyOrderAndUnknownOnesMeanTheSame) {
  const auto a =
      test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch\nx,llama-2-7b,A100-40GB,8,fsdp,4096,1\n");
  const auto b = test::runs_from(
      "micro_batch,colour,seq_len,framework,n_gpus,gpu,model,id\n1,red,4096,fsdp,8,A100-40GB,llama-2-7b,x\n");
  EXPECT_EQ(report_csv(compare_runs(a, shipped_catalog())), report_csv(compare_runs(b, shipped_catalog())));
}

TEST(MeasuredRuns, ColumnsHaveTheNamesThatPlansGiveThem) {
  const auto run = [](const std::string& header, const std::string& cells) {
    return test::runs_from("id,model,seq_len,micro_batch," + header + "\nx,llama-2-7b,4096,1," + cells + "\n");
  };
  const auto plain = run("gpu,n_gpus,framework,dtype,tp,pp,dp,shard,sequence_parallel,grad_accum",
                         "H100-80GB,16,megatron,bf16,2,2,4,zero1,1,8");
  const auto planned = run("gpu,n_gpus,stack,dtype,tensor,pipeline,data,sharding,sequence,gradient_accumulation",
                           "H100-80GB,16,megatron,bf16,2,2,4,zero1,1,8");
  const auto spelled_out =
      run("accelerator,n_gpus,stack,precision,tensor_parallel,pipeline_parallel,data_parallel,zero_stage,"
          "sequence_parallel,gradient_accumulation",
          "H100-80GB,16,megatron,bf16,2,2,4,1,1,8");
  const std::string expected = report_csv(compare_runs(plain, shipped_catalog()));
  EXPECT_NE(expected.find(",ok,"), std::string::npos) << expected;
  EXPECT_EQ(report_csv(compare_runs(planned, shipped_catalog())), expected);
  EXPECT_EQ(report_csv(compare_runs(spelled_out, shipped_catalog())), expected);
  const auto data_set = run("gpu,n_gpus,framework,dtype,tp,pp,dp,shard,sequence_parallel,grad_accum,data",
                            "H100-80GB,16,megatron,bf16,2,2,4,zero1,1,8,C4");
  EXPECT_EQ(report_csv(compare_runs(data_set, shipped_catalog())), expected);
  EXPECT_FALSE(run("data", "C4").front().states(Dimension::Data))
      << "names a data set where no other column is a plan's";
  EXPECT_TRUE(run("data", "C4").front().faults.empty());
}

TEST(MeasuredRuns, BlanksAroundCellsAndTheCaseOfColumnsDoNotCount) {
  const MeasuredRun run = test::runs_from("ID, Model, N_GPUs, Micro_Batch\na, llama-2-7b , 8, 2\n").at(0);
  EXPECT_EQ(run.model.name, "llama-2-7b");
  EXPECT_EQ(run.machine.n_gpus, 8);
  EXPECT_EQ(run.strategy.micro_batch, 2);
  EXPECT_TRUE(run.faults.empty());
}

TEST(MeasuredRuns, ATablePartedBySemicolonsIsToldSo) {
  const Result<CsvTable> table = parse_csv("id;model\na;gpt2\n", "runs.csv");
  ASSERT_TRUE(table);
  const auto runs = read_measured_runs(*table, "runs.csv");
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error()[0].hint.find("comma-separated"), std::string::npos);
}

/// The table of the plans with what a table of runs has to say beside it.
std::vector<MeasuredRun> runs_of(const PlanSet& set, const std::string& model, const std::string& seq_len) {
  const CsvTable plans = parse_csv(to_csv(set), "plans.csv").value();
  std::vector<std::string> header = plans.header;
  header.insert(header.end(), {"id", "model", "seq_len"});
  std::string table = csv_line(header);
  for (const CsvRow& row : plans.rows) {
    std::vector<std::string> cells = row.fields;
    cells.insert(cells.end(), {"a", model, seq_len});
    table += csv_line(cells);
  }
  return test::runs_from(table);
}

TEST(MeasuredRuns, PlansReadBackTakeTheTimeThatTheyWerePlannedToTake) {
  struct Case {
    const char* name;
    RequestSpec spec;
  };
  RequestSpec cut;
  cut[Dimension::Expert] = "4";
  cut[Dimension::Tensor] = "4";
  cut[Dimension::ExpertTensor] = "2";
  RequestSpec pipelined;
  pipelined.stack = "smp-v1";
  pipelined[Dimension::Pipeline] = "4";
  RequestSpec recomputed;
  recomputed[Dimension::Recompute] = "full";
  recomputed[Dimension::RecomputeLayers] = "3";
  for (Case& c : std::vector<Case>{{"mixtral-8x7b", cut}, {"llama-2-13b", pipelined}, {"llama-2-13b", recomputed}}) {
    c.spec.model = c.name;
    c.spec.instances = "ml.p4d.24xlarge";
    c.spec.count = "8";
    c.spec.seq_len = "4096";
    if (!c.spec.stack) c.spec.stack = "megatron";
    const Result<PlanRequest> request = resolve(c.spec, shipped_catalog(), std::nullopt);
    ASSERT_TRUE(request) << to_string(request.error());
    const PlanSet set = search(*request, shipped_catalog(), {});
    ASSERT_FALSE(set.plans.empty()) << c.name;
    const std::vector<MeasuredRun> runs = runs_of(set, c.name, "4096");
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RunPrediction p = predict_run(runs[i], shipped_catalog());
      ASSERT_EQ(p.status, RunStatus::Ok) << p.message;
      EXPECT_NEAR(p.step.time() / set.plans[i].step.time(), 1, 1e-9) << to_string(set.plans[i].strategy);
    }
  }
}

// Whatever a strategy may tell software, a column says.
TEST(MeasuredRuns, EachMemberOfTheExecutionIsAColumn) {
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution) continue;
    const std::int32_t value = row.words == nullptr ? 2 : row.words->values[1];
    const std::string cell = row.text(value);
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,stack,dtype,seq_len,tp,pp,ep,micro_batch,recompute,method," +
                        std::string(row.keyword) + "\na,mixtral-8x7b,H100-80GB,8,megatron,fp8,4096,1,1,8,1,selective," +
                        (row.dimension == Dimension::BaseFormat ? "lora," : "full,") + cell + "\n");
    const Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    ASSERT_TRUE(run) << row.keyword << to_string(run.error());
    EXPECT_EQ(row.text(row.get(run->strategy)), cell) << row.keyword;
    EXPECT_EQ(run->stack.execution, run->strategy.execution);
  }
}

TEST(MeasuredRuns, AValueThatNobodyKnowsIsAnErrorOfTheRow) {
  const auto fault = [](const std::string& column, const std::string& cell) {
    const auto runs = test::runs_from("id," + column + "\na," + cell + "\n");
    return runs.at(0).faults.empty() ? std::string() : to_string(runs.at(0).faults);
  };
  EXPECT_THAT(fault("moe_dispatcher", "pigeon"), HasSubstr("one of default, all-to-all, deepep"));
  EXPECT_THAT(fault("vocab_multiple", "0"), HasSubstr("a positive whole number"));
  EXPECT_THAT(fault("software_release", "10000"), HasSubstr("at most 9912"));
  EXPECT_EQ(fault("software_release", "9912"), "");
  EXPECT_EQ(fault("expert_overlap", "✓"), "");
  EXPECT_EQ(fault("expert_overlap", "n/a"), "");
  EXPECT_THAT(fault("optimizer", "Shampoo"), HasSubstr("one of adamw, adam8bit"));
  EXPECT_THAT(fault("dtype", "int8"), HasSubstr("one of fp32, tf32, fp16, bf16, fp8, fp4"));
  EXPECT_THAT(fault("network", "Slingshot"), HasSubstr("efa, infiniband"));
  EXPECT_THAT(fault("sharding", "diagonal"), HasSubstr("one of none, zero1"));
  EXPECT_THAT(fault("recompute", "now and then"), HasSubstr("one of none, selective, full"));
  EXPECT_THAT(fault("schedule", "afap"), HasSubstr("one of gpipe, 1f1b"));
  EXPECT_THAT(fault("quant", "int8"), HasSubstr("nf4, int4"));
  EXPECT_THAT(fault("mem_kind", "heap"), HasSubstr("allocated, reserved or device"));
  EXPECT_THAT(fault("tflops_kind", "odd"), HasSubstr("model or hardware"));
  EXPECT_THAT(fault("mlp", "maxout"), HasSubstr("gelu, relu, swiglu or geglu"));
  EXPECT_THAT(fault("kind", "diffusion"), HasSubstr("one of decoder, encoder"));
  EXPECT_THAT(fault("lora_targets", "everything"), HasSubstr("query-value, attention or all"));
}

TEST(MeasuredRuns, ColumnsThatNothingReadsAreNamed) {
  const auto unread = [](std::string_view header) {
    std::string all;
    for (const UnreadColumn& c : unread_columns(parse_csv(header, "runs.csv").value())) {
      all += c.name + "(" + c.nearest + ") ";
    }
    return all;
  };
  EXPECT_EQ(unread("id,model,micro_bach,rack,source_ref,tp,hfu_pct\n"), "micro_bach(micro_batch) rack() ");
  EXPECT_EQ(unread("id,micro_batch,batch\n"), "batch() ") << "the column's own name counts";
  EXPECT_EQ(unread("id,batch\n"), "");
  EXPECT_EQ(unread("id\n"), "");
}

/// A prediction is a finite positive number of seconds and bytes, or a reason why there is none.
void expect_harmless(const MeasuredRun& run) {
  const ComparedRun c = compare_runs({run}, shipped_catalog()).at(0);
  if (c.prediction.status != RunStatus::Ok) {
    EXPECT_FALSE(c.prediction.message.empty());
    return;
  }
  const StepEstimate& step = c.prediction.step;
  EXPECT_TRUE(std::isfinite(step.time().value()) && step.time().value() > 0) << step.time().value();
  EXPECT_TRUE(std::isfinite(c.prediction.peak.value()) && c.prediction.peak.value() > 0);
  EXPECT_LE(step.p10, step.time());
  EXPECT_GE(step.p90, step.time());
}

std::string random_cell(std::mt19937_64& random) {
  static const std::array<const char*, 34> kCells{
      "",         "0",      "1",     "2",           "3",         "7",          "8",          "16",
      "96",       "128",    "1000",  "4096",        "1000000",   "2147483648", "4294967296", "8999999999999999",
      "1e300",    "1e-300", "-1",    "0.5",         "nan",       "inf",        "eight",      "fp8",
      "bf16",     "full",   "zero3", "fsdp-hybrid", "A100-40GB", "H100-80GB",  "llama-2-7b", "mixtral-8x7b",
      "megatron", "'; drop"};
  return kCells[random() % kCells.size()];
}

std::string hostile_table(const std::vector<std::string>& cells, const std::vector<std::string>& columns) {
  return csv_line(columns) + csv_line(cells);
}

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {"id",
                                                 "source",
                                                 "model",
                                                 "params_b",
                                                 "n_layers",
                                                 "hidden",
                                                 "ffn_hidden",
                                                 "n_heads",
                                                 "n_kv_heads",
                                                 "head_dim",
                                                 "vocab",
                                                 "seq_len",
                                                 "mlp",
                                                 "n_experts",
                                                 "top_k",
                                                 "expert_ffn_hidden",
                                                 "gpu",
                                                 "instance",
                                                 "n_gpus",
                                                 "gpus_per_node",
                                                 "internode_gbps_per_node",
                                                 "network",
                                                 "stack",
                                                 "dtype",
                                                 "tp",
                                                 "pp",
                                                 "vpp",
                                                 "cp",
                                                 "ep",
                                                 "etp",
                                                 "dp",
                                                 "sequence_parallel",
                                                 "shard",
                                                 "shard_degree",
                                                 "micro_batch",
                                                 "global_batch",
                                                 "recompute",
                                                 "recompute_layers",
                                                 "schedule",
                                                 "offload",
                                                 "flash_attention",
                                                 "optimizer",
                                                 "method",
                                                 "step_time_s",
                                                 "mem_kind",
                                                 "mean_seq_len"};
  return names;
}

TEST(HostileRows, RandomCellsNeverDoHarm) {
  std::mt19937_64 random(20240607);
  for (int trial = 0; trial < 60000; ++trial) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns().size(); ++i) cells.push_back(random_cell(random));
    const std::string csv = hostile_table(cells, columns());
    SCOPED_TRACE(csv);
    for (const MeasuredRun& run : test::runs_from(csv)) expect_harmless(run);
    if (HasFailure()) return;
  }
}

/// Rows that make sense but for one or two cells reach further into the models.
TEST(HostileRows, AFewWrongCellsInAGoodRowNeverDoHarm) {
  const std::vector<std::string> good = {
      "x",         "s",     "",     "",       "32",       "4096",  "16384", "32",        "8",
      "128",       "50304", "2048", "swiglu", "8",        "2",     "14336", "H100-80GB", "",
      "64",        "8",     "3200", "IB",     "megatron", "bf16",  "4",     "2",         "2",
      "2",         "4",     "1",    "4",      "1",        "zero1", "",      "1",         "256",
      "selective", "",      "",     "none",   "1",        "adamw", "",      "1.0",       "max_allocated",
      ""};
  ASSERT_EQ(good.size(), columns().size());
  std::mt19937_64 random(7);
  int predicted = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    std::vector<std::string> cells = good;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) cells[random() % cells.size()] = random_cell(random);
    const std::string csv = hostile_table(cells, columns());
    SCOPED_TRACE(csv);
    for (const MeasuredRun& run : test::runs_from(csv)) {
      expect_harmless(run);
      if (compare_runs({run}, shipped_catalog())[0].prediction.status == RunStatus::Ok) ++predicted;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(predicted, 500);  // or the rows are not good
}

TEST(HostileRows, ShippedRowsWithOneWrongCellNeverDoHarm) {
  std::mt19937_64 random(11);
  const auto& runs = test::measured_runs();
  using Count = std::optional<std::int64_t>&;
  const std::vector<Count (*)(MeasuredRun&)> counts{[](MeasuredRun& r) -> Count { return r.model.n_layers; },
                                                    [](MeasuredRun& r) -> Count { return r.model.hidden; },
                                                    [](MeasuredRun& r) -> Count { return r.model.ffn_hidden; },
                                                    [](MeasuredRun& r) -> Count { return r.model.n_heads; },
                                                    [](MeasuredRun& r) -> Count { return r.model.n_kv_heads; },
                                                    [](MeasuredRun& r) -> Count { return r.model.head_dim; },
                                                    [](MeasuredRun& r) -> Count { return r.model.vocab; },
                                                    [](MeasuredRun& r) -> Count { return r.model.n_experts; },
                                                    [](MeasuredRun& r) -> Count { return r.model.top_k; },
                                                    [](MeasuredRun& r) -> Count { return r.machine.n_gpus; },
                                                    [](MeasuredRun& r) -> Count { return r.machine.gpus_per_node; },
                                                    [](MeasuredRun& r) -> Count { return r.seq_len; },
                                                    [](MeasuredRun& r) -> Count { return r.mean_seq_len; },
                                                    [](MeasuredRun& r) -> Count { return r.global_batch; }};
  const std::array<std::int64_t, 7> values{1, 2, 3, 5, 64, 1000, 65536};
  for (int trial = 0; trial < 6000; ++trial) {
    MeasuredRun run = runs[random() % runs.size()];
    const std::size_t which = random() % (counts.size() + kDimensionCount);
    std::int64_t value = values[random() % values.size()];
    if (which < counts.size()) {
      counts[which](run) = value;
    } else {
      const DimensionRow& row = dimensions()[which - counts.size()];
      if (row.words != nullptr) value = row.words->values[random() % row.words->values.size()];
      if (row.kind == DimensionRow::Kind::Switch) value %= 2;
      row.set(run.strategy, static_cast<std::int32_t>(std::clamp<std::int64_t>(value, row.least, row.most)));
      run.stated_dimensions[which - counts.size()] = true;
    }
    SCOPED_TRACE(run.id + " column " + std::to_string(which) + " = " + std::to_string(value));
    expect_harmless(run);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace smplan
