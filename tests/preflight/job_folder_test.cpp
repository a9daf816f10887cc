// A job is a folder: its files against each other, and against the plan that lies among them.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/export/folder.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/job_settings.hpp"
#include "planner/search/search.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using test::Json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Lines = std::vector<std::string>;

/// The best plan of a small request by this stack.
const PlanSet& plans_of(const std::string& stack) {
  static std::map<std::string, PlanSet> known;
  const auto found = known.find(stack);
  if (found != known.end()) return found->second;
  RequestSpec spec;
  spec.model = stack == "ddp" ? "gpt2" : "llama-3-8b";
  spec.instances = "ml.p4de.24xlarge";
  spec.count = "2";
  spec.tokens = "10B";
  spec.global_batch = "256";
  spec.stack = stack;
  spec.top = "2";
  const PlanRequest request = resolve(spec, test::shipped_catalog(), std::nullopt).value();
  return known.emplace(stack, search(request, test::shipped_catalog())).first->second;
}

Export exported(const std::string& stack, const std::string& target) {
  const PlanSet& set = plans_of(stack);
  const TrainingPlan plan = training_plan_of(set.request, set.plans.front());
  const std::string lock = plan_lock(set, 1);
  return export_plan({plan, ExportOptions{}, test::shipped_catalog(), lock}, target).value();
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder with an export of the plan and a script, away at the end.
class Folder {
 public:
  Folder(const std::string& stack, const std::string& target) {
    std::string name = (fs::temp_directory_path() / "smplan-folder-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root = name;
    const Export job = exported(stack, target);
    EXPECT_TRUE(write_export(root.string(), job.files));
    fs::create_directories(root / "src");
    if (!fs::exists(root / "src/train.py")) write("src/train.py", "pass\n");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(root); }

  void write(const std::string& file, const std::string& text) const { std::ofstream(root / file) << text; }
  /// `from` stands in the file once at least.
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(root / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << text;
    write(file, text.replace(at, from.size(), to));
  }
  void set(const std::string& file, const std::string& pointer, const Json& value) const {
    Json document = Json::parse(read(root / file));
    document[Json::json_pointer(pointer)] = value;
    write(file, document.dump(2));
  }
  [[nodiscard]] Json at(const std::string& file, const std::string& pointer) const {
    return Json::parse(read(root / file)).at(Json::json_pointer(pointer));
  }

  [[nodiscard]] Findings check(const Json& flags = Json::object()) const {
    const std::string path = job_file_of(root.string()).value();
    Job job = read_job(read(path), path, std::nullopt).value();
    read_beside(job, root.string());
    CheckOptions options;
    options.request = test::request_from(flags);
    return check_job(job, test::shipped_catalog(), test::shipped_limits(), options).value();
  }

  fs::path root;
};

Lines messages(const Findings& findings, const std::string& rule) {
  Lines out;
  for (const Finding& f : findings.findings) {
    if (f.rule == rule) out.push_back(f.message);
  }
  return out;
}

/// What the rules of folders say, by rule.
Lines said_of_folder(const Findings& findings) {
  Lines out;
  for (const Finding& f : findings.findings) {
    if (f.rule >= "C220") out.push_back(f.rule + ' ' + f.message);
  }
  return out;
}

const std::vector<std::pair<std::string, std::string>> kExports = {
    {"fsdp", "sagemaker-sdk-v2"},
    {"fsdp", "sagemaker-sdk-v3"},
    {"fsdp", "create-training-job"},
    {"fsdp", "torchrun"},
    {"deepspeed", "sagemaker-sdk-v2"},
    {"deepspeed", "sagemaker-sdk-v3"},
    {"deepspeed", "torchrun"},
    {"deepspeed", "accelerate"},
    {"deepspeed", "deepspeed"},
    {"megatron", "sagemaker-sdk-v2"},
    {"megatron", "create-training-job"},
    {"megatron", "torchrun"},
    {"megatron", "megatron"},
    {"megatron", "hyperpod-recipe"},
    {"torchtitan", "sagemaker-sdk-v2"},
    {"torchtitan", "torchtitan"},
    {"ddp", "create-training-job"},
    {"smp-v2", "create-training-job"},
};

TEST(JobFolder, AsExportedHasNothingToSayAndIsJudgedAsThePlan) {
  for (const auto& [stack, target] : kExports) {
    const PlanSet& set = plans_of(stack);
    if (set.plans.empty()) {
      ADD_FAILURE() << "no plan by " << stack;
      continue;
    }
    const Folder folder(stack, target);
    const Findings found = folder.check();
    EXPECT_THAT(said_of_folder(found), IsEmpty()) << stack << ' ' << target;
    ASSERT_TRUE(found.drift) << stack << ' ' << target;
    ASSERT_TRUE(found.prediction) << stack << ' ' << target;
    EXPECT_EQ(found.prediction->left_open, "") << stack << ' ' << target;
    EXPECT_EQ(found.prediction->request.workload.tokens, set.request.workload.tokens) << stack << ' ' << target;
    EXPECT_NEAR(found.prediction->cost.value(), set.plans.front().cost.total().value(), 0.01) << stack << ' ' << target;
    EXPECT_EQ(found.prediction->plan.memory.wanted.value(), set.plans.front().memory.wanted.value())
        << stack << ' ' << target;
  }
}

TEST(JobFolder, IsOverABudgetWithoutAFurtherFlag) {
  const Folder folder("megatron", "create-training-job");
  const Usd cost = plans_of("megatron").plans.front().cost.total();
  const std::string half = std::to_string(cost.value() / 2);
  EXPECT_THAT(
      messages(folder.check({{"budget", half}}), "C207"),
      ElementsAre("predicted cost " + format_usd(cost) + ", the budget is " + format_usd(Usd(std::stod(half)))));
  EXPECT_THAT(messages(folder.check({{"budget", std::to_string(cost.value() * 2)}}), "C207"), IsEmpty());
}

/// One value of a file, another for it, and the name of the setting.
struct Mutation {
  std::string pointer;
  Json value;
  std::string name;
};

std::string unquoted(std::string text) {
  if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

std::string shown(const Json& value) { return unquoted(value.is_string() ? value.get<std::string>() : value.dump()); }

/// Changes one value at a time; each is found, where it stands, and nothing else is.
void expect_each_is_found(const std::string& stack, const std::string& target, const std::string& file,
                          const std::vector<Mutation>& mutations) {
  for (const Mutation& m : mutations) {
    const Folder folder(stack, target);
    const Json was = folder.at(file, m.pointer);
    folder.set(file, m.pointer, m.value);
    const std::string line =
        "~ " + m.name + ": " + shown(was) + " -> " + shown(m.value) + " (" + file + ' ' + m.pointer + ')';
    EXPECT_THAT(messages(folder.check(), "C220"), ElementsAre(line)) << target;
  }
}

/// Hyperparameters by their names; values as the target writes them.
std::vector<Mutation> of_script(const std::string& below, bool as_text) {
  const auto number = [&](int n) { return as_text ? Json(std::to_string(n)) : Json(n); };
  const auto word = [&](const std::string& w) { return as_text ? Json('"' + w + '"') : Json(w); };
  return {{below + "/seq_len", number(1234), "seq_len"},
          {below + "/micro_batch", number(3), "micro_batch"},
          {below + "/gradient_accumulation", number(5), "gradient_accumulation"},
          {below + "/max_steps", number(7), "max_steps"},
          {below + "/save_interval", number(9), "save_interval"},
          {below + "/dtype", word("fp16"), "dtype"},
          {below + "/optimizer", word("lion"), "optimizer"},
          {below + "/finetune", word("lora"), "finetune"},
          {below + "/activation_checkpointing", word("selective"), "recompute"}};
}

std::vector<Mutation> joined(std::vector<Mutation> first, const std::vector<Mutation>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(JobFolder, FindsWhatDriftedInARequest) {
  expect_each_is_found("fsdp", "create-training-job", "create_training_job.json",
                       joined(of_script("/HyperParameters", true),
                              {{"/ResourceConfig/InstanceType", "ml.p4d.24xlarge", "instance_type"},
                               {"/ResourceConfig/InstanceCount", 4, "instance_count"},
                               {"/StoppingCondition/MaxRuntimeInSeconds", 3600, "max_run"},
                               {"/HyperParameters/sagemaker_region", "\"eu-west-1\"", "region"},
                               {"/AlgorithmSpecification/TrainingImage", "pytorch-training:1.0", "image"}}));
}

TEST(JobFolder, FindsWhatDriftedInAnEstimator) {
  expect_each_is_found(
      "fsdp", "sagemaker-sdk-v2", "estimator.json",
      joined(of_script("/hyperparameters", false), {{"/instance_type", "ml.p4d.24xlarge", "instance_type"},
                                                    {"/instance_count", 4, "instance_count"},
                                                    {"/max_run", 3600, "max_run"}}));
}

TEST(JobFolder, FindsWhatDriftedInAModelTrainer) {
  expect_each_is_found(
      "fsdp", "sagemaker-sdk-v3", "model_trainer.json",
      joined(of_script("/hyperparameters", false), {{"/compute/instance_type", "ml.p4d.24xlarge", "instance_type"},
                                                    {"/compute/instance_count", 4, "instance_count"},
                                                    {"/stopping_condition/max_runtime_in_seconds", 3600, "max_run"}}));
}

TEST(JobFolder, FindsWhatDriftedInALaunchScript) {
  const auto drift = [](const std::string& from, const std::string& to) {
    const Folder folder("fsdp", "torchrun");
    folder.replace("launch.sh", from, to);
    return messages(folder.check(), "C220");
  };
  EXPECT_THAT(drift("--nnodes 2", "--nnodes 3"), ElementsAre("~ instance_count: 2 -> 3 (launch.sh /nnodes)"));
  EXPECT_THAT(drift("--nproc_per_node 8", "--nproc_per_node 4"),
              ElementsAre("~ processes_per_node: 8 -> 4 (launch.sh /nproc_per_node)"));
  EXPECT_THAT(drift("--dtype bf16", "--dtype fp16"), ElementsAre("~ dtype: bf16 -> fp16 (launch.sh /dtype)"));
  EXPECT_THAT(drift("--optimizer adamw", "--optimizer lion"),
              ElementsAre("~ optimizer: adamw -> lion (launch.sh /optimizer)"));
  EXPECT_THAT(drift("--seq_len 8192", "--seq_len 4096"), ElementsAre("~ seq_len: 8192 -> 4096 (launch.sh /seq_len)"));
}

TEST(JobFolder, ShowsWhatWasAddedAndWhatWasRemoved) {
  const Folder folder("fsdp", "create-training-job");
  folder.set("create_training_job.json", "/EnableManagedSpotTraining", true);
  folder.set("create_training_job.json", "/StoppingCondition/MaxWaitTimeInSeconds", 2'000'000);
  Json job = Json::parse(read(folder.root / "create_training_job.json"));
  job["HyperParameters"].erase("optimizer");
  folder.write("create_training_job.json", job.dump(2));
  const Findings found = folder.check();
  EXPECT_THAT(messages(found, "C220"),
              ::testing::UnorderedElementsAre(
                  "+ spot: true (create_training_job.json /EnableManagedSpotTraining)",
                  "+ max_wait: 2000000 (create_training_job.json /StoppingCondition/MaxWaitTimeInSeconds)",
                  "- optimizer: adamw (create_training_job.json /HyperParameters/optimizer)"));
  EXPECT_EQ(found.prediction->plan.market, Market::Spot);
  EXPECT_THAT(found.findings, Contains(::testing::AllOf(::testing::Field(&Finding::rule, "C220"),
                                                        ::testing::Field(&Finding::severity, Severity::Warning))));
  const Json drift = Json::parse(to_json(found))["drift"];
  ASSERT_EQ(drift.size(), 3U);
  EXPECT_EQ(drift[0], (Json{{"change", "added"},
                            {"name", "spot"},
                            {"planned", nullptr},
                            {"found", "true"},
                            {"file", "create_training_job.json"},
                            {"path", "/EnableManagedSpotTraining"}}));
}

TEST(JobFolder, FindsWhatDriftedInTheFilesOfTheFramework) {
  const Folder megatron("megatron", "create-training-job");
  megatron.replace("src/megatron_args.txt", "--seq-length 8192", "--seq-length 4096");
  const Findings found = megatron.check();
  EXPECT_THAT(messages(found, "C220"), ElementsAre("~ seq_len: 8192 -> 4096 (src/megatron_args.txt /seq-length)"));
  EXPECT_THAT(messages(found, "C221"),
              ElementsAre("seq_len is 8192 in create_training_job.json /HyperParameters/seq_len, and 4096 in "
                          "src/megatron_args.txt /seq-length"));
  const Folder titan("torchtitan", "torchtitan");
  titan.replace("torchtitan.toml", "[training]\n", "[training]\nmax_norm = 2.0\n");
  EXPECT_THAT(messages(titan.check(), "C220"), IsEmpty()) << "no setting of the plan";
}

TEST(JobFolder, FindsFilesThatContradictEachOther) {
  const Folder zero("deepspeed", "sagemaker-sdk-v2");
  const std::string stage = zero.at("src/ds_config.json", "/zero_optimization/stage").dump();
  const std::string micro = zero.at("estimator.json", "/hyperparameters/micro_batch").dump();
  zero.set("src/ds_config.json", "/train_micro_batch_size_per_gpu", 77);
  Findings found = zero.check();
  EXPECT_THAT(messages(found, "C221"), ElementsAre("micro_batch is " + micro +
                                                   " in estimator.json /hyperparameters/micro_batch, and 77 in "
                                                   "src/ds_config.json /train_micro_batch_size_per_gpu"));
  EXPECT_THAT(found.findings, Contains(::testing::AllOf(::testing::Field(&Finding::rule, "C221"),
                                                        ::testing::Field(&Finding::severity, Severity::Error))));
  const Folder both("deepspeed", "sagemaker-sdk-v2");
  both.write("src/accelerate_config.yaml",
             "distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 12\n"
             "deepspeed_config:\n  zero_stage: 0\n");
  EXPECT_THAT(messages(both.check(), "C221"),
              ElementsAre("processes is 16 in estimator.json /instance_count, and 12 in src/accelerate_config.yaml "
                          "/num_processes",
                          "zero_stage is 0 in src/accelerate_config.yaml /deepspeed_config/zero_stage, and " + stage +
                              " in src/ds_config.json /zero_optimization/stage"));
  both.write("src/accelerate_config.yaml", "distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 16\n");
  EXPECT_THAT(messages(both.check(), "C221"), IsEmpty());
}

TEST(JobFolder, NamesWhatIsLeftToTheUserInEveryFile) {
  const Folder megatron("megatron", "create-training-job");
  const auto left = [&] { return messages(megatron.check(), "C211"); };
  const auto names_data = ::testing::Contains(::testing::HasSubstr("REPLACE-ME-data-path"));
  EXPECT_THAT(left(), names_data);
  megatron.replace("src/megatron_args.txt", "REPLACE-ME-data-path", "/opt/ml/input/data/train/text");
  EXPECT_THAT(left(), ::testing::Not(names_data));
}

TEST(JobFolder, NamesFilesThatAreMissingOrChanged) {
  const Folder folder("megatron", "create-training-job");
  fs::remove(folder.root / "NOTES.md");
  folder.replace("src/megatron_args.txt", "--lr 0.0003", "--lr 0.0001");
  EXPECT_THAT(said_of_folder(folder.check()), ElementsAre("C222 NOTES.md was exported and is not there",
                                                          "C223 src/megatron_args.txt was changed since its export"));
}

TEST(JobFolder, NeedsItsEntryPoint) {
  const Folder folder("fsdp", "create-training-job");
  fs::remove(folder.root / "src/train.py");
  const auto severity = [&] {
    const Findings found = folder.check();
    EXPECT_THAT(messages(found, "C224"), ElementsAre("the entry point train.py is not in src"));
    for (const Finding& f : found.findings) {
      if (f.rule == "C224") return f.severity;
    }
    return Severity::Info;
  };
  const Json marker = Json::parse(read(folder.root / kExportMarker));
  const bool shipped = marker.dump().find("src/train.py") != std::string::npos;
  EXPECT_EQ(severity(), shipped ? Severity::Error : Severity::Warning) << "an export may leave it to the user";
  fs::remove(folder.root / kExportMarker);
  EXPECT_EQ(severity(), Severity::Error);
  folder.set("create_training_job.json", "/HyperParameters/sagemaker_program", "\"../train.py\"");
  EXPECT_THAT(messages(folder.check(), "C224"), IsEmpty()) << "nothing outside is looked at";
}

TEST(JobFolder, WhosePlanCannotBeReadIsNotJudged) {
  const Folder folder("megatron", "create-training-job");
  folder.write("plan.json", "{");
  Findings found = folder.check({{"budget", "1000000"}});
  ASSERT_EQ(messages(found, "C225").size(), 1U);
  EXPECT_THAT(messages(found, "C225").front(), HasSubstr("plan.json does not count: plan.json:1:1: syntax error"));
  EXPECT_THAT(messages(found, "C207"), ElementsAre("the budget of $1M cannot be judged: no model is given"));
  EXPECT_FALSE(found.drift);
  folder.write("plan.json", ::smplan::to_json(plans_of("megatron")));
  found = folder.check();
  EXPECT_THAT(messages(found, "C225"), ElementsAre(HasSubstr("holds 2 plans, and the job is one of them")));
  const Folder other("megatron", "create-training-job");
  other.write("plan.json", plan_lock(plans_of("fsdp"), 1));
  EXPECT_THAT(messages(other.check(), "C225"), IsEmpty()) << "a request starts any stack";
  EXPECT_THAT(messages(other.check(), "C220"), Not(IsEmpty()));
}

TEST(JobFolder, TakesFlagsBeforeItsPlanAndSaysSo) {
  const Folder folder("megatron", "create-training-job");
  const Findings found = folder.check({{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"seq_len", "8k"}, {"count", "2"}});
  EXPECT_THAT(messages(found, "C220"),
              ElementsAre("~ model: llama-3-8b -> llama-3.2-1b (--model)", "~ tokens: 10000000000 -> 1B (--tokens)"));
  ASSERT_TRUE(found.prediction);
  EXPECT_EQ(found.prediction->request.workload.architecture.name, "llama-3.2-1b");
  EXPECT_EQ(found.prediction->request.workload.tokens, 1e9);
}

TEST(JobFolder, WithoutAMarkerNeedsItsPlan) {
  const Folder folder("fsdp", "sagemaker-sdk-v2");
  fs::remove(folder.root / kExportMarker);
  folder.set("estimator.json", "/instance_count", 4);
  EXPECT_THAT(said_of_folder(folder.check()),
              ElementsAre("C220 ~ instance_count: 2 -> 4 (estimator.json /instance_count)"));
  fs::remove(folder.root / "plan.json");
  EXPECT_EQ(job_file_of(folder.root.string()).error().front().code, "no-export");
}

TEST(JobFolder, IsFoundFromTheFileThatAnExportWrote) {
  const Folder folder("megatron", "megatron");
  const std::string path = (folder.root / "megatron_args.txt").string();
  Job job = read_job(read(path), path, std::nullopt).value();
  read_beside(job);
  EXPECT_NE(job.folder, nullptr);
  const std::string strange = (folder.root / "other.txt").string();
  folder.write("other.txt", "--seq-length 8");
  Job other = read_job("--seq-length 8", strange, std::nullopt).value();
  read_beside(other);
  EXPECT_EQ(other.folder, nullptr) << "a plan beside a file of another hand says nothing of it";
}

// A job is one file that names another: where that one is broken, the job fails as it starts.
TEST(NamedFile, ThatCannotBeReadIsAnError) {
  std::string name = (fs::temp_directory_path() / "smplan-named-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder(name);
  const auto told = [&](const std::string& content) {
    if (!content.empty()) std::ofstream(folder / "ds.json") << content;
    const std::string text = "model_name_or_path: gpt2\nstage: sft\nfinetuning_type: lora\ndeepspeed: ds.json\n";
    std::ofstream(folder / "job.yaml") << text;
    Job job = read_job(text, (folder / "job.yaml").string(), JobKind::LlamaFactory).value();
    read_beside(job);
    Lines lines;
    const Findings found = check_job(job, test::shipped_catalog(), test::shipped_limits(), {}).value();
    for (const Finding& f : found.findings) {
      if (f.rule == "C225") lines.push_back(f.where.path + ' ' + f.message);
    }
    return lines;
  };
  EXPECT_THAT(told(""), IsEmpty()) << "it may lie where the job runs";
  EXPECT_THAT(told("{\"train_batch_size\": 8}"), IsEmpty());
  EXPECT_THAT(told("{\"train_batch_size\": }"), ElementsAre(HasSubstr("/deepspeed ds.json does not count: ")));
  fs::remove_all(folder);
}

TEST(JobFolder, ShowsNoControlCharacterOfAFile) {
  const Folder folder("fsdp", "create-training-job");
  folder.set("create_training_job.json", "/HyperParameters/optimizer", "\x1b[31mred\nerror");
  const Findings found = folder.check();
  EXPECT_EQ(to_json(found).find('\x1b'), std::string::npos);
  EXPECT_EQ(messages(found, "C220").size(), 1U);
}

// What was asked for and cannot be judged is not kept.
TEST(Gates, FailWhereNothingIsPredicted) {
  Json job = test::rule_cases()["bases"]["request"];
  const auto said = [&](const Json& flags, const std::string& rule) {
    CheckOptions options;
    options.request = test::request_from(flags);
    return messages(test::check_text(job.dump(), JobKind::CreateTrainingJob, options), rule);
  };
  EXPECT_THAT(said({{"budget", "50000"}}, "C207"),
              ElementsAre("the budget of $50,000 cannot be judged: no model is given"));
  EXPECT_THAT(said({{"deadline", "7d"}}, "C214"),
              ElementsAre("the deadline of 7.00 d cannot be judged: no model is given"));
  EXPECT_THAT(said({{"deadline", "7d"}, {"confidence", "0.5"}}, "C214"),
              ElementsAre("the deadline of 7.00 d cannot be judged: no model is given"));
  job["ResourceConfig"]["InstanceType"] = "ml.p9.48xlarge";
  EXPECT_THAT(said({{"budget", "50000"}, {"model", "gpt2"}, {"tokens", "1B"}}, "C207"),
              ElementsAre("the budget of $50,000 cannot be judged: the catalog has no accelerators of ml.p9.48xlarge"));
  EXPECT_THAT(said({{"max_hourly", "100"}}, "C215"),
              ElementsAre("the limit of $100/h cannot be judged: no price of ml.p9.48xlarge is known in us-east-1"));
}

TEST(Gates, OfMoneyFailWithoutAPrice) {
  Json job = test::rule_cases()["bases"]["request"];
  job["EnableManagedSpotTraining"] = true;
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 3600}, {"MaxWaitTimeInSeconds", 7200}};
  CheckOptions options;
  options.request = test::request_from({{"budget", "50000"}, {"model", "gpt2"}, {"tokens", "1B"}, {"stack", "ddp"}});
  const std::string type = job["ResourceConfig"]["InstanceType"];
  const Job spot = read_job(job.dump(), "job", JobKind::CreateTrainingJob).value();
  int without = 0;
  for (const char* region : {"ap-south-1", "eu-south-2", "sa-east-1", "us-west-1", "us-west-2", "eu-west-1"}) {
    if (test::shipped_catalog().find_price(type, region, Market::Spot) != nullptr) continue;
    options.request.region = region;
    const Result<Findings> found = check_job(spot, test::shipped_catalog(), test::shipped_limits(), options);
    if (!found) continue;  // a region without any price is refused as a flag
    ++without;
    EXPECT_THAT(messages(*found, "C207"), ElementsAre(HasSubstr("the budget of $50,000 cannot be judged: "))) << region;
  }
  EXPECT_GT(without, 0);
}

TEST(Gates, OfMoneyHoldWithTheConfidenceThatIsAskedFor) {
  const Folder folder("megatron", "create-training-job");
  const Plan& plan = plans_of("megatron").plans.front();
  const std::string budget = std::to_string(plan.cost.total().value() * 1.01);
  EXPECT_THAT(messages(folder.check({{"budget", budget}}), "C207"), IsEmpty());
  EXPECT_THAT(messages(folder.check({{"budget", budget}, {"confidence", "0.99"}}), "C207"),
              ElementsAre(HasSubstr("to stay within it: 99.0% is asked for")));
  EXPECT_THAT(messages(folder.check({{"budget", budget}, {"confidence", "0.01"}}), "C207"), IsEmpty());
}

TEST(LaunchScript, IsAKindOfItsOwn) {
  const Job job = read_job(
                      "exec torchrun \\\n  --nnodes 4 --nproc_per_node 8 --master_port 7777 train.py --seq_len 2048 "
                      "--micro_batch 2 --optimizer lion",
                      "launch.sh", std::nullopt)
                      .value();
  EXPECT_EQ(job.kind, JobKind::Torchrun);
  EXPECT_TRUE(job.strategy.nodes.is(std::int64_t{4}));
  EXPECT_TRUE(job.launcher.processes_per_node.is(std::int64_t{8}));
  EXPECT_TRUE(job.entry_point.is("train.py"));
  EXPECT_TRUE(job.strategy.sequence_length.is(std::int64_t{2048}));
  EXPECT_TRUE(job.strategy.optimizer.is("lion"));
  EXPECT_EQ(read_job("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2", "run.sh", std::nullopt)->kind,
            JobKind::Megatron);
}

// huggingface/accelerate 1.14.0: micro-batches before the last run under no_sync.
TEST(Accumulation, OfAccelerateKeepsWholeGradients) {
  const auto whole = [](const std::string& text) {
    return read_job(text, "accelerate.yaml", JobKind::Accelerate)->strategy.execution.unsharded_gradients;
  };
  const std::string fsdp = "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n";
  EXPECT_EQ(whole(fsdp), Toggle::On);
  EXPECT_EQ(whole(fsdp + "gradient_accumulation_steps: 4\n"), Toggle::On);
  EXPECT_EQ(whole(fsdp + "gradient_accumulation_steps: 1\n"), Toggle::Default);
  EXPECT_EQ(whole(fsdp + "gradient_accumulation_kwargs:\n  sync_each_batch: true\n"), Toggle::Default);
  EXPECT_EQ(whole("distributed_type: MULTI_GPU\n"), Toggle::Default);
}

TEST(Accumulation, OfTrainerKeepsWholeGradients) {
  const auto whole = [](const Json& hyperparameters) {
    Json job = test::rule_cases()["bases"]["estimator"];
    job["hyperparameters"] = hyperparameters;
    return read_job(job.dump(), "job", JobKind::Estimator)->strategy.execution.unsharded_gradients;
  };
  EXPECT_EQ(whole({{"fsdp", "full_shard auto_wrap"}, {"gradient_accumulation_steps", 8}}), Toggle::On);
  EXPECT_EQ(whole({{"fsdp", "full_shard auto_wrap"}, {"gradient_accumulation_steps", 1}}), Toggle::Default);
  EXPECT_EQ(whole({{"fsdp", "full_shard auto_wrap"}}), Toggle::Default);
  EXPECT_EQ(whole({{"fsdp", ""}, {"gradient_accumulation_steps", 8}}), Toggle::Default);
  EXPECT_EQ(whole({{"gradient_accumulation_steps", 8}}), Toggle::Default);
  const Json synced = {{"gradient_accumulation_kwargs", {{"sync_each_batch", true}}}};
  EXPECT_EQ(whole({{"fsdp", "full_shard"}, {"gradient_accumulation_steps", 8}, {"accelerator_config", synced}}),
            Toggle::Default);
  EXPECT_EQ(whole({{"fsdp", "full_shard"}, {"gradient_accumulation_steps", 8}, {"accelerator_config", synced.dump()}}),
            Toggle::Default);
}

TEST(Accumulation, OfWholeGradientsNeedsTheirMemory) {
  const std::string text =
      "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 16\nmixed_precision: bf16\n"
      "fsdp_config:\n  fsdp_version: 2\n  fsdp_sharding_strategy: FULL_SHARD\n";
  const auto wanted = [&](const std::string& more) {
    CheckOptions options;
    options.request = test::request_from({{"model", "llama-2-13b"},
                                          {"instances", "ml.p4de.24xlarge"},
                                          {"global_batch", "256"},
                                          {"micro_batch", "1"},
                                          {"recompute", "full"},
                                          {"tokens", "1B"}});
    return test::check_text(text + more, JobKind::Accelerate, options).prediction->plan.memory.wanted.value();
  };
  EXPECT_GT(wanted(""), wanted("gradient_accumulation_kwargs:\n  sync_each_batch: true\n") + 10e9);
}

}  // namespace
}  // namespace smplan
