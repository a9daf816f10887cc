#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// A template of LLaMA-Factory's, and the repositories of the hub that it lists with it. Source:
/// catalogs/data/finetuning/llama_factory_templates.json.
struct LlamaFactoryTemplate {
  std::string name;
  std::vector<std::string> models;
};

const std::vector<LlamaFactoryTemplate>& llama_factory_templates();
/// Templates that models of the authors have who made a model, its own first, by its name on the hub.
/// Names of its other trainings count as its own. Empty where LLaMA-Factory does not list it.
std::vector<std::string_view> templates_of_authors(std::string_view model);
/// Whether a listed model has it.
bool is_template_of_models(std::string_view name);

}  // namespace smplan
