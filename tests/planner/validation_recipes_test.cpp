// What vendors' recipes set where a measured run does not say.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/validation/report.hpp"
#include "planner/validation/run_resolution.hpp"
#include "tests/support/layer_modules.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

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

TEST(MeasuredRuns, NvidiasRecipesRecomputeWhereMemoryIsShort) {
  const auto modules = [](const std::string& model, const std::string& gpu, const std::string& notes) {
    const ResolvedRun run = experts(model, gpu, "Megatron-Bridge", 1, notes);
    EXPECT_EQ(run.strategy.recompute == Recompute::Selective, !run.stack.execution.recompute_modules.empty());
    return run.stack.execution.recompute_modules;
  };
  const LayerModules latent = test::modules({LayerModule::LatentUpProjection});
  const LayerModules memory_bound = test::modules({LayerModule::Norms, LayerModule::ExpertActivation});
  EXPECT_EQ(modules("deepseek-v3", "B200", "container 26.02; NeMo"), latent);
  EXPECT_EQ(modules("kimi-k2", "GB300", "container 26.02; NeMo"), latent);
  EXPECT_EQ(modules("gpt-oss-120b", "GB200", "container 26.02; NeMo"), memory_bound);
  EXPECT_EQ(modules("gpt-oss-120b", "GB300", "container 26.02; NeMo"), LayerModules{});
  EXPECT_EQ(modules("qwen3-235b-a22b", "B200", "container 26.02; NeMo"), LayerModules{});
  EXPECT_EQ(modules("deepseek-v3", "B200", ""), LayerModules{}) << "nobody's recipe";
}

TEST(MeasuredRuns, NvidiasRecipesSendTokensOnceToARankOnRacksAndLaterOnMostNodes) {
  const auto once = [](const std::string& model, const std::string& gpu, const std::string& notes) {
    return experts(model, gpu, "Megatron-Bridge", 1, notes).stack.deduplicated_dispatch;
  };
  EXPECT_TRUE(once("qwen3-235b-a22b", "GB200", "container 25.09; NeMo"));
  EXPECT_TRUE(once("deepseek-v3", "H100-80GB", "container 25.11; NeMo"));
  EXPECT_FALSE(once("deepseek-v3", "B200", "container 25.11; NeMo"));
  EXPECT_TRUE(once("deepseek-v3", "B200", "container 26.02; NeMo"));
  EXPECT_FALSE(once("qwen3-30b-a3b", "H100-80GB", "container 25.11; NeMo"));
  EXPECT_TRUE(once("qwen3-30b-a3b", "H100-80GB", "container 26.02; NeMo"));
  EXPECT_FALSE(once("qwen3-235b-a22b", "H100-80GB", "container 26.04; NeMo"));
  EXPECT_FALSE(once("gpt-oss-120b", "B300", "container 26.04; NeMo"));
  EXPECT_FALSE(once("qwen3-235b-a22b", "GB200", "")) << "nobody's recipe";
  EXPECT_TRUE(once("qwen3-235b-a22b", "H100-80GB", "deepep")) << "stated";
  EXPECT_TRUE(once("qwen3-235b-a22b", "H100-80GB", "dispatcher=flex")) << "stated";
  EXPECT_FALSE(once("qwen3-235b-a22b", "GB200", "container 26.04; NeMo; dispatcher=alltoall")) << "stated";
}

TEST(MeasuredRuns, NvidiasRecipesGraphTheRoutingOfSomeModelsOnNodes) {
  const auto host = [](const std::string& model, const std::string& gpu, const std::string& notes) {
    const StackProfile& p = experts(model, gpu, "Megatron-Bridge", 1, notes).stack.profile;
    const StackProfile& as_shipped = shipped_catalog().find_stack("megatron")->profile;
    return p.host_time_moe_layer / as_shipped.host_time_moe_layer;
  };
  const double graphed = shipped_catalog().find_stack("megatron")->profile.graphed_moe_host;
  const double fused = shipped_catalog().find_stack("megatron")->profile.fused_routing_host;
  const auto at_once = [&](const std::string& model, const std::string& gpu) {
    // In the software of the fit's year, so that nothing is older.
    return host(model, gpu, "items/pretrain; label bf16");
  };
  EXPECT_DOUBLE_EQ(at_once("deepseek-v3", "GB200"), graphed);
  EXPECT_DOUBLE_EQ(at_once("qwen3-30b-a3b", "H100-80GB"), graphed);
  EXPECT_DOUBLE_EQ(at_once("gpt-oss-120b", "B300"), graphed);
  EXPECT_DOUBLE_EQ(at_once("deepseek-v3", "B200"), fused);
  EXPECT_DOUBLE_EQ(at_once("qwen3-235b-a22b", "H100-80GB"), fused);
  EXPECT_DOUBLE_EQ(at_once("nemotron-3-nano", "H100-80GB"), fused);
  EXPECT_DOUBLE_EQ(at_once("nemotron-3-nano", "B200"), graphed);
  EXPECT_DOUBLE_EQ(host("qwen3-235b-a22b", "H100-80GB", ""), 1) << "nobody's recipe";
}

TEST(MeasuredRuns, BenchmarksDealTokensOutEvenly) {
  EXPECT_TRUE(experts("qwen3-30b-a3b", "B200", "Megatron-Bridge", 1, "container 26.02").stack.execution.moe_router ==
              MoeRouter::Balanced);
  EXPECT_FALSE(experts("qwen3-30b-a3b", "B200", "Megatron-Bridge", 1, "").stack.execution.moe_router ==
               MoeRouter::Balanced);
}

TEST(MeasuredRuns, TheFourBitRecipeOfHybridsKeepsFifteenLayersInSixteen) {
  const auto kept = [](const std::string& model, const std::string& dtype) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,dtype,seq_len,tp,pp,ep,micro_batch,global_batch\na," + model +
                        ",GB300,64,Megatron-Bridge," + dtype + ",8192,1,1,64,1,512\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().strategy.execution.half_layers;
  };
  EXPECT_EQ(kept("nemotron-3-super", "nvfp4"), 15);
  EXPECT_EQ(kept("nemotron-3-super", "fp8"), 0);
  EXPECT_EQ(kept("qwen3-235b-a22b", "nvfp4"), 0);
}

TEST(MeasuredRuns, OfAHybridTakeThePatternAsItIs) {
  const auto read = [](const std::string& layers) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,tp,pp,ep,micro_batch,global_batch,n_layers\n"
        "a,nemotron-3-nano,H100-80GB,16,Megatron-Bridge,bf16,8192,1,1,8,1,1024," +
        layers + "\n");
    return resolve_run(runs.at(0), shipped_catalog());
  };
  ASSERT_TRUE(read("").has_value());
  ASSERT_TRUE(read("52").has_value());
  ASSERT_FALSE(read("26").has_value());
  EXPECT_NE(to_string(read("26").error()).find("has 52 layers"), std::string::npos);
}

TEST(MeasuredRuns, MegatronBridgeHalvesTheMomentsOfSomeModels) {
  const auto halved = [](const std::string& model, const std::string& framework) {
    return experts(model, "H100-80GB", framework, 1, "").strategy.execution.half_moments == Toggle::On;
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

TEST(MeasuredRuns, NvidiasBertComputesTheTokensThatItsBinsHold) {
  const auto read = [](const std::string& cells) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,flash_attention,framework,dtype,optimizer,seq_len,micro_batch,global_batch\n"
        "a,bert-large,A100-80GB,8,1," +
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

TEST(MeasuredRuns, NvidiasBertStoresItsScores) {
  const auto flash = [](const std::string& cells) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,dtype,seq_len,micro_batch,optimizer,flash_attention\n"
        "a,bert-large,A100-80GB,8,PyTorch-DDP,fp16,512,32," +
        cells + "\n");
    return resolve_run(runs.at(0), shipped_catalog()).value().strategy.execution.flash_attention;
  };
  EXPECT_EQ(flash("lamb,"), Toggle::Off);
  EXPECT_EQ(flash("lamb,1"), Toggle::On) << "what a row states counts";
  EXPECT_EQ(flash("adamw,"), Toggle::Default) << "nobody's script";
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
  EXPECT_FALSE(graphed("nemotron-3-super", "GB300", "fp8", "container 26.08; NeMo")) << "a hybrid";
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

TEST(MeasuredRuns, NvidiasRecipesForJaxKeepWhatIsAroundAttentionAndShardOverSixteenNodes) {
  const auto resolved = [](const std::string& framework, const std::string& model, int devices,
                           const std::string& stated = ",") {
    const auto runs =
        test::runs_from("id,framework,model,gpu,n_gpus,dtype,seq_len,micro_batch,recompute,shard\na," + framework +
                        "," + model + ",H100-80GB," + std::to_string(devices) + ",bf16,4096,2," + stated + "\n");
    return resolve_run(runs.at(0), shipped_catalog()).value();
  };
  const LayerModules around = test::modules({LayerModule::Norms, LayerModule::CoreAttention, LayerModule::DenseMlp});
  const ResolvedRun maxtext = resolved("MaxText", "llama-2-70b", 256);
  EXPECT_EQ(maxtext.strategy.recompute, Recompute::Selective);
  EXPECT_EQ(maxtext.stack.execution.recompute_modules, around);
  EXPECT_EQ(maxtext.strategy.sharding, Sharding::FsdpFull);
  EXPECT_EQ(maxtext.strategy.shard_degree, 256) << "32 nodes";
  const ResolvedRun large = resolved("MaxText", "llama-2-70b", 1024);
  EXPECT_EQ(large.strategy.sharding, Sharding::FsdpHybrid);
  EXPECT_EQ(large.strategy.shard_degree, 128);
  EXPECT_EQ(large.strategy.data_parallel, 1024);
  const ResolvedRun pax = resolved("PaxML", "gpt3-175b", 256);
  EXPECT_EQ(pax.stack.id, "paxml");
  EXPECT_EQ(pax.stack.execution.recompute_modules, around);
  EXPECT_EQ(pax.strategy.shard_degree, 128);
  const ResolvedRun small = resolved("PaxML", "gpt3-5b", 64);
  EXPECT_EQ(small.stack.execution.recompute_modules, test::modules({LayerModule::Norms, LayerModule::CoreAttention}));
  EXPECT_EQ(small.strategy.shard_degree, 8);
  const ResolvedRun stated = resolved("MaxText", "llama-2-70b", 1024, "full,fsdp-full");
  EXPECT_EQ(stated.strategy.recompute, Recompute::Full);
  EXPECT_EQ(stated.strategy.shard_degree, 1024);
}

}  // namespace
}  // namespace smplan
