// NeMo-RL's files with those that they go on from, its command lines, and the values of its own files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "planner/preflight/beside.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using test::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kBase = R"(grpo: {num_prompts_per_step: 32, num_generations_per_prompt: 16, seed: 42}
cluster: {gpus_per_node: 8, num_nodes: 1}
policy:
  model_name: Qwen/Qwen2.5-1.5B
  train_global_batch_size: 512
  train_micro_batch_size: 4
  max_total_sequence_length: 1024
  precision: bfloat16
  dtensor_cfg: {enabled: true, tensor_parallel_size: 2}
  generation: {backend: vllm, stop_strings: null, max_new_tokens: "${policy.max_total_sequence_length}"}
)";

class NemoRl : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "configs");
    write("configs/base.yaml", kBase);
  }

  void write(const std::string& file, std::string_view text) const { std::ofstream(folder_ / file) << text; }

  [[nodiscard]] Job job(const std::string& file, std::string_view text) const {
    write(file, text);
    Result<Job> job = read_job(text, (folder_ / file).string(), JobKind::NemoRl);
    if (!job) throw std::runtime_error(to_string(job.error()));
    read_beside(*job);
    return std::move(*job);
  }

  /// `C234 error fix`, of what is wrong with values and signs.
  [[nodiscard]] std::vector<std::string> found(const Job& job) const {
    const Findings findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), {}).value();
    std::vector<std::string> out;
    for (const Finding& f : findings.findings) {
      if (f.severity == Severity::Error) out.push_back(f.rule + ' ' + f.message + ": " + f.fix);
    }
    return out;
  }

  [[nodiscard]] std::vector<std::string> of_line(const std::string& overrides) const {
    return found(job("run.sh", "uv run examples/run_grpo.py --config configs/base.yaml " + overrides));
  }

  fs::path folder_;
};

TEST_F(NemoRl, GoesOnFromFilesBesideIt) {
  write("configs/middle.yaml",
        "defaults: base.yaml\npolicy: {dtensor_cfg: {tensor_parallel_size: 4}, precision: \"???\"}\n");
  const Job child = job("child.yaml", "defaults: [configs/middle.yaml]\ncluster: {num_nodes: 2}\n");
  EXPECT_EQ(child.strategy.tensor.value, 4);
  EXPECT_EQ(child.strategy.nodes.value, 2);
  EXPECT_EQ(child.strategy.devices_per_node.value, 8);
  EXPECT_EQ(child.strategy.bf16.value, true) << "a missing value leaves the one below it";
  EXPECT_EQ(child.strategy.tensor.where, (Where{"/policy/dtensor_cfg/tensor_parallel_size", 2, "configs/middle.yaml"}));
  EXPECT_EQ(child.strategy.global_batch.where.name(), "configs/base.yaml/policy/train_global_batch_size");
  EXPECT_FALSE(child.root().open);
  EXPECT_THAT(child.unread, Not(Contains(testing::Field(&Unread::why, HasSubstr("another file")))));
}

TEST_F(NemoRl, TakesTheNextOfSeveralFilesAndWhatSaysOverride) {
  write("other.yaml", "cluster: {num_nodes: 3}\npolicy: {_override_: true, model_name: gpt2}\n");
  const Job child = job("child.yaml", "defaults: [configs/base.yaml, other.yaml]\n");
  EXPECT_EQ(child.strategy.nodes.value, 3);
  EXPECT_EQ(child.model.value, "gpt2");
  EXPECT_FALSE(child.strategy.global_batch.stated);
}

TEST_F(NemoRl, LeavesOpenWhatCannotBeRead) {
  for (const char* named : {"gone.yaml", "child.yaml", "/etc/hostname", "${FILE}", "configs", "[1, 2]", "{a: b}"}) {
    const Job child = job("child.yaml", "defaults: " + std::string(named) + "\npolicy: {precision: bfloat16}\n");
    EXPECT_TRUE(child.root().open) << named;
    EXPECT_THAT(child.not_modelled, HasSubstr("goes on from another one")) << named;
  }
}

TEST_F(NemoRl, TellsFilesThatCannotBeGoneOnFrom) {
  write("broken.yaml", "cluster: {num_nodes: 3\n");
  write("list.yaml", "- 1\n");
  write("a.yaml", "defaults: configs/../b.yaml\n");
  write("b.yaml", "defaults: a.yaml\n");
  const auto told = [&](const std::string& named) {
    return found(job("child.yaml", "policy: {precision: bfloat16}\ndefaults: " + named + "\n"));
  };
  EXPECT_THAT(told("broken.yaml"),
              Contains(AllOf(HasSubstr("C225 broken.yaml does not count"), HasSubstr("broken.yaml:2"))));
  EXPECT_THAT(told("list.yaml"), Contains(HasSubstr("C225 list.yaml does not count: it is no mapping")));
  for (const char* round : {"child.yaml", "./child.yaml", "a.yaml"}) {
    EXPECT_THAT(told(round), Contains(HasSubstr("goes on from itself"))) << round;
  }
  for (const char* elsewhere : {"gone.yaml", "${FILE}", "/etc/hostname"}) {
    EXPECT_THAT(told(elsewhere), Not(Contains(HasSubstr("C225")))) << elsewhere;
  }
}

// A finding in a file that the job goes on from names that file and its line; a fix of it is left to the user.
TEST_F(NemoRl, NamesTheFileOfAFinding) {
  write("configs/typo.yaml", "defaults: base.yaml\npolicy:\n  precison: float32\n");
  const Job child = job("child.yaml", "defaults: configs/typo.yaml\n");
  const Result<Findings> told = check_job(child, test::shipped_catalog(), test::shipped_limits(), {});
  ASSERT_TRUE(told);
  const auto typo = std::find_if(told->findings.begin(), told->findings.end(),
                                 [](const Finding& f) { return f.message.find("precison") != std::string::npos; });
  ASSERT_NE(typo, told->findings.end());
  EXPECT_EQ(typo->where, (Where{"/policy/precison", 3, "configs/typo.yaml"}));
  EXPECT_THAT(told->file_of(typo->where), EndsWith("configs/typo.yaml"));
  EXPECT_THAT(to_sarif(*told), HasSubstr("configs/typo.yaml\""));
}

TEST_F(NemoRl, LaysOverridesOnTheFile) {
  const Job line = job("run.sh",
                       "uv run examples/run_grpo.py --config configs/base.yaml \\\n  cluster.num_nodes=4 "
                       "++policy.dtensor_cfg.context_parallel_size=2 ~policy.train_micro_batch_size\n");
  EXPECT_EQ(line.strategy.nodes.value, 4);
  EXPECT_EQ(line.strategy.nodes.where.line, 2);
  EXPECT_EQ(line.strategy.tensor.value, 2);
  EXPECT_EQ(line.strategy.context.value, 2);
  EXPECT_FALSE(line.strategy.micro_batch.stated);
  EXPECT_EQ(line.strategy.global_batch.value, 512);
}

TEST_F(NemoRl, TellsSignsThatHydraRefuses) {
  EXPECT_THAT(of_line("cluster.num_nodes=2 +grpo.mine=1 ++grpo.other=1 ~grpo.seed"), IsEmpty());
  EXPECT_THAT(of_line("policy.precison=float32"), ElementsAre(HasSubstr("C234 precison is not in the file")));
  EXPECT_THAT(of_line("policy.precison=float32"), ElementsAre(HasSubstr("did you mean precision?")));
  EXPECT_THAT(of_line("grpo.mine=1"), ElementsAre(HasSubstr("write a plus before it")));
  EXPECT_THAT(of_line("+cluster.num_nodes=2"), ElementsAre(HasSubstr("write it without the plus")));
  EXPECT_THAT(of_line("~grpo.mine"), ElementsAre(HasSubstr("there is nothing to take away")));
  EXPECT_THAT(of_line("~policy.generation.stop_strings"), ElementsAre(HasSubstr("nothing to take away")));
  EXPECT_THAT(of_line("+policy.generation.stop_strings=[a]"), IsEmpty()) << "null is no value";
  EXPECT_THAT(of_line("+policy.generation.max_new_tokens=9"), ElementsAre(HasSubstr("without the plus")));
  EXPECT_THAT(of_line("cluster.num_nodes.x=2"), Contains(HasSubstr("C234 x is not in the file")));
  EXPECT_THAT(of_line("+cluster={num_nodes:2}"), Not(Contains(HasSubstr("C234"))));
}

TEST_F(NemoRl, SaysNothingOfSignsBesideAFileThatIsNotThere) {
  const Job line =
      job("run.sh", "uv run examples/run_grpo.py --config gone.yaml policy.mine=1 +policy.precision=float32\n");
  EXPECT_THAT(found(line), IsEmpty());
  EXPECT_TRUE(line.root().open);
}

/// Names and values of NeMo-RL's own files (tests/oracles/nemo_rl_mutations.py --names): none is unknown or wrong.
TEST(NemoRlFiles, HaveNothingThatIsUnknownOrWrong) {
  const Json document = Json::parse(test::read_test_file("nemo_rl_names.json"));
  for (const auto& [algorithm, names] : document["algorithms"].items()) {
    std::size_t most = 1;
    for (const auto& [path, values] : names.items()) most = std::max(most, values.size());
    for (std::size_t i = 0; i < most; ++i) {
      Json tree = Json::object();
      for (const auto& [path, values] : names.items()) {
        tree[Json::json_pointer(path)] = values[std::min(i, values.size() - 1)];
      }
      for (const Finding& f : test::check_text(tree.dump(), JobKind::NemoRl).findings) {
        EXPECT_FALSE(f.rule == "C159" || f.rule == "C004") << algorithm << ": " << f.message << ' ' << f.where.path;
      }
    }
  }
}

}  // namespace
}  // namespace smplan
