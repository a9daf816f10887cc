// How the columns and notes of a measured run are read.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/execution.hpp"
#include "planner/validation/report.hpp"
#include "planner/validation/run_groups.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/layer_modules.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

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

// An A100 has 19.5 TFLOP/s in fp32 and 156 in TF32: a run of 40 cannot have been fp32.
TEST(MeasuredRuns, Fp32FasterThanItsUnitsIsTf32) {
  const auto read = [](const std::string& gpu, const std::string& rate) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,tflops_per_gpu\na,bert-large," + gpu +
                        ",8,HF Trainer,fp32,512,16," + rate + "\n");
    return resolve_run(runs[0], shipped_catalog()).value();
  };
  const ResolvedRun fast = read("A100-80GB", "40");
  EXPECT_EQ(fast.workload.precision, Precision::Tf32);
  const auto said = [](const ResolvedRun& run) {
    return std::any_of(run.assumptions.begin(), run.assumptions.end(),
                       [](const std::string& a) { return a.find("fp32 is tf32") != std::string::npos; });
  };
  EXPECT_TRUE(said(fast));
  const ResolvedRun slow = read("A100-80GB", "15");
  EXPECT_EQ(slow.workload.precision, Precision::Fp32);
  EXPECT_FALSE(said(slow));
  EXPECT_EQ(read("V100-32GB", "40").workload.precision, Precision::Fp32) << "it has no TF32";
}

TEST(MeasuredRuns, WordsOfPrecisionAndLossAreRead) {
  const auto read = [](const std::string& dtype, const std::string& notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,notes\na,llama-3.1-8b,H100-80GB,8,"
        "FSDP," +
        dtype + ",4096,1," + notes + "\n");
    return resolve_run(runs[0], shipped_catalog()).value();
  };
  for (const char* pure : {"bf16-true", "pure bf16", "bf16 pure"}) {
    EXPECT_EQ(read(pure, "").strategy.execution.pure_half, Toggle::On) << pure;
    EXPECT_EQ(read(pure, "").workload.precision, Precision::Bf16) << pure;
  }
  EXPECT_EQ(read("bf16-mixed", "").strategy.execution.pure_half, Toggle::Default);
  EXPECT_EQ(read("32-true", "").strategy.execution.pure_half, Toggle::Default);
  EXPECT_EQ(read("amp", "").workload.precision, Precision::Fp16);
  EXPECT_EQ(read("bf16", "chunked loss").strategy.execution.loss_kernel, LossKernel::Linear);
  EXPECT_EQ(read("bf16", "").strategy.execution.loss_kernel, LossKernel::Default);
}

TEST(MeasuredRuns, ChipsOfTrainiumAreCountedAsTheirCores) {
  const auto predicted = [](const std::string& columns, const std::string& cells) {
    const auto runs =
        test::runs_from("id,model,framework,dtype,tp,pp,seq_len,micro_batch,tokens_per_s_per_gpu," + columns +
                        "\na,llama-2-7b,NeuronX Distributed,bf16,8,1,4096,1,1000," + cells + "\n");
    return compare_runs(runs, shipped_catalog()).at(0);
  };
  const ComparedRun cores = predicted("gpu,n_gpus,gpus_per_node", "Trainium1,64,32");
  EXPECT_NE(cores.prediction.message.find("n_gpus counts NeuronCores"), std::string::npos);
  for (const auto& [columns, cells] :
       std::vector<std::pair<std::string, std::string>>{{"gpu,n_gpus,gpus_per_node", "Trainium1,32,16"},
                                                        {"gpu,n_gpus,dp", "trn1,32,8"},
                                                        {"gpu,n_gpus", "Trainium chips,32"}}) {
    const ComparedRun chips = predicted(columns, cells);
    ASSERT_EQ(chips.prediction.status, RunStatus::Ok) << chips.prediction.message;
    EXPECT_NE(chips.prediction.message.find("n_gpus counts chips of 2 NeuronCores"), std::string::npos) << cells;
    EXPECT_EQ(chips.prediction.step.time(), cores.prediction.step.time()) << cells;
    EXPECT_DOUBLE_EQ(chips.prediction.step.tokens_per_s_per_gpu, 2 * cores.prediction.step.tokens_per_s_per_gpu);
    EXPECT_EQ(chips.prediction.peak, cores.prediction.peak * 2);
    EXPECT_EQ(*chips.measured_time, *cores.measured_time * 2) << "the rate is a chip's";
  }
  const auto counts = [&](const std::string& columns, const std::string& cells) {
    const std::string message = predicted(columns, cells).prediction.message;
    return message.substr(0, message.find(';'));
  };
  EXPECT_EQ(counts("instance,gpu,n_gpus", "trn1.32xlarge,,16"), "n_gpus counts chips of 2 NeuronCores") << "of one";
  EXPECT_EQ(counts("instance,gpu,n_gpus", "trn1.32xlarge,,64"), "n_gpus counts NeuronCores");
  EXPECT_EQ(counts("gpu,n_gpus,dp", "trn1,16,2"), "n_gpus counts NeuronCores");
  EXPECT_NE(predicted("gpu,n_gpus,gpus_per_node", "Trainium2,16,16").prediction.message.find("of 4 NeuronCores"),
            std::string::npos);
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
                          "NVIDIA H100 80 GB HBM3", "H100 (80G)", "H100_80GiB", "8xH100", "H100 x8", "8x H100-SXM"}) {
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
  for (const char* gpu : {"MI300X", "AMD Instinct MI300X OAM", "MI300X-192GB"}) {
    EXPECT_EQ(read(gpu, "bf16"), "MI300X bf16") << gpu;
  }
  EXPECT_EQ(read("AMD MI350X", "fp8"), "MI355X fp8");
  EXPECT_EQ(read("H100-94GB", "bf16"), "H100-94GB-NVL bf16") << "96 GB is near, 94 is nearer";
  EXPECT_EQ(read("NVIDIA A10G-24GB", "bf16"), "A10G bf16") << "memory beside a name that needs none";
  EXPECT_EQ(read("B200-192GB", "bf16"), "B200 bf16") << "what its stacks hold";
  EXPECT_EQ(read("NVIDIA GH200 480GB", "bf16"), "GH200-96GB bf16") << "the driver writes the host's memory";
  for (const char* gpu : {"H20-141GB", "A10G-80GB", "80GB", "H100-99999999999999999999GB"}) {
    EXPECT_NE(read(gpu, "bf16").find("is not in the catalog"), std::string::npos) << gpu;
  }
  EXPECT_EQ(read("GeForce RTX 4090", "bf16"), "RTX-4090 bf16");
  EXPECT_EQ(read("Gaudi2", "bf16"),
            "the accelerator 'Gaudi2' is not in the catalog ('smplan catalog list accelerators' shows the known ones)");
}

TEST(MeasuredRuns, TheSystemIsTheSizeOfItsFamilyThatTheRowFills) {
  const auto system = [](const std::string& columns, const std::string& cells) {
    const auto runs = test::runs_from("id,model,framework,dtype,tp,pp,seq_len,micro_batch," + columns +
                                      "\na,gpt2,own,bf16,1,1,1024,1," + cells + "\n");
    Assumptions assumptions;
    const Result<Cluster> cluster = resolve_cluster(runs.at(0), shipped_catalog(), assumptions);
    if (!cluster) return to_string(cluster.error());
    const bool stated = assumptions.empty();
    return (stated ? "as stated" : assumptions.back()) + " x " + std::to_string(cluster->nodes);
  };
  const std::string like = "system is like ";
  EXPECT_EQ(system("gpu,n_gpus", "A10G,8"), like + "ml.g5.48xlarge x 1");
  EXPECT_EQ(system("gpu,n_gpus", "A10G,4"), like + "ml.g5.12xlarge x 1");
  EXPECT_EQ(system("gpu,n_gpus", "A10G,12"), like + "ml.g5.48xlarge x 2") << "6 of 8 each";
  EXPECT_EQ(system("gpu,n_gpus", "A10G,1"), like + "ml.g5.xlarge x 1");
  EXPECT_EQ(system("gpu,n_gpus,gpus_per_node", "A10G,8,2"), like + "ml.g5.12xlarge x 4");
  EXPECT_EQ(system("gpu,n_gpus", "L40S,16"), like + "ml.g6e.48xlarge x 2");
  EXPECT_EQ(system("gpu,n_gpus", "Trainium1,64"), like + "ml.trn1.32xlarge x 2");
  EXPECT_EQ(system("gpu,n_gpus,internode_gbps_per_node", "Trainium1,64,1600"), like + "ml.trn1n.32xlarge x 2");
  EXPECT_EQ(system("gpu,n_gpus,network", "H100,16,EFA"), like + "ml.p5.48xlarge x 2");
  EXPECT_EQ(system("gpu,n_gpus,network", "H100,16,NDR"), like + "dgx-h100 x 2");
  EXPECT_EQ(system("gpu,n_gpus", "H100,16"), like + "dgx-h100 x 2");
  EXPECT_EQ(system("instance,n_gpus", "4x p6-b300.48xlarge (EFA),32"), "as stated x 4");
  EXPECT_EQ(system("instance,n_gpus", "AWS p4d,16"), like + "ml.p4d.24xlarge x 2");
  EXPECT_EQ(system("instance,gpu,n_gpus", "p5,H100,8"), like + "ml.p5.48xlarge x 1");
  EXPECT_EQ(system("instance,gpu,n_gpus", "p4de.24xlarge,A100,8"), "as stated x 1") << "which has 80 GB";
  EXPECT_EQ(system("instance,gpu,n_gpus", "p4d.24xlarge,A100-80GB,8"), like + "dgx-a100-80gb x 1")
      << "the device counts";
}

TEST(MeasuredRuns, WhichMemoryWasTakenIsSaidWhereThePartComesWithSeveral) {
  const auto message = [](const std::string& gpu) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch\na,gpt2," + gpu +
                                      ",8,FSDP,fp16,1024,1\n");
    return predict_run(runs.at(0), shipped_catalog()).message;
  };
  EXPECT_NE(message("A100").find("gpu is A100-40GB"), std::string::npos);
  EXPECT_NE(message("Tesla V100").find("gpu is V100-16GB"), std::string::npos);
  for (const char* gpu : {"A100-80GB", "H100", "L40S"})
    EXPECT_EQ(message(gpu).find("gpu is"), std::string::npos) << gpu;
}

TEST(MeasuredRuns, ANetworkThatIsNotKnownIsNamedWhereNodesNeedOne) {
  const auto message = [](const std::string& cells) {
    const auto runs =
        test::runs_from("id,model,gpu,framework,seq_len,micro_batch,n_gpus,network\na,gpt2,H100,FSDP,1024,1," + cells);
    return predict_run(runs.at(0), shipped_catalog()).message;
  };
  const std::string unread = "network 'Slingshot' is not understood";
  EXPECT_NE(message("16,Slingshot\n").find(unread), std::string::npos);
  EXPECT_EQ(message("8,Slingshot\n").find(unread), std::string::npos);
  EXPECT_EQ(message("16,100GbE\n").find("not understood"), std::string::npos);
}

TEST(MeasuredRuns, TheRateOfANetworkIsReadWhereItIsANodes) {
  const auto gbps = [](const std::string& network) {
    const auto runs = test::runs_from("id,gpu,n_gpus,network\na,A100-80GB,16," + network + "\n");
    Assumptions assumptions;
    const Result<Cluster> cluster = resolve_cluster(runs.at(0), shipped_catalog(), assumptions);
    for (const std::string& a : assumptions) EXPECT_EQ(a.find("not understood"), std::string::npos) << network;
    return cluster ? cluster->network.bandwidth_per_node / gbit_per_s(1) : 0;
  };
  EXPECT_DOUBLE_EQ(gbps("100 Gbps"), 100);
  EXPECT_DOUBLE_EQ(gbps("25GbE"), 25);
  EXPECT_DOUBLE_EQ(gbps("TCP 100 Gbit/s"), 100);
  EXPECT_DOUBLE_EQ(gbps("4x200Gb/s IB"), 800);
  EXPECT_DOUBLE_EQ(gbps("2 x 100G EFA"), 200);
  EXPECT_DOUBLE_EQ(gbps("EFA (25 GB/s)"), 200);
  EXPECT_DOUBLE_EQ(gbps("RoCE 3200 Gbps"), 3200);
  const double usual = gbps("IB");
  for (const char* of_a_card : {"200G IB", "HDR200", "InfiniBand HDR 200 Gb/s", "NVLink 600 GB/s + IB", "0 Gbps IB",
                                "9999999x9999999 Gbps IB"}) {
    EXPECT_DOUBLE_EQ(gbps(of_a_card), usual) << of_a_card;
  }
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

TEST(MeasuredRuns, AdaptersOfOtherKindsAreKnownByTheirNames) {
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
  EXPECT_LT(std::stod(lora), std::stod(peak("dora", "q_proj+v_proj")));
  EXPECT_LT(std::stod(peak("ptuning", "")), std::stod(peak("lora", "")));
  EXPECT_LT(std::stod(peak("ptuning", "")), std::stod(peak("prompt_tuning", ""))) << "fewer virtual tokens";
  EXPECT_EQ(peak("LoRA (r=32)", "q_proj+v_proj"), lora);
  EXPECT_EQ(peak("4-bit LoRA", ""), peak("QLoRA", ""));
  EXPECT_EQ(peak("distillation", ""),
            "no model of the method 'distillation' (full, lora, qlora and the adapters of PEFT are known)");
}

TEST(MeasuredRuns, AListOfModulesIsWhatSelectiveRecomputationTakes) {
  const auto modules = [](const std::string& list, const std::string& sharding = "zero1") {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,tp,ep,micro_batch,global_batch,shard,recompute\n"
        "a,moonlight-16b-a3b,H100-80GB,8,Megatron-Bridge,bf16,4096,2,8,1,4," +
        sharding + ",\"" + list + "\"\n");
    const ResolvedRun run = resolve_run(runs.at(0), shipped_catalog()).value();
    EXPECT_EQ(run.strategy.recompute, Recompute::Selective);
    return run.stack.execution.recompute_modules;
  };
  EXPECT_EQ(modules("mla_up_proj,mlp"), test::modules({LayerModule::LatentUpProjection, LayerModule::DenseMlp}));
  EXPECT_EQ(modules("['layernorm', 'moe_act']"), test::modules({LayerModule::Norms, LayerModule::ExpertActivation}));
  EXPECT_EQ(modules("Core_Attn+shared_experts"),
            test::modules({LayerModule::CoreAttention, LayerModule::SharedExperts}));
  EXPECT_EQ(modules("moe_act,layernorm,layernorm"), test::modules({LayerModule::Norms, LayerModule::ExpertActivation}));
  EXPECT_EQ(modules("shared_experts moe moe_act"), test::modules({LayerModule::Experts})) << "the block holds both";
  EXPECT_EQ(modules("layernorm,moe_act", "fsdp-full"), test::modules({})) << "its policy goes by operations";
  EXPECT_EQ(modules("selective (every second product)"), test::modules({})) << "no module's name";
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

TEST(MeasuredRuns, AdaptersAreShardedWhereOneDeviceCannotHoldTheirBase) {
  const auto sharding = [](const std::string& framework, const std::string& model, const std::string& cells) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,seq_len,micro_batch,framework,method,quant\na," + model +
                                      ",H100-80GB,8,2048,1," + framework + "," + cells + "\n");
    const Result<ResolvedRun> run = resolve_run(runs[0], shipped_catalog());
    return run ? std::string(to_string(run->strategy.sharding)) : to_string(run.error());
  };
  EXPECT_EQ(sharding("HF-Trainer", "llama-2-70b", "lora,"), "fsdp-full");
  EXPECT_EQ(sharding("HF-Trainer", "llama-2-70b", "qlora,"), "none") << "35 GB";
  EXPECT_EQ(sharding("HF-Trainer", "llama-2-70b", "lora,nf4"), "none");
  EXPECT_EQ(sharding("HF-Trainer", "llama-2-7b", "lora,"), "none");
  EXPECT_EQ(sharding("HF-Trainer", "llama-2-7b", "Full,"), "fsdp-full");
  EXPECT_EQ(sharding("torchtune", "llama-3.2-1b", "lora,"), "fsdp-full") << "as its recipes for several devices do";
  EXPECT_EQ(sharding("torchtune", "llama-3.2-1b", "full,"), "fsdp-full");
  EXPECT_EQ(sharding("LitGPT", "llama-3.2-1b", "lora,"), "none");
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

TEST(MeasuredRuns, HeadsThatAreNotStatedAreOf128ValuesUnlessTheirKeysSayOtherwise) {
  const auto heads = [](const std::string& cells) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,seq_len,micro_batch,tp,pp,n_layers,hidden,n_kv_heads,head_dim\n"
        "a,own,H100-80GB,8,Megatron-LM,4096,1,1,1,12," +
        cells + "\n");
    const Architecture a = resolve_run(runs.at(0), shipped_catalog()).value().workload.architecture;
    return std::array{a.n_heads, a.n_kv_heads, a.head_dim};
  };
  using Heads = std::array<std::int64_t, 3>;
  EXPECT_EQ(heads("4096,,"), (Heads{32, 32, 128}));
  EXPECT_EQ(heads("4096,8,"), (Heads{32, 8, 128}));
  EXPECT_EQ(heads("2560,,64"), (Heads{40, 40, 64}));
  EXPECT_EQ(heads("2560,32,"), (Heads{32, 32, 80})) << "20 heads cannot share 32 keys";
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

TEST(MeasuredRuns, MemoryIsWhatTheStackWritesWhereTheKindIsNotStated) {
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,seq_len,micro_batch,global_batch,tp,pp,dp,mem_kind\n"
      "a,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,unknown\n"
      "b,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,max_allocated\n"
      "c,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,max_reserved\n"
      "d,llama-2-7b,H100-80GB,8,Megatron-LM,4096,1,32,1,4,2,unknown\n"
      "e,llama-2-7b,H100-80GB,8,nanotron v0.5,4096,1,32,1,4,2,nvidia-smi\n"
      "f,llama-2-7b,H100-80GB,8,Megatron-LM,4096,1,32,1,4,2,max memory allocated\n");
  const auto compared = compare_runs(runs, shipped_catalog());
  const auto prediction = [&](std::size_t i) -> const RunPrediction& { return compared[i].prediction; };
  EXPECT_EQ(prediction(0).peak, prediction(0).memory.first_stage_reserved);
  EXPECT_EQ(prediction(1).peak, prediction(1).memory.first_stage_allocated);
  EXPECT_EQ(prediction(2).peak, prediction(2).memory.first_stage_reserved);
  EXPECT_EQ(prediction(3).peak, prediction(3).memory.peak_device);
  EXPECT_EQ(prediction(4).peak, prediction(4).memory.peak_device) << "which no stack writes";
  EXPECT_EQ(prediction(5).peak, prediction(5).memory.peak_allocated);
}

TEST(Notes, SayWhetherContextRanksExchangeHeads) {
  EXPECT_TRUE(read_settings("flash attn; CP a2a (Ulysses-style)").all_to_all_context);
  EXPECT_FALSE(read_settings("flash attn; CP p2p").all_to_all_context);
}

TEST(Notes, AModelsNameIsNoSetting) {
  // Mistral-NeMo and Nemotron are models, NeMo's recipes are not in their names: the gradients' buffer stays in 32
  // bits.
  const auto runs = test::runs_from(
      "id,model,gpu,n_gpus,framework,n_layers,hidden,n_heads,ffn_hidden,vocab,seq_len,micro_batch,tp\n"
      "a,Mistral-NeMo-12B,H100-80GB,8,Megatron-LM,32,4096,32,11008,32000,4096,1,8\n"
      "b,Nemotron-eager,H100-80GB,8,Megatron-LM,32,4096,32,11008,32000,4096,1,8\n"
      "c,any other,H100-80GB,8,Megatron-LM,32,4096,32,11008,32000,4096,1,8\n"
      "d,Qwen-7B-Chat-Int4,H100-80GB,1,HF Trainer,32,4096,32,11008,32000,4096,1,1\n");
  const auto run = [&](std::size_t i) { return resolve_run(runs[i], shipped_catalog()).value(); };
  EXPECT_EQ(run(0).stack, run(2).stack);
  EXPECT_EQ(run(1).stack, run(2).stack);
  EXPECT_EQ(run(3).workload.finetune, FineTune::Qlora) << "what the weights are, the name does say";
}

TEST(Notes, MegatronReducesGradientsAfterThePassesUnlessTheyOverlap) {
  const Stack& megatron = *shipped_catalog().find_stack("megatron");
  const auto waits = [&](std::string_view notes) {
    return executed(megatron, execution_of(read_settings(notes))).synchronous_reduction;
  };
  EXPECT_TRUE(waits("no TP-comm overlap Megatron-LM"));
  EXPECT_FALSE(waits("overlap-grad-reduce, overlap-param-gather Megatron-LM"));
  EXPECT_FALSE(waits("container 26.04; NeMo Megatron-Bridge"));
}

TEST(Notes, OtherProgramsThatTheyNameChangeNothing) {
  const std::string others = "faster than torchtune, Megatron-LM and NeMo";
  EXPECT_FALSE(read_settings(others, "torchtitan").pure_half);
  EXPECT_TRUE(read_settings("", "torchtune 0.4").pure_half);
  EXPECT_TRUE(read_settings(others, "torchtitan").gradient_overlap);
  EXPECT_FALSE(read_settings("", "Megatron-LM").gradient_overlap);
  EXPECT_FALSE(read_settings(others, "Megatron-LM").half_gradients);
  EXPECT_TRUE(read_settings("", "NeMo").half_gradients);
}

TEST(Notes, CheckpointsOfOlderTorchRunThrough) {
  const Stack& foundry = *shipped_catalog().find_stack("llm-foundry");
  EXPECT_TRUE(executed(foundry, execution_of(read_settings("MP_mode=DEFAULT"))).checkpoint_stops_early);
  EXPECT_FALSE(executed(foundry, execution_of(read_settings("MP_mode=PURE"))).checkpoint_stops_early);
}

TEST(Notes, LigerSwitchedOffIsNotLiger) {
  EXPECT_TRUE(read_settings("packing=1, Liger=1").fused_loss);
  EXPECT_TRUE(read_settings("HF + Liger").liger_kernels);
  EXPECT_FALSE(read_settings("packing=1, Liger=0").fused_loss);
  EXPECT_FALSE(read_settings("packing=1, Liger=0").unpacked);
  EXPECT_TRUE(read_settings("packing=0, Liger=0").unpacked);
}

TEST(Notes, SayWhatDidNotRun) {
  const auto compiled = [](const char* notes) { return read_settings(notes).compiled; };
  EXPECT_EQ(compiled("FSDP2, torch.compile"), true);
  for (const char* notes : {"torch.compile=False", "torch.compile: off", "no torch.compile", "without torch.compile",
                            "torch.compile disabled", "compile=0", "33% (no compile) of its table"}) {
    EXPECT_EQ(compiled(notes), false) << notes;
  }
  EXPECT_EQ(compiled("no offload, torch.compile"), true) << "another phrase";
  EXPECT_EQ(compiled("recompiled"), std::nullopt);
  EXPECT_FALSE(read_settings("no async TP").async_tensor_parallel);
  EXPECT_FALSE(read_settings("without Liger").liger_kernels);
  EXPECT_EQ(read_settings("float8").precision, Precision::Fp8);
  EXPECT_EQ(read_settings("no float8").precision, std::nullopt);
}

TEST(Notes, NameFsdpsStrategyWhereNoColumnDoes) {
  const auto sharding = [](const std::string& framework, const std::string& shard, const std::string& notes) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard,notes\na,gpt2,H100,16," +
                                      framework + ",1024,1," + shard + "," + notes + "\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().strategy.sharding;
  };
  EXPECT_EQ(sharding("FSDP", "", "SHARD_GRAD_OP; no float8"), Sharding::FsdpGradOp);
  EXPECT_EQ(sharding("FSDP", "", "HSDP over nodes"), Sharding::FsdpHybrid);
  EXPECT_EQ(sharding("PyTorch FSDP (HSDP)", "", ""), Sharding::FsdpHybrid);
  EXPECT_EQ(sharding("FSDP", "", "no HSDP"), Sharding::FsdpFull);
  EXPECT_EQ(sharding("torchtitan", "", "HSDP"), Sharding::FsdpHybrid);
  EXPECT_EQ(sharding("DeepSpeed", "", "ZeRO-2; beside HSDP"), Sharding::Zero2);
  EXPECT_EQ(sharding("DeepSpeed", "", "ZeRO stage 1"), Sharding::Zero1);
  EXPECT_EQ(sharding("DeepSpeed", "", "ZeRO-1 and ZeRO-2"), Sharding::Zero3) << "either: the stack's usual one";
  EXPECT_EQ(sharding("FSDP", "", "FULL_SHARD against SHARD_GRAD_OP"), Sharding::FsdpFull) << "which is not said";
  EXPECT_EQ(sharding("FSDP", "fsdp-full", "HSDP is slower"), Sharding::FsdpFull) << "the column counts";
}

TEST(MeasuredRuns, EarlyMegatronTrainedInHalfPrecisionHoweverThatIsWritten) {
  const auto stack = [](const std::string& dtype) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,tp,pp\na,gpt2,A100,8,Megatron-LM," +
                        dtype + ",1024,1,1,1\n");
    return stack_of(runs[0], shipped_catalog());
  };
  for (const char* dtype : {"fp16", "FP16", "float16", "fp16-mixed", "16-mixed"})
    EXPECT_EQ(stack(dtype), "megatron-2021") << dtype;
  EXPECT_EQ(stack("bf16"), "megatron");
}

TEST(MeasuredRuns, FrameworksAreNamedByWholeWords) {
  const auto stack = [](const std::string& framework) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,tp,pp\na,gpt2,H100,8," +
                                      framework + ",bf16,1024,1,1,1\n");
    return stack_of(runs[0], shipped_catalog());
  };
  EXPECT_EQ(stack("NeMo-Automodel"), "fsdp");
  EXPECT_EQ(stack("NeMo AutoModel (FSDP2)"), "fsdp");
  EXPECT_EQ(stack("nemo_automodel 0.2"), "fsdp");
  EXPECT_EQ(stack("NeMo 2.0"), "megatron");
  EXPECT_EQ(stack("NeMo24.07"), "megatron");
  EXPECT_EQ(stack("MegatronLM"), "megatron");
  EXPECT_EQ(stack("megatron_deepspeed"), "megatron-deepspeed");
  EXPECT_EQ(stack("PyTorchFSDP"), "fsdp");
  EXPECT_EQ(stack("FSDPv2"), "fsdp");
  EXPECT_EQ(stack("SageMaker model parallelism library v2"), "smp-v2");
  EXPECT_EQ(stack("SageMaker model parallelism v1"), "smp-v1");
  EXPECT_EQ(stack("PyTorch DDP + compile"), "ddp");
  // MPI, ps, TRL and ZeRO are other words' letters.
  for (const char* framework : {"PyTorch with compile", "Apex ops", "ctrl", "nonzero"}) {
    EXPECT_EQ(stack(framework), "ddp") << framework << ": not known, and the model fits";
  }
}

TEST(MeasuredRuns, StagesOfZeroAreFsdpsStrategiesWhereItShards) {
  const auto sharding = [](const std::string& framework, const std::string& shard) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard\na,gpt2,H100,8," +
                                      framework + ",1024,1," + shard + "\n");
    const ResolvedRun run = resolve_run(runs.at(0), shipped_catalog()).value();
    return run.stack.id + " " + std::string(to_string(run.strategy.sharding));
  };
  EXPECT_EQ(sharding("PyTorch FSDP", "zero3"), "fsdp fsdp-full");
  EXPECT_EQ(sharding("PyTorch FSDP", "zero2"), "fsdp fsdp-grad-op");
  EXPECT_EQ(sharding("torchtitan", "zero3"), "torchtitan fsdp-full");
  EXPECT_EQ(sharding("PyTorch FSDP", "zero1"), "deepspeed zero1") << "which FSDP has not";
  EXPECT_EQ(sharding("DeepSpeed", "zero3"), "deepspeed zero3");
  EXPECT_EQ(sharding("HF Accelerate (DeepSpeed ZeRO-2)", ""), "deepspeed zero2");
  EXPECT_EQ(sharding("PyTorch FSDP", "DeepSpeed ZeRO-2"), "deepspeed zero2") << "the row names the program";
}

TEST(MeasuredRuns, HybridShardingKeepsOneCopyANode) {
  const auto run = [](const std::string& columns, const std::string& cells) {
    return resolve_run(test::runs_from("id,model,framework,seq_len,micro_batch,shard," + columns +
                                       "\na,gpt2,FSDP,1024,1,HSDP," + cells + "\n")
                           .at(0),
                       shipped_catalog())
        .value();
  };
  EXPECT_EQ(run("gpu,n_gpus", "H100,32").strategy.shard_degree, 8);
  EXPECT_EQ(run("gpu,n_gpus", "GB200,32").strategy.shard_degree, 4);
  EXPECT_EQ(run("gpu,n_gpus,shard_degree", "H100,32,16").strategy.shard_degree, 16);
  const ResolvedRun odd = run("gpu,n_gpus,shard_degree", "H100,32,12");
  EXPECT_EQ(odd.strategy.shard_degree, 32);
  EXPECT_NE(
      std::find(odd.assumptions.begin(), odd.assumptions.end(), "all 32 ranks share one copy, 12 do not divide them"),
      odd.assumptions.end());
}

TEST(MeasuredRuns, WhoShardsWeightsOrGradientsUsesNoOtherDegreesUnlessStated) {
  const auto message = [](const std::string& framework, const std::string& shard) {
    const auto runs = test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard\na,llama-2-7b,H100,8," +
                                      framework + ",4096,1," + shard + "\n");
    const RunPrediction p = predict_run(runs[0], shipped_catalog());
    return std::string(to_string(p.status)) + ": " + p.message;
  };
  for (const std::string& row : {message("Megatron-DeepSpeed", "zero3"), message("NeMo", "fsdp"),
                                 message("Megatron-FSDP", ""), message("Megatron-DeepSpeed ZeRO-2", "")}) {
    EXPECT_EQ(row.rfind("ok: ", 0), 0U) << row;
    EXPECT_NE(row.find("tp is 1; pp is 1"), std::string::npos) << row;
  }
  EXPECT_EQ(message("NeMo", "zero1").rfind("unsupported: tp and pp are not stated", 0), 0U);
}

TEST(Notes, TheLossIsCompiledWithTheLayersSinceTheirReleasesSayHow) {
  EXPECT_TRUE(read_settings("NGC PyTorch 2.8.0a0; compile + float8").compiled_loss);
  EXPECT_FALSE(read_settings("NGC PyTorch 2.8.0a0; no compile").compiled_loss);
  EXPECT_FALSE(read_settings("PyTorch 2.6.0; + compile + float8").compiled_loss);
  EXPECT_FALSE(read_settings("+ compile + float8").compiled_loss);
}

}  // namespace
}  // namespace smplan
