// References of OmegaConf's between the settings of a file: `${trainer.devices}`.
#include <algorithm>
#include <functional>

#include "base/words.hpp"
#include "planner/preflight/recipe_schema.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// Names that a plain reference may have; a resolver (`${oc.env:HOME}`), a list's place or a reference inside is none.
bool names_a_setting(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' &&
         std::all_of(path.begin(), path.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; });
}

/// Calls `visit` for each reference that nothing escapes.
void each_reference(std::string_view text, const std::function<void(std::string_view)>& visit) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) return;
    const bool escaped = at > 0 && text[at - 1] == '\\';
    if (!escaped) visit(text.substr(at + 2, end - at - 2));
  }
}

/// The object that lacks the next name of a path that begins in `root`; nullptr where none does, or nobody knows.
const Node* lacks_next(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty() && node->is_object()) {  // a list, or what another reference brings, may have it
    const std::size_t dot = std::min(path.find('.'), path.size());
    const Node* inner = node->find(path.substr(0, dot));
    if (inner == nullptr) return node;
    node = inner;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return nullptr;
}

/// A recipe stands in its launcher's configuration, by that name.
std::string_view inside_recipe(const Job& job, std::string_view path) {
  constexpr std::string_view kRecipes = "recipes.";
  const bool inside = job.kind == JobKind::HyperpodRecipe && path.starts_with(kRecipes) && !job.root().has("recipes");
  return inside ? path.substr(kRecipes.size()) : path;
}

/// Whether the file, or a part of it, goes on from others.
bool has_defaults(const Node& object) {
  return object.has("defaults") || std::any_of(object.items.begin(), object.items.end(),
                                               [](const Node& item) { return item.is_object() && has_defaults(item); });
}

void judge_references(const Node& node, const Job& job, Report& report) {
  for (const Node& item : node.items) judge_references(item, job, report);
  if (!node.is_string() || node.plus >= 0) return;
  each_reference(node.text, [&](std::string_view path) {
    const Node* lacks = names_a_setting(path) ? lacks_next(job.root(), inside_recipe(job, path)) : nullptr;
    const bool whole_name = lacks == &job.root();
    // What starts the others lays the file beside settings of its own, and a part that is missing is another file's.
    const bool alone =
        (job.kind == JobKind::Torchtune || job.kind == JobKind::NemoRl) && path.find('.') == std::string_view::npos;
    if (lacks == nullptr || (whole_name && !alone)) return;
    Finding& finding = report.at(node, {node.key.empty() ? quote(node.text) : node.key, std::string(path)});
    if (!whole_name) return;
    finding.severity = Severity::Warning;
    finding.message += ": the command line has to give it";
  });
}

void references(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (root.plus < 0 && !has_defaults(root)) judge_references(root, in.job, report);
}

constexpr Rule kReferenceRules[] = {
    {"C246", Severity::Error, "Reference to a setting that is not there",
     "a file of OmegaConf's refers to a setting in a part of its own that lacks it, or (a warning) that the command "
     "line has to give, and goes on from no other file",
     "{} refers to {}, which the file does not have", "name a setting that is there, or add it",
     "omegaconf 2.3.0, base.py: InterpolationKeyError",
     kRecipe | one(JobKind::Verl) | one(JobKind::NemoRl) | one(JobKind::Torchtune), Need::Nothing, references},
};

}  // namespace

std::span<const Rule> reference_rules() { return kReferenceRules; }

}  // namespace smplan
