#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {
/// `distribution=` of the estimator. Every other spelling is accepted by the SDK and starts one process a node.
Json distribution(const Launch& launch) {
  Json out;
  switch (launch.launcher) {
    case LaunchMethod::Torchrun:
      out["torch_distributed"]["enabled"] = true;
      break;
    case LaunchMethod::Smddp:
      out["smdistributed"]["dataparallel"]["enabled"] = true;
      break;
    case LaunchMethod::Mpi:
      out["mpi"] = Json{{"enabled", true}, {"processes_per_host", launch.processes_per_host}};
      break;
    case LaunchMethod::SmpV1:
      out["mpi"] = Json{{"enabled", true}, {"processes_per_host", launch.processes_per_host}};
      out["smdistributed"]["modelparallel"]["enabled"] = true;
      break;
    case LaunchMethod::SmpV2:
      out["torch_distributed"]["enabled"] = true;
      out["smdistributed"]["modelparallel"]["enabled"] = true;
      break;
    case LaunchMethod::Recipe:  // the SDK writes it
    case LaunchMethod::Script:
      break;
  }
  if (!launch.library_parameters.empty()) {
    Json& parameters = out["smdistributed"]["modelparallel"]["parameters"];
    for (const auto& setting : launch.library_parameters) parameters[setting.first] = Json::parse(setting.second);
  }
  return out;
}

/// Keyword arguments of the estimator, each with the comment that it stands under.
struct Keyword {
  const char* name;
  Json value;
  std::string comment;
};

std::vector<Keyword> keywords(const ExportJob& job, const Launch& launch) {
  Json hyper = Json::object();
  for (const auto& setting : launch.hyperparameters) hyper[setting.first] = Json::parse(setting.second);
  Json environment = Json::object();
  for (const auto& variable : launch.environment) environment[variable.first] = variable.second;
  Json tags = Json::array();
  for (const auto& tag : launch.tags) tags.push_back(Json{{"Key", tag.first}, {"Value", tag.second}});
  const PlanPrediction& p = job.plan.prediction;
  const bool recipe = launch.launcher == LaunchMethod::Recipe;
  std::vector<Keyword> out;
  if (recipe) {
    out.push_back({"training_recipe", "src/recipe.yaml", world_equation(job.plan)});
  } else {
    out.push_back({"entry_point", launch.script, ""});
  }
  out.push_back({"source_dir", "src", ""});
  out.push_back({"role", launch.role, ""});
  if (!recipe) out.push_back({"image_uri", launch.image_uri, launch.image_note});
  out.push_back({"instance_type", job.plan.instance->name, ""});
  out.push_back({"instance_count", job.plan.instance_count, ""});
  if (!recipe) {  // the SDK ignores both beside a recipe
    out.push_back({"distribution", distribution(launch), world_equation(job.plan)});
    out.push_back({"hyperparameters", hyper, ""});
  }
  out.push_back({"environment", environment, ""});
  out.push_back(
      {"max_run", launch.max_run_s, fmt::format("predicted {}, and a margin", format_duration(p.time_to_train))});
  if (launch.max_wait_s > 0) {
    out.push_back({"use_spot_instances", true, ""});
    out.push_back({"max_wait", launch.max_wait_s, "running, waiting for capacity and redoing lost work"});
  }
  if (launch.keep_alive_s > 0) out.push_back({"keep_alive_period_in_seconds", launch.keep_alive_s, ""});
  if (launch.volume_gb > 0) out.push_back({"volume_size", launch.volume_gb, ""});
  if (!launch.training_plan_arn.empty()) out.push_back({"training_plan", launch.training_plan_arn, ""});
  out.push_back({"input_mode", launch.input_mode, ""});
  out.push_back(
      {"checkpoint_s3_uri", launch.checkpoint_uri, "unique to this plan, so that no other job's state is resumed"});
  out.push_back({"checkpoint_local_path", std::string(kCheckpointPath), ""});
  out.push_back({"output_path", launch.output_uri, ""});
  out.push_back({"disable_output_compression", true, "packing a large model is single-threaded and billed"});
  out.push_back({"base_job_name", launch.job_name, ""});
  if (!launch.subnets.empty()) {
    out.push_back({"subnets", launch.subnets, ""});
    out.push_back({"security_group_ids", launch.security_groups, ""});
  }
  out.push_back({"debugger_hook_config", false, "its hook breaks sharded models"});
  out.push_back({"disable_profiler", true, ""});
  out.push_back({"tags", tags, ""});
  return out;
}

std::string inputs(const Launch& launch) {
  std::string text = "{\n";
  for (const DataChannel& c : launch.channels) {
    if (c.file_system.empty()) {
      text += fmt::format("    {}: TrainingInput({}, distribution=\"FullyReplicated\", input_mode={}),\n",
                          json_string(c.name), json_string(c.s3_uri), json_string(launch.input_mode));
    } else {
      text += fmt::format("    {}: FileSystemInput({}, \"FSxLustre\", {}, file_system_access_mode=\"ro\"),\n",
                          json_string(c.name), json_string(c.file_system), json_string(c.directory));
    }
  }
  return text + "}";
}

std::string script(const ExportJob& job, const Launch& launch, const std::vector<Keyword>& arguments) {
  std::string call;
  for (const Keyword& k : arguments) {
    if (!k.comment.empty()) call += commented({k.comment}, "    # ");
    call += fmt::format("    {}={},\n", k.name, python_literal(k.value, 4));
  }
  const bool lustre = !launch.channels.front().file_system.empty();
  return fmt::format(
      "{}# Needs: pip install 'sagemaker>=2.257,<3'. Replace what NOTES.md lists, then: python launch.py\n"
      "from sagemaker.inputs import {}\n"
      "from sagemaker.pytorch import PyTorch\n\n"
      "estimator = PyTorch(\n{})\n\n"
      "inputs = {}\n\n"
      "if __name__ == \"__main__\":\n"
      "    estimator.fit(inputs, wait=False)\n"
      "    print(estimator.latest_training_job.name)\n",
      commented(provenance_lines(job)), lustre ? "FileSystemInput" : "TrainingInput", call, inputs(launch));
}

/// Model types that the SDK has a training script for, by how they begin. Source: SageMaker Python SDK v2.257.7,
/// pytorch/estimator.py, _get_training_recipe_gpu_script.
constexpr std::string_view kRecipeScripts[] = {"llama_v3", "mistral", "mixtral", "deepseek", "gpt_oss"};

void check_recipe(const ExportJob& job, Export& out, Diagnostics& faults) {
  const std::string_view type = recipe_model_type(job.plan.model);
  const bool known = std::any_of(std::begin(kRecipeScripts), std::end(kRecipeScripts),
                                 [&](std::string_view script) { return type.substr(0, script.size()) == script; });
  if (!known) {
    faults.push_back({"not-expressible", "--target",
                      fmt::format("the SDK starts no recipes of {} models, only of {}", job.plan.model.family,
                                  fmt::join(kRecipeScripts, ", ")),
                      "export to hyperpod-recipe, or plan with --stack fsdp"});
  }
  out.notes.emplace_back(
      "The SDK clones the adapter from GitHub when the estimator is made, and puts its training script into src/.");
}

}  // namespace

void write_sagemaker_sdk_v2(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Launch launch = prepare_launch(job, out, faults);
  if (launch.launcher == LaunchMethod::Recipe) check_recipe(job, out, faults);
  out.notes.insert(out.notes.end(), launch.notes.begin(), launch.notes.end());
  const std::vector<Keyword> arguments = keywords(job, launch);
  Json kwargs;
  kwargs["class"] = "PyTorch";
  for (const Keyword& k : arguments) kwargs[k.name] = k.value;
  const std::vector<ExportFile> own = {{"launch.py", script(job, launch, arguments)},
                                       {"estimator.json", kwargs.dump(2) + "\n"}};
  out.files.insert(out.files.begin(), own.begin(), own.end());
}

}  // namespace smplan
