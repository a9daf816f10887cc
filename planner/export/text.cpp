#include "planner/export/text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/markdown.hpp"
#include "base/printable.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {
std::string spaces(int n) { return std::string(static_cast<std::size_t>(n), ' '); }

/// Numbers and strings look alike in JSON, YAML, TOML and Python.
std::string scalar(const Json& value) { return value.dump(); }

/// `1.0e-05`: without the point YAML 1.1, and PyYAML with it, reads a text.
std::string yaml_scalar(const Json& value) {
  std::string text = scalar(value);
  const std::size_t exponent = value.is_number() ? text.find('e') : std::string::npos;
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string python(const Json& value, int indent) {
  if (value.is_boolean()) return value.truth() ? "True" : "False";
  if (value.is_null()) return "None";
  if (!value.is_array() && !value.is_object()) return scalar(value);
  const char* brackets = value.is_array() ? "[]" : "{}";
  if (value.empty()) return brackets;
  std::string text(1, brackets[0]);
  text += '\n';
  const auto add = [&](const std::string& key, const Json& item) {
    text += spaces(indent + 4) + key + python(item, indent + 4) + ",\n";
  };
  if (value.is_array()) {
    for (const Json& item : value.elements()) add("", item);
  } else {
    for (const auto& [key, item] : value.members()) add(Json(key).dump() + ": ", item);
  }
  return text + spaces(indent) + brackets[1];
}

bool holds_objects(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.elements().begin(), value.elements().end(),
                     [](const Json& item) { return item.is_object() && !item.empty(); });
}

std::string yaml(const Json& value, int indent) {
  std::string text;
  for (const auto& [key, item] : value.members()) {
    text += spaces(indent) + key + ':';
    if (item.is_object() && !item.empty()) {
      text += '\n' + yaml(item, indent + 2);
    } else if (holds_objects(item)) {
      text += '\n';
      for (const Json& element : item.elements()) {
        std::string block = yaml(element, indent + 2);
        block[static_cast<std::size_t>(indent)] = '-';
        text += block;
      }
    } else {
      text += ' ' + yaml_scalar(item) + '\n';
    }
  }
  return text;
}

/// `LoRA`, `QLoRA`, or `QLoRA (dora)`.
std::string adapters_name(const TrainingPlan& plan) {
  const std::string base = plan.finetune == FineTune::Lora ? "LoRA" : "QLoRA";
  return plan.adapters == nullptr ? base : fmt::format("{} ({})", base, plan.adapters->name);
}

/// Keeps the placeholders that the files show, each once.
void keep_used(Export& out) {
  std::vector<Placeholder> used;
  for (Placeholder& placeholder : out.placeholders) {
    const bool shown = std::any_of(out.files.begin(), out.files.end(), [&](const ExportFile& file) {
      return file.content.find(placeholder.text) != std::string::npos;
    });
    if (shown && std::find(used.begin(), used.end(), placeholder) == used.end()) used.push_back(std::move(placeholder));
  }
  out.placeholders = std::move(used);
}

std::string notes_page(const Export& out, std::string_view model, std::string_view summary,
                       const std::vector<std::string>& lines) {
  std::string text = fmt::format("# {} for {}\n\n{}.\n\n## The plan\n", out.target, markdown_text(model), summary);
  text += commented(lines, "- ");
  text += "\n## Replace before use\n";
  if (out.placeholders.empty()) text += "Nothing.\n";
  for (const Placeholder& p : out.placeholders) text += fmt::format("- `{}`: {}\n", p.text, p.meaning);
  if (!out.notes.empty()) text += "\n## Know before use\n" + commented(out.notes, "- ");
  text += "\n## Files\n";
  for (const ExportFile& file : out.files) text += fmt::format("- {}\n", file.path);
  return text;
}

}  // namespace

void add_notes(Export& out, std::string_view model, std::string_view summary, const std::vector<std::string>& lines) {
  keep_used(out);
  out.files.push_back({"NOTES.md", notes_page(out, model, summary, lines)});
}

std::string world_equation(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  return fmt::format("{} instances x {} processes = data {} x tensor {} x pipeline {} x context {} = {}",
                     plan.instance_count, plan.devices_per_instance(), s.data_parallel, s.tensor_parallel,
                     s.pipeline_parallel, s.context_parallel, plan.world_size());
}

std::string_view adapted_layers(const TrainingPlan& plan) {
  if (plan.lora_targets == LoraTargets::Linear) return "every linear layer";
  if (plan.lora_targets == LoraTargets::NonExpert) return "every linear layer but those of routed experts";
  return plan.lora_targets == LoraTargets::Attention ? "the linear layers of attention" : "queries and values";
}

std::string training_words(const TrainingPlan& plan) {
  std::string words(to_string(plan.optimizer));
  if (plan.loss != nullptr) words += ", " + plan.loss->name;
  if (plan.trained_layers) words += fmt::format(", {} trained, the rest frozen", trained_words(*plan.trained_layers));
  if (plan.finetune == FineTune::Full) return words;
  if (plan.virtual_tokens > 0) {
    words += fmt::format(", {} virtual tokens ({}){}", plan.virtual_tokens, plan.adapters->name,
                         plan.finetune == FineTune::Qlora ? " of a 4-bit base" : "");
  } else {
    words += fmt::format(", {} of rank {}", adapters_name(plan), plan.lora_rank);
  }
  if (plan.adapter_count > 1) words += fmt::format(", {} at once", plan.adapter_count);
  if (plan.lora_targets != LoraTargets::Linear) words += fmt::format(" on {}", adapted_layers(plan));
  return words + (plan.lora_embeddings ? " with embedding and head trained" : "");
}

std::vector<std::string> provenance_lines(const ExportJob& job) {
  const TrainingPlan& plan = job.plan;
  const PlanPrediction& p = plan.prediction;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("smplan {}, plan {} (rank {}): {}, {} parameters, {} tokens, on {} x {} in {}, {}",
                              plan.smplan_version, plan.id(), plan.rank, plan.model.name,
                              format_count(static_cast<double>(plan.parameters())), format_count(plan.tokens),
                              plan.instance_count, plan.instance->name, plan.region, to_string(plan.market)));
  lines.push_back(fmt::format(
      "Strategy: {}, {}, {}, {}; {} sequences of {} tokens a step = micro-batch {} x accumulation {} "
      "x data {}; {} steps",
      plan.stack->id, to_string(plan.strategy), to_string(plan.precision), training_words(plan), plan.global_batch,
      plan.seq_len, plan.strategy.micro_batch, plan.gradient_accumulation, plan.strategy.data_parallel, plan.steps()));
  lines.push_back("World size: " + world_equation(plan));
  lines.push_back(fmt::format("Predicted: {} a step ({} to {}), {:.1f} of {:.1f} GiB a device, MFU {}",
                              format_duration(p.step), format_duration(p.step_p10), format_duration(p.step_p90),
                              p.peak_gib, p.limit_gib, format_percent(p.mfu)));
  std::string money = "price not known";
  if (p.hourly_usd && p.total_usd) {
    money = fmt::format("{}, {} in all (price of {})", format_usd_per_hour(usd_per_hour(*p.hourly_usd)),
                        format_usd(Usd(*p.total_usd)), p.price_date);
  }
  lines.push_back(fmt::format("Predicted: {} to train, {}", format_duration(p.time_to_train), money));
  return lines;
}

std::string commented(const std::vector<std::string>& lines, std::string_view prefix) {
  std::string text;
  for (const std::string& line : lines) text += std::string(prefix) + printable(line) + '\n';
  return text;
}

void add_requirement(Export& out, std::string_view package, std::string_view path) {
  const std::string line = std::string(package) + '\n';
  for (ExportFile& file : out.files) {
    if (file.path != path) continue;
    if (('\n' + file.content).find('\n' + line) == std::string::npos) file.content += line;
    return;
  }
  out.files.push_back({std::string(path), line});
}

bool has_requirements(const Export& out) {
  return std::any_of(out.files.begin(), out.files.end(),
                     [](const ExportFile& file) { return file.path.ends_with("requirements.txt"); });
}

std::string python_literal(const Json& value, int indent) { return python(value, indent); }
std::string yaml_block(const Json& object, int indent) { return yaml(object, indent); }

std::string toml_tables(const Json& document) {
  std::string text;
  for (const auto& [table, members] : document.members()) {
    text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    for (const auto& [key, value] : members.members()) text += fmt::format("{} = {}\n", key, value.dump());
  }
  return text;
}

}  // namespace smplan
