#include "planner/export/hub_name.hpp"

#include <algorithm>
#include <string_view>

namespace smplan {
namespace {

constexpr std::string_view kHub = "https://huggingface.co/";

/// `org/name` at the front of a path; empty where there is none.
std::string repository_of(std::string_view path) {
  const std::size_t first = path.find('/');
  if (first == std::string_view::npos) return {};
  return std::string(path.substr(0, path.find('/', first + 1)));
}

}  // namespace

std::string hub_name(const ExportJob& job) {
  if (!job.plan.weights.empty()) return job.plan.weights;
  const Architecture& model = job.plan.model;
  const ModelPreset* preset = job.catalog.find_model(model.name);
  // A namesake of a preset has other widths.
  if (preset == nullptr || model != preset->architecture) return {};
  const std::string_view source = preset->provenance.source;
  if (source.starts_with(kHub)) return repository_of(source.substr(kHub.size()));
  const auto alias = std::find_if(preset->aliases.begin(), preset->aliases.end(), [](const std::string& name) {
    return std::count(name.begin(), name.end(), '/') == 1;
  });
  return alias == preset->aliases.end() ? std::string() : *alias;
}

std::string hub_name_or(const ExportJob& job, const std::string& placeholder, const std::string& meaning, Export& out) {
  std::string name = hub_name(job);
  if (!name.empty()) return name;
  out.placeholders.push_back({placeholder, meaning});
  return placeholder;
}

}  // namespace smplan
