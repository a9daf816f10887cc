#include "catalogs/architecture_json.hpp"
#include "base/json_writer.hpp"

namespace smplan {
namespace {
Json latent_json(const LatentAttention& l) {
  return {{"q_lora_rank", l.q_lora_rank},
          {"kv_lora_rank", l.kv_lora_rank},
          {"qk_nope_head_dim", l.qk_nope_head_dim},
          {"qk_rope_head_dim", l.qk_rope_head_dim},
          {"v_head_dim", l.v_head_dim}};
}

Json global_json(const GlobalAttention& g) {
  return {{"head_dim", g.head_dim}, {"n_kv_heads", g.n_kv_heads}, {"keys_are_values", g.keys_are_values}};
}

Json state_json(const StateMixer& m) {
  return {{"n_heads", m.n_heads},     {"head_dim", m.head_dim},     {"n_groups", m.n_groups},
          {"state_dim", m.state_dim}, {"delta_rule", m.delta_rule}, {"conv_kernel", m.conv_kernel},
          {"chunk", m.chunk}};
}

Json experts_json(const MixtureOfExperts& m) {
  return {{"n_experts", m.n_experts},
          {"top_k", m.top_k},
          {"expert_ffn_hidden", m.expert_ffn_hidden},
          {"latent_hidden", m.latent_hidden},
          {"n_shared_experts", m.n_shared_experts},
          {"shared_expert_ffn_hidden", m.shared_expert_ffn_hidden},
          {"shared_expert_gate", m.shared_expert_gate},
          {"n_leading_dense_layers", m.n_leading_dense_layers},
          {"layer_stride", m.layer_stride},
          {"router_bias", m.router_bias},
          {"expert_bias", m.expert_bias}};
}

void add_widths(const Architecture& a, Json& out) {
  out["n_layers"] = a.n_layers;
  out["n_encoder_layers"] = a.n_encoder_layers;
  out["hidden"] = a.hidden;
  out["n_heads"] = a.n_heads;
  out["n_kv_heads"] = a.n_kv_heads;
  out["head_dim"] = a.head_dim;
  out["ffn_hidden"] = a.ffn_hidden;
  out["vocab"] = a.vocab;
  out["max_positions"] = a.max_positions;
  out["rotary_base"] = a.rotary_base;
  out["sliding_window"] = a.sliding_window;
  out["sliding_window_stride"] = a.sliding_window_stride;
  out["layer_pattern"] = a.layer_pattern;
  out["norms_per_layer"] = a.norms_per_layer;
  out["attention_stride"] = a.attention_stride;
  out["extra_parameters"] = a.extra_parameters;
  out["extra_parameters_note"] = a.extra_parameters_note;
}

void add_switches(const Architecture& a, Json& out) {
  out["gated_mlp"] = a.gated_mlp;
  out["norm_bias"] = a.norm_bias;
  out["tied_embeddings"] = a.tied_embeddings;
  out["qkv_bias"] = a.qkv_bias;
  out["attention_output_bias"] = a.attention_output_bias;
  out["mlp_bias"] = a.mlp_bias;
  out["qk_norm"] = a.qk_norm;
  if (a.value_norm) out["value_norm"] = true;
  out["attention_output_gate"] = a.attention_output_gate;
  out["parallel_block"] = a.parallel_block;
  out["scaled_rotary"] = a.scaled_rotary;
  out["final_norm"] = a.final_norm;
  out["embedding_norm"] = a.embedding_norm;
  out["plain_gelu"] = a.plain_gelu;
  if (a.plain_attention) out["plain_attention"] = true;
  out["half_logits"] = a.half_logits;
  out["lm_head_bias"] = a.lm_head_bias;
}

}  // namespace

Json architecture_member(const Architecture& a) {
  Json out;
  out["schema"] = "smplan.architecture/1";
  out["name"] = a.name;
  out["family"] = a.family;
  if (!a.transformers_type.empty()) out["transformers_type"] = a.transformers_type;
  out["kind"] = std::string(to_string(a.kind));
  out["norm"] = std::string(to_string(a.norm));
  out["positions"] = std::string(to_string(a.positions));
  add_widths(a, out);
  add_switches(a, out);
  if (a.has_latent_attention()) out["latent"] = latent_json(a.latent);
  if (a.global != GlobalAttention{}) out["global_attention"] = global_json(a.global);
  if (a.shared_key_values.n_layers > 0) {
    out["shared_key_values"] = {{"n_layers", a.shared_key_values.n_layers},
                                {"ffn_hidden", a.shared_key_values.ffn_hidden}};
  }
  if (a.layer_embeddings.width > 0) {
    out["layer_embeddings"] = {{"width", a.layer_embeddings.width}, {"vocab", a.layer_embeddings.vocab}};
  }
  if (a.has_state_mixer()) out["state"] = state_json(a.state);
  if (a.is_moe()) out["moe"] = experts_json(a.moe);
  if (a.prediction.depth > 0) {
    out["multi_token_prediction"] = {{"depth", a.prediction.depth}, {"shared_block", a.prediction.shared_block}};
  }
  return out;
}

std::string architecture_json(const Architecture& a) { return architecture_member(a).dump(); }

}  // namespace smplan
