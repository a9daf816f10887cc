// Files of tools that fine-tune: what is read of tests/data/jobs/<tool>, where, and what is passed over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>

#include "base/json_reader.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/predict.hpp"
#include "tests/preflight/settings_of.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::array<JobKind, 6> kTools = {JobKind::Axolotl, JobKind::LlamaFactory, JobKind::Torchtune,
                                           JobKind::Trl,     JobKind::Verl,         JobKind::NemoRl};

const Json& rows() {
  static const Json document = Json::parse(test::read_test_file("tools.json"));
  return document["files"];
}

Job job_of_file(const std::string& file) {
  const std::string path = std::string(SMPLAN_TEST_DATA) + "/data/jobs/" + file;
  Result<Job> job = read_job(test::read_test_file(file), path, std::nullopt);
  if (!job) throw std::runtime_error(to_string(job.error()));
  read_beside(*job);
  return std::move(*job);
}

Job read(const std::string& text, std::optional<JobKind> kind = std::nullopt) {
  Result<Job> job = read_job(text, "job", kind);
  if (!job) throw std::runtime_error(to_string(job.error()));
  return std::move(*job);
}

Json json_of_node(const Node& node) {
  Json out;
  switch (node.kind) {
    case Node::Kind::Null:
      return nullptr;
    case Node::Kind::Bool:
      return node.truth;
    case Node::Kind::Integer:
      return node.integer;
    case Node::Kind::Real:
      return node.real;
    case Node::Kind::String:
      return node.text;
    case Node::Kind::Array:
      out = Json::array();
      for (const Node& item : node.items) out.push_back(json_of_node(item));
      return out;
    case Node::Kind::Object:
      out = Json::object();
      for (const Node& item : node.items) out[item.key] = json_of_node(item);
      return out;
  }
  return out;
}

class ToolFile : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Json& row() const { return rows()[GetParam()]; }
  [[nodiscard]] std::string file() const { return row()["file"]; }
};

TEST_P(ToolFile, IsReadWhereItsSettingsStand) {
  SCOPED_TRACE(file());
  const Job job = job_of_file(file());
  EXPECT_EQ(std::string(to_string(job.kind)), row()["kind"].get<std::string>());
  const Json found = test::Settings(job).all;
  for (const auto& [name, value] : row()["says"].items()) EXPECT_EQ(found.value(name, Json()), value) << name;
  for (const auto& [name, value] : found.items()) EXPECT_TRUE(row()["says"].contains(name)) << name << ": " << value;
}

/// Each member of the file, with values that no setting has in its place.
TEST_P(ToolFile, WithAnyMemberOfAWrongKindIsReadOrRefused) {
  SCOPED_TRACE(file());
  const Job job = job_of_file(file());
  const Json whole = json_of_node(job.root()).flatten();
  const Json kWrong[] = {nullptr,
                         true,
                         -1,
                         0,
                         1e300,
                         "",
                         "no such word",
                         "<name>",
                         Json::array(),
                         Json::object(),
                         Json::parse("[[1], {}]"),
                         Json::parse(R"({"a": [true]})")};
  for (const auto& [pointer, value] : whole.items()) {
    for (const Json& wrong : kWrong) {
      Json changed = whole.unflatten();
      changed[Json::json_pointer(pointer)] = wrong;
      const Result<Job> read = read_job(changed.dump(), "job", job.kind);
      if (!read) {
        EXPECT_FALSE(read.error().empty());
        continue;
      }
      const Result<Findings> findings = check_job(*read, test::shipped_catalog(), test::shipped_limits(), {});
      EXPECT_TRUE(findings) << pointer << " as " << wrong;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ToolFile, ::testing::Range<std::size_t>(0, rows().size()));

TEST(ToolFiles, AreThereForEachTool) {
  std::set<std::string> kinds;
  std::set<std::string> listed;
  for (const Json& row : rows()) {
    kinds.insert(row["kind"].get<std::string>());
    listed.insert(row["file"].get<std::string>());
  }
  const std::filesystem::path folder = std::string(SMPLAN_TEST_DATA) + "/data/jobs";
  for (const JobKind kind : kTools) {
    EXPECT_TRUE(kinds.count(std::string(to_string(kind)))) << to_string(kind);
    for (const auto& entry : std::filesystem::directory_iterator(folder / to_string(kind))) {
      const std::string file = std::string(to_string(kind)) + "/" + entry.path().filename().string();
      EXPECT_TRUE(listed.count(file)) << file;
    }
  }
}

TEST(ToolKinds, LeaveThoseOfOtherFilesAsTheyWere) {
  for (const auto& [base, job] : test::rule_cases()["bases"].items()) {
    const bool toml = base == "torchtitan";
    const bool arguments = base == "megatron" || base == "verl";
    const std::string file = arguments ? "job.args" : toml ? "job.json" : "job.yaml";
    const Result<Job> read = read_job(test::job_text(base, job), file, std::nullopt);
    ASSERT_TRUE(read) << base;
    EXPECT_EQ(to_string(read->kind), to_string(test::kind_of_base(base)));
  }
}

TEST(ToolKinds, AreToldApartWhereTheyShareKeys) {
  const std::pair<const char*, JobKind> kCases[] = {
      {R"({"model_name_or_path": "m", "per_device_train_batch_size": 1, "output_dir": "o"})", JobKind::Trl},
      {R"({"model_name_or_path": "m", "per_device_train_batch_size": 1, "stage": "sft"})", JobKind::LlamaFactory},
      {R"({"model_name_or_path": "m", "max_length": 9, "stage": "sft", "lora_r": 4})", JobKind::Trl},
      {R"({"base_model": "m", "fsdp_config": {}, "micro_batch_size": 1})", JobKind::Axolotl},
      {R"({"fsdp_config": {}, "distributed_type": "FSDP", "mixed_precision": "bf16"})", JobKind::Accelerate},
      {R"({"gradient_accumulation_steps": 1, "zero_optimization": {}})", JobKind::DeepSpeed},
      {R"({"run": {}, "trainer": {}, "model": {}})", JobKind::HyperpodRecipe},
      {R"({"run": {"model_type": "verl"}, "trainer": {}, "training_config": {}})", JobKind::HyperpodRecipe},
      {R"({"actor_rollout_ref": {}, "trainer": {}})", JobKind::Verl},
      {R"({"defaults": [], "data": {}, "actor_rollout_ref": {}})", JobKind::Verl},
      {R"({"defaults": [], "recipes": {}, "cluster": {}})", JobKind::HyperpodRecipe},
      {R"({"defaults": [], "hydra": {}, "cluster": {}})", JobKind::HyperpodRecipe},
      {R"({"defaults": "base.yaml", "logger": {}, "cluster": {}})", JobKind::NemoRl},
      {R"({"policy": {}, "grpo": {}, "cluster": {}})", JobKind::NemoRl},
      {R"({"model": {}, "tokenizer": {}, "epochs": 1})", JobKind::Torchtune}};
  for (const auto& [text, kind] : kCases) EXPECT_EQ(to_string(read(text).kind), to_string(kind)) << text;
}

TEST(ToolKinds, OfHyperPodsCommandLineAreToldByTheirTemplate) {
  const std::string settings = "job_name: a\nimage: b\ninstance_type: ml.p5.48xlarge\n";
  for (const char* head :
       {"template: hyp-pytorch-job\n", "# template: hyp-pytorch-job\n# version: 1.1\n\n", "node_count: 2\n"}) {
    const Result<Job> job = read_job(head + settings, "config.yaml", std::nullopt);
    ASSERT_TRUE(job) << head;
    EXPECT_EQ(job->kind, JobKind::HyperpodJob);
    EXPECT_EQ(job->instance_type.value, "ml.p5.48xlarge");
  }
  for (const char* name : {"cluster-stack", "hyp-recipe-job"}) {
    for (const char* head : {"template: ", "version: 1\n# template: "}) {
      const Result<Job> other = read_job(std::string(head) + name + "\n" + settings, "config.yaml", std::nullopt);
      ASSERT_FALSE(other);
      EXPECT_THAT(to_string(other.error().front()), ::testing::HasSubstr(name));
    }
  }
  EXPECT_EQ(read_job("template: llama3\nstage: sft\n", "a.yaml", std::nullopt)->kind, JobKind::LlamaFactory);
}

TEST(ToolKinds, OfCommandLinesAreTold) {
  const std::pair<const char*, JobKind> kCases[] = {
      {"trl sft --model_name_or_path m --dataset_name d", JobKind::Trl},
      {"llamafactory-cli train --stage sft --model_name_or_path m --output_dir o", JobKind::LlamaFactory},
      {"FORCE_TORCHRUN=1 llamafactory-cli train --stage sft --output_dir o", JobKind::LlamaFactory},
      {"python src/train.py --stage sft --finetuning_type lora --output_dir o", JobKind::LlamaFactory},
      {"accelerate launch --num_processes 8 train.py --output_dir o --num_train_epochs 1", JobKind::Trl},
      {"torchrun --nproc_per_node 8 train.py --output_dir o --num_train_epochs 1", JobKind::Torchrun},
      {"accelerate launch --num_processes 8 nlp.py --mixed_precision fp16 --output_dir o", JobKind::Torchrun},
      {"trl vllm-serve --model m & accelerate launch a.py --output_dir o", JobKind::Torchrun},
      {"RUN='torchrun --nproc_per_node 8 -m verl.trainer.sft_trainer'\n$RUN data.max_length=9", JobKind::Verl},
      {"MODULE=${MODULE:-verl.trainer.main_ppo}\npython3 -m $MODULE data.max_length=9", JobKind::Verl},
      {"torchrun --nproc_per_node 8 -m verl.trainer.fsdp_sft_trainer data.max_length=9", JobKind::Verl},
      {"python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo", JobKind::Verl},
      {"--num-layers 4 --hidden-size 8", JobKind::Megatron}};
  for (const auto& [text, kind] : kCases) {
    const Result<Job> job = read_job(text, "job.sh", std::nullopt);
    ASSERT_TRUE(job) << text;
    EXPECT_EQ(to_string(job->kind), to_string(kind)) << text;
  }
  EXPECT_EQ(read_job("trl sft --model_name_or_path m --dataset_name d", "-", std::nullopt)->kind, JobKind::Trl);
  EXPECT_FALSE(read_job("pip install trl --no-deps", "job.sh", std::nullopt)) << "no program";
  EXPECT_FALSE(read_job("learning_rate: 1\noutput_dir: a\noptim: b\nmine: 1\nown: 2\nother: 3\nmore: 4\n", "a.yaml",
                        std::nullopt))
      << "most of it is nobody's";
  EXPECT_EQ(read_job("llamafactory-cli train --stage sft", "-", std::nullopt)->kind, JobKind::LlamaFactory);
  EXPECT_EQ(read_job(R"(["--model_name_or_path", "m", "--dataset_name", "d"])", "-", std::nullopt)->kind, JobKind::Trl);
}

TEST(AdaptedModules, AreNamedByEndsOrByExpressionsForWholePaths) {
  struct Named {
    const char* modules;
    const char* targets;  ///< none: a finding says that they are not known
  };
  constexpr Named kNamed[] = {
      {"[q_proj, v_proj]", "query-value"},
      {"[q_proj, k_proj, v_proj, o_proj]", "attention"},
      {"[q_proj, gate_proj]", "linear"},
      {"['.*\\.gate_proj$']", "linear"},
      {"[q_proj, mlp.experts.0.up_proj]", "linear"},
      {"[q_proj, shared_expert.up_proj, shared_expert_gate]", "non-expert"},
      {"[q_proj, v_proj, linear_attn.in_proj_qkvz]", "non-expert"},
      {"[q_proj, gate]", "query-value"},
      {"[q_proj, nonesuch]", nullptr},
      {"'model.layers.[\\d]+.(mlp|self_attn).(up|down|gate|q|k|v|o)_proj'", "non-expert"},
      {"'model.language_model.layers.[\\d]+.self_attn.(q|v)_proj'", "query-value"},
      {"'.*\\.layers\\.(3|7|11)\\.self_attn\\.(q|k|v|o)_proj'", "attention"},
      {"'.*(q|k|v|o|gate|up|down)_proj'", "linear"},
      {"'.*\\.visual\\.(q|k)_proj'", nullptr},
      {"'(unclosed|('", nullptr},
      {"'(q|v)_proj'", nullptr},
  };
  for (const Named& named : kNamed) {
    SCOPED_TRACE(named.modules);
    const auto job = read_job(fmt::format("base_model: m\nadapter: lora\nlora_r: 8\nsequence_len: 64\n"
                                          "micro_batch_size: 1\nlora_target_modules: {}\n",
                                          named.modules),
                              "a.yaml", JobKind::Axolotl);
    ASSERT_TRUE(job) << to_string(job.error());
    EXPECT_EQ(job->strategy.lora_targets.stated, named.targets != nullptr);
    if (named.targets != nullptr) EXPECT_EQ(*job->strategy.lora_targets, named.targets);
    const bool unread = std::any_of(job->unread.begin(), job->unread.end(), [](const Unread& u) {
      return u.why.find("modules that are not known") != std::string::npos;
    });
    EXPECT_EQ(unread, named.targets == nullptr);
  }
}

TEST(AdaptedModules, AreOneExpressionOfTrlsListOfOne) {
  const auto targets = [](const char* modules) {
    const auto job = read_job(fmt::format("model_name_or_path: m\ndataset_name: d\nuse_peft: true\nlora_r: 8\n"
                                          "lora_target_modules: {}\n",
                                          modules),
                              "a.yaml", JobKind::Trl);
    return job ? job->strategy.lora_targets.value_or("") : to_string(job.error());
  };
  EXPECT_EQ(targets("['.*\\.(q|v)_proj']"), "query-value");
  EXPECT_EQ(targets("[q_proj, v_proj]"), "query-value");
}

TEST(ToolKinds, ACommandIsReadAsTheFileThatItStandsFor) {
  const Job job = read_job(
                      "llamafactory-cli train \\\n --stage sft --finetuning_type lora --lora_rank 8 --cutoff_len 2048 "
                      "--bf16 True --lora_target q_proj,v_proj 2>&1 | tee log",
                      "a.sh", std::nullopt)
                      .value();
  EXPECT_EQ(job.strategy.lora_rank.value, 8);
  EXPECT_EQ(job.strategy.lora_rank.where.path, "/lora_rank");
  EXPECT_EQ(job.strategy.sequence_length.value, 2048);
  EXPECT_TRUE(job.strategy.bf16.is(true));
  EXPECT_TRUE(job.strategy.lora_targets.is("query-value"));
}

TEST(ToolKinds, ACommandThatNamesItsFileSaysSo) {
  for (const char* text :
       {"llamafactory-cli train ft/a.yaml", "#!/bin/sh\n/usr/bin/axolotl train ft/a.yaml --launcher x",
        "FORCE_TORCHRUN=1 llamafactory-cli train ft/a.yaml learning_rate=1e-5"}) {
    const Result<Job> job = read_job(text, "a.sh", std::nullopt);
    ASSERT_FALSE(job) << text;
    EXPECT_EQ(job.error().front().code, "other-file") << text;
    EXPECT_EQ(job.error().front().hint, "check that file: smplan check ft/a.yaml") << text;
  }
  const Result<Job> options =
      read_job("# llamafactory-cli train a.yaml\nllamafactory-cli train --stage sft", "a.sh", std::nullopt);
  EXPECT_TRUE(options) << "a comment names no file";
}

TEST(ToolWords, ThatAreNotKnownAreNotedAndDecideWhatIsPredicted) {
  const Job unknown = read("base_model: m\nsequence_len: long\nmicro_batch_size: 0\noptimizer: came_pytorch\n");
  EXPECT_EQ(unknown.not_modelled, "the optimizer `came_pytorch` is not modelled");
  ASSERT_EQ(unknown.unread.size(), 3U);
  EXPECT_EQ(unknown.unread[0].where, (Where{"/sequence_len", 2}));
  EXPECT_EQ(unknown.unread[0].why, "is `long`, not a whole number");
  EXPECT_EQ(unknown.unread[1].why, "is 0: taken as not said");
  EXPECT_FALSE(unknown.strategy.sequence_length);
  EXPECT_FALSE(unknown.strategy.micro_batch.stated);
  EXPECT_FALSE(unknown.strategy.optimizer.stated);
  const Findings findings = test::check_text("base_model: m\nsequence_len: long\n", std::nullopt);
  ASSERT_EQ(findings.unread.size(), 1U);
  EXPECT_THAT(to_json(findings), HasSubstr("not_read"));
}

TEST(ToolWords, LeftToTheToolAreNotGuessed) {
  const Job job = read("base_model: m\nbf16: auto\nmicro_batch_size: auto\nsequence_len: 8\n");
  EXPECT_FALSE(job.strategy.bf16.stated) << "the device decides";
  EXPECT_FALSE(job.strategy.micro_batch);
  EXPECT_THAT(job.unread, IsEmpty());
}

TEST(ToolWords, OfOlderAndNewerReleasesAreReadAlike) {
  const auto axolotl = [](const std::string& words) {
    return read("base_model: m\nsequence_len: 8\n" + words).strategy;
  };
  EXPECT_EQ(*axolotl("eager_attention: true\n").attention, "eager");
  EXPECT_EQ(axolotl("eager_attention: true\n").execution.flash_attention, Toggle::Off);
  EXPECT_EQ(*axolotl("flex_attention: true\n").attention, "flex_attention");
  EXPECT_EQ(*axolotl("xformers_attention: true\n").attention, "xformers");
  EXPECT_FALSE(axolotl("flash_attention: false\n").attention.stated);
  EXPECT_EQ(axolotl("cut_cross_entropy: true\n").execution.loss_kernel, LossKernel::Linear);
  EXPECT_EQ(*axolotl("max_steps: 500_000\n").steps, 500'000);
  EXPECT_TRUE(axolotl("activation_offloading: legacy\n").activation_offload.is(true));
  EXPECT_EQ(*read("model: m\nmodel_class: llm\nenable_activation_checkpointing: false\n").strategy.recompute, "none");
  const Job ppo = read(
      "policy_model: {_component_: a.mistral_7b}\ntokenizer: {}\noptimizer: {}\nloss: {_component_: "
      "torchtune.rlhf.loss.PPOLoss}\n");
  EXPECT_EQ(*ppo.model, "mistral_7b");
  EXPECT_EQ(*ppo.reinforcement.algorithm, "ppo");
  const Job half = read("model_name_or_path: m\ndataset_name: d\nmodel_init_kwargs: {dtype: bfloat16}\n");
  EXPECT_EQ(half.strategy.execution.pure_half, Toggle::On);
  const Job elsewhere = read_job("trl sft --config sft.yaml", "a.sh", std::nullopt).value();
  EXPECT_THAT(elsewhere.not_modelled, HasSubstr("sft.yaml"));
}

TEST(ToolAdapters, OfOtherKindsAreNotModelled) {
  const std::pair<const char*, const char*> kCases[] = {
      {"base_model: m\nadapter: llama-adapter\nsequence_len: 8\n", "adapters of this kind are not modelled"},
      {"base_model: m\nload_in_4bit: true\nsequence_len: 8\n", "a quantized base without adapters"},
      {"base_model: m\nadapter: lora\npeft_layers_to_transform: [1, 2]\nsequence_len: 8\n", "some of the blocks"},
      {"base_model: m\nplugins: [axolotl.integrations.spectrum.SpectrumPlugin]\nsequence_len: 8\n",
       "some of the weights"},
      {"model_name_or_path: m\nstage: sft\nfinetuning_type: oft\n", "adapters of this kind are not modelled: oft"},
      {"model_name_or_path: m\nstage: sft\nfinetuning_type: full\nquantization_bit: 4\n", "without adapters"},
      {"model_name_or_path: m\nstage: sft\nquantization_bit: 2\n", "a base of 2 bits"},
      {"model_name_or_path: m\nstage: sft\nuse_galore: true\n", "GaLore"},
      {"model_name_or_path: m\ndataset_name: d\nload_in_8bit: true\n", "without adapters"},
      {"model: {_component_: a.llama3_8b}\ntokenizer: {}\nepochs: 1\nteacher_model: {}\n", "distillation"}};
  for (const auto& [text, why] : kCases) EXPECT_THAT(read(text).not_modelled, HasSubstr(why)) << text;
}

TEST(ToolFreezing, IsReadAsTheLayersThatAreTrained) {
  const auto axolotl = [](const std::string& patterns) {
    return read("base_model: m\nsequence_len: 8\nunfrozen_parameters: " + patterns + "\n");
  };
  const auto trained = [&](const std::string& patterns) {
    const Job job = axolotl(patterns);
    EXPECT_EQ(job.not_modelled, "") << patterns;
    EXPECT_TRUE(job.strategy.finetune.is("full")) << patterns;
    return job.strategy.trained_layers.value_or("nothing");
  };
  EXPECT_EQ(trained("['^model.layers.(30|31).']"), "30-31");
  EXPECT_EQ(trained("['model.layers.30.', 'model.layers.31.', '^lm_head.weight$']"), "30-31+head");
  EXPECT_EQ(trained("['model.layers.2[0-9].+']"), "20-29") << "a point before a plus is any character";
  EXPECT_EQ(trained("['^model.embed_tokens.weight$[:32000]']"), "embedding") << "rows of it have gradients of zero";
  EXPECT_EQ(trained("['^model.layers.', '^lm_head', '^model.embed_tokens.weight$']"), "0-+embedding+head");
  EXPECT_EQ(trained("'^[a-z_.]+layers.7.'"), "7-7") << "one pattern alone";
  EXPECT_EQ(trained("['model.language_model.*', 'lm_head.*']"), "0-+embedding+head") << "beside a vision tower";
  EXPECT_EQ(trained("['^language_model.model.layers.[0-7].']"), "0-7");
  EXPECT_EQ(trained("['^model.layers.', '^model.norm.weight$']"), "0-");
  for (const char* partly :
       {"['model.layers.2[0-9]+.block_sparse_moe.gate']", "['^model.layers.3.mlp']", "['(']", "[5]",
        "['transformer.h.3.']", "['lm_head', 'model.visual.']", "['model\\.layers\\.3\\.']", "['((a*)*)*b$']"}) {
    EXPECT_THAT(axolotl(partly).not_modelled, HasSubstr("give --trained-layers")) << partly;
  }
  EXPECT_THAT(axolotl("['model.layers.(3|5).']").not_modelled, HasSubstr("not next to one another"));
}

TEST(ToolFreezing, OfLlamaFactoryCountsFromEitherEnd) {
  const auto factory = [](const std::string& words) {
    return read("model_name_or_path: m\nstage: sft\nfinetuning_type: freeze\n" + words);
  };
  const auto trained = [&](const std::string& words) {
    return factory(words).strategy.trained_layers.value_or("nothing");
  };
  EXPECT_EQ(trained(""), "last:2") << "its default";
  EXPECT_EQ(trained("freeze_trainable_layers: 8\nfreeze_trainable_modules: all\n"), "last:8");
  EXPECT_EQ(trained("freeze_trainable_layers: -3\nfreeze_extra_modules: embed_tokens,lm_head,norm\n"),
            "first:3+embedding+head");
  EXPECT_THAT(factory("freeze_trainable_modules: mlp\n").not_modelled, HasSubstr("some modules of a block"));
  EXPECT_THAT(factory("freeze_trainable_layers: many\n").not_modelled, HasSubstr("no number of blocks"));
  EXPECT_EQ(factory("freeze_extra_modules: visual\n").unread.size(), 1U);
  EXPECT_FALSE(read("model_name_or_path: m\nstage: sft\nfinetuning_type: full\n").strategy.trained_layers.stated);
}

/// Of a job that is submitted, by its settings.
TEST(ScriptMethods, ThatAreNotPlannedAreRefusedByName) {
  const auto why = [](const std::string& settings) {
    return read(R"({"class": "PyTorch", "hyperparameters": )" + settings + "}").not_modelled;
  };
  EXPECT_THAT(why(R"({"peft_type": "VERA"})"), HasSubstr("training by `vera` is not modelled"));
  EXPECT_THAT(why(R"({"finetune": "\"ia3\""})"), HasSubstr("`ia3`"));
  EXPECT_THAT(why(R"({"peft_type": "PROMT_TUNING"})"), HasSubstr("`PROMT_TUNING` is no method of PEFT that is known"));
  for (const char* planned : {R"({"peft_type": "LORA"})", R"({"finetune": "qlora"})", R"({"peft_type": "None"})",
                              R"({"num_adapters": "4"})", R"({"finetune": "full"})"}) {
    EXPECT_EQ(why(planned), "") << planned;
  }
}

TEST(ScriptMethods, ThatArePlannedAreRead) {
  const auto of = [](const std::string& settings) {
    return read(R"({"class": "PyTorch", "hyperparameters": )" + settings + "}").strategy;
  };
  const JobStrategy prompt = of(R"({"peft_type": "PROMPT_TUNING", "num_virtual_tokens": "16"})");
  EXPECT_TRUE(prompt.finetune.is("lora"));
  EXPECT_TRUE(prompt.adapters.is("prompt_tuning"));
  EXPECT_TRUE(prompt.virtual_tokens.is(16));
  EXPECT_TRUE(of(R"({"peft_type": "PREFIX_TUNING"})").adapters.is("prefixtuning"));
  EXPECT_TRUE(of(R"({"peft_type": "LORA"})").finetune.is("lora"));
  EXPECT_FALSE(of(R"({"peft_type": "LORA"})").adapters.stated);
  // What smplan's own program is told.
  const JobStrategy own = of(R"({"finetune": "\"qlora\"", "adapters": "\"dora\"", "adapter_count": "8"})");
  EXPECT_TRUE(own.finetune.is("qlora"));
  EXPECT_TRUE(own.adapters.is("dora"));
  EXPECT_TRUE(own.adapter_count.is(8));
}

TEST(ToolAdapters, HaveKinds) {
  const std::pair<const char*, const char*> kCases[] = {
      {"base_model: m\nadapter: lora\npeft_use_dora: true\nsequence_len: 8\n", "dora"},
      {"base_model: m\nadapter: lora\npeft_use_rslora: true\nsequence_len: 8\n", "rslora"},
      {"base_model: m\nadapter: lora\npeft_init_lora_weights: pissa_niter_16\nsequence_len: 8\n", "pissa"},
      {"model_name_or_path: m\nstage: sft\nfinetuning_type: lora\nuse_dora: true\n", "dora"},
      {"model_name_or_path: m\nstage: sft\nfinetuning_type: lora\npissa_init: true\n", "pissa"},
      {"model_name_or_path: m\ndataset_name: d\nuse_peft: true\nuse_dora: true\n", "dora"},
      {"model: {_component_: a.lora_llama3_8b, use_dora: true}\ntokenizer: {}\noptimizer: {}\nepochs: 1\n", "dora"}};
  for (const auto& [text, kind] : kCases) {
    const Job job = read(text);
    EXPECT_EQ(job.not_modelled, "") << text;
    EXPECT_TRUE(job.strategy.adapters.is(kind)) << text;
  }
  EXPECT_FALSE(read("base_model: m\nadapter: lora\npeft_use_dora: false\nsequence_len: 8\n").strategy.adapters.stated);
  EXPECT_FALSE(read("base_model: m\nadapter: lora\npeft_init_lora_weights: gaussian\nsequence_len: 8\n")
                   .strategy.adapters.stated);
}

TEST(ToolLosses, AreRead) {
  for (const char* loss : {"dpo", "orpo", "kto", "simpo"}) {
    const Job job = read(std::string("base_model: m\nsequence_len: 8\nrl: ") + loss);
    EXPECT_EQ(*job.strategy.loss, loss);
    EXPECT_EQ(job.not_modelled, "");
  }
  EXPECT_THAT(read("base_model: m\nsequence_len: 8\nrl: other\n").not_modelled, HasSubstr("rl `other`"));
  EXPECT_THAT(read("model_name_or_path: m\nstage: other\nfinetuning_type: full\n").not_modelled,
              HasSubstr("stage `other`"));
  const Job plain = read("base_model: m\nsequence_len: 8\n");
  EXPECT_EQ(*plain.strategy.loss, "sft");
  EXPECT_EQ(plain.not_modelled, "");
}

TEST(ToolTrl, OfAnUnknownScriptLeavesAdaptersOpen) {
  const Job job = read_job("accelerate launch my.py --output_dir o --num_train_epochs 2", "a.sh", std::nullopt).value();
  EXPECT_THAT(job.adapters_unknown, HasSubstr("give --finetune"));
  EXPECT_FALSE(job.strategy.loss.stated);
  EXPECT_FALSE(job.strategy.sequence_length.stated);
  EXPECT_TRUE(job.strategy.fp32.is(true)) << "what TrainingArguments does";
}

TEST(ToolTrl, TakesTheNewerNameOfRecomputationFirst) {
  const auto recompute = [](const char* lines) {
    const std::string text = fmt::format("model_name_or_path: m\noutput_dir: o\nlearning_rate: 1e-4\n{}", lines);
    const auto job = read_job(text, "trl.yaml", JobKind::Trl);
    EXPECT_TRUE(job) << to_string(job.error());
    return job->strategy.recompute.value_or("");
  };
  EXPECT_EQ(recompute("activation_checkpointing: false"), "none");
  EXPECT_EQ(recompute("gradient_checkpointing: true\nactivation_checkpointing: false"), "none");
  EXPECT_EQ(recompute("activation_checkpointing: true\ngradient_checkpointing: false"), "full");
}

TEST(ToolSplit, OfAFileThatIsNotThereIsAskedFor) {
  const Job job =
      read("base_model: Qwen/Qwen2.5-7B\nsequence_len: 8\nmicro_batch_size: 1\ndeepspeed: other/zero3.json\n");
  EXPECT_THAT(job.split_unknown, HasSubstr("other/zero3.json"));
  CheckOptions options;
  options.request = test::request_from({{"instances", "ml.p5.48xlarge"}, {"count", "1"}});
  Result<Findings> findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), options);
  ASSERT_TRUE(findings);
  EXPECT_FALSE(findings->prediction);
  options.request.zero_stage = "3";
  findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), options);
  ASSERT_TRUE(findings);
  ASSERT_TRUE(findings->prediction);
  EXPECT_EQ(to_string(findings->prediction->plan.strategy.sharding), "zero3");
}

TEST(ToolFolders, AreCheckedAgainstTheirPlan) {
  for (const JobKind kind :
       {JobKind::Axolotl, JobKind::LlamaFactory, JobKind::Torchtune, JobKind::Trl, JobKind::Verl}) {
    EXPECT_EQ(target_of(kind), to_string(kind));
  }
  const std::string plan = std::string(SMPLAN_TEST_DATA) + "/data/plans/llama_8b_adapter.json";
  JobFolder folder;
  folder.path = "job";
  const Result<std::string> text = read_text_file(plan);
  ASSERT_TRUE(text);
  folder.lock = *text;
  Job job = job_of_file("axolotl/qlora.yaml");
  folder.files.push_back({"axolotl.yaml", job});
  job.folder = std::make_shared<const JobFolder>(folder);
  const Result<Findings> findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), {});
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->kind, JobKind::Axolotl);
  const bool drifted = std::any_of(findings->findings.begin(), findings->findings.end(),
                                   [](const Finding& f) { return f.rule == "C220"; });
  EXPECT_TRUE(drifted) << "the file is another job";
}

TEST(ToolModels, AreThoseOfTheCatalog) {
  const auto model = [](const std::string& text) { return model_of(read(text), test::shipped_catalog()); };
  EXPECT_EQ(model("base_model: meta-llama/Llama-3.1-8B-Instruct\nsequence_len: 8\n"), "llama-3.1-8b");
  EXPECT_EQ(model("base_model: no/such-model\nsequence_len: 8\n"), std::nullopt);
  EXPECT_EQ(model("base_model: ./llama-3.1-8b\nsequence_len: 8\n"), std::nullopt) << "a folder may hold anything";
  const std::pair<const char*, const char*> kBuilders[] = {
      {"llama3_1.lora_llama3_1_8b", "llama-3.1-8b"}, {"llama3.qlora_llama3_8b", "llama-3-8b"},
      {"llama2.llama2_70b", "llama-2-70b"},          {"qwen2.qwen2_1_5b", "qwen2.5-1.5b"},
      {"qwen2_5.qwen2_5_0_5b", "qwen2.5-0.5b"},      {"mistral.mistral_7b", "mistral-7b"}};
  for (const auto& [builder, name] : kBuilders) {
    const std::string text =
        std::string("model: {_component_: torchtune.models.") + builder + "}\ntokenizer: {}\nepochs: 1\n";
    EXPECT_EQ(model(text), name) << builder;
  }
}

TEST(ToolPredictions, NeedNoModelWhereTheFileNamesIt) {
  CheckOptions options;
  options.request = test::request_from({{"instances", "ml.p4d.24xlarge"}, {"count", "1"}});
  const Result<Findings> findings =
      check_job(job_of_file("axolotl/qlora.yaml"), test::shipped_catalog(), test::shipped_limits(), options);
  ASSERT_TRUE(findings);
  ASSERT_TRUE(findings->prediction);
  const Prediction& p = *findings->prediction;
  EXPECT_EQ(p.request.workload.architecture.name, "llama-3.1-8b");
  EXPECT_EQ(p.request.workload.finetune, FineTune::Qlora);
  EXPECT_EQ(p.request.workload.lora.rank, 32);
  EXPECT_EQ(p.request.workload.lora.targets, LoraTargets::Linear);
  EXPECT_EQ(p.request.workload.global_batch, 64);
  EXPECT_EQ(p.request.workload.optimizer, Optimizer::Adam8bit);
  EXPECT_EQ(p.plan.stack->id, "hf-trainer");
  EXPECT_EQ(p.plan.strategy.recompute, Recompute::Full);
  EXPECT_THAT(p.length_unknown, HasSubstr("3 epochs"));
}

TEST(ToolPredictions, TakeTheTargetsOfAdapters) {
  CheckOptions options;
  options.request = test::request_from({{"instances", "ml.p4d.24xlarge"}, {"count", "1"}, {"tokens", "10M"}});
  const auto targets = [&](const std::string& words) {
    const Job job = read(
        "base_model: Qwen/Qwen2.5-7B\nsequence_len: 2048\nmicro_batch_size: 1\nadapter: lora\nlora_r: 8\n" + words);
    const Findings findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), options).value();
    return findings.prediction.value().request.workload.lora.targets;
  };
  EXPECT_EQ(targets("lora_target_modules: [q_proj, v_proj]\n"), LoraTargets::QueryValue);
  EXPECT_EQ(targets("lora_target_modules: [q_proj, k_proj, v_proj, o_proj]\n"), LoraTargets::Attention);
  EXPECT_EQ(targets("lora_target_linear: true\n"), LoraTargets::Linear);
}

Node arguments(const std::string& text) { return parse_document(text, "a.sh", Syntax::Arguments).value(); }

TEST(Overrides, AreATreeOfTheirNames) {
  const Node root = arguments("python3 -m verl.trainer.main_ppo a.b=1 +a.c.d='x y' ++a.b=2 a.e=null \\\n a.f=True $@");
  EXPECT_EQ(root.at({"a", "b"})->integer, 2) << "the last counts";
  EXPECT_EQ(root.at({"a", "c", "d"})->text, "x y");
  EXPECT_TRUE(root.at({"a", "e"})->is_null());
  EXPECT_EQ(root.at({"a", "f"})->where, (Where{"/a/f", 2}));
  EXPECT_EQ(root.text, "python3 -m verl.trainer.main_ppo");
  EXPECT_EQ(arguments("-m verl.x a.b=1 a.b.c=2").at({"a", "b", "c"})->integer, 2) << "a value in the way goes";
  EXPECT_EQ(arguments("-m verl.x a.b=1 c=3").find("c")->integer, 3) << "behind the program";
  EXPECT_EQ(arguments("c=3 -m verl.x a.b=1").find("c"), nullptr) << "a variable";
  EXPECT_EQ(arguments("--x 1 a.b=2").find("a"), nullptr) << "of other programs they are values";
}

TEST(Overrides, HaveTheVariablesOfTheirScript) {
  const auto value = [](const std::string& text) {
    const Node root = arguments(text + "\npython3 -m verl.trainer.main_ppo a.b=$N a.c=${N} a.d=${M:-7} a.e=${M}x");
    return root.at({"a", "b"})->text + "|" + root.at({"a", "c"})->text + "|" + root.at({"a", "d"})->text + "|" +
           root.at({"a", "e"})->text;
  };
  EXPECT_EQ(value("N=4"), "4|4|7|${M}x");
  EXPECT_EQ(value("K=5\nexport N=$K"), "5|5|7|${M}x");
  EXPECT_EQ(value("M=3 N='a b'"), "a b|a b|3|3x");
  EXPECT_EQ(value("echo $"), "$N|${N}|7|${M}x");
  std::string doubling = "N=aaaaaaaa";
  for (int i = 0; i < 60; ++i) doubling += " N=$N$N";
  EXPECT_LT(value(doubling).size(), 50'000U) << "a value that doubles itself ends";
}

TEST(Overrides, ThatAreTooDeepAreNone) {
  std::string name = "a";
  for (int i = 0; i < 1000; ++i) name += ".a";
  const Result<Node> root = parse_document("-m verl.x b.c=1 " + name + "=1", "a.sh", Syntax::Arguments);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->items.size(), 1U);
}

TEST(OtherTrainers, SayTheModelAndWhatIsTrained) {
  const auto trainer = [](const std::string& rest) { return read(R"({"class": ")" + rest + "}"); };
  const Job sft = trainer(R"(SFTTrainer", "model": "meta-textgeneration-llama-3-1-8b", "training_type": "FULL")");
  EXPECT_EQ(*sft.model, "meta-textgeneration-llama-3-1-8b");
  EXPECT_EQ(*sft.strategy.finetune, "full");
  EXPECT_EQ(*sft.strategy.loss, "sft");
  EXPECT_THAT(sft.not_modelled, HasSubstr("the service chooses the recipe"));
  const Job dpo = trainer(R"(DPOTrainer", "model": "m", "training_type": "TrainingType.LORA")");
  EXPECT_EQ(*dpo.strategy.finetune, "lora");
  EXPECT_EQ(*dpo.strategy.loss, "dpo");
  const Job rlvr = trainer(R"(RLVRTrainer", "model": "m")");
  EXPECT_EQ(*rlvr.strategy.finetune, "lora") << "where nothing is said";
  EXPECT_EQ(*rlvr.reinforcement.algorithm, "rlvr");
  EXPECT_FALSE(rlvr.strategy.loss.stated);
  EXPECT_EQ(*trainer(R"(RLAIFTrainer", "model": "m")").reinforcement.algorithm, "rlaif");
  EXPECT_EQ(*trainer(R"(MultiTurnRLTrainer", "model": "m")").reinforcement.algorithm, "multi-turn");
  EXPECT_FALSE(trainer(R"(CPTTrainer", "model": "m")").strategy.finetune.stated);
  EXPECT_EQ(trainer(R"(SFTTrainer", "training_type": "OTHER")").unread.size(), 1U);
}

}  // namespace
}  // namespace smplan
