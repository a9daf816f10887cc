// The small parts that rules and readers are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "planner/preflight/image.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Node text_node(const std::string& text) {
  Node node;
  node.kind = Node::Kind::String;
  node.text = text;
  return node;
}

TEST(Placeholder, IsTextThatStandsForAValue) {
  for (const char* text :
       {"<role>", "s3://<bucket>/x", "${BUCKET}", "a ${b} c", "REPLACE-ME", "x-REPLACE-ME-role", "<>"}) {
    EXPECT_TRUE(is_placeholder(text)) << text;
  }
  for (const char* text : {"", "role", "<role", "role>", "> <", "${BUCKET", "$BUCKET}", "}${", "{BUCKET}", "REPLACE"}) {
    EXPECT_FALSE(is_placeholder(text)) << text;
  }
}

TEST(TextOfNumbers, CountsWhereAllOfItIsANumber) {
  EXPECT_EQ(integer_of(text_node("-12")), -12);
  for (const char* text : {"", "12x", "x", "1.5", "1e3", " 1", "9223372036854775808"}) {
    EXPECT_EQ(integer_of(text_node(text)), std::nullopt) << text;
  }
  EXPECT_EQ(number_of(text_node("1.5")), 1.5);
  EXPECT_EQ(number_of(text_node("-2")), -2.0);
  for (const char* text : {"", "1.5x", "x", "inf", "nan", "1e999"}) {
    EXPECT_EQ(number_of(text_node(text)), std::nullopt) << text;
  }
}

TEST(TextOfTruth, IsThatOfJsonOfPythonAndOfJsonInQuotes) {
  for (const char* text : {"true", "True", "\"true\""}) EXPECT_EQ(truth_of(text_node(text)), true) << text;
  for (const char* text : {"false", "False", "\"false\""}) EXPECT_EQ(truth_of(text_node(text)), false) << text;
  for (const char* text : {"", "TRUE", "yes", "1", "0"}) EXPECT_EQ(truth_of(text_node(text)), std::nullopt) << text;
}

TEST(Products, StayAtTheEndsOfTheRange) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(times(-3, 4), -12);
  EXPECT_EQ(times(kMost, 2), kMost);
  EXPECT_EQ(times(kMost, -2), kLeast);
  EXPECT_EQ(times(-2, kMost), kLeast);
  EXPECT_EQ(times(kLeast, -2), kMost);
  EXPECT_EQ(plus(3, -4), -1);
  EXPECT_EQ(plus(kMost, 1), kMost);
  EXPECT_EQ(plus(kLeast, -1), kLeast);
}

TEST(Slip, IsOneLetterMoreLessOtherOrTwoSwapped) {
  for (const auto& [a, b] : std::initializer_list<std::pair<const char*, const char*>>{{"size", "sizes"},
                                                                                       {"size", "siz"},
                                                                                       {"size", "xsize"},
                                                                                       {"size", "sixe"},
                                                                                       {"size", "szie"},
                                                                                       {"size", "sizr"},
                                                                                       {"size", "isze"},
                                                                                       {"ab", "ba"},
                                                                                       {"a", ""},
                                                                                       {"a", "b"},
                                                                                       {"size", "siez"}}) {
    EXPECT_TRUE(one_slip_apart(a, b)) << a << " " << b;
    EXPECT_TRUE(one_slip_apart(b, a)) << a << " " << b;
  }
  for (const auto& [a, b] : std::initializer_list<std::pair<const char*, const char*>>{{"size", "size"},
                                                                                       {"", ""},
                                                                                       {"size", "sizess"},
                                                                                       {"size", "si"},
                                                                                       {"size", "sxxe"},
                                                                                       {"size", "esiz"},
                                                                                       {"abcd", "badc"},
                                                                                       {"size", "zsie"},
                                                                                       {"abc", "bax"},
                                                                                       {"abcd", "bacx"}}) {
    EXPECT_FALSE(one_slip_apart(a, b)) << a << " " << b;
    EXPECT_FALSE(one_slip_apart(b, a)) << a << " " << b;
  }
  constexpr std::string_view kKnown[] = {"bf16", "fp16", "fp61x"};
  EXPECT_EQ(one_slip_from("fp61", kKnown), "fp16") << "the first of several";
  EXPECT_EQ(one_slip_from("fp16", kKnown), "") << "known itself";
  EXPECT_EQ(one_slip_from("zero", kKnown), "");
}

TEST(InstanceNames, SayTheFamily) {
  EXPECT_EQ(family_of("ml.p4d.24xlarge"), "p4d");
  EXPECT_EQ(family_of("p4d.24xlarge"), "p4d");
  EXPECT_EQ(family_of("local"), "");
  EXPECT_EQ(family_of("ml.x"), "");
}

TEST(InstanceNames, OfEveryTrainingTypeSayWhatComputes) {
  const Job job;
  const Facts facts;
  const CheckInput in{job, test::shipped_catalog(), test::shipped_limits(), facts};
  for (const std::string& type : in.limits.training_types) {
    const int known = int{is_cpu_type(in, type)} + int{is_gpu_type(in, type)} + int{is_trainium_type(in.catalog, type)};
    EXPECT_EQ(known, 1) << type << ": its family has no entry, and families.json does not list it";
  }
  for (const char* type : {"ml.p3.2xlarge", "g5.xlarge", "ml.g6e.xlarge", "ml.p2.xlarge", "ml.p5.99xlarge"}) {
    EXPECT_TRUE(is_gpu_type(in, type)) << type;
  }
  for (const char* type : {"ml.c5.xlarge", "ml.trn1.2xlarge", "ml.p9.large", "ml.gx.large", "p4d", "local_gpu", ""}) {
    EXPECT_FALSE(is_gpu_type(in, type)) << type;
  }
  for (const char* type : {"ml.trn2.48xlarge", "trn1.2xlarge", "ml.trn2.99xlarge"}) {
    EXPECT_TRUE(is_trainium_type(in.catalog, type)) << type;
  }
  for (const char* type : {"ml.p5.48xlarge", "ml.m4.xlarge", "ml.trn9.48xlarge", "local", ""}) {
    EXPECT_FALSE(is_trainium_type(in.catalog, type)) << type;
  }
  for (const char* type : {"ml.m4.xlarge", "c5.xlarge"}) EXPECT_TRUE(is_cpu_type(in, type)) << type;
  for (const char* type : {"ml.p2.xlarge", "ml.x9.xlarge", "local"}) EXPECT_FALSE(is_cpu_type(in, type)) << type;
}

TEST(SettingNames, AreThoseOfTheFile) {
  EXPECT_EQ(spelled(JobKind::Estimator, "MaxWaitTimeInSeconds"), "max_wait");
  EXPECT_EQ(spelled(JobKind::ModelTrainer, "MaxWaitTimeInSeconds"), "max_wait_time_in_seconds");
  EXPECT_EQ(spelled(JobKind::CreateTrainingJob, "MaxWaitTimeInSeconds"), "MaxWaitTimeInSeconds");
  EXPECT_EQ(spelled(JobKind::Estimator, "Unknown"), "Unknown");
  for (const char* name : {"MaxWaitTimeInSeconds", "max_wait", "max_wait_time_in_seconds"}) {
    EXPECT_EQ(respelled(JobKind::Estimator, name), "max_wait") << name;
  }
  EXPECT_EQ(respelled(JobKind::Estimator, "unknown"), std::nullopt);
  EXPECT_EQ(respelled(JobKind::Estimator, "InstancePreferences"), "") << "the SDK's version 2 has none";
}

TEST(Versions, AreBelowOthersByTheirNumbers) {
  const auto is_below = [](const char* version, const char* other) {
    Text text;
    text.stated = true;
    text.value = version;
    return below(text, other);
  };
  EXPECT_TRUE(is_below("1.9.1", "1.10"));
  EXPECT_TRUE(is_below("2.1", "2.1.1"));
  EXPECT_FALSE(is_below("1.10", "1.10"));
  EXPECT_FALSE(is_below("2.10", "2.9"));
  for (const char* no_version : {"", "latest", "<version>", "/1", ":1"}) EXPECT_FALSE(is_below(no_version, "2.0"));
  EXPECT_FALSE(below(Text{}, "2.0"));
}

TEST(Pointers, FindTheNodeAndItsParent) {
  const Node root = parse_document(R"({"a": {"b": [1, {"c": 2}]}, "ab": 3, "a/b": 4})", "job", Syntax::Json).value();
  for (const char* path : {"", "/a", "/a/b", "/a/b/0", "/a/b/1/c", "/ab", "/a~1b"}) {
    const Node* node = node_at(root, path);
    ASSERT_NE(node, nullptr) << path;
    EXPECT_EQ(node->where.path, path);
  }
  for (const char* path : {"/b", "/a/c", "/a/b/2", "/ab/c"}) EXPECT_EQ(node_at(root, path), nullptr) << path;
  EXPECT_EQ(parent_of("/a/b/1"), "/a/b");
  EXPECT_EQ(parent_of("/a"), "");
}

TEST(Images, AreTakenApartByTheirNames) {
  const auto parts = [](const char* uri) {
    const auto image = parse_image(uri);
    if (!image) return std::string("none");
    return image->account + "|" + image->region + "|" + image->repository + "|" + image->tag + "|" + image->version +
           "|" + image->accelerator + "|" + image->python + "|" + image->toolkit;
  };
  EXPECT_EQ(parts("763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04"),
            "763104351884|us-east-1|pytorch-training|2.8.0-gpu-py312-cu129-ubuntu22.04|2.8.0|gpu|py312|cu129");
  EXPECT_EQ(parts("1.dkr.ecr.cn-north-1.amazonaws.com.cn/a/b:1.11-neuronx-py27-cuda-cu"),
            "1|cn-north-1|a/b|1.11-neuronx-py27-cuda-cu|1.11|neuronx|py27|cu");
  EXPECT_EQ(parts("<account>.dkr.ecr.<region>.amazonaws.com/x:2-cpu"), "||x|2-cpu|2|cpu||");
  EXPECT_EQ(parts("docker.io/x"), "||x|||||");
  EXPECT_EQ(parts("docker.io/x:neuron"), "||x|neuron||neuron||");
  EXPECT_EQ(parts("/x:1"), "||x|1|1|||");
  EXPECT_EQ(parts("x:1"), "none");
  EXPECT_EQ(parts("docker.io/"), "none");
}

TEST(Syntax, IsThatOfTheKindTheNameAndTheFirstLetter) {
  using K = std::optional<JobKind>;
  struct Row {
    K kind;
    const char* file;
    const char* text;
    Syntax syntax;
  };
  for (const Row& row : {Row{K(), "job", "{", Syntax::Json},
                         {K(), "job.yaml", " \n\t{", Syntax::Json},
                         {K(), "job", "\xEF\xBB\xBF{", Syntax::Json},
                         {K(), "job", "[", Syntax::Json},
                         {K(), "job.yaml", "[", Syntax::Yaml},
                         {K(), "job.yml", "[", Syntax::Yaml},
                         {K(), "job.json", "x", Syntax::Json},
                         {K(), "job", "x: 1", Syntax::Yaml},
                         {K(), "job", "", Syntax::Yaml},
                         {K(), "job.toml", "x", Syntax::Toml},
                         {K(), "job.toml", "{", Syntax::Json},
                         {K(JobKind::TorchTitan), "job", "[a]", Syntax::Toml},
                         {K(JobKind::TorchTitan), "job", "{", Syntax::Json},
                         {K(JobKind::Megatron), "job", "x", Syntax::Arguments},
                         {K(JobKind::Megatron), "job", "[", Syntax::Json},
                         {K(JobKind::Estimator), "job.sh", "x: 1", Syntax::Yaml},
                         {K(JobKind::Estimator), "job", "--x", Syntax::Yaml},
                         {K(), "job.sh", "x", Syntax::Arguments},
                         {K(), "job.args", "x", Syntax::Arguments},
                         {K(), "job.txt", "x", Syntax::Arguments},
                         {K(), "job", "--x", Syntax::Arguments},
                         {K(), "job", "---\nx: 1", Syntax::Yaml},
                         {K(), "job", "- x", Syntax::Yaml}}) {
    EXPECT_EQ(syntax_of(row.kind, row.file, row.text), row.syntax) << row.file << ": " << row.text;
  }
}

TEST(Kind, IsThatWithMostOfItsKeys) {
  const auto kind = [](const std::string& text) {
    const Result<Job> job = read_job(text, "job", std::nullopt);
    return job ? std::string(to_string(job->kind)) : job.error().front().code;
  };
  EXPECT_EQ(kind(R"({"TrainingJobName": "x", "instance_type": "y", "RoleArn": "z"})"), "create-training-job");
  EXPECT_EQ(kind(R"({"TrainingJobName": "x", "instance_type": "y", "max_run": 1})"), "estimator");
  EXPECT_EQ(kind(R"({"RoleArn": "x", "instance_type": "y"})"), "create-training-job") << "the first of equals";
  EXPECT_EQ(kind(R"({"class": "SFTTrainer"})"), "model-trainer");
  EXPECT_EQ(kind(R"({"class": "PyTorch"})"), "estimator");
  EXPECT_EQ(kind(R"({"train_batch_size": 1})"), "deepspeed");
  EXPECT_EQ(kind(R"({"num_machines": 1})"), "accelerate");
  EXPECT_EQ(kind(R"({"parallelism": {}, "metrics": {}})"), "torchtitan");
  EXPECT_EQ(kind(R"({"partitions": 1})"), "smp");
  EXPECT_EQ(kind(R"(["--bf16"])"), "megatron");
  EXPECT_EQ(kind("--bf16"), "megatron");
  EXPECT_EQ(kind(R"({"x": 1})"), "unknown-kind");
  EXPECT_EQ(kind("{}"), "empty-job");
  EXPECT_EQ(kind("text"), "wrong-kind");
}

TEST(Kind, ThatTheFileCannotBeIsRefused) {
  const auto refusal = [](const std::string& text, const std::string& file, std::optional<JobKind> kind) {
    const Result<Job> job = read_job(text, file, kind);
    return job ? "read" : job.error().front().location + ": " + job.error().front().code;
  };
  EXPECT_EQ(refusal(R"({"max_run": 1})", "-", JobKind::DeepSpeed), "<stdin>: wrong-kind");
  EXPECT_EQ(refusal(R"({"max_run": 1, "train_batch_size": 1})", "job", JobKind::DeepSpeed), "read");
  EXPECT_EQ(refusal(R"({"x": 1})", "job", JobKind::DeepSpeed), "read") << "looks like nothing";
  EXPECT_EQ(refusal("[1]", "job", JobKind::Estimator), "job: wrong-kind");
  EXPECT_EQ(refusal("[1]", "job", JobKind::Megatron), "job: arguments-empty");
  EXPECT_EQ(refusal("x", "job.py", std::nullopt), "job.py: python-script");
  EXPECT_EQ(refusal("", "job.py", std::nullopt), "job.py: python-script");
  EXPECT_EQ(refusal(" {\"class\": \"PyTorch\"}", "job.py", std::nullopt), "read");
  const std::string tuning = R"({"HyperParameterTuningJobName": "t", "train_batch_size": 1})";
  EXPECT_EQ(refusal(tuning, "job", std::nullopt), "job: other-call");
  EXPECT_EQ(refusal(tuning, "job", JobKind::CreateTrainingJob), "job: other-call");
  EXPECT_EQ(refusal(tuning, "job", JobKind::DeepSpeed), "read");
}

TEST(IgnoreFile, SaysEveryFaultWithItsLine) {
  const auto read = read_ignore_file("C116\n\n# note\nC999 # x\nC116 path # x\nC116 /a/b\t # kept\r\nC198 #\n", "f");
  ASSERT_FALSE(read);
  std::vector<std::string> faults;
  for (const Diagnostic& d : read.error()) faults.push_back(d.location + " " + d.code);
  EXPECT_THAT(faults, ElementsAre("f:1 missing-reason", "f:4 unknown-rule", "f:5 bad-path", "f:7 missing-reason"));
  const auto good = read_ignore_file("C116\t/a/b   #  why # so  \nC198 # last", "f");
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 2U);
  EXPECT_EQ(good->front().path, "/a/b");
  EXPECT_EQ(good->front().reason, "why # so");
  EXPECT_EQ(good->back().path, "");
  EXPECT_EQ(good->back().reason, "last");
  EXPECT_EQ(unknown_rule("C1", "here").message, "there is no rule 'C1'");
  EXPECT_THAT(unknown_rule("C1", "here").hint, HasSubstr("C001 to C248"));
}

TEST(Facts, OfAnotherSchemaAreRefused) {
  const auto refusal = [](const char* text) {
    const Result<Facts> facts = read_facts(parse_json(text, "facts").value());
    return facts ? "read" : facts.error().front().code;
  };
  EXPECT_EQ(refusal(R"({"schema": "smplan.facts/1"})"), "read");
  EXPECT_EQ(refusal(R"({"schema": "smplan.facts/2"})"), "bad-schema");
  EXPECT_NE(refusal(R"({})"), "read");
  EXPECT_NE(refusal(R"({"schema": "smplan.facts/1", "datasets": {"a": {"size": 1}}})"), "read");
  EXPECT_NE(refusal(R"({"schema": "smplan.facts/1", "script": {"import": []}})"), "read");
}

}  // namespace
}  // namespace smplan
