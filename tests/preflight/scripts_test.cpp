// Scripts as a shell reads them: words, arrays, conditions. What they leave unknown is not judged.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/preflight/beside.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Lines = std::vector<std::string>;

/// `error C144 message: fix`.
Lines told(const Job& job, const std::string& rule, const RequestSpec& flags = {}) {
  CheckOptions options;
  options.request = flags;
  const Findings found = check_job(job, test::shipped_catalog(), test::shipped_limits(), options).value();
  Lines lines;
  for (const Finding& f : found.findings) {
    if (f.rule == rule) lines.push_back(fmt::format("{} {}: {}", to_string(f.severity), f.message, f.fix));
  }
  return lines;
}

Job script(const std::string& text, const std::string& name = "run.sh", std::optional<JobKind> kind = std::nullopt) {
  return read_job(text, name, kind).value();
}

std::string option(const Job& job, std::string_view name) {
  const Node* node = job.root().find(name);
  return node == nullptr ? "" : node->is_array() ? node->items.front().text : node->text;
}

const std::string kMegatron =
    "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32"
    " --seq-length 4096 --micro-batch-size 1 --global-batch-size 128 ";

TEST(Script, IsOneByEachEndingThatClustersUse) {
  for (const char* name : {"job.sh", "job.sbatch", "job.slurm", "job.sub"}) {
    const Job job =
        script("#!/bin/bash\n#SBATCH --nodes=2\n---\nsrun torchrun --nnodes 2 --nproc-per-node 8 train.py\n",
               std::string("folder/") + name);
    EXPECT_EQ(job.kind, JobKind::Torchrun) << name;
    EXPECT_EQ(job.slurm.nodes.value, 2) << name;
  }
}

TEST(Script, GoesOnOverLinesInsideAWord) {
  const Job job =
      script("#!/bin/bash\nLAYERS=\"3\"\\\n\"2\"\n" + kMegatron + "--save /chec\\\nkpoints \\\n  --lr \"1e\\\n-4\"\n");
  EXPECT_EQ(option(job, "save"), "/checkpoints");
  EXPECT_EQ(option(job, "lr"), "1e-4");
  EXPECT_EQ(job.root().find("lr")->where.line, 6);
}

TEST(Script, SplitsElementsOfAnArrayThatStandsWithoutQuotes) {
  const std::string array = "#!/bin/bash\nARGS=(\n  \"--fp8-format hybrid\"\n  --fp8-param-gather\n)\n";
  EXPECT_EQ(option(script(array + kMegatron + "${ARGS[@]}\n"), "fp8-format"), "hybrid");
  EXPECT_EQ(script(array + kMegatron + "\"${ARGS[@]}\"\n").root().find("fp8-format"), nullptr) << "it is one word";
  const std::string added =
      "#!/bin/bash\nARGS=()\nif [ $F = 8 ]; then\n  ARGS+=(\n    \"--fp8-format hybrid\"\n  )\nfi\n";
  EXPECT_EQ(option(script(added + kMegatron + "${ARGS[@]}\n"), "fp8-format"), "hybrid");
}

TEST(Script, HasACommandInsideAsOneWord) {
  const Job job =
      script("#!/bin/bash\nHEAD=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n" + kMegatron +
             "--lr 1e-4 --save /c/$(date +%F) --train-iters $((10 * $STEPS)) --seed \"$(cat 'a)b' | wc -l)\"\n");
  EXPECT_FALSE(job.root().open) << "no argument comes from the variable in it";
  EXPECT_EQ(option(job, "save"), "/c/$(date +%F)");
  EXPECT_EQ(option(job, "train-iters"), "$((10 * $STEPS))");
  EXPECT_EQ(option(job, "seed"), "$(cat 'a)b' | wc -l)");
  const Findings found = check_job(job, test::shipped_catalog(), test::shipped_limits(), {}).value();
  for (const Finding& f : found.findings) EXPECT_NE(f.rule, "C004") << f.message;
  EXPECT_EQ(option(script("#!/bin/bash\n" + kMegatron + "--save a$(b --lr 2\n"), "lr"), "2") << "it is not closed";
}

TEST(Script, KnowsNoValueThatAConditionChanges) {
  const auto layers = [](const std::string& lines) {
    const std::string text = "#!/bin/bash\n" + lines +
                             "torchrun pretrain_gpt.py --hidden-size 4096 --micro-batch-size 1"
                             " --num-layers $LAYERS\n";
    return option(script(text), "num-layers");
  };
  EXPECT_EQ(layers("if [ -z ${LAYERS} ]; then\n  LAYERS=24\nfi\n"), "24") << "a default";
  EXPECT_EQ(layers("if [[ $SIZE == 7b ]]; then\n  LAYERS=32\nelse\n  LAYERS=40\nfi\n"), "$LAYERS");
  EXPECT_EQ(layers("LAYERS=32\nif [ $DEBUG = 1 ]; then LAYERS=2; fi\n"), "$LAYERS");
  EXPECT_EQ(layers("LAYERS=32\nif [ $DEBUG = 1 ]; then LAYERS=32; fi\n"), "32");
  EXPECT_EQ(layers("case $SIZE in\n 7b) LAYERS=32;;\nesac\nLAYERS=16\n"), "16") << "set anew for all";
}

TEST(Script, HasNoOptionForSureInsideACondition) {
  const std::string arrays =
      "#!/bin/bash\nDATA=()\nif [ $DATA_PATH = MOCK ]; then\n  DATA+=(--mock-data --split 1,0,0)\nelse\n"
      "  DATA+=(--data-path $DATA_PATH --split 99,1,0)\nfi\n";
  const Job job = script(arrays + kMegatron + "${DATA[@]}\n");
  EXPECT_TRUE(job.root().find("mock-data")->open);
  EXPECT_THAT(told(job, "C226"), Not(Contains(HasSubstr("excludes"))));
  EXPECT_THAT(told(job, "C180"), Not(Contains(HasSubstr("overrides"))));
  EXPECT_THAT(
      told(script("#!/bin/bash\n" + kMegatron + "--mock-data --data-path d --split 1,0,0 --split 99,1,0\n"), "C226"),
      Contains(HasSubstr("excludes")));
  EXPECT_THAT(told(script("#!/bin/bash\n" + kMegatron + "--fp8-param-gather --fp8-format $FORMAT\n"), "C226"),
              Not(Contains(HasSubstr("needs --fp8-format"))));
}

TEST(Script, HidesNoDevicesInsideACondition) {
  const std::string body = "torchrun --nproc_per_node 8 train.py\n";
  const std::string four = "export CUDA_VISIBLE_DEVICES=0,1,2,3\n";
  EXPECT_THAT(told(script("#!/bin/bash\n" + four + body), "C235"), ElementsAre(HasSubstr("shows 4")));
  EXPECT_THAT(told(script("#!/bin/bash\nif [[ $DEBUG -eq 1 ]]; then\n  " + four + "fi\n" + body), "C235"), IsEmpty());
  EXPECT_THAT(told(script("#!/bin/bash\nif [[ $DEBUG -eq 1 ]]; then\n  find .\n  " + four + "fi\n" + body), "C235"),
              IsEmpty());
  EXPECT_THAT(told(script("#!/bin/bash\nif [ $A ]; then B=1; fi\n" + four + body), "C235"),
              ElementsAre(HasSubstr("shows 4")));
}

TEST(Script, IsOneByItsFirstLine) {
  const std::string text = "#!/usr/bin/env bash\ntorchrun --nproc_per_nodes=8 train.py --lr 1\n";
  const Result<Job> job = read_job(text, "launch", std::nullopt);
  ASSERT_TRUE(job) << to_string(job.error());
  EXPECT_EQ(job->kind, JobKind::Torchrun);
  EXPECT_THAT(told(*job, "C240"), ElementsAre(HasSubstr("nproc_per_nodes")));
  const Result<Job> file =
      read_job("#!yaml\ntrain_batch_size: 8\nzero_optimization:\n  stage: 2\n", "ds.yaml", std::nullopt);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->kind, JobKind::DeepSpeed) << "its ending says what it is";
}

TEST(Script, HasNoArgumentsInATest) {
  const Job job = script(
      "#!/bin/bash\nif [ \"${DEVICE:-gpu}\" = gpu ] && [[ $A == b.c=d ]]; then\n  export X=1\nfi\n"
      "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.nnodes=2\n");
  EXPECT_EQ(job.kind, JobKind::Verl);
  EXPECT_EQ(job.strategy.nodes.value, 2);
  EXPECT_THAT(told(job, "C234"), IsEmpty());
}

TEST(Script, DoesNotOwnTheOptionsBeforeIt) {
  const std::string megatron =
      "pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 2 --seq-length 8 --micro-batch-sizes 1\n";
  const std::string trainer =
      "train.py --output_dir out --per_device_train_batch_size 1 --num_train_epochs 1 --bf16 true --learning_rates 1\n";
  const std::string array = "OPTIONS=(\n  --container-image a.sqsh\n)\n";
  for (const std::string& command :
       {"srun --container-image a.sqsh --gres=gpu:8 python " + megatron,
        "srun --container-image a.sqsh --gres=gpu:8 python " + trainer,
        "mpirun --hostfile h --allow-run-as-root python -u " + megatron, "deepspeed --num_gpus 8 " + trainer,
        array + "srun ${OPTIONS[@]} torchrun --nproc_per_node 8 " + megatron,
        "accelerate launch --num_processes 8 --mixed_precision bf16 --rdzv_backend c10d " + trainer}) {
    const Job job = script("#!/bin/bash\n" + command);
    EXPECT_THAT(told(job, "C159"), ElementsAre(AnyOf(HasSubstr("'micro-batch-sizes'"), HasSubstr("'learning_rates'"))))
        << command;
    EXPECT_THAT(told(job, "C164"), IsEmpty()) << command;
  }
}

TEST(Command, IsReadBehindTheOptionsOfWhatStartsIt) {
  const std::string head = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n";
  const Job job = script(
      head +
      "srun --auto-resume=1 -l torchrun --nproc_per_node=8 --nnodes=4 --rdzv_endpoint=$HEAD:1 train.py --lr 1\n");
  EXPECT_EQ(job.command.program, "torchrun");
  EXPECT_EQ(job.command.least_nodes.value, 4);
  EXPECT_EQ(job.command.processes.value, 8);
  EXPECT_THAT(told(job, "C235"),
              testing::UnorderedElementsAre(HasSubstr("waits for 4 nodes"), HasSubstr("8 processes a node")));
}

TEST(Nodes, ThatDoNotMeetAreTold) {
  const auto of = [](const std::string& options, const std::string& start = "srun ", const std::string& lines = "") {
    return told(script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nexport A=1\n" + lines + start +
                       "torchrun --nnodes=2 --nproc_per_node=8 " + options + " train.py\n"),
                "C245");
  };
  const std::string meets = "--rdzv_backend=c10d --rdzv_endpoint=$HEAD:29500";
  EXPECT_THAT(of(meets), IsEmpty());
  EXPECT_THAT(of("--rdzv_backend=c10d --rdzv_endpoint=localhost:29500"),
              ElementsAre(HasSubstr("to meet at: 'localhost:29500'")));
  EXPECT_THAT(of("--rdzv-backend c10d --rdzv-endpoint 127.0.0.1:29500"), ElementsAre(HasSubstr("to meet at")));
  EXPECT_THAT(of("--master_addr=$HEAD --node_rank=0"), ElementsAre(HasSubstr("has the rank 0")));
  EXPECT_THAT(of("--master_addr=$HEAD --node_rank=$RANK"), IsEmpty());
  EXPECT_THAT(of("--standalone"), ElementsAre(HasSubstr("runs by itself with --standalone")));
  EXPECT_THAT(of(meets, ""), ElementsAre(HasSubstr("one runs the script alone")));
  EXPECT_THAT(of(meets, "", "pdsh -w $HOSTS echo\n"), IsEmpty());
  EXPECT_THAT(of(meets, "srun ", "#SBATCH --exclusive\n"), ElementsAre(HasSubstr("warning Slurm reads no directive")));
  const std::string late =
      "#!/bin/bash\nset -ex\n#SBATCH --nodes=4\nsrun torchrun --nnodes=4 --nproc_per_node=8 " + meets + " train.py\n";
  EXPECT_THAT(told(script(late), "C245"), ElementsAre(HasSubstr("error Slurm reads no directive"))) << "one node waits";
  const std::string by_hand =
      "#!/bin/bash\ntorchrun --nnodes=2 --nproc_per_node=8 --node_rank=0 --master_addr=localhost train.py\n";
  EXPECT_THAT(told(script(by_hand), "C245"), IsEmpty()) << "the other node has a script of its own";
}

TEST(Launcher, HasNoOptionForSureInsideACondition) {
  const std::string either =
      "#!/bin/bash\nARGS=()\nif [ $ZERO = 1 ]; then\n  ARGS+=(--use_deepspeed)\nelse\n  ARGS+=(--multi_gpu)\n"
      "fi\naccelerate launch ${ARGS[@]} --num_processes 8 train.py --output_dir o --model_name_or_path m\n";
  EXPECT_THAT(told(script(either), "C240"), IsEmpty());
  const std::string both =
      "accelerate launch --use_deepspeed --multi_gpu --num_processes 8 train.py --output_dir o --model_name_or_path "
      "m\n";
  EXPECT_THAT(told(script(both), "C240"), Not(IsEmpty()));
}

TEST(Kind, IsNotGuessedByAWordThatOthersHave) {
  const Result<Job> none =
      read_job("#!/bin/bash\nsrun --mpi=pmix all_reduce_perf --minbytes 8 --maxbytes 1G --stepfactor 2\n", "run.sh",
               std::nullopt);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().front().code, "unknown-kind");
  EXPECT_EQ(script("deepspeed finetune.py --deepspeed --num-layers 2 --hidden-size 8 --micro-batch-size 1\n").kind,
            JobKind::Torchrun)
      << "its launcher is checked, and nothing of Megatron's";
  for (const char* text : {"compute:\n  replicas: 2\nslurm: {}\n", "model: gpt2\npeft_config: {}\n"}) {
    EXPECT_FALSE(read_job(text, "values.yaml", std::nullopt)) << text;
  }
  EXPECT_EQ(script("--tensor-model-parallel-size 2 --lr 1e-4 --mine 3", "args.txt").kind, JobKind::Megatron);
}

TEST(NoLauncher, DependsOnTheScript) {
  std::string name = (fs::temp_directory_path() / "smplan-script-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder(name);
  test::Json estimator = test::rule_cases()["bases"]["estimator"];
  estimator.merge_patch({{"distribution", nullptr}, {"source_dir", "src"}, {"entry_point", "train.py"}});
  std::ofstream(folder / "job.json") << estimator.dump();
  const auto of_script = [&](const std::string& content) {
    if (!content.empty()) {
      fs::create_directories(folder / "src");
      std::ofstream(folder / "src" / "train.py") << content;
    }
    Job job = read_job(estimator.dump(), (folder / "job.json").string(), JobKind::Estimator).value();
    read_beside(job);
    return told(job, "C048");
  };
  EXPECT_THAT(of_script(""), ElementsAre(HasSubstr("error")));
  estimator["entry_point"] = "distributed_launch.py";
  EXPECT_THAT(of_script(""), ElementsAre(HasSubstr("warning")));
  estimator["entry_point"] = "train.py";
  fs::create_directories(folder / "src");
  Job absent = read_job(estimator.dump(), (folder / "job.json").string(), JobKind::Estimator).value();
  read_beside(absent);
  EXPECT_THAT(told(absent, "C224"), ElementsAre(HasSubstr("the entry point train.py is not in src")));
  EXPECT_THAT(of_script("import torch\ntrain()\n"), ElementsAre(HasSubstr("error")));
  Job there = read_job(estimator.dump(), (folder / "job.json").string(), JobKind::Estimator).value();
  read_beside(there);
  EXPECT_THAT(told(there, "C224"), IsEmpty());
  EXPECT_THAT(of_script("import subprocess\nsubprocess.Popen(['python', 'worker.py'])\n"), IsEmpty());
  fs::remove_all(folder);
}

TEST(Memory, OfAnUnknownLengthIsNoErrorWhereShortSequencesFit) {
  const std::string recipe =
      "model:\n  _component_: torchtune.models.llama3.lora_llama3_8b\n  lora_attn_modules: [q_proj, v_proj]\n"
      "tokenizer:\n  _component_: torchtune.models.llama3.llama3_tokenizer\n  max_seq_len: null\n"
      "dataset: {_component_: torchtune.datasets.alpaca_cleaned_dataset}\nbatch_size: 2\ndtype: bf16\n"
      "enable_activation_checkpointing: False\noptimizer: {_component_: torch.optim.AdamW, lr: 1e-4}\n";
  RequestSpec flags{.model = "llama-3-8b", .instances = "ml.p5.48xlarge", .count = "1"};
  const Job job = script(recipe, "recipe.yaml");
  EXPECT_THAT(told(job, "C144", flags), ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("512 fit"))));
  flags.seq_len = "8192";
  EXPECT_THAT(told(job, "C144", flags), ElementsAre(HasSubstr("error")));
  flags.seq_len = "512";
  EXPECT_THAT(told(job, "C144", flags), IsEmpty());
}

TEST(Memory, OfATrainerThatMayBeShardedIsThatOfTheShards) {
  const std::string yaml =
      "model_name_or_path: Qwen/Qwen2.5-14B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 1024\n"
      "per_device_train_batch_size: 1\nbf16: true\n";
  RequestSpec flags{.model = "qwen2.5-14b", .instances = "ml.p5.48xlarge", .count = "1"};
  EXPECT_THAT(told(script(yaml, "full.yaml"), "C144", flags), IsEmpty()) << "accelerate may shard it";
  flags.model = "qwen2.5-72b";
  flags.instances = "ml.g5.12xlarge";
  EXPECT_THAT(told(script(yaml, "full.yaml"), "C145", flags), ElementsAre(HasSubstr("error"))) << "no shard fits";
}

TEST(ModelTrainer, UploadsDataOfThisMachine) {
  test::Json trainer = test::rule_cases()["bases"]["trainer"];
  const auto found = [&](const char* source) {
    trainer["input_data_config"] = test::Json::array({{{"channel_name", "train"}, {"data_source", source}}});
    return told(script(trainer.dump(), "job.json", JobKind::ModelTrainer), "C007");
  };
  EXPECT_THAT(found("data/train"), IsEmpty());
  EXPECT_THAT(found("s3://bucket/train"), IsEmpty());
  EXPECT_THAT(found("s3:/bucket/train"), Contains(HasSubstr("no S3 location")));
  EXPECT_THAT(found("gs://bucket/train"), Contains(HasSubstr("no S3 location")));
}

TEST(Script, IsReadCommandByCommand) {
  const std::string options = "--num-layers 4 --hidden-size 64 --seq-length 128 --lr 1\n";
  const std::string megatron = "torchrun --nproc_per_node 8 pretrain_gpt.py " + options;
  EXPECT_THAT(told(script(megatron + megatron), "C180"), IsEmpty()) << "one overrides nothing of the other";
  EXPECT_THAT(told(script("torchrun --nproc_per_node 8 pretrain_gpt.py --lr 2 " + options), "C180"), Not(IsEmpty()));
  const Job itself =
      script("A=(--num-layers 4 --hidden-size 64)\nA=(\"${A[@]}\" --lr 1)\nrun \"${A[@]}\"\n" + megatron);
  EXPECT_EQ(itself.root().items.size(), 5U);
  const std::string nemo = "COMMAND=\"uv run examples/run_grpo.py grpo.mine=1\"\necho \"$COMMAND\"\n";
  EXPECT_EQ(script(nemo + "COMMAND=\"$COMMAND\" sbatch ray.sub\n").kind, JobKind::NemoRl);
  EXPECT_EQ(script(nemo + "sbatch ray.sub\n").kind, JobKind::NemoRl);
  const Job cases = script("case $1 in\n  small) TP=2 ;;\n  large) TP=2 ;;\nesac\n" + megatron +
                           "torchrun pretrain_gpt.py --tensor-model-parallel-size $TP --lr 1\n");
  EXPECT_EQ(cases.strategy.tensor.value, 2);
}

TEST(TorchTitan, IsReadFromItsCommandLine) {
  const std::string run = "torchrun --nproc_per_node 8 --nnodes 1 -m torchtitan.train ";
  const auto of = [&](const std::string& options, const std::string& rule, std::optional<JobKind> kind = std::nullopt) {
    return told(script(run + options, "run.sh", kind), rule);
  };
  EXPECT_THAT(of("--parallelism.tensor_parallel_degree 3 --job.config_file x.toml", "C131"),
              ElementsAre(HasSubstr("tensor 3 x pipeline 1 x context 1 does not divide the 8 ranks")));
  EXPECT_THAT(of("--parallelism.tensor-parallel-degree=3", "C131", JobKind::TorchTitan), Not(IsEmpty()));
  EXPECT_THAT(of("--job.config_file x.toml --training.steps ten --compile.components model,loss", "C004"),
              ElementsAre(HasSubstr("steps must be a whole number")));
  EXPECT_THAT(of("--job.config_file x.toml --checkpoint.no_enable --training.stepps 1", "C159"),
              ElementsAre(HasSubstr("'stepps'")));
  EXPECT_THAT(of("--module llama3 --config llama3_8b --parallelism.mine 2", "C159"), IsEmpty());
  EXPECT_THAT(of("--parallelism.data_parallel_shard_degree 4 --training.global_batch_size 6", "C131"), IsEmpty())
      << "its file may have another degree";
  EXPECT_EQ(script("--training.steps 3", "job.args", JobKind::TorchTitan).kind, JobKind::TorchTitan);
  const Job own = script("MODULE=llama3 CONFIG=llama3_8b ./run_train.sh --training.mine 3");
  EXPECT_EQ(own.kind, JobKind::TorchTitan);
  EXPECT_THAT(told(own, "C159"), IsEmpty());
  EXPECT_THAT(own.not_modelled, HasSubstr("function of TorchTitan's"));
}

TEST(TorchTitan, LaysItsArgumentsOverTheFileBesideIt) {
  std::string name = (fs::temp_directory_path() / "smplan-titan-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder(name);
  std::ofstream(folder / "run.sh") << "\n";
  std::ofstream(folder / "llama3_8b.toml")
      << "[training]\nsteps = 10\nseq_lem = 4\ndataset = \"c4\"\n"
         "[parallelism]\npipeline_parallel_degree = 3\ntensor_parallel_degree = 2\n";
  Job job = script(
      "torchrun --nproc_per_node 8 --nnodes 1 -m torchtitan.train --parallelism.tensor_parallel_degree 4 "
      "--job.config_file train_configs/llama3_8b.toml\n",
      (folder / "run.sh").string());
  read_beside(job);
  EXPECT_THAT(told(job, "C131"), ElementsAre(HasSubstr("tensor 4 x pipeline 3")));
  EXPECT_THAT(told(job, "C159"), ElementsAre(HasSubstr("'seq_lem'")));
  EXPECT_EQ(job.root().at({"training", "seq_lem"})->where.file, "llama3_8b.toml");
  EXPECT_TRUE(job.not_modelled.empty());
  EXPECT_EQ(job.command.program, "torchrun");
  std::ofstream(folder / "llama3_8b.toml") << "[training\n";
  read_beside(job = script("./run_train.sh --job.config_file llama3_8b.toml", (folder / "run.sh").string()));
  EXPECT_EQ(job.broken_files.size(), 1U);
  fs::remove_all(folder);
}

TEST(OptionsOfAScript, AreNamedAsTheyAreWritten) {
  const std::string line =
      "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path m --output_dir o --do_train "
      "--per_device_train_batch_size 1 ";
  const auto says = [&](const std::string& options, const char* rule) { return told(script(line + options), rule); };
  EXPECT_THAT(says("--gradient_checkpointing_kwargs '{}'", "C164"),
              ElementsAre(HasSubstr("gradient_checkpointing_kwargs is deprecated")));
  EXPECT_THAT(says("--gradient-checkpointing-kwargs '{}'", "C164"),
              ElementsAre(HasSubstr("gradient-checkpointing-kwargs is deprecated")));
  EXPECT_THAT(says("--save_steps x", "C004"), ElementsAre(HasSubstr("save_steps must be")));
  EXPECT_THAT(says("--save-steps x", "C004"), ElementsAre(HasSubstr("save-steps must be")));
  const Findings found =
      check_job(script(line + "--save_steps x"), test::shipped_catalog(), test::shipped_limits(), {}).value();
  EXPECT_EQ(found.findings.front().where.path, "/save_steps");
}

TEST(DeepSpeedFile, MustSayWhatTheTrainerThatNamesItSays) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("smplan_mismatch_{}", getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "run.sh") << "\n";
  std::ofstream(folder / "ds.json") << R"({"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto",
    "bf16": {"enabled": true}, "optimizer": {"type": "AdamW", "params": {"lr": 1e-5}},
    "zero_optimization": {"stage": 2}})";
  const auto says = [&](const std::string& options) {
    Job job = script(
        "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path m --output_dir o --do_train "
        "--deepspeed ds.json " +
            options,
        (folder / "run.sh").string());
    read_beside(job);
    return told(job, "C221");
  };
  EXPECT_THAT(says("--per_device_train_batch_size 8 --learning_rate 1e-5 --bf16"),
              ElementsAre(HasSubstr("micro_batch is 4 in ds.json /train_micro_batch_size_per_gpu, and 8 in run.sh")));
  EXPECT_THAT(says("--per_device_train_batch_size 4 --learning_rate 2e-5 --bf16 --gradient_accumulation_steps 3"),
              ElementsAre(HasSubstr("learning_rate is")));
  EXPECT_THAT(says("--per_device_train_batch_size 4 --learning-rate 2e-5 --bf16"),
              ElementsAre(HasSubstr("learning-rate is")));
  EXPECT_THAT(says("--per_device_train_batch_size 4 --learning_rate 1e-5 --bf16 false"),
              ElementsAre(HasSubstr("bf16 is")));
  EXPECT_THAT(says("--per_device_train_batch_size $BATCH --learning_rate 1e-5 --bf16"), IsEmpty());
  EXPECT_THAT(says("--learning_rate 0.00001"), IsEmpty()) << "what the line leaves out the script may say";
  fs::remove_all(folder);
}

TEST(Directives, AreThoseThatSbatchHas) {
  const auto says = [](const std::string& directives) {
    return told(
        script("#!/bin/bash\n" + directives + "\nsrun torchrun --nnodes 4 --nproc_per_node 8 train.py --lr 1\n"),
        "C248");
  };
  EXPECT_THAT(says("#SBATCH --nodes=4 -t 1-12:30:00\n#SBATCH -N4 --gpus-per-node 8 # comment\n#SBATCH --exclusive\n"
                   "#SBATCH --time=$LIMIT\n##SBATCH --nodez=1\n#SBATCH --time UNLIMITED"),
              IsEmpty());
  EXPECT_THAT(says("#SBATCH --gpus-per-nodes=8"),
              ElementsAre(AllOf(HasSubstr("error sbatch's --gpus-per-nodes is none"),
                                HasSubstr("did you mean --gpus-per-node?"))));
  EXPECT_THAT(says("#SBATCH --time=24h"), ElementsAre(HasSubstr("error sbatch's --time must be")));
  EXPECT_THAT(says("#SBATCH --of-a-plugin=1"), ElementsAre(HasSubstr("warning sbatch's --of-a-plugin is none")));
}

TEST(ProcessesOfANode, AreAsManyAsItsDevices) {
  const auto says = [](const std::string& command, const std::string& more = "") {
    return told(script("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n" + more + "srun " + command + "\n"),
                "C235");
  };
  EXPECT_THAT(says("torchrun --nnodes 4 --nproc_per_node 8 train.py"), IsEmpty());
  EXPECT_THAT(says("torchrun --nnodes 4 --nproc_per_node 4 train.py"),
              ElementsAre(AllOf(HasSubstr("warning torchrun starts 4 processes a node"), HasSubstr("4 are idle"))));
  EXPECT_THAT(says("torchrun --nnodes 4 --nproc_per_node 4 train.py", "export CUDA_VISIBLE_DEVICES=0,1,2,3\n"),
              IsEmpty());
  EXPECT_THAT(says("torchrun --nnodes 4 --nproc_per_node 16 train.py"), ElementsAre(HasSubstr("error torchrun")));
  EXPECT_THAT(says("accelerate launch --num_processes 8 --num_machines 4 train.py --lr 1"),
              ElementsAre(HasSubstr("warning accelerate launch starts 2 processes a node")));
  EXPECT_THAT(says("accelerate launch --num_processes 32 --num_machines 4 train.py --lr 1"), IsEmpty());
  EXPECT_THAT(says("deepspeed --num_gpus 16 train.py --lr 1"), ElementsAre(HasSubstr("error deepspeed")));
}

}  // namespace
}  // namespace smplan
