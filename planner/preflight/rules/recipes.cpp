// HyperPod recipes, Nova's among them, and recipes that an estimator starts.
#include <algorithm>

#include <fmt/format.h>

#include "catalogs/nova_recipes.hpp"
#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

bool is_absent(const Node* node) {
  return node == nullptr || node->is_null() || (node->is_string() && node->text.empty());
}

void recipe_needs(const CheckInput& in, Report& report) {
  if (recipe_schema(in.job.root()) != "adapter") return;
  const Node* model = in.job.root().find("model");
  const Node* finetune = model->find("do_finetune");
  if (finetune != nullptr && truth_of(*finetune) == true && is_absent(model->find("hf_model_name_or_path"))) {
    report.at(*finetune, {"do_finetune needs hf_model_name_or_path"}).fix = "name the model, or set do_finetune: false";
  }
  const Node* data = model->find("data");
  const Node* synthetic = data == nullptr ? nullptr : data->find("use_synthetic_data");
  if (data != nullptr && data->is_object() && is_absent(data->find("train_dir")) &&
      !(synthetic != nullptr && truth_of(*synthetic) == true)) {
    const Node* train = data->find("train_dir");
    report.at(train == nullptr ? *data : *train, {"data.train_dir is missing and the data is not synthetic"}).fix =
        "give train_dir, or set use_synthetic_data: true";
  }
  const InstanceType* type = in.instance();
  if (type != nullptr && !model->has("fp8") && compute_capability(in, *type).value_or(90) < 89) {
    report.at(*model, {"fp8 is on by default, and " + type->name + " has no FP8 units"}).fix = "set fp8: false";
  }
}

void recipe_nodes(const CheckInput& in, Report& report) {
  const Node* nodes = in.job.root().at({"recipe_overrides", "trainer", "num_nodes"});
  const auto n = nodes == nullptr ? std::nullopt : integer_of(*nodes);
  if (n && in.job.instance_count && *n != *in.job.instance_count) {
    report.at(*nodes, {count_text(*n), count_text(*in.job.instance_count)});
  }
}

/// `amazon.nova-lite-v1:0:300k` is of nova-lite, and no other version is.
bool is_of_model(std::string_view type, std::string_view model) {
  constexpr std::string_view kMaker = "amazon.";
  if (!type.starts_with(kMaker) || !type.substr(kMaker.size()).starts_with(model)) return false;
  const std::string_view version = type.substr(kMaker.size() + model.size());
  return version.empty() || version == "-v1" || version.starts_with("-v1:");
}

void nova(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const std::string_view type = recipe_model_type(root);
  // Evaluations ship with one replica. Source: recipes_collection/recipes/evaluation/nova, read 2026-11-22.
  if (root.has("evaluation")) return;
  for (const NovaSetting& known : nova_settings()) {
    const Node* node = is_of_model(type, known.model) ? node_by(root, known.setting) : nullptr;
    const auto value = node == nullptr ? std::nullopt : integer_of(*node);
    // 0 is no value that a recipe allows, and another rule's finding.
    if (!value || *value == 0) continue;
    if (std::find(known.values.begin(), known.values.end(), *value) != known.values.end()) continue;
    std::vector<std::string> allowed;
    for (const std::int64_t one : known.values) allowed.push_back(count_text(one));
    report.at(*node, {fmt::format("{} {}", known.setting, count_text(*value)), list_text(allowed)});
  }
}

void ignored_with_recipe(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (is_absent(root.find("training_recipe"))) return;
  for (const std::string_view name : {"entry_point", "hyperparameters", "distribution"}) {
    const Node* node = root.find(name);
    if (!is_absent(node)) report.at(*node, {std::string(name)});
  }
}

constexpr Rule kRecipesRules[] = {
    {"C175", Severity::Error, "Recipe", "fine-tuning, data or FP8 lack what they need", "recipe: {}",
     "see the adapter's schema", "HyperPod training adapter for NeMo 1.4.0, config_schemas.py, executed 2026-11-20",
     kRecipe, Need::Nothing, recipe_needs},
    {"C176", Severity::Warning, "Nodes of a recipe", "instance_count and the recipe's trainer.num_nodes differ",
     "trainer.num_nodes {} is ignored: the job has {} instances", "make them agree",
     "SageMaker Python SDK v2.257.6, pytorch/estimator.py", kEstimator, Need::Nothing, recipe_nodes},
    {"C177", Severity::Error, "Nova recipe", "a setting is not in the lists of AWS's recipes for the model",
     "{} is not allowed; {} are", "use an allowed value",
     "aws/sagemaker-hyperpod-recipes 2631995, recipes/fine-tuning/nova and recipes/training/nova", kRecipe,
     Need::Nothing, nova},
    {"C181", Severity::Warning, "Arguments beside a recipe",
     "training_recipe stands with entry_point, hyperparameters or distribution", "{} is ignored beside training_recipe",
     "put it into recipe_overrides, or drop the recipe", "SageMaker Python SDK v2.257.6, pytorch/estimator.py",
     kEstimator, Need::Nothing, ignored_with_recipe},
};

}  // namespace

std::span<const Rule> recipe_rules() { return kRecipesRules; }

}  // namespace smplan
