#include "catalogs/adapted_layers.hpp"

#include "base/words.hpp"
#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<ExpertAdapters, 3> kExpertAdapterNames{
    {{ExpertAdapters::Separate, "separate"}, {ExpertAdapters::Fused, "fused"}, {ExpertAdapters::None, "none"}}};

/// As transformers names them in Llama and what follows it.
AdapterTargets llama_targets() { return {{"q_proj", "v_proj"}, {"q_proj", "k_proj", "v_proj", "o_proj"}, {}}; }

AdapterTargets read_targets(ObjectReader& reader) {
  AdapterTargets targets = llama_targets();
  if (reader.has("query_value")) targets.query_value = read_names(reader, "query_value");
  if (reader.has("attention")) targets.attention = read_names(reader, "attention");
  targets.linear = read_names(reader, "linear");
  return targets;
}

AdaptedLayersRow read_adapted_layers(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  AdaptedLayersRow row;
  row.name = read_name(reader, "name");
  if (reader.has("experts")) row.layers.experts = read_enum(reader, "experts", kExpertAdapterNames);
  row.layers.joins_attention = reader.optional_bool("joins_attention").value_or(false);
  row.layers.joins_mlp = reader.optional_bool("joins_mlp").value_or(false);
  row.layers.joins_shared_experts = reader.optional_bool("joins_shared_experts").value_or(false);
  row.layers.router = reader.optional_bool("router").value_or(false);
  row.layers.state_inputs = static_cast<int>(reader.optional_integer("state_inputs").value_or(1));
  row.layers.state_output = reader.optional_bool("state_output").value_or(true);
  row.targets = read_targets(reader);
  reader.finish();
  return row;
}

}  // namespace

const std::vector<AdaptedLayersRow>& adapted_layers_rows() {
  static const std::vector<AdaptedLayersRow> kRows = finetuning_rows("adapted_layers", read_adapted_layers);
  return kRows;
}

AdaptedLayers peft_adapted_layers(const Architecture& a) {
  const AdaptedLayersRow* row = row_named(adapted_layers_rows(), a.model_type());
  return row == nullptr ? AdaptedLayers{} : row->layers;
}

std::optional<AdapterTargets> peft_targets_of(const Architecture& a) {
  if (const AdaptedLayersRow* row = row_named(adapted_layers_rows(), a.model_type())) return row->targets;
  return a.gated_mlp && !a.has_latent_attention() ? std::optional(llama_targets()) : std::nullopt;
}

}  // namespace smplan
