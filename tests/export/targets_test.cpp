#include "base/json_writer.hpp"
#include "fixture.hpp"

#include "planner/export/text.hpp"

namespace smplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Targets, AreThoseOfTheContract) {
  for (const char* name :
       {"sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "hyperpod-recipe", "deepspeed", "accelerate",
        "fsdp", "smp-v2", "smp-v1", "megatron", "torchtitan", "torchrun"}) {
    EXPECT_TRUE(find_export_target(name, "--target").has_value()) << name;
  }
  const auto unknown = find_export_target("megatron-lm", "--target");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(to_string(unknown.error()), HasSubstr("did you mean megatron"));
}

/// A plan of a stack with one thing changed, and the targets that have no words for it.
struct Case {
  const char* name;
  const char* stack;
  void (*change)(TrainingPlan&);
  const char* words;
  std::vector<const char*> refused;
  std::vector<const char*> accepted;
};

/// Moves data-parallel ranks into another dimension, so that the product stays.
void move(TrainingPlan& plan, std::int32_t Strategy::*degree, std::int32_t n) {
  Strategy& s = plan.strategy;
  s = Strategy{.micro_batch = 1, .recompute = s.recompute};
  s.*degree = n;
  s.data_parallel = static_cast<std::int32_t>(std::int64_t{plan.instance_count} * plan.devices_per_instance() / n);
  plan.gradient_accumulation = plan.global_batch / s.data_parallel;
}

TEST(Targets, RefuseByNameWhatTheyCannotSay) {
  const std::vector<Case> cases = {
      {"pipeline",
       "megatron",
       [](TrainingPlan& p) { move(p, &Strategy::pipeline_parallel, 4); },
       "pipeline parallelism 4",
       {"fsdp", "deepspeed", "accelerate", "smp-v2"},
       {"megatron", "torchtitan", "smp-v1"}},
      {"context",
       "megatron",
       [](TrainingPlan& p) { move(p, &Strategy::context_parallel, 2); },
       "context parallelism 2",
       {"smp-v1", "fsdp", "deepspeed", "accelerate"},
       {"megatron", "torchtitan"}},
      {"tensor",
       "megatron",
       [](TrainingPlan& p) { move(p, &Strategy::tensor_parallel, 8); },
       "tensor parallelism 8",
       {"fsdp", "deepspeed", "accelerate"},
       {"megatron", "smp-v1", "smp-v2"}},
      {"expert",
       "megatron",
       [](TrainingPlan& p) { p.strategy.expert_parallel = 2; },
       "expert parallelism 2",
       {"smp-v1", "fsdp", "deepspeed", "accelerate"},
       {"megatron"}},
      {"zero1",
       "megatron",
       [](TrainingPlan& p) {
         p.strategy.sharding = Sharding::Zero1;
         p.strategy.shard_degree = p.strategy.data_parallel;
       },
       "sharding zero1",
       {"fsdp", "torchtitan", "smp-v2"},
       {"megatron", "deepspeed", "accelerate", "smp-v1"}},
      {"hybrid",
       "fsdp",
       [](TrainingPlan& p) {
         p.strategy.sharding = Sharding::FsdpHybrid;
         p.strategy.shard_degree = 8;
       },
       "sharding over 8 of 16 ranks",
       {"deepspeed"},
       {"fsdp", "accelerate", "torchtitan"}},
      {"activations",
       "fsdp",
       [](TrainingPlan& p) { p.strategy.offload.activations = true; },
       "offload of the activations",
       {"accelerate", "torchtitan", "deepspeed"},
       {"fsdp"}},
      {"fp8",
       "fsdp",
       [](TrainingPlan& p) { p.precision = Precision::Fp8; },
       "number format fp8",
       {"deepspeed", "smp-v1", "accelerate"},
       {"fsdp", "torchtitan"}},
      {"qlora",
       "fsdp",
       [](TrainingPlan& p) { p.finetune = FineTune::Qlora; },
       "QLoRA",
       {"megatron", "torchtitan", "smp-v2", "smp-v1"},
       {"fsdp", "accelerate"}},
      {"embeddings",
       "fsdp",
       [](TrainingPlan& p) {
         p.finetune = FineTune::Lora;
         p.lora_embeddings = true;
       },
       "embeddings trained beside adapters",
       {"hyperpod-recipe", "megatron", "smp-v2"},
       {"fsdp", "accelerate", "deepspeed"}},
      {"smddp",
       "fsdp",
       [](TrainingPlan& p) { p.strategy.collectives = Collectives::Smddp; },
       "SMDDP collectives",
       {"megatron", "torchtitan", "accelerate", "deepspeed"},
       {"fsdp"}},
  };
  for (const Case& c : cases) {
    TrainingPlan plan = test::plan(test::request(c.stack));
    plan.strategy.recompute = Recompute::None;
    plan.strategy.sequence_parallel = false;
    c.change(plan);
    for (const char* target : c.refused) {
      EXPECT_THAT(test::refusal(plan, target), HasSubstr(std::string(target) + " has no words for " + c.words))
          << c.name;
    }
    for (const char* target : c.accepted) {
      EXPECT_THAT(test::refusal(plan, target), Not(HasSubstr(c.words))) << c.name << " for " << target;
    }
  }
}

TEST(Targets, LaunchersRefuseWhatTheStrategyFileOfTheStackCannotSay) {
  TrainingPlan plan = test::plan(test::request("fsdp"));
  plan.strategy.pipeline_parallel = 2;
  plan.strategy.data_parallel /= 2;
  for (const char* target : {"sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "torchrun"}) {
    EXPECT_THAT(test::refusal(plan, target), HasSubstr("fsdp has no words for pipeline parallelism 2"));
  }
}

TEST(Targets, TheAdapterIsStartedByItsRecipeThroughTheSdk2Alone) {
  const auto adapter = [](const std::string& model) {
    RequestSpec spec = test::request("hyperpod-adapter", model, "ml.p5.48xlarge");
    spec.global_batch = "16";  // recipes accumulate nothing
    return test::plan(spec);
  };
  const Result<Export> out = test::exported(adapter("llama-3-8b"), "sagemaker-sdk-v2");
  ASSERT_TRUE(out) << to_string(out.error().front());
  const std::string& script = out->files.front().content;
  EXPECT_THAT(script, HasSubstr("training_recipe=\"src/recipe.yaml\""));
  for (const char* ignored : {"entry_point=", "hyperparameters=", "distribution={", "image_uri="}) {
    EXPECT_THAT(script, Not(HasSubstr(ignored)));
  }
  EXPECT_TRUE(std::any_of(out->files.begin(), out->files.end(),
                          [](const ExportFile& file) { return file.path == "src/recipe.yaml"; }));
  EXPECT_THAT(test::refusal(adapter("llama-3-8b"), "create-training-job"),
              HasSubstr("does not start processes by a recipe (use sagemaker-sdk-v2)"));
  EXPECT_THAT(test::refusal(adapter("qwen2.5-7b"), "sagemaker-sdk-v2"), HasSubstr("no recipes of qwen2 models"));
}

TEST(Megatron, NamesTheRoutingThatTheCatalogDoesNotHold) {
  const auto exported = [](const std::string& model) {
    return test::exported(test::plan(test::expert_request(model, "ml.p5en.48xlarge", "8")), "megatron").value();
  };
  const Export mixtral = exported("mixtral-8x7b");
  EXPECT_THAT(mixtral.notes, Contains(HasSubstr("--moe-router-score-function sigmoid")));
  EXPECT_THAT(mixtral.files.front().content, Not(HasSubstr("--moe-shared-expert-gate")));
  EXPECT_THAT(exported("qwen2-57b-a14b").files.front().content, HasSubstr("--moe-shared-expert-gate\n"));
}

TEST(Targets, StacksThatSageMakerDoesNotStartAreNamed) {
  TrainingPlan plan = test::plan(test::request("fsdp"));
  plan.stack = test::shipped().find_stack("maxtext");
  EXPECT_THAT(test::refusal(plan, "create-training-job"), HasSubstr("cannot start stack maxtext"));
}

TEST(Targets, HintsNameTargetsThatCan) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  move(plan, &Strategy::pipeline_parallel, 4);
  EXPECT_THAT(test::refusal(plan, "fsdp"), HasSubstr("these can: "));
  EXPECT_THAT(test::refusal(plan, "fsdp"), HasSubstr("megatron"));
}

TEST(Targets, HintsNameNoTargetThatWouldRefuse) {
  RequestSpec spec = test::request("megatron");
  spec.finetune = "lora";
  EXPECT_THAT(test::refusal(test::plan(spec), "megatron"),
              AllOf(HasSubstr("these can: hyperpod-recipe"), HasSubstr("or plan with --stack fsdp")));
  spec[Dimension::Offload] = "activations";  // which NeMo's dialect of recipes lacks, and the others have
  EXPECT_THAT(test::refusal(test::plan(spec), "megatron"), Not(HasSubstr("hyperpod-recipe")));
}

TEST(Exports, NameTheirPredictionsAndTheWorldSizeEquation) {
  const TrainingPlan plan = test::plan(test::request("megatron"));
  for (const char* target : {"sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "megatron", "torchrun"}) {
    const std::string text = test::text_of(plan, target);
    EXPECT_THAT(text, HasSubstr(world_equation(plan))) << target;
    EXPECT_THAT(text, HasSubstr("Predicted: ")) << target;
    EXPECT_THAT(text, HasSubstr(plan.id())) << target;
  }
}

TEST(Exports, AreTheSameWhateverTheOrderOfCalls) {
  const TrainingPlan plan = test::plan(test::request("fsdp"));
  const std::string first = test::text_of(plan, "sagemaker-sdk-v2");
  test::text_of(plan, "torchrun");
  EXPECT_EQ(test::text_of(plan, "sagemaker-sdk-v2"), first);
}

TEST(HyperpodRecipe, TakesAnyHuggingFaceModelWithoutTheSmpLibrary) {
  RequestSpec spec = test::request("fsdp", "falcon-7b");
  spec.global_batch = "16";
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Recompute] = "full";
  const std::string recipe = test::text_of(test::plan(spec), "hyperpod-recipe");
  EXPECT_THAT(recipe,
              AllOf(HasSubstr("model_type: \"falcon\""), HasSubstr("hf_model_name_or_path: \"tiiuae/falcon-7b\""),
                    HasSubstr("do_finetune: false"), Not(HasSubstr("num_hidden_layers"))));
  RequestSpec split = test::request("smp-v2", "gpt-neox-20b");
  split[Dimension::Tensor] = "2";
  EXPECT_THAT(test::refusal(test::plan(split), "hyperpod-recipe"), HasSubstr("SMP recipes know no gpt_neox model"));
}

TEST(HyperpodRecipe, OfNemoSaysAdaptersAndRecomputation) {
  RequestSpec spec = test::request("megatron");
  spec.finetune = "lora";
  spec[Dimension::Recompute] = "full";
  EXPECT_THAT(
      test::text_of(test::plan(spec), "hyperpod-recipe"),
      AllOf(HasSubstr("peft_scheme: \"lora\""), HasSubstr("recompute_granularity: \"full\""),
            HasSubstr("recompute_method: \"uniform\""), HasSubstr("llm.peft.LoRA(dim=...). The plan counts on 16")));
  TrainingPlan quantized = test::plan(spec);
  quantized.finetune = FineTune::Qlora;
  EXPECT_THAT(test::refusal(quantized, "hyperpod-recipe"), HasSubstr("do not quantize frozen weights"));
}

TEST(Megatron, SaysHowAModelDiffersFromGpt2) {
  const std::string llama = test::text_of(test::plan(test::request("megatron", "llama-3-8b")), "megatron");
  for (const char* argument : {"--swiglu\n", "--normalization RMSNorm\n", "--num-query-groups 8\n",
                               "--position-embedding-type rope\n", "--untie-embeddings-and-output-weights\n"}) {
    EXPECT_THAT(llama, HasSubstr(argument));
  }
  const std::string gpt2 = test::text_of(test::plan(test::request("megatron", "gpt2-xl")), "megatron");
  EXPECT_THAT(gpt2, Not(HasSubstr("--swiglu")));
  EXPECT_THAT(gpt2, HasSubstr("--position-embedding-type learned_absolute\n"));
  const std::string moe =
      test::text_of(test::plan(test::expert_request("deepseek-v2-lite", "ml.p4de.24xlarge", "8")), "megatron");
  EXPECT_THAT(moe, HasSubstr("--moe-layer-freq ([0]*1+[1]*26)\n"));
  EXPECT_THAT(moe, HasSubstr("--multi-latent-attention\n"));
}

// Megatron cuts experts over the tensor ranks unless told otherwise: what the prediction counts on must be said.
TEST(Megatron, SaysHowExpertsAreCut) {
  RequestSpec spec = test::expert_request("deepseek-v2-lite", "ml.p4de.24xlarge", "2");
  spec[Dimension::Tensor] = "2";
  EXPECT_THAT(test::text_of(test::plan(spec), "megatron"), HasSubstr("--expert-tensor-parallel-size 1\n"));
  spec[Dimension::ExpertTensor] = "2";
  EXPECT_THAT(test::text_of(test::plan(spec), "megatron"), HasSubstr("--expert-tensor-parallel-size 2\n"));
  EXPECT_THAT(test::text_of(test::plan(spec), "hyperpod-recipe"), HasSubstr("expert_tensor_parallel_size: 2\n"));
  spec[Dimension::Expert] = "1";
  spec[Dimension::ExpertTensor].reset();
  EXPECT_THAT(test::text_of(test::plan(spec), "megatron"), HasSubstr("--expert-tensor-parallel-size 2\n"));
}

TEST(Adapters, EmbeddingsTrainedBesideThemAreToldToTheScript) {
  RequestSpec spec = test::request("fsdp");
  spec.finetune = "lora";
  const auto request = [&] {
    return test::exported(test::plan(spec), "create-training-job").value().files.front().content;
  };
  EXPECT_THAT(request(), Not(HasSubstr("lora_embeddings")));
  spec.lora_embeddings = "on";
  EXPECT_THAT(request(), HasSubstr(R"("lora_embeddings": "\"on\"")"));
}

TEST(Adapters, OfVirtualTokensAreToldToTheProgramAndToNoTool) {
  RequestSpec spec = test::request("hf-trainer", "llama-3.2-1b", "ml.g5.2xlarge", "1");
  spec.finetune = "lora";
  spec.adapters = "prompt_tuning";
  spec.virtual_tokens = "30";
  const TrainingPlan plan = test::plan(spec);
  EXPECT_THAT(test::exported(plan, "create-training-job").value().files.front().content,
              AllOf(HasSubstr(R"("adapters": "\"prompt_tuning\"")"), HasSubstr(R"("virtual_tokens": "30")"),
                    Not(HasSubstr("lora_rank"))));
  for (const char* tool : {"trl", "axolotl", "llama-factory"}) {
    EXPECT_THAT(test::refusal(plan, tool), HasSubstr("has no words for virtual tokens"));
  }
}

TEST(Adapters, TrainedAtOnceAreLeftToAScript) {
  RequestSpec spec = test::request("hf-trainer", "llama-3.2-1b", "ml.g5.2xlarge", "1");
  spec.finetune = "lora";
  spec.adapter_count = "6";
  const TrainingPlan plan = test::plan(spec);
  EXPECT_THAT(test::refusal(plan, "create-training-job"), HasSubstr("the training program trains one adapter"));
  EXPECT_THAT(test::refusal(plan, "axolotl"), HasSubstr("6 adapters at once"));
  ExportOptions own;
  own.script = "mine.py";
  EXPECT_THAT(test::exported(plan, "create-training-job", own).value().notes,
              Contains(HasSubstr("6 of them at once, each on its part of a batch")));
}

TEST(Recomputation, OfSomeLayersIsWrittenOrRefused) {
  RequestSpec spec = test::request("megatron", "llama-3-8b", "ml.p5.48xlarge");
  spec[Dimension::RecomputeLayers] = "30";
  const TrainingPlan megatron = test::plan(spec);
  EXPECT_THAT(test::text_of(megatron, "megatron"),
              HasSubstr("--recompute-granularity full\n--recompute-method block\n--recompute-num-layers 30\n"));
  EXPECT_THAT(test::text_of(megatron, "hyperpod-recipe"),
              AllOf(HasSubstr("recompute_method: \"block\"\n"), HasSubstr("recompute_num_layers: 30\n")));
  TrainingPlan one_layer = megatron;
  one_layer.strategy.recompute_layers = 1;
  EXPECT_THAT(test::text_of(one_layer, "hyperpod-recipe"),
              AllOf(HasSubstr("recompute_method: \"block\"\n"), HasSubstr("recompute_num_layers: 1\n")));
  spec = test::request("fsdp", "llama-3-8b", "ml.p5.48xlarge");
  spec[Dimension::RecomputeLayers] = "30";
  const TrainingPlan fsdp = test::plan(spec);
  EXPECT_THAT(test::text_of(fsdp, "fsdp"), HasSubstr("if is_layer(module)][:30]\n"));
  EXPECT_THAT(test::text_of(fsdp, "create-training-job"), HasSubstr("\"activation_checkpointing_layers\": \"30\""));
  EXPECT_THAT(test::refusal(fsdp, "accelerate"),
              HasSubstr("accelerate has no words for recomputation of 30 layers a chunk"));
  EXPECT_THAT(test::refusal(fsdp, "hyperpod-recipe"), HasSubstr("recompute all or nothing"));
}

// A name that the registry lacks is a KeyError on every rank.
TEST(Torchtitan, ReadsTheDataOfTheJobAndNotItsOwnFixture) {
  const std::string text = test::text_of(test::plan(test::request("torchtitan")), "torchtitan");
  EXPECT_THAT(text, HasSubstr("dataset = \"c4_test\"\ndataset_path = \"/opt/ml/input/data/train\"\n"));
}

// FlexAttention raises where a context is cut, scaled_dot_product_attention does not.
TEST(Torchtitan, CutsTheContextOfModelsThatCan) {
  const auto cut = [](const char* model) {
    TrainingPlan plan = test::plan(test::request("torchtitan"));
    move(plan, &Strategy::context_parallel, 2);
    plan.strategy.sharding = Sharding::FsdpFull;
    plan.strategy.shard_degree = static_cast<std::int32_t>(plan.replicas());
    plan.model.name = model;
    return test::refusal(plan, "torchtitan");
  };
  EXPECT_THAT(cut("deepseek-v3"), HasSubstr("no context parallelism for deepseek-v3"));
  EXPECT_THAT(cut("llama-4-scout"), Not(HasSubstr("no context parallelism"))) << "without iRoPE it uses SDPA";
  EXPECT_THAT(cut("llama-3-8b"), Not(HasSubstr("no context parallelism")));
}

// megatron/core/optimizer: a precision-aware optimizer, which offload needs, must be distributed.
TEST(Megatron, OffloadsByTheDistributedOptimizerThoughItBeOverOneReplica) {
  RequestSpec spec = test::request("megatron", "gpt3-1.3b", "ml.g5.2xlarge", "1");
  spec.seq_len = "1024";
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Recompute] = "full";
  spec[Dimension::Offload] = "optimizer";
  EXPECT_THAT(test::text_of(test::plan(spec), "megatron"),
              AllOf(HasSubstr("--use-distributed-optimizer\n"), HasSubstr("--optimizer-cpu-offload\n"),
                    Not(HasSubstr("--overlap-param-gather"))));
}

TEST(Fsdp, OfSmddpHasNoSelectiveCheckpointing) {
  RequestSpec spec = test::request("fsdp", "llama-3.2-1b", "ml.p4d.24xlarge", "4");
  spec[Dimension::Collectives] = "smddp";
  spec[Dimension::Recompute] = "selective";
  EXPECT_THAT(test::refusal(test::plan(spec), "fsdp"), HasSubstr("no selective checkpointing"));
  spec[Dimension::Recompute] = "full";
  EXPECT_THAT(test::text_of(test::plan(spec), "fsdp"), HasSubstr("apply_activation_checkpointing"));
}

TEST(Provenance, SaysWhatIsTrainedAndByWhat) {
  RequestSpec spec = test::request("deepspeed");
  spec.finetune = "lora";
  spec.lora_rank = "8";
  spec.lora_embeddings = "on";
  spec.optimizer = "adam8bit";
  ExportOptions own;
  own.script = "mine.py";
  const Export adapters = test::exported(test::plan(spec), "deepspeed", own).value();
  EXPECT_THAT(adapters.notes, Contains(HasSubstr("adapters, of rank 8 on every linear layer, and trains embedding")));
  EXPECT_THAT(adapters.files.back().content, HasSubstr("adam8bit, LoRA of rank 8 with embedding and head trained"));
  EXPECT_THAT(test::exported(test::plan(test::request("deepspeed")), "deepspeed", own).value().notes,
              Not(Contains(HasSubstr("adapters"))));
}

TEST(Torchtitan, NamesTheFloat8ConverterAsItsRegistryDoes) {
  RequestSpec spec = test::request("torchtitan", "llama-3-8b", "ml.p5.48xlarge");
  spec.dtype = "fp8";
  EXPECT_THAT(test::text_of(test::plan(spec), "torchtitan"), HasSubstr("[\"quantize.linear.float8\"]"));
}

// Left to its weights of a layer for embedding and head, TorchTitan makes 9 stages of 32 layers by 4, and raises.
TEST(Torchtitan, CutsAnInterleavedPipelineIntoTheStagesOfThePlan) {
  RequestSpec spec = test::request("torchtitan", "llama-3-8b", "ml.p5.48xlarge");
  spec[Dimension::Pipeline] = "2";
  spec[Dimension::VirtualPipeline] = "4";
  EXPECT_THAT(test::text_of(test::plan(spec), "torchtitan"),
              AllOf(HasSubstr("pipeline_parallel_first_stage_less_layers = 0\n"),
                    HasSubstr("pipeline_parallel_last_stage_less_layers = 0\n"),
                    HasSubstr("pipeline_parallel_layers_per_stage = 4\n")));
  TrainingPlan uneven = test::plan(spec);
  uneven.model.n_layers = 30;  // 32 with embedding and head: 4 a stage
  EXPECT_THAT(test::text_of(uneven, "torchtitan"),
              AllOf(HasSubstr("layers_per_stage = 4\n"), Not(HasSubstr("less_layers"))));
  uneven.model.n_layers = 25;
  EXPECT_THAT(test::refusal(uneven, "torchtitan"), HasSubstr("cuts 25 layers into 7 stages, not into 8"));
}

// Megatron's own defaults: dropout of 0.1 and a rotary base of 10000, which train another model without a word.
TEST(Megatron, TrainsWithoutDropoutAndOnTheModelsRotaryBase) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  EXPECT_THAT(test::text_of(plan, "megatron"),
              AllOf(HasSubstr("--attention-dropout 0.0\n--hidden-dropout 0.0\n"), HasSubstr("--rotary-base 500000\n"),
                    Not(HasSubstr("REPLACE-ME-rotary-base"))));
  plan.model.rotary_base = 0;
  EXPECT_THAT(test::text_of(plan, "megatron"),
              AllOf(HasSubstr("--rotary-base REPLACE-ME-rotary-base\n"), HasSubstr("- `REPLACE-ME-rotary-base`: ")));
  EXPECT_THAT(test::text_of(test::plan(test::request("megatron", "gpt2-xl")), "megatron"),
              AllOf(Not(HasSubstr("dropout")), Not(HasSubstr("rotary"))));
}

// What the catalog knows is no question to the user.
TEST(HubName, IsTheRepositoryThatThePresetCites) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--tokenizer-model meta-llama/Meta-Llama-3-8B\n"));
  EXPECT_THAT(test::text_of(test::plan(test::request("megatron", "gpt3-1.3b")), "megatron"),
              AllOf(HasSubstr("--tokenizer-model REPLACE-ME-tokenizer\n"), HasSubstr("- `REPLACE-ME-tokenizer`: ")));
  plan.model.vocab = 1000;  // a namesake
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--tokenizer-model REPLACE-ME-tokenizer\n"));
}

// A preset stands for the models of its widths; the one that was asked for is trained on.
TEST(HubName, IsTheOneThatWasAskedFor) {
  TrainingPlan plan = test::plan(test::request("megatron", "meta-llama/Llama-3.1-8B-Instruct"));
  EXPECT_EQ(plan.weights, "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--tokenizer-model meta-llama/Llama-3.1-8B-Instruct\n"));
  EXPECT_EQ(test::plan(test::request("megatron", "llama-3.1-8b")).weights, "");
}

TEST(Torchtitan, RegistersTheWidthsOfAPlainLlama) {
  const TrainingPlan plan = test::plan(test::request("torchtitan", "llama-2-13b"));
  const std::string text = test::text_of(plan, "torchtitan");
  EXPECT_THAT(text, AllOf(HasSubstr("flavor = \"smplan\"\n"), Not(HasSubstr("REPLACE-ME-flavor")),
                          HasSubstr("dim=5120, n_layers=40, n_heads=40, n_kv_heads=40, vocab_size=32000"),
                          HasSubstr("multiple_of=13824, ffn_dim_multiplier=3 * 13824 / (16 * 5120)"),
                          HasSubstr("rope_theta=10000, ")));
  // As FeedForward of torchtitan 0.2.2 derives it.
  const auto derived = static_cast<std::int64_t>(3.0 * 13824 / (16 * 5120) * static_cast<double>(2 * 4 * 5120 / 3));
  EXPECT_EQ(13824 * ((derived + 13824 - 1) / 13824), 13824);
  EXPECT_THAT(test::text_of(test::plan(test::request("torchtitan", "llama-3-8b")), "torchtitan"),
              AllOf(HasSubstr("flavor = \"8B\"\n"), Not(HasSubstr("llama3_args"))));
  EXPECT_THAT(test::text_of(test::plan(test::request("torchtitan", "smollm2-1.7b")), "torchtitan"),
              HasSubstr("REPLACE-ME-flavor"))
      << "its embeddings are tied, llama3's are not";
}

TEST(HyperpodRecipe, OfTheAdapterSaysTheRotaryBase) {
  RequestSpec spec = test::request("hyperpod-adapter");
  spec.global_batch = "32";
  EXPECT_THAT(test::text_of(test::plan(spec), "hyperpod-recipe"), HasSubstr("rope_theta: 500000.0\n"));
}

TEST(HyperpodRecipe, ForFineTuningSaysItsAdapters) {
  RequestSpec spec = test::request("fsdp", "llama-3-70b");
  spec.finetune = "lora";
  spec[Dimension::Data] = "16";
  spec[Dimension::MicroBatch] = "1";
  TrainingPlan plan = test::plan(spec);
  ASSERT_GT(plan.gradient_accumulation, 1) << "else it is a recipe of the adapter";
  plan.strategy.recompute = Recompute::Full;
  plan.strategy.recompute_layers = 0;
  plan.strategy.sharding = Sharding::FsdpFull;
  plan.strategy.shard_degree = 16;
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"),
              AllOf(HasSubstr("peft_type: \"lora\"\n"), HasSubstr("r: 16\n"), HasSubstr("lora_alpha: 32\n")));
  plan.finetune = FineTune::Qlora;
  EXPECT_THAT(test::refusal(plan, "hyperpod-recipe"), HasSubstr("do not quantize frozen weights"));
}

// pdsh, accelerate's own choice, wants a host file that no SageMaker container has.
TEST(Accelerate, StartsDeepSpeedOnSeveralMachinesWithoutPdsh) {
  const auto accelerate = [](const char* stack, const char* count) {
    RequestSpec spec = test::request(stack, "llama-3-8b", "ml.p4de.24xlarge", count);
    spec[Dimension::Recompute] = "full";
    return test::text_of(test::plan(spec), "accelerate");
  };
  EXPECT_THAT(accelerate("deepspeed", "2"), HasSubstr("deepspeed_multinode_launcher: \"standard\"\n"));
  EXPECT_THAT(accelerate("deepspeed", "1"), Not(HasSubstr("multinode")));
  EXPECT_THAT(accelerate("fsdp", "2"), Not(HasSubstr("multinode")));
}

TEST(Fsdp, MeshIsOfTheDeviceThatTheProcessHas) {
  const std::string text = test::text_of(test::plan(test::request("fsdp")), "fsdp");
  EXPECT_THAT(text, AllOf(HasSubstr("DEVICE = torch.accelerator.current_accelerator().type"),
                          HasSubstr("init_device_mesh(DEVICE, "), Not(HasSubstr("init_device_mesh(\"cuda\""))));
}

TEST(Megatron, SaysWindowsAndSquaredRelu) {
  EXPECT_THAT(test::text_of(test::plan(test::request("megatron", "mistral-7b")), "megatron"),
              HasSubstr("--window-size 4096,0\n"));
  RequestSpec spec = test::request("megatron", "nemotron-4-15b");
  spec[Dimension::Tensor] = "8";
  EXPECT_THAT(test::text_of(test::plan(spec), "megatron"),
              AllOf(HasSubstr("--squared-relu\n"), HasSubstr("--rotary-percent 0.5\n")));
}

TEST(Megatron, RefusesModelsThatItsArgumentsWouldMakeOthers) {
  for (const auto& [model, what] : {std::pair{"bloom-3b", "ALiBi"},
                                    {"mpt-7b", "ALiBi"},
                                    {"gpt-j-6b", "side by side"},
                                    {"phi-2", "side by side"},
                                    {"gemma-2-9b", "GeGLU"},
                                    {"opt-6.7b", "ReLU"},
                                    {"llama-4-scout", "in chunks"}}) {
    TrainingPlan plan = test::plan(test::request("megatron"));
    plan.model = (*test::shipped().find_model(model)).architecture;
    EXPECT_THAT(test::refusal(plan, "megatron"), HasSubstr(what)) << model;
  }
}

TEST(Megatron, SaysTheLayersOfStagesThatDoNotDivide) {
  RequestSpec spec = test::request("megatron", "llama-3-8b", "ml.p4de.24xlarge", "3");
  spec.global_batch = "384";
  spec[Dimension::Pipeline] = "3";
  const TrainingPlan plan = test::plan(spec);  // 32 layers; the first stage, with the embedding, has fewest
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--pipeline-model-parallel-layout 'Et*10|t*11|t*11L'\n"));
  EXPECT_THAT(test::refusal(plan, "hyperpod-recipe"), HasSubstr("do not cut 32 layers into 3 uneven stages"));
  TrainingPlan interleaved = plan;
  interleaved.strategy.virtual_pipeline = 2;
  EXPECT_THAT(test::text_of(interleaved, "megatron"),
              AllOf(HasSubstr("layout 'Et*5|t*6|t*6|t*5|t*5|t*5L'\n"), Not(HasSubstr("num-virtual-stages"))));
}

TEST(Megatron, WritesHybridsAsAPatternThatSaysStagesAndFurtherTokens) {
  RequestSpec spec = test::expert_request("nemotron-3-super", "ml.p6-b200.48xlarge", "8");
  spec[Dimension::Pipeline] = "4";
  spec.seq_len = "8192";
  spec[Dimension::Recompute] = "full";
  const std::string text = test::text_of(test::plan(spec), "megatron");
  EXPECT_THAT(text, HasSubstr("--hybrid-layer-pattern "
                              "'MEMEMEM*EMEMEMEM*EMEME|MEM*EMEMEMEMEM*EMEMEME|MEM*EMEMEMEMEM*EMEMEME|MEM*EMEMEMEM*"
                              "EMEMEMEME/*E/*E'\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("--spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec\n"),
                          HasSubstr("--mamba-num-heads 128\n"), HasSubstr("--moe-latent-size 1024\n"),
                          HasSubstr("--mtp-use-repeated-layer\n"), HasSubstr("--squared-relu\n"),
                          Not(HasSubstr("--num-layers")), Not(HasSubstr("rotary"))));
}

TEST(Megatron, WritesTheGatedDeltaRuleAsAVariantOfAttention) {
  const std::string text =
      test::text_of(test::plan(test::expert_request("qwen3-next-80b-a3b", "ml.p6-b200.48xlarge", "8")), "megatron");
  EXPECT_THAT(text, AllOf(HasSubstr("--experimental-attention-variant gated_delta_net\n--linear-attention-freq 4\n"),
                          HasSubstr("--linear-num-value-heads 32\n"), HasSubstr("--attention-output-gate\n"),
                          HasSubstr("--moe-shared-expert-gate\n"), HasSubstr("--num-layers 48\n")));
}

TEST(Megatron, OffloadsActivationsOnlyWhereItDoesNotRaise) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  plan.strategy.recompute = Recompute::None;
  plan.strategy.offload.activations = true;
  EXPECT_EQ(test::refusal(plan, "megatron"), "");
  plan.strategy.recompute = Recompute::Full;
  EXPECT_THAT(test::refusal(plan, "megatron"), HasSubstr("beside recomputation"));
  RequestSpec staged = test::request("megatron");
  staged[Dimension::Pipeline] = "2";
  plan = test::plan(staged);
  plan.strategy.offload.activations = true;
  EXPECT_THAT(test::refusal(plan, "megatron"), HasSubstr("no activations in a pipeline"));
}

// Whose own entry points compute the loss: no script of the user's can fuse it.
TEST(FusedLoss, IsRefusedWhereTheFrameworkOwnsTheLoss) {
  for (const char* stack : {"megatron", "torchtitan"}) {
    TrainingPlan plan = test::plan(test::request(stack));
    plan.strategy.execution.loss_kernel = LossKernel::Linear;
    EXPECT_THAT(test::refusal(plan, stack), HasSubstr("no loss that keeps no logits")) << stack;
  }
}

TEST(Megatron, TakesTheAttentionThatThePlanCountsOn) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--attention-backend auto\n"));
  plan.strategy.execution.flash_attention = Toggle::Off;
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--attention-backend unfused\n"));
  plan.strategy.execution.flash_attention = Toggle::On;
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--attention-backend flash\n"));
}

TEST(HyperpodRecipe, OfNemoIsOfBf16DecodersAndAsksForItsData) {
  TrainingPlan plan = test::plan(test::request("megatron"));
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"),
              AllOf(HasSubstr("precision: \"bf16-mixed\""), HasSubstr("vocab_size: 128256"),
                    HasSubstr("seq_length: 8192"), HasSubstr("- `REPLACE-ME-data-path`: ")));
  plan.precision = Precision::Fp8;
  EXPECT_THAT(test::refusal(plan, "hyperpod-recipe"), HasSubstr("NeMo recipes train in bf16, not in fp8"));
  plan.precision = Precision::Bf16;
  plan.model.kind = ModelKind::EncoderDecoder;
  EXPECT_THAT(test::refusal(plan, "hyperpod-recipe"), HasSubstr("NeMo recipes train decoders"));
}

TEST(Notes, SayWhatTheScriptMustDoForOffloadAndMicrobatches) {
  RequestSpec offloaded = test::request("deepspeed");
  offloaded[Dimension::Offload] = "optimizer";
  ExportOptions own;
  own.script = "mine.py";
  EXPECT_THAT(test::text_of(test::plan(offloaded), "deepspeed", own), HasSubstr("DeepSpeedCPUAdam"));
  RequestSpec staged = test::request("smp-v1", "gpt2-xl");
  staged[Dimension::Pipeline] = "2";
  staged[Dimension::MicroBatch] = "1";
  EXPECT_THAT(test::text_of(test::plan(staged), "smp-v1"), HasSubstr("accumulates nothing itself"));
}

TEST(Notes, SayWhichKernelsThePredictionCountsOn) {
  RequestSpec spec = test::request("fsdp");
  spec.fused_loss = "on";
  ExportOptions own;
  own.script = "mine.py";
  EXPECT_THAT(test::text_of(test::plan(spec), "fsdp", own),
              HasSubstr("The plan counts on a loss that keeps no logits"));
}

TEST(Text, WritesJsonInThreeLanguages) {
  const Json json = Json::parse(R"({"a": {"flag": true, "none": null, "words": ["x", 1]}, "b": 2.5})");
  EXPECT_EQ(
      python_literal(json),
      "{\n    \"a\": {\n        \"flag\": True,\n        \"none\": None,\n        \"words\": [\n            \"x\",\n"
      "            1,\n        ],\n    },\n    \"b\": 2.5,\n}");
  EXPECT_EQ(yaml_block(json), "a:\n  flag: true\n  none: null\n  words: [\"x\",1]\nb: 2.5\n");
  EXPECT_EQ(toml_tables(Json::parse(R"({"t": {"n": 1, "s": "x"}, "u": {"l": ["a"]}})")),
            "[t]\nn = 1\ns = \"x\"\n\n[u]\nl = [\"a\"]\n");
}

}  // namespace
}  // namespace smplan
