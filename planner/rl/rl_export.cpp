#include "planner/rl/rl_export.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planner/answer/plan_file.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"
#include "planner/rl/rl_answer.hpp"
#include "planner/rl/verl_job.hpp"

namespace smplan {
namespace {

/// Where SageMaker puts the channel `train`.
constexpr std::string_view kChannel = "/opt/ml/input/data/train";

/// The plan as a job of all instances, whose step is one of reinforcement learning.
TrainingPlan whole_plan(const RlJob& job) {
  const RlRequest& r = job.request;
  const RlPlan& p = job.plan;
  TrainingPlan whole = training_plan_of(r.training, p.training, job.rank);
  whole.instance_count = p.instances;
  whole.market = p.market;
  whole.fine_tunes = true;
  whole.global_batch = r.sequences();
  whole.mean_seq_len = r.prompt_length + std::llround(r.lengths.mean);
  whole.tokens = static_cast<double>(r.steps) * static_cast<double>(r.sequences() * whole.mean_seq_len);
  whole.save_interval.reset();
  if (p.cost.checkpoint) whole.save_interval = p.cost.loss.interval;
  if (!(p.instance->local_nvme > Bytes())) whole.volume = p.cost.volume_size;
  PlanPrediction& said = whole.prediction;
  said.peak_gib = in_gib(std::max(p.memory.training, p.memory.generation));
  said.limit_gib = in_gib(p.memory.limit);
  said.step = p.step();
  said.step_p10 = p.interval.p10;
  said.step_p90 = p.interval.p90;
  said.time_to_train = p.cost.time_to_train();
  said.productive = p.cost.productive;
  said.hourly_usd.reset();
  said.total_usd.reset();
  if (p.price != nullptr) {
    said.hourly_usd = in_usd_per_hour(p.cost.hourly);
    said.total_usd = p.cost.total().value();
    said.price_date = p.price->provenance.as_of;
  }
  return whole;
}

std::string placed(const RlPlan& p) {
  const std::string where = p.placement == RlPlacement::Colocated
                                ? std::string(to_string(p.placement))
                                : fmt::format("{}, {} to train and {} to generate", to_string(p.placement),
                                              p.training_instances, p.rollout_instances);
  return where + (p.offloads ? ", states wait in host memory while responses are generated" : "");
}

/// What the files rest on, a line each.
std::vector<std::string> lines_of(const RlJob& job, const TrainingPlan& whole) {
  const RlRequest& r = job.request;
  const RlPlan& p = job.plan;
  const PlanPrediction& said = whole.prediction;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("smplan {}, plan {} (rank {}): {} of {}, {} parameters, on {} x {} in {}, {}",
                              whole.smplan_version, whole.id(), whole.rank, r.algorithm.name, whole.model.name,
                              format_count(static_cast<double>(whole.parameters())), p.instances, p.instance->name,
                              whole.region, to_string(p.market)));
  lines.push_back(
      fmt::format("Work: {} x {} responses a step, prompts of {}, responses of {:.0f} (at most {}), {} steps",
                  r.prompts, r.algorithm.samples, r.prompt_length, r.lengths.mean, r.lengths.limit, r.steps));
  lines.push_back("Placement: " + placed(p));
  lines.push_back(fmt::format("Training: {}, {}; generating: {}, {} devices a replica, {} replicas",
                              p.training.stack->id, to_string(p.training.strategy), r.engine->title, p.rollout_tensor,
                              p.replicas));
  if (p.critic) {
    lines.push_back(
        fmt::format("Critic: {}, {}, {}", r.critic->name, p.critic->stack->id, to_string(p.critic->strategy)));
  }
  lines.push_back(
      fmt::format("Predicted: {} a step ({} to {}); of {:.1f} GiB a device {:.1f} while it trains and {:.1f} "
                  "while it generates",
                  format_duration(said.step), format_duration(said.step_p10), format_duration(said.step_p90),
                  said.limit_gib, in_gib(p.memory.training), in_gib(p.memory.generation)));
  std::string money = "price not known";
  if (said.total_usd) {
    money = fmt::format("{}, {} in all (price of {})", format_usd_per_hour(usd_per_hour(*said.hourly_usd)),
                        format_usd(Usd(*said.total_usd)), said.price_date);
  }
  lines.push_back(fmt::format("Predicted: {} to train, {}", format_duration(said.time_to_train), money));
  return lines;
}

/// `verl[vllm,fsdp]==0.9.1`: the extras bring the engine and what trains, by verl's own versions.
std::string requirement(const RlJob& job) {
  return fmt::format("verl[{},{}]=={}", job.request.engine->name,
                     job.plan.training.stack->id == "megatron" ? "megatron" : "fsdp", kVerlRelease);
}

std::string file_text(const Json& config, const std::vector<std::string>& lines) {
  return commented(lines) + yaml_block(config);
}

void add_program_files(const RlJob& job, std::string_view folder, Export& out) {
  out.files.push_back(program_file(kVerlProgram, folder));
  add_requirement(out, requirement(job), std::string(folder) + "requirements.txt");
}

void note_rewards(const RlJob& job, Export& out) {
  if (job.request.reward_model) return;
  out.notes.emplace_back(
      "verl scores responses by the data's column data_source; your own function goes into "
      "reward.custom_reward_function.path and name.");
}

void note_settings(const RlJob& job, Export& out) {
  out.notes.push_back("Not measured: " + rl_caveat(job.request) + ".");
  out.notes.push_back(
      fmt::format("For verl {} (2026-09). Learning rates, clipping and the weight of the KL term are "
                  "verl's own.",
                  kVerlRelease));
  note_rewards(job, out);
  if (job.request.algorithm.generated > 1) {
    out.notes.push_back(fmt::format(
        "The plan counts on {:g} times as many responses as are trained on; verl generates until enough groups are "
        "left.",
        job.request.algorithm.generated));
  }
}

void name_data(Export& out) {
  out.placeholders.push_back({"REPLACE-ME-data", "Parquet file of the prompts that are trained on"});
  out.placeholders.push_back({"REPLACE-ME-validation", "Parquet file of the prompts that are validated on"});
}

void write_verl_files(const RlJob& job, const ExportJob& whole, const std::vector<std::string>& lines, Export& out,
                      Diagnostics&) {
  name_data(out);
  const VerlPaths paths{"REPLACE-ME-data", "REPLACE-ME-validation", "checkpoints"};
  out.files.push_back({std::string(kVerlFile), file_text(verl_config(job, whole, paths, out), lines)});
  add_program_files(job, "", out);
  note_settings(job, out);
  out.notes.push_back(
      fmt::format("Start it on each instance: `pip install -r requirements.txt`, then `NODES={} "
                  "NODE_RANK=RANK HEAD_ADDRESS=FIRST python {}`. Overrides of verl may follow.",
                  job.plan.instances, kVerlProgram));
}

void write_training_job(const RlJob& job, const ExportJob& whole, const std::vector<std::string>& lines, Export& out,
                        Diagnostics& faults) {
  Launch launch;
  launch.launcher = LaunchMethod::Script;
  launch.script = std::string(kVerlProgram);
  launch.processes_per_host = 1;
  const VerlPaths paths{fmt::format("{}/train.parquet", kChannel), fmt::format("{}/validation.parquet", kChannel),
                        std::string(kCheckpointPath)};
  out.files.push_back({fmt::format("src/{}", kVerlFile), file_text(verl_config(job, whole, paths, out), lines)});
  add_program_files(job, "src/", out);
  out.brings_program = true;
  set_environment(whole, launch);
  complete_launch(whole, launch, out, faults);
  add_training_job(whole, launch, out);
  out.notes.push_back(
      fmt::format("The channel `train` has train.parquet and validation.parquet. The image installs {} at "
                  "the start, with PyTorch and CUDA of verl's choice: an image of your own with it "
                  "starts sooner.",
                  requirement(job)));
  note_settings(job, out);
}

void write_recipe(const RlJob& job, const ExportJob& whole, const std::vector<std::string>& lines, Export& out,
                  Diagnostics&) {
  name_data(out);
  out.files.push_back({"recipe.yaml", file_text(verl_recipe(job, whole, out), lines)});
  out.notes.push_back("Not measured: " + rl_caveat(job.request) + ".");
  out.notes.emplace_back(
      "For the launcher of sagemaker-hyperpod-recipes of 2026-06-23 (2631995): put the file under "
      "recipes_collection/recipes/fine-tuning and name it in recipes.");
  out.notes.emplace_back("Rewards come from training_config.custom_reward_function: a lambda_arn, or path and name.");
}

constexpr std::array<RlTarget, 3> kTargets{
    {{"verl", "verl's configuration of reinforcement learning (YAML), and what starts Ray and verl on each machine",
      RlFramework::Verl, check_verl_job, write_verl_files},
     {"create-training-job", "CreateTrainingJob request for boto3 or the AWS command line, which starts verl",
      RlFramework::Verl, check_verl_job, write_training_job},
     {"hyperpod-verl", "SageMaker HyperPod recipe of 2026 for reinforcement learning by verl (YAML)", RlFramework::Verl,
      check_verl_recipe, write_recipe}}};

}  // namespace

std::span<const RlTarget> rl_targets() { return kTargets; }

Result<const RlTarget*> find_rl_target(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const RlTarget& target : kTargets) {
    if (target.name == name) return &target;
    names.emplace_back(target.name);
  }
  Diagnostic unknown = unknown_name("target of reinforcement learning", std::string(name), std::string(where), names);
  if (unknown.hint.empty()) unknown.hint = fmt::format("known: {}", fmt::join(names, ", "));
  return tl::unexpected<Diagnostics>(Diagnostics{std::move(unknown)});
}

Result<Export> export_rl(const RlJob& job, std::string_view name) {
  const Result<const RlTarget*> target = find_rl_target(name, "--export");
  if (!target) return tl::unexpected<Diagnostics>(target.error());
  Diagnostics faults = check(job.options);
  if (job.options.script) {
    faults.push_back({"not-expressible", "--script", "the job starts verl, not a script of your own", "leave it out"});
  }
  (*target)->check(job, faults);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  TrainingPlan plan = whole_plan(job);
  const ExportJob whole{plan, job.options, job.catalog};
  Export out;
  out.target = std::string(name);
  // The id is of all that the configuration says but the id itself.
  Export draft;
  plan.beside = verl_config(job, whole, {}, draft).dump();
  out.plan_id = plan.id();
  const std::vector<std::string> lines = lines_of(job, plan);
  (*target)->write(job, whole, lines, out, faults);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  add_notes(out, plan.model.name, (*target)->summary, lines);
  return out;
}

}  // namespace smplan
