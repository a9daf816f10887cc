// Files as they come: four syntaxes, and hostile ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text, JobKind kind) {
  const Result<Job> job = read_job(text, "job", kind);
  return job ? "accepted" : to_string(job.error());
}

TEST(Reading, JsonNodesKnowTheirLinesAndBytes) {
  const std::string text = "{\n  \"ResourceConfig\": {\n    \"InstanceCount\": 2\n  }\n}\n";
  const Node root = parse_document(text, "job", Syntax::Json).value();
  const Node* count = root.at({"ResourceConfig", "InstanceCount"});
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->where, (Where{"/ResourceConfig/InstanceCount", 3}));
  EXPECT_EQ(text.substr(count->span.begin, count->span.end - count->span.begin), "2");
  EXPECT_EQ(text.substr(count->key_span.begin, count->key_span.end - count->key_span.begin), "\"InstanceCount\"");
}

TEST(Reading, YamlKeepsLinesAndReadsWordsAsPyYamlDoes) {
  const Node root =
      parse_document("trainer:\n  num_nodes: 4\n  on: yes\n  name: '4'\n  lr: 1.0e-4\n", "job", Syntax::Yaml).value();
  const Node* trainer = root.find("trainer");
  ASSERT_NE(trainer, nullptr);
  EXPECT_EQ(trainer->find("num_nodes")->where, (Where{"/trainer/num_nodes", 2}));
  EXPECT_EQ(trainer->find("num_nodes")->kind, Node::Kind::Integer);
  EXPECT_EQ(trainer->find("on")->kind, Node::Kind::Bool);
  EXPECT_EQ(trainer->find("name")->kind, Node::Kind::String);
  EXPECT_EQ(trainer->find("lr")->kind, Node::Kind::Real);
}

TEST(Reading, YamlAliasesAreWrittenOut) {
  const Node root = parse_document("a: &x {tp: 2}\nb: *x\n", "job", Syntax::Yaml).value();
  EXPECT_EQ(root.at({"b", "tp"})->integer, 2);
  EXPECT_EQ(root.at({"b", "tp"})->where.path, "/b/tp");
}

TEST(Reading, YamlMergeKeysFillInWhatIsNotStated) {
  const Result<Node> root = parse_document(
      "first: &first {a: 1, b: 2}\nsecond: &second\n  b: 3\n  c: 4\none:\n  <<: *first\n  a: 9\n"
      "both:\n  <<: [*first, *second]\nodd:\n  <<: text\n",
      "job", Syntax::Yaml);
  ASSERT_TRUE(root);
  const Node& one = *root->find("one");
  EXPECT_EQ(one.items.size(), 2U);
  EXPECT_EQ(one.find("a")->integer, 9);
  EXPECT_EQ(one.find("b")->integer, 2);
  EXPECT_EQ(one.find("b")->where.path, "/one/b");
  const Node& both = *root->find("both");
  EXPECT_EQ(both.items.size(), 3U);
  EXPECT_EQ(both.find("b")->integer, 2) << "the first that has it";
  EXPECT_EQ(both.find("c")->integer, 4);
  EXPECT_NE(root->find("odd")->find("<<"), nullptr) << "what cannot be merged stays to be reported";
}

TEST(Reading, MonstrousWholeNumbersStayWholeNumbers) {
  const Result<Node> root = parse_document("a: 1180591620717411303424\nb: -1e300\nc: 1.5\n", "job", Syntax::Yaml);
  ASSERT_TRUE(root);
  EXPECT_EQ(integer_of(*root->find("a")), 9'000'000'000'000'000);
  EXPECT_EQ(integer_of(*root->find("b")), -9'000'000'000'000'000);
  EXPECT_EQ(integer_of(*root->find("c")), std::nullopt);
}

TEST(Reading, TomlKeepsLines) {
  const Node root = parse_document("[parallelism]\n\ntensor_parallel_degree = 8\n", "job", Syntax::Toml).value();
  EXPECT_EQ(root.at({"parallelism", "tensor_parallel_degree"})->where,
            (Where{"/parallelism/tensor_parallel_degree", 3}));
}

TEST(Reading, MegatronStagesMayBeUnevenInFourWays) {
  for (const char* layout : {"--pipeline-model-parallel-layout 'Et*7|t*8L'", "--decoder-last-pipeline-num-layers 7",
                             "--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split"}) {
    const Result<Job> job =
        read_job(std::string("--num-layers 15 --pipeline-model-parallel-size 2 ") + layout, "job", JobKind::Megatron);
    ASSERT_TRUE(job.has_value()) << layout;
    const JobStrategy& s = job->strategy;
    EXPECT_TRUE(s.pipeline_layout.is(true) || s.last_stage_layers.is(std::int64_t{7})) << layout;
  }
}

TEST(Reading, AHybridPatternSaysLayersAndStages) {
  const Job job = read_job("--hybrid-layer-pattern 'M-M*|M-M|M-M*|M-M/*-' --pipeline-model-parallel-size 2", "job",
                           JobKind::Megatron)
                      .value();
  EXPECT_TRUE(job.strategy.layers.is(std::int64_t{14})) << "what predicts further tokens is no layer of these";
  EXPECT_TRUE(job.strategy.virtual_pipeline.is(std::int64_t{2}));
  EXPECT_TRUE(job.strategy.pipeline_layout.is(true));
  const Job whole = read_job("--hybrid-layer-pattern M-M*", "job", JobKind::Megatron).value();
  EXPECT_TRUE(whole.strategy.layers.is(std::int64_t{4}));
  EXPECT_FALSE(whole.strategy.pipeline_layout.is(true)) << "no bar is no cut";
}

TEST(Reading, ArgumentsAreReadAsAShellWouldSplitThem) {
  const Node root =
      parse_document(
          "torchrun --nproc_per_node 8 pretrain_gpt.py \\\n  --bf16 --seq-length=4096 # note\n  --data-path 'a b' c\n",
          "job", Syntax::Arguments)
          .value();
  EXPECT_EQ(integer_of(root.find("nproc-per-node")->items.front()), 8);
  EXPECT_EQ(root.find("bf16")->kind, Node::Kind::Bool);
  EXPECT_EQ(root.find("seq-length")->integer, 4096);
  EXPECT_EQ(root.find("seq-length")->where.line, 2);
  ASSERT_EQ(root.find("data-path")->items.size(), 2U);
  EXPECT_EQ(root.find("data-path")->items.front().text, "a b");
}

TEST(Reading, WhereOutputGoesIsNoArgument) {
  for (const char* output : {"> log", ">log", "2>&1", "2>&1 | tee --append log", "&> log", ">> log 2>&1"}) {
    const Node root =
        parse_document(std::string("yes | train --bf16 ") + output + "\n--fp8 hybrid", "job", Syntax::Arguments)
            .value();
    EXPECT_EQ(root.find("bf16")->kind, Node::Kind::Bool) << output;
    EXPECT_EQ(root.find("fp8")->text, "hybrid") << output;
    EXPECT_EQ(root.items.size(), 2U) << output;
  }
}

TEST(Reading, ScriptsSetVariablesBeforeTheyUseThem) {
  const auto read = [](const std::string& text) {
    const Result<Job> job = read_job(text, "launch.sh", JobKind::Megatron);
    EXPECT_TRUE(job);
    return job.value();
  };
  const std::string start = "#!/bin/bash\nTP=4\nexport PP=${STAGES:-2}  # comment\n";
  const std::string run = "torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py ";
  for (const std::string& text :
       {start + "M=(--num-layers 32 --bf16)\n" + run +
            "${M[@]} --tensor-model-parallel-size $TP "
            "--pipeline-model-parallel-size $PP 2>&1 | tee log.txt\n",
        start + "M=(\n  --num-layers 32\n  --bf16\n)\n" + run +
            "\\\n  \"${M[@]}\" \\\n  "
            "--tensor-model-parallel-size ${TP} --pipeline-model-parallel-size $PP && echo done\n",
        start + "ARGS=\"--num-layers 32 --bf16 --tensor-model-parallel-size $TP\"\n" + run +
            "$ARGS --pipeline-model-parallel-size $PP; sync\n"}) {
    SCOPED_TRACE(text);
    const Job job = read(text);
    EXPECT_EQ(job.strategy.layers.value, 32);
    EXPECT_EQ(job.strategy.tensor.value, 4);
    EXPECT_EQ(job.strategy.pipeline.value, 2);
    EXPECT_TRUE(job.strategy.bf16.is(true));
    EXPECT_FALSE(job.strategy.nodes.value) << "nobody knows $NODES";
    EXPECT_FALSE(job.root().open) << "no variable holds options that are not read";
  }
  EXPECT_TRUE(read(start + run + "--num-layers 32 $MORE").root().open);
  EXPECT_TRUE(read(start + run + "--num-layers 32 --bf16 ${MORE[@]}").root().open);
  const Job passing = read(start + run + "--num-layers 32 \"$@\"");
  EXPECT_FALSE(passing.root().open) << "without arguments";
  EXPECT_TRUE(passing.root().passes_on);
  EXPECT_EQ(read(start + run + "--num-layers '$TP'").strategy.layers.value, std::nullopt) << "in single quotes";
  const Job literal = read("--hybrid-layer-pattern M*|M*\n--num-layers\n8\n");
  EXPECT_EQ(literal.root().find("hybrid-layer-pattern")->text, "M*|M*") << "arguments alone have no shell";
  EXPECT_EQ(literal.root().find("num-layers")->text, "8");
}

TEST(Reading, OptionsBeyondAnyProgramsAreRefused) {
  const auto read = [](int n, const std::string& start) {
    std::string text = start;
    for (int i = 0; i < n; ++i) text += "--o" + std::to_string(i) + " 1\n";
    return read_job(text, "args.txt", JobKind::Megatron);
  };
  for (const std::string start : {"", "A=(1)\ntorchrun x.py \\\n"}) {
    EXPECT_TRUE(read(4096, ""));
    const Result<Job> many = read(5000, start);
    ASSERT_FALSE(many) << start;
    EXPECT_THAT(many.error().front().message, ::testing::HasSubstr("more than 4096 options"));
  }
}

// A text of two thousand options that a script names a thousand times.
TEST(Reading, TextsOfVariablesGrowNoFurtherThanAFileMay) {
  std::string text = "A=\"";
  for (int i = 0; i < 2000; ++i) text += "--o" + std::to_string(i) + " 1 ";
  text += "\"\ntorchrun pretrain_gpt.py --num-layers 4";
  for (int i = 0; i < 1000; ++i) text += " $A";
  const Result<Job> job = read_job(text, "launch.sh", JobKind::Megatron);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->strategy.layers.value, 4);
}

TEST(Reading, WhatAVariableMayHoldIsNotMissed) {
  CheckOptions options;
  options.n_gpus = 16;
  const std::string text =
      "torchrun --nnodes $N train.py --save x --train-iters 5 --global-batch-size 9 --micro-batch-size 2";
  const auto rules = [&](const std::string& more) {
    return test::rules_of(test::check_text(text + more, JobKind::Megatron, options));
  };
  EXPECT_THAT(rules(""), ::testing::Contains("C226")) << "no interval of saving";
  EXPECT_THAT(rules(" $MORE"), ::testing::Not(::testing::Contains("C226")));
  EXPECT_THAT(rules(" $MORE"), ::testing::Contains("C132")) << "the flag says the ranks that $N does not";
}

TEST(Reading, MegatronArgumentsMayBeAJsonList) {
  const Job job = read_job(R"(["--tensor-model-parallel-size", "8", "--bf16"])", "job", JobKind::Megatron).value();
  EXPECT_EQ(job.strategy.tensor.value, 8);
  EXPECT_TRUE(job.strategy.bf16.is(true));
}

TEST(Reading, OfARepeatedArgumentTheLastCountsAndIsWarnedOf) {
  const Findings findings = test::check_text("--micro-batch-size 1\n--bf16\n--micro-batch-size 4\n", JobKind::Megatron);
  ASSERT_EQ(findings.findings.size(), 1U);
  const Finding& warning = findings.findings.front();
  EXPECT_EQ(warning.rule, "C180");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_EQ(warning.where.line, 3);
  EXPECT_EQ(warning.message, "--micro-batch-size overrides that of line 1");
  EXPECT_EQ(read_job("--micro-batch-size 1 --micro-batch-size 4", "job", JobKind::Megatron)->strategy.micro_batch.value,
            4);
}

TEST(Reading, EnabledIsTakenAsPythonTakesIt) {
  const auto torchrun = [](const std::string& value) {
    const std::string text =
        R"({"class": "PyTorch", "distribution": {"torch_distributed": {"enabled": )" + value + "}}}";
    return read_job(text, "job", JobKind::Estimator).value().launcher.torchrun.is(true);
  };
  for (const char* truth : {"true", "1", "-2", "0.5", "\"false\"", "[0]", "{\"a\": 0}"})
    EXPECT_TRUE(torchrun(truth)) << truth;
  for (const char* falsehood : {"false", "0", "0.0", "\"\"", "[]", "{}", "null"}) {
    EXPECT_FALSE(torchrun(falsehood)) << falsehood;
  }
}

TEST(Reading, TheModelParallelLibraryIsEnabledByTrueAlone) {
  const auto library = [](const std::string& value) {
    const std::string text =
        R"({"class": "PyTorch", "distribution": {"smdistributed": {"modelparallel": {"enabled": )" + value + "}}}}";
    return read_job(text, "job", JobKind::Estimator).value().launcher.smp.is(true);
  };
  EXPECT_TRUE(library("true"));
  for (const char* other : {"1", "\"true\"", "[1]", "false"}) EXPECT_FALSE(library(other)) << other;
}

TEST(Reading, EstimatorsNameTheirChannels) {
  const Job job = read_job(R"({"class": "PyTorch", "inputs": {
      "train": "s3://bucket/train",
      "lustre": {"file_system_id": "fs-1", "file_system_type": "FSxLustre", "instance_groups": ["a", "b"]},
      "test": {"s3_uri": "s3://bucket/test", "s3_data_type": "S3Prefix", "distribution": "ShardedByS3Key",
               "input_mode": "FastFile"}}})",
                           "job", JobKind::Estimator)
                      .value();
  ASSERT_EQ(job.channels.size(), 3U);
  EXPECT_EQ(*job.channels[0].name, "train");
  EXPECT_EQ(*job.channels[0].s3_uri, "s3://bucket/train");
  EXPECT_EQ(*job.channels[1].file_system_id, "fs-1");
  EXPECT_EQ(*job.channels[1].file_system_type, "FSxLustre");
  ASSERT_EQ(job.channels[1].groups.size(), 2U);
  EXPECT_EQ(*job.channels[1].groups[1], "b");
  EXPECT_FALSE(job.channels[1].s3_uri);
  EXPECT_EQ(*job.channels[2].s3_uri, "s3://bucket/test");
  EXPECT_EQ(*job.channels[2].distribution, "ShardedByS3Key");
  EXPECT_EQ(*job.channels[2].input_mode, "FastFile");
}

TEST(Reading, InputsWithoutANameAreTheTrainingChannel) {
  const Job job = read_job(R"({"class": "PyTorch", "inputs": "s3://bucket/all"})", "job", JobKind::Estimator).value();
  ASSERT_EQ(job.channels.size(), 1U);
  EXPECT_EQ(*job.channels[0].name, "training");
  EXPECT_EQ(*job.channels[0].s3_uri, "s3://bucket/all");
}

TEST(Reading, ALauncherNamesItsInstanceGroups) {
  const Job job = read_job(R"({"class": "PyTorch", "instance_groups": [
      {"instance_group_name": "gpu", "instance_type": "ml.p4d.24xlarge", "instance_count": 2},
      {"name": "cpu", "instance_type": "ml.c5.xlarge", "instance_count": 1}],
      "distribution": {"instance_groups": ["gpu", {"instance_group_name": "cpu"}]}})",
                           "job", JobKind::Estimator)
                      .value();
  ASSERT_EQ(job.groups.size(), 2U);
  EXPECT_EQ(*job.groups[1].name, "cpu");
  EXPECT_EQ(*job.groups[0].count, 2);
  ASSERT_EQ(job.launcher.groups.size(), 2U);
  EXPECT_EQ(*job.launcher.groups[0], "gpu");
  EXPECT_EQ(*job.launcher.groups[1], "cpu");
}

TEST(Hostile, DuplicateKeysAreRefusedInEveryTree) {
  EXPECT_THAT(refusal(R"({"a": 1, "a": 2})", JobKind::Estimator), HasSubstr("appears twice"));
  EXPECT_THAT(refusal("a: 1\na: 2\n", JobKind::Accelerate), HasSubstr("appears twice"));
  EXPECT_THAT(refusal("a = 1\na = 2\n", JobKind::TorchTitan), HasSubstr("job:2"));
}

TEST(Hostile, AliasBombIsCounted) {
  std::string text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ", ") + last;
    text += "]\n";
  }
  EXPECT_THAT(refusal(text, JobKind::Accelerate), HasSubstr("aliases counted"));
}

TEST(Hostile, DepthIsLimited) {
  EXPECT_THAT(refusal(std::string(5000, '[') + std::string(5000, ']'), JobKind::Estimator), HasSubstr("deeper"));
  EXPECT_THAT(refusal("a: " + std::string(1000, '[') + std::string(1000, ']'), JobKind::Accelerate),
              HasSubstr("deeper"));
  std::string dotted = "a = 1 # " + std::string(1000, '.') + "\n";
  for (int i = 0; i < 100'000; ++i) dotted += "b.";
  EXPECT_THAT(refusal(dotted + "c = 1\n", JobKind::TorchTitan), HasSubstr("job:2: is nested deeper"));
  EXPECT_THAT(refusal("a = " + std::string(100, '[') + std::string(100, ']'), JobKind::TorchTitan),
              HasSubstr("deeper"));
  EXPECT_THAT(refusal("a = '''\n" + std::string(1000, '.') + "\n'''\nb = \"\\\"" + std::string(100, '[') + "\"\n",
                      JobKind::TorchTitan),
              "accepted")
      << "strings nest nothing";
}

TEST(Hostile, AnchorInsideItselfIsRefused) {
  EXPECT_THAT(refusal("a: &x [1, *x]\n", JobKind::Accelerate), HasSubstr("alias"));
}

TEST(Estimator, WithoutAClassIsSaidToLackIt) {
  const auto notes = [](const std::string& text) {
    return read_job(text, "job.json", JobKind::Estimator).value().unread.size();
  };
  EXPECT_EQ(notes(R"({"instance_type": "ml.p4d.24xlarge", "entry_point": "train.py"})"), 1U);
  EXPECT_EQ(notes(R"({"class": "PyTorch", "instance_type": "ml.p4d.24xlarge"})"), 0U);
}

TEST(Hostile, SizeIsLimited) {
  EXPECT_THAT(refusal(std::string(kMaxJobBytes + 1, ' '), JobKind::Estimator), HasSubstr("larger than the limit"));
}

TEST(Hostile, CommandsThatDoubleOrHoldThemselvesEnd) {
  std::string doubled = "A=(--nproc_per_nodes 8)\n";
  std::string nested = "X='bash -c \"$X --a\"'\n";
  for (int i = 0; i < 1000; ++i) doubled += "A=(${A[@]} ${A[@]})\ntorchrun ${A[@]} train.py\n";
  for (int i = 0; i < 1000; ++i) nested += "bash -c \"$X --torchrun\"\n";
  const Result<Job> many = read_job(doubled, "job.sh", JobKind::Torchrun);
  ASSERT_TRUE(many.has_value());
  std::size_t options = 0;
  for (const LauncherCall& launch : many->started.launches) options += launch.options.items.size();
  EXPECT_EQ(options, 1000U);
  EXPECT_TRUE(read_job("torchrun --standalone train.py\n" + nested, "job.sh", JobKind::Torchrun).has_value());
}

TEST(Hostile, NumbersMustBeFinite) {
  EXPECT_THAT(refusal("x = nan\n", JobKind::TorchTitan), HasSubstr("finite"));
  EXPECT_THAT(refusal(R"({"a": NaN})", JobKind::Estimator), HasSubstr("job:1"));
  EXPECT_THAT(refusal(R"({"a": 1e999})", JobKind::Estimator), HasSubstr("too large"));
}

TEST(Hostile, ProcessesOnATypeWithoutAcceleratorsMakeNoWorld) {
  CheckOptions options;
  options.request.instances = "ml.m5.large";
  for (const char* text : {"num_processes: 8", "num_processes: 0"}) {
    const Result<Job> job = read_job(text, "accelerate.yaml", JobKind::Accelerate);
    ASSERT_TRUE(job) << to_string(job.error());
    EXPECT_TRUE(check_job(*job, test::shipped_catalog(), test::shipped_limits(), options)) << text;
  }
}

TEST(Hostile, WrongRootsAndUnknownKindsAreRefused) {
  EXPECT_THAT(refusal("[1]", JobKind::Estimator), HasSubstr("must hold an object"));
  EXPECT_THAT(to_string(read_job("{\"x\": 1}", "job.json", std::nullopt).error()), HasSubstr("--kind"));
  EXPECT_THAT(to_string(read_job("import sagemaker", "launch.py", std::nullopt).error()),
              HasSubstr("python -m smplan check launch.py"));
  EXPECT_THAT(refusal("a: b: c\n", JobKind::Accelerate), HasSubstr("job:1"));
  EXPECT_THAT(refusal(R"({"instance_type": "ml.p4d.24xlarge"})", JobKind::DeepSpeed),
              HasSubstr("holds no key of a DeepSpeed configuration, it looks like estimator arguments"));
  EXPECT_THAT(refusal("", JobKind::TorchTitan), HasSubstr("holds no setting"));
  EXPECT_THAT(refusal("--x 'open\n", JobKind::Megatron), HasSubstr("quote"));
}

/// Every truncation of every sample is answered, never a crash.
TEST(Hostile, TruncatedFilesAreRefusedOrChecked) {
  for (const char* name : {"samples/07_cli_smddp_bogus_fields.json", "samples/06_hyperpod_llama3_70b_p5x64.json"}) {
    const std::string text = test::read_test_file(name);
    int refused = 0;
    for (std::size_t n = 0; n < text.size(); n += 7) {
      const Result<Job> job = read_job(text.substr(0, n), "job.json", std::nullopt);
      refused += job ? 0 : 1;
    }
    EXPECT_GT(refused, 50) << name;
  }
}

TEST(Facts, UnknownKeysAreRefused) {
  const Result<Facts> facts =
      read_facts(parse_json(R"({"schema": "smplan.facts/1", "quota": {}})", "facts.json").value());
  ASSERT_FALSE(facts);
  EXPECT_THAT(to_string(facts.error()), HasSubstr("quota"));
}

TEST(IgnoreFile, NeedsAReason) {
  const auto read =
      read_ignore_file("# ours\nC116 /ResourceConfig/VolumeSizeInGB # documents the need\n\nC198 # legacy\n", "ignore");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->front().path, "/ResourceConfig/VolumeSizeInGB");
  EXPECT_EQ(read->front().reason, "documents the need");
  EXPECT_THAT(to_string(read_ignore_file("C116\n", "ignore").error()),
              HasSubstr("ignore:1: C116 is ignored without a reason"));
  EXPECT_THAT(to_string(read_ignore_file("C999 # x\n", "ignore").error()), HasSubstr("no rule"));
}

TEST(ReadAccelerate, OffloadsOptimizerAndParametersTogether) {
  const auto strategy = [](const char* offload) {
    const std::string text = std::string(R"({"compute_environment": "LOCAL_MACHINE", "distributed_type": "FSDP",
        "fsdp_config": {"fsdp_offload_params": )") +
                             offload + "}}";
    return read_job(text, "job", JobKind::Accelerate)->strategy;
  };
  EXPECT_TRUE(strategy("true").parameter_offload.is("cpu"));
  EXPECT_TRUE(strategy("true").optimizer_offload.is("cpu"));
  EXPECT_FALSE(strategy("false").optimizer_offload.stated);
}

// What stands in quotes does not nest, the first character of the file included.
TEST(Reading, BracketsInTheQuotesThatAFileBeginsWithDoNotNest) {
  const std::string deep(static_cast<std::size_t>(kMaxJobDepth) + 1, '[');
  EXPECT_TRUE(read_job("\"" + deep + "\" = 1\n", "job", JobKind::TorchTitan));
  EXPECT_FALSE(read_job("a = " + deep + "\n", "job", JobKind::TorchTitan));
}

// A format that is switched off is not what the script computes in.
TEST(Reading, AFormatThatIsSwitchedOffIsNotPredicted) {
  CheckOptions options;
  options.request.model = "gpt2";
  options.request.stack = "ddp";
  options.request.global_batch = "8";
  const auto dtype = [&](const std::string& settings) {
    const Findings found = test::check_text(
        R"({"class": "PyTorch", "entry_point": "train.py", "role": "Training", "instance_type": "ml.p4d.24xlarge",
            "instance_count": 1, "hyperparameters": )" +
            settings + "}",
        JobKind::Estimator, options);
    return found.prediction ? found.prediction->plan.precision : Precision::Fp32;
  };
  EXPECT_EQ(dtype(R"({"bf16": false, "fp16": true})"), Precision::Fp16);
  EXPECT_EQ(dtype(R"({"bf16": true, "fp16": false})"), Precision::Bf16);
  EXPECT_EQ(dtype(R"({"bf16": false, "fp16": false, "fp8": false})"), Precision::Bf16) << "the default";
}

}  // namespace
}  // namespace smplan
