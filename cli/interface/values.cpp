#include "cli/interface/values.hpp"

#include <algorithm>

#include "planner/export/target.hpp"

namespace smplan::cli {
namespace {

std::vector<std::string> regions(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Price& price : catalog.prices()) names.push_back(price.region);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> choices_of(std::string_view type) {
  std::vector<std::string> words;
  if (type.find('|') == std::string_view::npos || type.find('\'') != std::string_view::npos) return words;
  while (true) {
    const std::size_t bar = type.find('|');
    words.emplace_back(type.substr(0, bar));
    if (bar == std::string_view::npos) return words;
    type.remove_prefix(bar + 1);
  }
}

std::vector<std::string> values_of(std::string_view type, const Catalog& catalog) {
  std::vector<std::string> names;
  if (type == "MODEL") {
    for (const ModelPreset& model : catalog.models()) names.push_back(model.architecture.name);
  } else if (type == "INSTANCES") {
    for (const InstanceType& instance : catalog.instances()) names.push_back(instance.name);
  } else if (type == "STACKS") {
    for (const Stack& stack : catalog.stacks()) names.push_back(stack.id);
  } else if (type == "TARGET") {
    for (const ExportTarget& target : export_targets()) names.emplace_back(target.name);
  } else if (type == "REGION") {
    names = regions(catalog);
  } else {
    names = choices_of(type);
  }
  return names;
}

bool is_path(std::string_view type) { return type == "FILE" || type == "FOLDER"; }

}  // namespace smplan::cli
