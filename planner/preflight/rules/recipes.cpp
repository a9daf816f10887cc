// HyperPod recipes, Nova's among them, and recipes that an estimator starts.
#include <algorithm>
#include <array>

#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/tools.hpp"

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

struct Nova {
  std::string_view model;
  std::vector<std::int64_t> replicas;  ///< of all instances together, which a recipe does not name
};
/// Source: comments of recipes_collection/recipes/{fine-tuning,training}/nova, aws/sagemaker-hyperpod-recipes, v1.5.1
/// and HEAD of 2026-11.
const std::array<Nova, 3> kNova = {
    {{"nova-micro", {1, 2, 4, 8, 16, 32}}, {"nova-lite", {1, 4, 8, 16, 32}}, {"nova-pro", {6, 12, 24}}}};
constexpr std::array<std::int64_t, 5> kNovaBatches = {16, 32, 64, 128, 256};

void nova(const CheckInput& in, Report& report) {
  const std::string_view type = recipe_model_type(in.job.root());
  // Evaluations ship with one replica. Source: recipes_collection/recipes/evaluation/nova, read 2026-11-22.
  if (type.find("nova") == std::string_view::npos || in.job.root().has("evaluation")) return;
  const Node* replicas = in.job.root().at({"run", "replicas"});
  // 0 where it is not stated, which no recipe allows and no finding is about.
  const std::int64_t n = replicas == nullptr ? 0 : integer_of(*replicas).value_or(0);
  for (const Nova& known : kNova) {
    // Version 2 has other sizes, which its recipes do not list.
    if (type.find(known.model) == std::string_view::npos || type.find("nova-2") != std::string_view::npos) continue;
    if (n == 0 || std::find(known.replicas.begin(), known.replicas.end(), n) != known.replicas.end()) continue;
    std::vector<std::string> allowed;
    for (const std::int64_t count : known.replicas) allowed.push_back(count_text(count));
    report.at(*replicas, {count_text(n) + " replicas", list_text(allowed)});
  }
  const Node* batch = in.job.root().at({"training_config", "global_batch_size"});
  const std::int64_t g = batch == nullptr ? 0 : integer_of(*batch).value_or(0);
  if (g != 0 && std::find(kNovaBatches.begin(), kNovaBatches.end(), g) == kNovaBatches.end()) {
    report.at(*batch, {"a global batch of " + count_text(g), "16, 32, 64, 128 or 256"});
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
    {"C177", Severity::Error, "Nova recipe", "replicas or global batch are not in the recipe's lists",
     "{} is not allowed; {} are", "use an allowed value",
     "aws/sagemaker-hyperpod-recipes, recipes/fine-tuning/nova (2026)", kRecipe, Need::Nothing, nova},
    {"C181", Severity::Warning, "Arguments beside a recipe",
     "training_recipe stands with entry_point, hyperparameters or distribution", "{} is ignored beside training_recipe",
     "put it into recipe_overrides, or drop the recipe", "SageMaker Python SDK v2.257.6, pytorch/estimator.py",
     kEstimator, Need::Nothing, ignored_with_recipe},
};

}  // namespace

std::span<const Rule> recipe_rules() { return kRecipesRules; }

}  // namespace smplan
