// What an export writes into a folder is a job that `smplan check` has nothing against.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/json_reader.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/check.hpp"
#include "planner/search/search.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const Catalog& catalog() {
  static const Catalog kCatalog = *Catalog::shipped();
  return kCatalog;
}

/// An export in a folder of its own, as `--output` leaves it.
class Folder {
 public:
  explicit Folder(const Export& out) : path_(fs::path(testing::TempDir()) / "exported_folder") {
    for (const ExportFile& file : out.files) {
      fs::create_directories((path_ / file.path).parent_path());
      std::ofstream(path_ / file.path, std::ios::binary) << file.content;
    }
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string text(const std::string& file) const {
    return read_text_file((path_ / file).string()).value_or("");
  }
  /// What `smplan check FOLDER` calls an error.
  [[nodiscard]] std::string errors() const {
    const Result<std::string> file = job_file_of(path_.string());
    if (!file) return to_string(file.error());
    Result<Job> job = read_job(read_text_file(*file).value(), *file, std::nullopt);
    if (!job) return to_string(job.error());
    read_beside(*job, path_.string());
    const Result<Findings> found = check_job(*job, catalog(), *SagemakerLimits::shipped(), {});
    if (!found) return to_string(found.error());
    std::string errors;
    for (const Finding& f : found->findings) {
      if (f.severity == Severity::Error) errors += f.rule + " " + f.message + "\n";
    }
    return errors;
  }

 private:
  fs::path path_;
};

struct Work {
  const char* finetune;
  const char* loss;
  const char* mean_seq_len;
};
constexpr Work kWorks[] = {{"lora", "", ""},    {"full", "", ""},       {"lora", "", "300"},
                           {"full", "", "300"}, {"lora", "dpo", "300"}, {"full", "dpo", "300"}};

RequestSpec spec_of(const Work& work, const char* stack) {
  RequestSpec spec{.model = "qwen2.5-1.5b", .tokens = "20M", .seq_len = "1024", .global_batch = "64"};
  spec.instances = "ml.g6e.12xlarge,ml.p4d.24xlarge";
  spec.stack = stack;
  spec.finetune = work.finetune;
  if (*work.loss != '\0') spec.loss = work.loss;
  if (*work.mean_seq_len != '\0') spec.mean_seq_len = work.mean_seq_len;
  return spec;
}

TEST(ExportedFolder, HasNoErrorOfItsOwn) {
  std::size_t checked = 0;
  for (const Work& work : kWorks) {
    for (const char* stack : {"fsdp", "deepspeed", "ddp", "hf-trainer"}) {
      const auto request = resolve(spec_of(work, stack), catalog(), std::nullopt, Purpose::Plan);
      if (!request) continue;  // the export's program does not train it so
      const PlanSet set = search(*request, catalog(), {.threads = 1});
      if (set.plans.empty()) continue;  // nor fits it
      const TrainingPlan plan = training_plan_of(*request, set.plans.front(), 1);
      const std::string lock = plan_lock(set, 1);
      const ExportOptions options;
      for (const char* target : {"sagemaker-sdk-v3", "create-training-job", "torchrun", "accelerate", "trl"}) {
        SCOPED_TRACE(fmt::format("{} {} {} {} {}", work.finetune, work.loss, work.mean_seq_len, stack, target));
        const Result<Export> out = export_plan({plan, options, catalog(), lock}, target);
        if (!out) continue;
        EXPECT_EQ(Folder(*out).errors(), "");
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 60);
}

// Pairs and sequences of their own length are trained by TRL's trainers, which shard as accelerate's file says.
TEST(JobsByExample, AreShardedByTheTrainer) {
  for (const Work& work : {Work{"full", "dpo", "900"}, Work{"full", "", "900"}}) {
    for (const char* stack : {"fsdp", "deepspeed"}) {
      SCOPED_TRACE(fmt::format("{} {}", work.loss, stack));
      RequestSpec spec = spec_of(work, stack);
      spec.model = "llama-3.1-8b";
      spec.instances = "ml.p5.48xlarge,ml.g6e.12xlarge,ml.p4d.24xlarge,ml.trn1.32xlarge";
      const Result<PlanRequest> request = resolve(spec, catalog(), std::nullopt, Purpose::Plan);
      ASSERT_TRUE(request) << to_string(request.error());
      for (const Stack* way : request->stacks) {
        EXPECT_FALSE(way->partial_recompute) << "accelerate recomputes all layers or none";
        EXPECT_THAT(way->offloads, Not(Contains("activations")));
      }
      const PlanSet set = search(*request, catalog(), {.threads = 1});
      ASSERT_FALSE(set.plans.empty());
      for (std::size_t rank = 1; rank <= set.plans.size(); ++rank) {
        const TrainingPlan plan = training_plan_of(*request, set.plans[rank - 1], 1);
        const std::string lock = plan_lock(set, rank);
        const ExportOptions options;
        const Result<Export> out = export_plan({plan, options, catalog(), lock}, "sagemaker-sdk-v3");
        ASSERT_TRUE(out) << to_string(out.error());
        const Folder folder(*out);
        EXPECT_THAT(folder.text("src/train.py"), HasSubstr("take_accelerate_file"));
        EXPECT_THAT(folder.text("src/accelerate_config.yaml"),
                    HasSubstr(std::string_view(stack) == "fsdp" ? "\"FSDP\"" : "\"DEEPSPEED\""));
        EXPECT_EQ(folder.text("src/ds_config.json").empty(), std::string_view(stack) == "fsdp");
        EXPECT_THAT(out->files.front().content, Not(HasSubstr("deepspeed_config")));
        EXPECT_EQ(folder.errors(), "");
      }
    }
  }
}

}  // namespace
}  // namespace smplan
