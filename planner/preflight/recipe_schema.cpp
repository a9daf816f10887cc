#include "planner/preflight/recipe_schema.hpp"

namespace smplan {

std::string_view recipe_model_type(const Node& root) {
  const Node* type = root.at({"run", "model_type"});
  return type == nullptr ? std::string_view() : std::string_view(type->text);
}

namespace {

bool is_of_adapter(const Node& root) {
  const bool adapter =
      root.has("use_smp_model") || root.has("distributed_backend") || root.at({"trainer", "num_nodes"}) != nullptr;
  // The model section of NeMo's own recipes is NeMo's.
  const bool nemo = root.has("strategy") || root.at({"model", "mcore_gpt"}) != nullptr;
  // The Neuron recipes train with NeuronX Distributed and have a model section of their own.
  const bool neuron = root.has("distributed_strategy") || recipe_model_type(root).starts_with("neuron");
  const Node* model = root.find("model");
  return adapter && !nemo && !neuron && model != nullptr && model->is_object();
}

}  // namespace

std::string_view recipe_schema(const Node& root) {
  if (is_of_adapter(root)) return "adapter";
  const std::string_view type = recipe_model_type(root);
  if (type.starts_with("llm_finetuning_aws") || root.at({"training_config", "training_args"}) != nullptr)
    return "llmft";
  if (type == "verl") return "verl";
  const bool evaluates = root.has("eval_metrics_config");
  if (type == "mtrl" && !evaluates) {
    const Node* model = root.at({"model", "model_name"});
    return model != nullptr && model->text.starts_with("nova") ? "mtrl-nova" : "mtrl";
  }
  // What distils has no batch of its own.
  const bool distils = root.at({"training_config", "distillation_data"}) != nullptr;
  return type.starts_with("amazon.nova") && !distils ? "nova" : "other";
}

}  // namespace smplan
