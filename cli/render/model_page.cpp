#include "cli/render/model_page.hpp"

#include <fmt/format.h>

#include "models/layers/layers.hpp"

namespace smplan::cli {
namespace {

std::string experts(const MixtureOfExperts& moe) {
  return moe.n_experts == 0 ? std::string("-") : fmt::format("{} of {}", moe.top_k, moe.n_experts);
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

void add_count(FactSheet& sheet, const std::string& key, std::int64_t count) {
  if (count != 0) sheet.add(key, fmt::format("{} ({})", count, format_count(static_cast<double>(count))), count);
}

void add_positive(FactSheet& sheet, const std::string& key, std::int64_t number) {
  if (number != 0) sheet.add(key, number);
}

void add_state_mixers(FactSheet& sheet, const Architecture& a) {
  if (!a.layer_pattern.empty()) sheet.add("layer_pattern", a.layer_pattern);
  add_positive(sheet, "attention_stride", a.attention_stride);
  sheet.add("state_mixer", a.state.delta_rule ? "gated delta rule" : "Mamba-2");
  sheet.add("state_heads", a.state.n_heads);
  sheet.add("state_head_dim", a.state.head_dim);
  sheet.add("state_groups", a.state.n_groups);
  sheet.add("state_dim", a.state.state_dim);
}

void add_widths(FactSheet& sheet, const Architecture& a) {
  sheet.add("layers", a.n_layers);
  add_positive(sheet, "encoder_layers", a.n_encoder_layers);
  sheet.add("hidden", a.hidden);
  sheet.add("heads", a.n_heads);
  sheet.add("kv_heads", a.n_kv_heads);
  sheet.add("head_dim", a.head_dim);
  add_positive(sheet, "ffn_hidden", a.ffn_hidden);
  sheet.add("mlp", a.gated_mlp ? "gated (three matrices)" : "plain (two matrices)");
  add_positive(sheet, "vocab", a.vocab);
  sheet.add("embeddings", a.tied_embeddings ? "tied" : "untied");
  sheet.add("max_positions", a.max_positions);
  sheet.add("positions", std::string(to_string(a.positions)));
  add_positive(sheet, "sliding_window", a.sliding_window);
  add_positive(sheet, "global_head_dim", a.global.head_dim);
  add_positive(sheet, "global_kv_heads", a.global.n_kv_heads);
  add_positive(sheet, "layers_sharing_key_values", a.shared_key_values.n_layers);
  add_positive(sheet, "layer_embedding_width", a.layer_embeddings.width);
  if (a.has_latent_attention()) {
    sheet.add("kv_lora_rank", a.latent.kv_lora_rank);
    add_positive(sheet, "q_lora_rank", a.latent.q_lora_rank);
  }
  if (a.attention_output_gate) sheet.add("attention_output_gate", "yes", true);
  if (a.has_state_mixer()) add_state_mixers(sheet, a);
  if (a.is_moe()) {
    sheet.add("experts", a.moe.n_experts);
    sheet.add("experts_per_token", a.moe.top_k);
    sheet.add("expert_ffn_hidden", a.moe.expert_ffn_hidden);
    add_positive(sheet, "expert_latent_hidden", a.moe.latent_hidden);
    add_positive(sheet, "shared_experts", a.moe.n_shared_experts);
  }
  add_positive(sheet, "further_tokens", a.prediction.depth);
}

void add_parameters(FactSheet& sheet, const Architecture& a) {
  const ParameterCount count = count_parameters(a);
  add_count(sheet, "parameters", count.total());
  if (a.is_moe()) add_count(sheet, "active_parameters", active_parameters(a));
  add_count(sheet, "parameters_embedding", count.embedding);
  add_count(sheet, "parameters_attention", count.attention);
  add_count(sheet, "parameters_state_mixers", count.state_mixers);
  add_count(sheet, "parameters_dense_mlp", count.dense_mlp);
  add_count(sheet, "parameters_router", count.router);
  add_count(sheet, "parameters_experts", count.experts);
  add_count(sheet, "parameters_shared_experts", count.shared_experts);
  add_count(sheet, "parameters_norms", count.norms);
  add_count(sheet, "parameters_head", count.head);
  add_count(sheet, "parameters_extra", count.extra);
  add_count(sheet, "parameters_further_tokens", count.further_tokens);
  if (!a.extra_parameters_note.empty()) sheet.add("parameters_extra_note", a.extra_parameters_note);
  if (!a.left_out.empty()) sheet.add("left_out", a.left_out);
}

}  // namespace

Listing model_list(const std::vector<ModelPreset>& models) {
  Listing list;
  list.table.columns = {{"MODEL"},
                        {"FAMILY", Align::Left, 4},
                        {"KIND", Align::Left, 3},
                        {"PARAMETERS", Align::Right},
                        {"LAYERS", Align::Right},
                        {"HIDDEN", Align::Right},
                        {"HEADS", Align::Right, 1},
                        {"KV", Align::Right, 2},
                        {"FFN", Align::Right, 2},
                        {"EXPERTS", Align::Right, 1},
                        {"VOCAB", Align::Right, 2},
                        {"SEQ", Align::Right, 1},
                        {"TRAINED ON", Align::Right, 3}};
  for (const ModelPreset& m : models) {
    const Architecture& a = m.architecture;
    const std::int64_t ffn = a.is_moe() ? a.moe.expert_ffn_hidden : a.ffn_hidden;
    list.table.rows.push_back(
        {a.name, a.family, std::string(to_string(a.kind)), format_count(static_cast<double>(m.published_parameters)),
         std::to_string(a.n_layers + a.n_encoder_layers), std::to_string(a.hidden), std::to_string(a.n_heads),
         std::to_string(a.n_kv_heads), std::to_string(ffn), experts(a.moe), std::to_string(a.vocab),
         std::to_string(m.default_seq_len), m.trained_tokens > 0 ? format_count(m.trained_tokens) : "-"});
    list.rows.push_back({{"name", a.name},
                         {"family", a.family},
                         {"kind", to_string(a.kind)},
                         {"parameters", m.published_parameters},
                         {"layers", a.n_layers + a.n_encoder_layers},
                         {"hidden", a.hidden},
                         {"heads", a.n_heads},
                         {"kv_heads", a.n_kv_heads},
                         {"ffn_hidden", ffn},
                         {"experts", a.moe.n_experts},
                         {"experts_per_token", a.moe.top_k},
                         {"vocab", a.vocab},
                         {"seq_len", m.default_seq_len},
                         {"trained_tokens", m.trained_tokens},
                         {"source", m.provenance.source},
                         {"as_of", m.provenance.as_of}});
  }
  return list;
}

Listing model_page(const Architecture& architecture, const ModelPreset* preset) {
  FactSheet sheet;
  sheet.add("name", architecture.name);
  if (!architecture.family.empty()) sheet.add("family", architecture.family);
  sheet.add("kind", std::string(to_string(architecture.kind)));
  if (preset != nullptr && !preset->aliases.empty()) {
    sheet.add("aliases", joined(preset->aliases), Json(preset->aliases));
  }
  add_widths(sheet, architecture);
  add_parameters(sheet, architecture);
  if (preset != nullptr) {
    sheet.add("seq_len", preset->default_seq_len);
    if (preset->trained_tokens > 0) {
      sheet.add("trained_tokens", format_count(preset->trained_tokens), preset->trained_tokens);
    }
    if (preset->batch_tokens > 0) {
      sheet.add("batch_tokens", format_count(preset->batch_tokens), preset->batch_tokens);
      sheet.add("batch_source", preset->batch_source);
    }
    sheet.add("source", preset->provenance.source);
    sheet.add("as_of", preset->provenance.as_of);
  }
  return sheet.listing();
}

}  // namespace smplan::cli
