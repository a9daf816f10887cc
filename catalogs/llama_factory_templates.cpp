#include "catalogs/llama_factory_templates.hpp"

#include <algorithm>

#include "catalogs/finetuning_file.hpp"
#include "catalogs/model_names.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

LlamaFactoryTemplate read_template(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  LlamaFactoryTemplate row;
  row.name = read_name(reader, "name");
  for (const JsonValue& model : reader.array("models")) row.models.push_back(model.as_string(out));
  reader.finish();
  return row;
}

/// What its listed names and a user's have in common: neither who publishes it nor how it was trained on.
std::string plain_name(std::string_view path) {
  constexpr std::string_view kPublisher = "meta";
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string name = plain_base_model_name(path);
  if (name.starts_with(kPublisher)) name.erase(0, kPublisher.size());
  return name;
}

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view owner_of(std::string_view repository) { return repository.substr(0, repository.find('/')); }

}  // namespace

const std::vector<LlamaFactoryTemplate>& llama_factory_templates() {
  static const std::vector<LlamaFactoryTemplate> kTemplates = finetuning_rows("llama_factory_templates", read_template);
  return kTemplates;
}

std::vector<std::string_view> templates_of_authors(std::string_view model) {
  const std::string name = plain_name(model);
  std::vector<std::string_view> own, others;
  std::vector<std::string_view> owners;
  for (const LlamaFactoryTemplate& row : llama_factory_templates()) {
    for (const std::string& listed : row.models) {
      if (plain_name(listed) != name) continue;
      if (!has(own, row.name)) own.push_back(row.name);
      owners.push_back(owner_of(listed));
    }
  }
  for (const LlamaFactoryTemplate& row : llama_factory_templates()) {
    const bool theirs = std::any_of(row.models.begin(), row.models.end(),
                                    [&](const std::string& listed) { return has(owners, owner_of(listed)); });
    if (theirs && !has(own, row.name)) others.push_back(row.name);
  }
  own.insert(own.end(), others.begin(), others.end());
  return own;
}

bool is_template_of_models(std::string_view name) {
  const auto& all = llama_factory_templates();
  return std::any_of(all.begin(), all.end(), [&](const LlamaFactoryTemplate& row) { return row.name == name; });
}

}  // namespace smplan
