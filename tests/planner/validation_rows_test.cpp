// Properties of predicting rows: measured columns are never read, no row does harm.
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "planner/validation/calibrate.hpp"
#include "planner/validation/report.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

MeasuredRun without_measurements(MeasuredRun run) {
  run.step_time_s = run.tokens_per_s_per_gpu = run.samples_per_s = run.tflops_per_gpu = run.mfu_pct = run.hfu_pct =
      run.peak_mem_gib_per_gpu = std::nullopt;
  run.tflops_kind.clear();
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
                                                 "framework",
                                                 "dtype",
                                                 "tp",
                                                 "pp",
                                                 "vpp",
                                                 "cp",
                                                 "ep",
                                                 "dp",
                                                 "sequence_parallel",
                                                 "shard",
                                                 "shard_degree",
                                                 "micro_batch",
                                                 "global_batch",
                                                 "recompute",
                                                 "offload",
                                                 "flash_attention",
                                                 "optimizer",
                                                 "lora",
                                                 "step_time_s",
                                                 "mem_kind",
                                                 "notes"};
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
  const std::vector<std::string> good = {"x",      "s",     "",      "",      "32",        "4096",
                                         "16384",  "32",    "8",     "128",   "50304",     "2048",
                                         "swiglu", "8",     "2",     "14336", "H100-80GB", "",
                                         "64",     "8",     "3200",  "IB",    "megatron",  "bf16",
                                         "4",      "2",     "2",     "2",     "4",         "4",
                                         "1",      "zero1", "",      "1",     "256",       "selective",
                                         "none",   "1",     "adamw", "0",     "1.0",       "max_allocated",
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
  using Count = std::optional<std::int64_t> MeasuredRun::*;
  const std::array<Count, 19> counts{
      &MeasuredRun::n_layers,   &MeasuredRun::hidden,      &MeasuredRun::ffn_hidden,  &MeasuredRun::n_heads,
      &MeasuredRun::n_kv_heads, &MeasuredRun::head_dim,    &MeasuredRun::vocab,       &MeasuredRun::seq_len,
      &MeasuredRun::n_experts,  &MeasuredRun::top_k,       &MeasuredRun::n_gpus,      &MeasuredRun::gpus_per_node,
      &MeasuredRun::tp,         &MeasuredRun::pp,          &MeasuredRun::vpp,         &MeasuredRun::cp,
      &MeasuredRun::ep,         &MeasuredRun::micro_batch, &MeasuredRun::global_batch};
  const std::array<std::int64_t, 9> values{1, 2, 3, 5, 64, 1000, 65536, 3'000'000'000, 8'999'999'999'999'999};
  for (int trial = 0; trial < 6000; ++trial) {
    MeasuredRun run = runs[random() % runs.size()];
    const std::size_t which = random() % counts.size();
    run.*counts[which] = values[random() % values.size()];
    SCOPED_TRACE(run.id + " column " + std::to_string(which) + " = " + std::to_string((run.*counts[which]).value()));
    expect_harmless(run);
    if (HasFailure()) return;
  }
}

TEST(MeasuredRuns, NoRunOnTrainiumIsTakenForOneOfAnNvidiaStack) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,tp,pp\n"
      "a,llama-2-7b,Trainium1,64,nemo-megatron,4096,1,8,1\n"
      "b,llama-2-7b,H100-80GB,64,NeMo-Megatron,4096,1,8,1\n"
      "c,llama-2-7b,Trainium1,64,somebody's own,4096,1,8,1\n");
  EXPECT_EQ(stack_of(runs[0], shipped_catalog()), "neuron-nemo");
  EXPECT_EQ(stack_of(runs[1], shipped_catalog()), "megatron");
  EXPECT_EQ(stack_of(runs[2], shipped_catalog()), "neuron");
}

TEST(MeasuredRuns, AnUnknownFrameworkShardsWhatNoDeviceHolds) {
  const auto runs = test::runs_from(
      "id,model,params_b,gpu,n_gpus,framework,seq_len,micro_batch\n"
      "a,llama-2-7b,,A100-80GB,8,somebody's own,4096,1\n"
      "b,somebody's own,7,A100-80GB,8,somebody's own,4096,1\n"
      "c,llama-2-7b,,B200,8,somebody's own,4096,1\n"
      "d,gpt2,,A100-80GB,8,somebody's own,1024,1\n");
  EXPECT_EQ(stack_of(runs[0], shipped_catalog()), "fsdp");
  EXPECT_EQ(stack_of(runs[1], shipped_catalog()), "fsdp");
  EXPECT_EQ(stack_of(runs[2], shipped_catalog()), "ddp");
  EXPECT_EQ(stack_of(runs[3], shipped_catalog()), "ddp");
}

TEST(MeasuredRuns, AcceleratorsAndFormatsAreReadAsTablesSpellThem) {
  const auto read = [](const std::string& gpu, const std::string& dtype) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch\na,gpt2," + gpu +
                                      ",2,FSDP," + dtype + ",1024,1\n");
    const ComparedRun run = compare_runs(runs, shipped_catalog())[0];
    if (run.prediction.status != RunStatus::Ok) return run.prediction.message;
    return run.prediction.accelerator + " " + std::string(to_string(run.prediction.precision));
  };
  for (const char* gpu : {"H100", "H100-80GB", "H100-80GB-SXM", "H100 SXM5", "H100-SXM5-80GB", "NVIDIA H100 80GB HBM3",
                          "NVIDIA H100 80 GB HBM3", "H100 (80G)", "H100_80GiB"}) {
    EXPECT_EQ(read(gpu, "bf16"), "H100-80GB bf16") << gpu;
  }
  EXPECT_EQ(read("H100-96GB-SXM-HBM2e-500W", "fp8"), "H100-96GB-HBM2e-500W fp8");
  EXPECT_EQ(read("A100 40GB", "bfloat16"), "A100-40GB bf16");
  EXPECT_EQ(read("A100-SXM4-80GB", "bf16-mixed"), "A100-80GB bf16");
  EXPECT_EQ(read("A100 40 GB HBM2", "bf16"), "A100-40GB bf16");
  EXPECT_EQ(read("Tesla V100-SXM2-32GB", "float16"), "V100-32GB fp16");
  EXPECT_EQ(read("GB200 NVL72", "mxfp8"), "GB200 fp8");
  EXPECT_EQ(read("T4", "float32"), "T4 fp32");
  EXPECT_EQ(read("H100-80GB-PCIe", "bf16"), "H100-80GB-PCIe bf16");
  EXPECT_EQ(read("NVIDIA H100 PCIe", "bf16"), "H100-80GB-PCIe bf16") << "an alias, in any order of its words";
  EXPECT_EQ(read("A10G PCIe", "bf16"), "A10G bf16") << "exists as a card only";
  EXPECT_EQ(read("H100 NVL", "bf16"), "H100-94GB-NVL bf16");
  EXPECT_EQ(read("H100-94GB", "bf16"), "H100-94GB-NVL bf16") << "96 GB is near, 94 is nearer";
  EXPECT_EQ(read("NVIDIA A10G-24GB", "bf16"), "A10G bf16") << "memory beside a name that needs none";
  EXPECT_EQ(read("B200-192GB", "bf16"), "B200 bf16") << "what its stacks hold";
  EXPECT_EQ(read("NVIDIA GH200 480GB", "bf16"), "GH200-96GB bf16") << "the driver writes the host's memory";
  for (const char* gpu : {"H20-141GB", "A10G-80GB", "80GB", "H100-99999999999999999999GB"}) {
    EXPECT_NE(read(gpu, "bf16").find("is not in the catalog"), std::string::npos) << gpu;
  }
  EXPECT_EQ(read("GeForce RTX 4090", "bf16"), "RTX-4090 bf16");
  EXPECT_EQ(read("MI300X", "bf16"),
            "the accelerator 'MI300X' is not in the catalog ('smplan catalog list accelerators' shows the known ones)");
}

TEST(MeasuredRuns, ACardIsSlowerThanTheModuleOfItsName) {
  const auto seconds = [](const std::string& gpu) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch\na,llama-2-7b," + gpu + ",8,FSDP,4096,1\n");
    return compare_runs(runs, shipped_catalog())[0].prediction.step.time().value();
  };
  EXPECT_GT(seconds("H100-80GB-PCIe"), 1.3 * seconds("H100-80GB"));
  EXPECT_GT(seconds("A100-80GB-PCIe"), 1.05 * seconds("A100-80GB"));
  EXPECT_GT(seconds("H800"), seconds("H100")) << "less NVLink";
}

TEST(MeasuredRuns, AdaptersOfOtherKindsAreReadAsLora) {
  const auto peak = [](const std::string& method, const std::string& targets) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,seq_len,micro_batch,method,lora_targets,lora_rank\n"
        "a,llama-3.2-3b,L40S,1,PEFT,768,4," +
        method + "," + targets + ",32\n");
    const ComparedRun run = compare_runs(runs, shipped_catalog())[0];
    if (run.prediction.status != RunStatus::Ok) return run.prediction.message;
    return fmt::format("{:.2f}", run.prediction.peak.value() / kGiB);
  };
  const std::string lora = peak("lora", "q_proj+v_proj");
  EXPECT_EQ(peak("dora", "q_proj+v_proj"), lora);
  EXPECT_LT(std::stod(peak("oft", "q_proj+v_proj")), std::stod(lora)) << "its rank is no width";
  EXPECT_LT(std::stod(peak("prompt_tuning", "")), std::stod(peak("lora", "")));
  EXPECT_EQ(peak("distillation", ""),
            "no model of the method 'distillation' (full, lora, qlora and the adapters of PEFT are known)");
}

/// What a run of experts on 64 devices resolves to, and its notes change.
ResolvedRun experts(const std::string& model, const std::string& gpu, const std::string& framework, int stages,
                    const std::string& notes) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,tp,pp,ep,micro_batch,global_batch,notes\n"
      "a," +
      model + "," + gpu + ",64," + framework + ",bf16,4096,1," + std::to_string(stages) + ",8,1,256," + notes + "\n");
  return resolve_run(runs.at(0), shipped_catalog()).value();
}

TEST(MeasuredRuns, OverlappedExpertsNeedChunksAndLeaveNoRoomToRecompute) {
  const std::string on = "EP-A2A overlap=on";
  const std::string off = "EP-A2A overlap=off";
  EXPECT_EQ(experts("qwen3-235b-a22b", "B300", "Megatron-Bridge", 4, on).strategy.virtual_pipeline, 2);
  EXPECT_EQ(experts("qwen3-235b-a22b", "B300", "Megatron-Bridge", 4, off).strategy.virtual_pipeline, 1);
  EXPECT_EQ(experts("qwen3-235b-a22b", "B300", "Megatron-Bridge", 1, on).strategy.virtual_pipeline, 1);
  EXPECT_EQ(experts("kimi-k2", "B300", "Megatron-Bridge", 8, on).strategy.recompute, Recompute::None);
  EXPECT_EQ(experts("kimi-k2", "B300", "Megatron-Bridge", 8, off).strategy.recompute, Recompute::Full);
  EXPECT_EQ(experts("kimi-k2", "B300", "Megatron-Bridge", 8, "").strategy.recompute, Recompute::None) << "not stated";
  EXPECT_EQ(experts("qwen3-235b-a22b", "B300", "Megatron-Bridge", 4, off).strategy.recompute, Recompute::None);
}

TEST(MeasuredRuns, AListOfModulesIsWhatSelectiveRecomputationTakes) {
  const auto modules = [](const std::string& list) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,tp,ep,micro_batch,global_batch,recompute\n"
        "a,moonlight-16b-a3b,H100-80GB,8,Megatron-Bridge,bf16,4096,2,8,1,4,\"" +
        list + "\"\n");
    const ResolvedRun run = resolve_run(runs.at(0), shipped_catalog()).value();
    EXPECT_EQ(run.strategy.recompute, Recompute::Selective);
    return run.stack.selective_modules;
  };
  using Modules = std::vector<LayerModule>;
  EXPECT_EQ(modules("mla_up_proj,mlp"), (Modules{LayerModule::LatentUpProjection, LayerModule::DenseMlp}));
  EXPECT_EQ(modules("['layernorm', 'moe_act']"), (Modules{LayerModule::Norms, LayerModule::ExpertActivation}));
  EXPECT_EQ(modules("Core_Attn+shared_experts moe"),
            (Modules{LayerModule::CoreAttention, LayerModule::SharedExperts, LayerModule::Experts}));
  EXPECT_EQ(modules("selective"), Modules{});
  EXPECT_EQ(modules("every second product"), Modules{}) << "no module's name";
}

TEST(MeasuredRuns, NvidiasRecipesRecomputeWhereMemoryIsShort) {
  const auto modules = [](const std::string& model, const std::string& gpu, const std::string& notes) {
    const ResolvedRun run = experts(model, gpu, "Megatron-Bridge", 1, notes);
    EXPECT_EQ(run.strategy.recompute == Recompute::Selective, !run.stack.selective_modules.empty());
    return run.stack.selective_modules;
  };
  using Modules = std::vector<LayerModule>;
  const Modules latent{LayerModule::LatentUpProjection};
  const Modules memory_bound{LayerModule::Norms, LayerModule::ExpertActivation};
  EXPECT_EQ(modules("deepseek-v3", "B200", "container 26.02; NeMo"), latent);
  EXPECT_EQ(modules("kimi-k2", "GB300", "container 26.02; NeMo"), latent);
  EXPECT_EQ(modules("gpt-oss-120b", "GB200", "container 26.02; NeMo"), memory_bound);
  EXPECT_EQ(modules("gpt-oss-120b", "GB300", "container 26.02; NeMo"), Modules{});
  EXPECT_EQ(modules("qwen3-235b-a22b", "B200", "container 26.02; NeMo"), Modules{});
  EXPECT_EQ(modules("deepseek-v3", "B200", ""), Modules{}) << "nobody's recipe";
}

TEST(MeasuredRuns, MegatronBridgeHalvesTheMomentsOfSomeModels) {
  const auto halved = [](const std::string& model, const std::string& framework) {
    return experts(model, "H100-80GB", framework, 1, "").workload.half_moments;
  };
  EXPECT_TRUE(halved("moonlight-16b-a3b", "Megatron-Bridge"));
  EXPECT_TRUE(halved("deepseek-v3", "Megatron-Bridge"));
  EXPECT_FALSE(halved("kimi-k2", "Megatron-Bridge"));
  EXPECT_FALSE(halved("qwen3-30b-a3b", "Megatron-Bridge"));
  EXPECT_FALSE(halved("deepseek-v3", "Megatron-LM"));
}

TEST(MeasuredRuns, NemoGraphsExpertsOnBlackwellWithoutAPipeline) {
  const auto host = [](const std::string& gpu, const std::string& framework, int stages) {
    return experts("mixtral-8x7b", gpu, framework, stages, "").stack.profile.host_time_moe_layer;
  };
  EXPECT_EQ(host("GB200", "NeMo", 1), Seconds());
  EXPECT_GT(host("GB200", "NeMo", 4), Seconds());
  EXPECT_GT(host("H100-80GB", "NeMo", 1), Seconds());
  EXPECT_GT(host("GB200", "Megatron-Bridge", 1), Seconds());
}

TEST(MeasuredRuns, ScalesOfRowsTakeTheRateOfEightBits) {
  const auto precision = [](const std::string& notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,notes\n"
        "a,llama-3.1-8b,H100,8,torchtitan,fp8,8192,1," +
        notes + "\n");
    return predict_run(runs[0], shipped_catalog()).precision;
  };
  EXPECT_EQ(precision("fp8-tensorwise"), Precision::Fp8);
  EXPECT_EQ(precision("fp8-rowwise"), Precision::Bf16);
}

TEST(MeasuredRuns, NvidiasBertComputesTheTokensThatItsBinsHold) {
  const auto read = [](const std::string& cells) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,optimizer,seq_len,micro_batch,global_batch\n"
        "a,bert-large,A100-80GB,8," +
        cells + "\n");
    return predict_run(runs[0], shipped_catalog());
  };
  const RunPrediction binned = read("PyTorch-DDP,fp16,lamb,512,32,32768");
  const RunPrediction whole = read("PyTorch-DDP,fp16,adamw,512,32,32768");
  EXPECT_GT(binned.step.time() / whole.step.time(), 288.0 / 512) << "the exchange and the optimizer are no shorter";
  EXPECT_LT(binned.step.time() / whole.step.time(), 0.7);
  EXPECT_NEAR(binned.step.tokens_per_s * binned.step.time().value(), 32768.0 * 512, 1) << "counted as the row counts";
  EXPECT_EQ(binned.peak, read("PyTorch-DDP,fp16,adamw,512,32,32768").peak) << "some batches are full";
  EXPECT_EQ(read("PyTorch-DDP,fp16,lamb,128,256,65536").step.time(),
            read("PyTorch-DDP,fp16,adamw,128,256,65536").step.time())
      << "the first phase is not binned";
}

TEST(MeasuredRuns, OfOneDeviceThatAdamWDoesNotFitMustSayTheirOptimizer) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,method,optimizer\n"
      "a,llama-3.1-8b,RTX4090,1,torchtune,2048,1,full,\n"
      "b,llama-3.1-8b,RTX4090,1,torchtune,2048,1,full,AdamW\n"
      "c,llama-3.1-8b,H200,1,torchtune,2048,1,full,\n"
      "d,llama-3.1-8b,RTX4090,1,torchtune,2048,1,lora,\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_EQ(compared[0].prediction.message,
            "the optimizer is not stated, and AdamW's states do not fit the device (state the optimizer)");
  for (std::size_t i = 1; i < compared.size(); ++i) EXPECT_EQ(compared[i].prediction.status, RunStatus::Ok) << i;
}

TEST(MeasuredRuns, AnUnknownProgramShardsWhatOneDeviceCannotHold) {
  const auto runs = test::runs_from(
      "id,model,params_b,gpu,n_gpus,framework,seq_len,micro_batch,method\n"
      "a,llama-2-7b,6.74,H100-80GB,8,somebody's own,4096,1,full\n"
      "b,gpt2,0.124,H100-80GB,8,somebody's own,1024,1,full\n"
      "c,llama-2-7b,6.74,H100-80GB,8,somebody's own,4096,1,lora\n");
  EXPECT_EQ(stack_of(runs[0], shipped_catalog()), "fsdp");
  EXPECT_EQ(stack_of(runs[1], shipped_catalog()), "ddp");
  EXPECT_EQ(stack_of(runs[2], shipped_catalog()), "ddp");
}

TEST(MeasuredRuns, BlankDegreesMeanNoneWhereParametersAreShardedByDefault) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,global_batch\n"
      "a,llama-2-70b,H100-80GB,64,MaxText,4096,2,128\n"
      "b,llama-2-70b,H100-80GB,64,Megatron-LM,4096,2,128\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_EQ(compared[0].prediction.status, RunStatus::Ok) << compared[0].prediction.message;
  EXPECT_EQ(compared[1].prediction.status, RunStatus::Unsupported);
}

TEST(MeasuredRuns, TensorOverlapStatedToBeOffCostsTime) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,tp,pp,notes\n"
      "a,llama-2-70b,H100-80GB,8,Megatron-LM,4096,1,8,1,no TP-comm overlap\n"
      "b,llama-2-70b,H100-80GB,8,Megatron-LM,4096,1,8,1,\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_GT(compared[0].prediction.step.time(), compared[1].prediction.step.time());
}

TEST(MeasuredRuns, AFusedCrossEntropyTakesAnotherCopyOfTheLogitsUnderMegatronOnly) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,tp,pp,mem_kind,notes\n"
      "a,llama-3.2-1b,H100-80GB,8,Megatron-LM,bf16,8192,1,1,1,max_allocated,fused cross-entropy\n"
      "b,llama-3.2-1b,H100-80GB,8,Megatron-LM,bf16,8192,1,1,1,max_allocated,\n"
      "c,llama-3.2-1b,H100-80GB,8,FSDP,bf16,8192,1,1,1,max_allocated,fused cross-entropy\n"
      "d,llama-3.2-1b,H100-80GB,8,FSDP,bf16,8192,1,1,1,max_allocated,\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  const double logits = 8192.0 * 128256;
  EXPECT_NEAR((compared[0].prediction.peak - compared[1].prediction.peak).value(), 4 * logits, 0.01 * logits);
  EXPECT_EQ(compared[2].prediction.peak, compared[3].prediction.peak);
}

TEST(MeasuredRuns, RecipesOfMixturesInEightBitsRunAsOneGraphFromTheReleaseThatBroughtIt) {
  const auto graphed = [](const std::string& model, const std::string& gpu, const std::string& dtype,
                          const std::string& notes) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,global_batch,tp,pp,ep,notes\na," +
                        model + "," + gpu + ",8,Megatron-Bridge," + dtype + ",4096,4,512,1,1,8," + notes + "\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().settings.graphed_iteration;
  };
  EXPECT_TRUE(graphed("qwen3-30b-a3b", "GB200", "fp8", "container 26.06; NeMo"));
  EXPECT_TRUE(graphed("qwen3-30b-a3b", "GB300", "fp8", "container 26.08; NeMo"));
  EXPECT_TRUE(graphed("qwen3-30b-a3b", "GB300", "fp8", "items/pretrain; label fp8"));
  EXPECT_FALSE(graphed("qwen3-30b-a3b", "GB200", "fp8", "container 26.04; NeMo"));
  EXPECT_FALSE(graphed("qwen3-30b-a3b", "GB200", "fp8", "NeMo"));
  EXPECT_FALSE(graphed("qwen3-30b-a3b", "GB200", "bf16", "container 26.06; NeMo"));
  EXPECT_FALSE(graphed("qwen3-30b-a3b", "B200", "fp8", "container 26.06; NeMo"));
  EXPECT_TRUE(graphed("qwen3-30b-a3b", "B300", "fp8", "container 26.08; NeMo"));
  EXPECT_FALSE(graphed("qwen3-30b-a3b", "H100-80GB", "fp8", "container 26.08; NeMo"));
  EXPECT_FALSE(graphed("qwen3-8b", "GB200", "fp8", "container 26.08; NeMo"));
  EXPECT_FALSE(graphed("kimi-k2", "GB300", "fp8", "container 26.06; NeMo"));
}

TEST(MeasuredRuns, OneGraphHidesTheHostAndMoreOfTheExchange) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,global_batch,tp,pp,ep,notes\n"
      "a,qwen3-30b-a3b,GB200,8,Megatron-Bridge,fp8,4096,4,512,1,1,8,container 26.06\n"
      "b,qwen3-30b-a3b,GB200,8,Megatron-Bridge,fp8,4096,4,512,1,1,8,container 26.05\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  const StepComponents& graphed = compared[0].prediction.step.components;
  const StepComponents& launched = compared[1].prediction.step.components;
  EXPECT_LT(graphed.host, launched.host);
  EXPECT_LT(graphed.expert_comm, launched.expert_comm);
  EXPECT_LT(graphed.elementwise, launched.elementwise);
  EXPECT_EQ(graphed.attention, launched.attention);
}

TEST(MeasuredRuns, RecipesForNodesOfEightOverlapTheExchangeOfInterleavedStages) {
  const auto overlapped = [](const std::string& gpu, const std::string& stages, const std::string& notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,global_batch,tp,pp,vpp,ep,notes\na,qwen3-30b-a3b," +
        gpu + ",16,Megatron-Bridge,bf16,4096,1,512,1,2," + stages + ",8," + notes + "\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().settings.expert_overlap;
  };
  EXPECT_EQ(overlapped("H100-80GB", "12", "container 26.02; NeMo"), true);
  EXPECT_EQ(overlapped("H100-80GB", "1", "container 26.02; NeMo"), std::nullopt);
  EXPECT_EQ(overlapped("H100-80GB", "12", "NeMo"), std::nullopt);
  EXPECT_EQ(overlapped("GB200", "12", "container 26.02; NeMo"), std::nullopt);
  EXPECT_EQ(overlapped("H100-80GB", "12", "container 26.02; EP-A2A overlap=off"), false) << "what a row states counts";
}

TEST(MeasuredRuns, AVocabularyThatIsNotStatedIsTheFamilys) {
  const auto vocabulary = [](const std::string& model) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,tp,pp,n_layers,hidden\na," +
                                      model + ",H100-80GB,8,Megatron-LM,4096,1,1,1,12,1024\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().workload.architecture.vocab;
  };
  EXPECT_EQ(vocabulary("Nemotron-3-8B"), 256000);
  EXPECT_EQ(vocabulary("BERT-tiny"), 30522);
  EXPECT_EQ(vocabulary("somebody's own"), 50257);
  EXPECT_EQ(vocabulary("llama-9"), 50257) << "Llamas have had three vocabularies";
}

TEST(MeasuredRuns, AnInterleavedScheduleHasTwoChunksARankUnlessItsNumberIsStated) {
  const auto chunks = [](const char* vpp, const char* notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,seq_len,global_batch,tp,pp,vpp,notes\n"
        "a,llama-3.1-405b,H100-80GB,64,torchtitan,8192,32,8,8," +
        std::string(vpp) + "," + notes + "\n");
    const Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return run->strategy.virtual_pipeline;
  };
  EXPECT_EQ(chunks("", "schedule=Interleaved 1F1B"), 2);
  EXPECT_EQ(chunks("3", "schedule=Interleaved 1F1B"), 3);
  EXPECT_EQ(chunks("", "schedule=1F1B"), 1);
  EXPECT_EQ(chunks("", "pre-interleaving schedule"), 1);
}

TEST(MeasuredRuns, WithoutAPipelineTheMicroBatchIsTheLargestThatFits) {
  const auto micro_batch = [](const char* framework, const char* gpu, const char* degrees) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,global_batch,tp,pp,micro_batch,recompute\n"
        "a,llama-2-7b," +
        std::string(gpu) + ",8," + framework + ",bf16,4096,256," + degrees + ",full\n");
    const Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return run->strategy.micro_batch;
  };
  EXPECT_EQ(micro_batch("Megatron-LM", "H100-80GB", "4,1,"), 64) << "of 128 sequences a replica";
  EXPECT_EQ(micro_batch("Megatron-LM", "A100-40GB", "4,1,"), 32);
  EXPECT_EQ(micro_batch("Megatron-LM", "H100-80GB", "4,1,2"), 2);
  EXPECT_EQ(micro_batch("Megatron-LM", "H100-80GB", "2,4,"), 1) << "a pipeline wants many";
  EXPECT_EQ(micro_batch("deepspeed", "H100-80GB", "1,1,"), 1);
}

TEST(MeasuredRuns, QwensScriptRunsDeepSpeedOnOneDeviceToo) {
  const auto run_of = [](const char* model, const char* lora, const char* notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard,lora,notes\n"
        "a," +
        std::string(model) + ",A100-80GB,1,HF-Trainer,512,1,none," + lora + "," + notes + "\n");
    Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return std::move(*run);
  };
  const auto stack = [&](const char* model, const char* lora) { return run_of(model, lora, "").stack.id; };
  EXPECT_EQ(run_of("Qwen-1.8B", "0", "").strategy.sharding, Sharding::Zero3);
  EXPECT_EQ(run_of("Qwen-1.8B", "1", "Q-LoRA").stack.id, "deepspeed");
  EXPECT_EQ(run_of("Qwen-1.8B", "1", "Q-LoRA").strategy.sharding, Sharding::Zero2);
  EXPECT_EQ(stack("Qwen-1.8B", "0"), "deepspeed");
  EXPECT_EQ(stack("Qwen-1.8B", "1"), "hf-trainer");
  EXPECT_EQ(stack("Qwen-1.8B", ""), "hf-trainer") << "not stated whether whole";
  EXPECT_EQ(stack("qwen2.5-1.5b", "0"), "hf-trainer") << "another script";
}

/// Rows of a table of fine-tuning memory: its own names of columns.
ResolvedRun resolved(const std::string& cells) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,batch,shard,grad_ckpt,method,quant,lora_rank,packing,peak_mem_gib,"
      "notes\na,gpt2-xl,A100-40GB," +
      cells + "\n");
  Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
  if (!run) throw std::runtime_error(to_string(run.error()));
  return std::move(*run);
}

TEST(MemoryTables, NameColumnsInTheirOwnWay) {
  const ResolvedRun run = resolved("1,LitGPT,bf16-true,512,4,none,1,lora,,8,,18.4,");
  EXPECT_EQ(run.strategy.micro_batch, 4);
  EXPECT_EQ(run.workload.global_batch, 4);
  EXPECT_EQ(run.strategy.recompute, Recompute::Full);
  EXPECT_EQ(run.workload.finetune, FineTune::Lora);
  EXPECT_EQ(run.workload.lora.rank, 8);
  EXPECT_TRUE(run.workload.pure_half);
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,").strategy.recompute, Recompute::None);
  const auto runs = test::runs_from("id,model,gpu,n_gpus,seq_len,batch,peak_mem_gib\na,gpt2,A10G,1,512,1,7.5\n");
  EXPECT_EQ(runs[0].peak_mem_gib_per_gpu, 7.5);
}

TEST(MemoryTables, AStatedMethodCountsAndNotTheWordsBesideIt) {
  const auto mode = [](const char* method, const char* quant, const char* notes) {
    return resolved(std::string("1,torchtune,bf16,512,4,none,1,") + method + "," + quant + ",,,18.4," + notes)
        .workload.finetune;
  };
  EXPECT_EQ(mode("full", "", "QLoRA"), FineTune::Full);
  EXPECT_EQ(mode("lora", "", "QLoRA"), FineTune::Lora);
  EXPECT_EQ(mode("lora", "bnb.nf4", ""), FineTune::Qlora);
  EXPECT_EQ(mode("qlora", "", ""), FineTune::Qlora);
  EXPECT_EQ(mode("", "", "QLoRA"), FineTune::Qlora);
  EXPECT_THROW(mode("adapter", "", ""), std::runtime_error);
}

TEST(MemoryTables, TrainedEmbeddingsAreReadFromTheMethodOrTheNotes) {
  const auto trains = [](const char* method, const char* notes) {
    const ResolvedRun run = resolved(std::string("1,HF-Trainer,bf16,512,1,none,1,") + method + ",,64,,33.7," + notes);
    EXPECT_EQ(run.workload.finetune, FineTune::Lora) << method;
    return run.workload.lora.train_embeddings;
  };
  EXPECT_TRUE(trains("lora+emb/head trainable", ""));
  EXPECT_TRUE(trains("lora", "LoRA (emb); grad accumulation 8"));
  EXPECT_FALSE(trains("lora", "LoRA; grad accumulation 8"));
}

TEST(MemoryTables, RankIsThatOfTheFrameworksScriptsUnlessStated) {
  EXPECT_EQ(resolved("1,HF-Trainer,bf16,512,1,none,1,lora,,,,33.7,").workload.lora.rank, 64);
  EXPECT_EQ(resolved("1,ddp,bf16,512,1,none,1,lora,,,,33.7,").workload.lora.rank, 16);
}

TEST(MemoryTables, SequencesThatAreOnlyALimitHaveNoTime) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,batch,grad_ckpt,method,packing,step_time_s,peak_mem_gib,notes\n"
      "a,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,,0.5,18.4,samples are shorter\n"
      "b,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,1,0.5,18.4,\n"
      "c,llama-2-7b,A100-40GB,1,LitGPT,512,1,0,lora,0,0.5,18.4,\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  EXPECT_FALSE(compared[0].has_time_error());
  EXPECT_TRUE(compared[0].has_memory_error());
  EXPECT_TRUE(compared[1].has_time_error());
  EXPECT_EQ(compared[2].prediction.status, RunStatus::Unsupported) << "neither figure is of sequences so long";
}

TEST(MeasuredRuns, MemoryIsWhatTheStackWritesWhereTheKindIsNotStated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,global_batch,tp,pp,dp,mem_kind\n"
      "a,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,unknown\n"
      "b,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,max_allocated\n"
      "c,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,max_reserved\n"
      "d,llama-2-7b,H100-80GB,8,Megatron-LM,4096,1,32,1,4,2,unknown\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  const auto prediction = [&](std::size_t i) -> const RunPrediction& { return compared[i].prediction; };
  EXPECT_EQ(prediction(0).peak, prediction(0).memory.first_stage_reserved);
  EXPECT_EQ(prediction(1).peak, prediction(1).memory.first_stage_allocated);
  EXPECT_EQ(prediction(2).peak, prediction(2).memory.first_stage_reserved);
  EXPECT_EQ(prediction(3).peak, prediction(3).memory.peak_device);
}

TEST(MeasuredRuns, FsdpAloneShardsAllThatItCan) {
  const ResolvedRun run = resolved("2,HF-Trainer,bf16,512,4,fsdp,1,lora,,8,,18.4,");
  EXPECT_EQ(run.strategy.sharding, Sharding::FsdpFull);
  EXPECT_EQ(run.stack.id, "fsdp");
  EXPECT_EQ(run.strategy.shard_degree, 2);
}

TEST(MeasuredRuns, LitGptCheckpointsTheLayersThatItShards) {
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,fsdp,,lora,,8,,18.4,").strategy.recompute, Recompute::Full);
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,none,,lora,,8,,18.4,").strategy.recompute, Recompute::None);
  EXPECT_EQ(resolved("2,LitGPT,bf16-true,512,4,fsdp,0,lora,,8,,18.4,").strategy.recompute, Recompute::None);
}

TEST(MemoryTables, BatchOfAStepMayBeInTheNotes) {
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,full,,,,18.4,global_batch 32").workload.global_batch, 32);
  EXPECT_EQ(resolved("1,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,effective minibatch 128").workload.global_batch, 128);
  EXPECT_EQ(resolved("4,LitGPT,bf16,512,4,none,0,lora,,8,,18.4,global_batch 8").strategy.micro_batch, 4)
      << "a figure of one device, repeated";
}

TEST(MemoryTables, TargetsOfAdaptersAreReadAsTheyAreSpelled) {
  const auto targets = [](const char* stated) {
    const auto runs =
        test::runs_from(std::string("id,model,gpu,n_gpus,framework,seq_len,batch,method,lora_targets,peak_mem_gib\n"
                                    "a,llama-2-7b,A100-40GB,1,PEFT,512,1,lora,") +
                        stated + ",18.4\n");
    return resolve_run(runs.at(0), shipped_catalog())->workload.lora.targets;
  };
  EXPECT_EQ(targets("query+value"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("v_proj+q_proj"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("\"q,v\""), LoraTargets::QueryValue);
  EXPECT_EQ(targets("q_proj+k_proj+v_proj+o_proj"), LoraTargets::Attention);
  EXPECT_EQ(targets("query+key+value+projection+mlp+head"), LoraTargets::Linear);
  EXPECT_EQ(targets("all linear incl. output"), LoraTargets::Linear);
  EXPECT_EQ(targets("gate_proj+o_proj+q_proj"), LoraTargets::Linear);
  EXPECT_EQ(targets(""), LoraTargets::Linear);
}

TEST(MemoryTables, ACountWithTheVocabularyTwiceHasAHeadOfItsOwn) {
  const auto tied = [](const char* params_b) {
    const auto runs =
        test::runs_from(std::string("id,model,params_b,gpu,n_gpus,framework,seq_len,batch\na,falcon-7b,") + params_b +
                        ",A100-40GB,1,LitGPT,512,1\n");
    return resolve_run(runs.at(0), shipped_catalog())->workload.architecture.tied_embeddings;
  };
  EXPECT_TRUE(tied("6.92"));
  EXPECT_FALSE(tied("7.217"));
  EXPECT_TRUE(tied(""));
}

TEST(MemoryTables, WhatTorchtuneCallsActiveIsAllocated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,dtype,seq_len,batch,method,mem_kind\n"
      "a,llama-3.2-3b,A100-80GB,1,torchtune,bf16,4096,2,full,active (torchtune peak memory active)\n"
      "b,llama-3.2-3b,A100-80GB,1,torchtune,bf16,4096,2,full,unknown (torchtune active/allocated)\n");
  for (const ComparedRun& run : compare_runs(runs, shipped_catalog())) {
    EXPECT_EQ(run.prediction.peak, run.prediction.memory.peak_allocated);
  }
}

TEST(Notes, SayWhetherContextRanksExchangeHeads) {
  EXPECT_TRUE(read_settings("flash attn; CP a2a (Ulysses-style)").all_to_all_context);
  EXPECT_FALSE(read_settings("flash attn; CP p2p").all_to_all_context);
}

TEST(Notes, MegatronReducesGradientsAfterThePassesUnlessTheyOverlap) {
  const Stack& megatron = *shipped_catalog().find_stack("megatron");
  const auto waits = [&](std::string_view notes) {
    return apply_settings(megatron, read_settings(notes)).synchronous_reduction;
  };
  EXPECT_TRUE(waits("no TP-comm overlap Megatron-LM"));
  EXPECT_FALSE(waits("overlap-grad-reduce, overlap-param-gather Megatron-LM"));
  EXPECT_FALSE(waits("container 26.04; NeMo Megatron-Bridge"));
}

TEST(Notes, CheckpointsOfOlderTorchRunThrough) {
  const Stack& foundry = *shipped_catalog().find_stack("llm-foundry");
  EXPECT_TRUE(apply_settings(foundry, read_settings("MP_mode=DEFAULT")).checkpoint_stops_early);
  EXPECT_FALSE(apply_settings(foundry, read_settings("MP_mode=PURE")).checkpoint_stops_early);
}

TEST(Notes, LigerSwitchedOffIsNotLiger) {
  EXPECT_TRUE(read_settings("packing=1, Liger=1").fused_loss);
  EXPECT_TRUE(read_settings("HF + Liger").liger_kernels);
  EXPECT_FALSE(read_settings("packing=1, Liger=0").fused_loss);
  EXPECT_FALSE(read_settings("packing=1, Liger=0").unpacked);
  EXPECT_TRUE(read_settings("packing=0, Liger=0").unpacked);
}

TEST(Notes, TheLossIsCompiledWithTheLayersSinceTheirReleasesSayHow) {
  EXPECT_TRUE(read_settings("NGC PyTorch 2.8.0a0; compile + float8").compiled_loss);
  EXPECT_FALSE(read_settings("NGC PyTorch 2.8.0a0; no compile").compiled_loss);
  EXPECT_FALSE(read_settings("PyTorch 2.6.0; + compile + float8").compiled_loss);
  EXPECT_FALSE(read_settings("+ compile + float8").compiled_loss);
}

}  // namespace
}  // namespace smplan
