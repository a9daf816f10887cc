#include <algorithm>
#include <array>
#include <utility>

#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

/// Three layers of four mix by the gated delta rule, and attention gates its output.
void read_delta_mixers(HfConfig& c, Architecture& a) {
  a.head_dim = c.integer_or({"head_dim"}, 256);
  a.qk_norm = a.attention_output_gate = true;
  c.refuse_unless(!c.flag("attention_bias", false), "attention_bias", "biases of gated attention are not modelled");
  a.attention_stride = c.integer_or({"full_attention_interval"}, 4);
  if (const auto types = c.find({"layer_types"})) {
    std::int64_t layer = 0;
    for (const JsonValue& type : types->as_array(c.diagnostics())) {
      const bool attends = a.attention_stride > 0 && ++layer % a.attention_stride == 0;
      const bool said = type.as_string(c.diagnostics()) == "full_attention";
      c.refuse_unless(said == attends, "layer_types",
                      "attention at other depths than every n-th layer is not modelled");
      if (said != attends) break;
    }
  }
  a.state = {.n_heads = c.integer_or({"linear_num_value_heads"}, 32),
             .head_dim = c.integer_or({"linear_value_head_dim"}, 128),
             .n_groups = c.integer_or({"linear_num_key_heads"}, 16),
             .state_dim = c.integer_or({"linear_key_head_dim"}, 128),
             .conv_kernel = c.integer_or({"linear_conv_kernel_dim"}, 4),
             .chunk = 64,
             .delta_rule = true};
}

void read_qwen3_5(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  read_delta_mixers(c, a);
}

// Blocks that predict a further token are left out, as in the published counts.
void read_qwen3_next(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, false);
  read_delta_mixers(c, a);
  read_qwen_experts(c, a);
  read_qwen_shared_expert(c, a);
}

/// The layers of a hybrid: letters, or in newer files words.
std::string layer_letters(HfConfig& c, const JsonValue& pattern) {
  if (pattern.is_string()) return pattern.as_string(c.diagnostics());
  constexpr std::array<std::pair<std::string_view, char>, 6> kWords{{{"mamba", 'M'},
                                                                     {"linear_attention", 'M'},
                                                                     {"attention", '*'},
                                                                     {"full_attention", '*'},
                                                                     {"mlp", '-'},
                                                                     {"moe", 'E'}}};
  std::string letters;
  for (const JsonValue& layer : pattern.as_array(c.diagnostics())) {
    const std::string word = layer.as_string(c.diagnostics());
    const auto known =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& entry) { return entry.first == word; });
    if (known == kWords.end()) {
      c.refuse_unless(false, "layers_block_type",
                      "layers of other kinds than mamba, attention, mlp and moe are not modelled");
      break;
    }
    letters.push_back(known->second);
  }
  return letters;
}

/// Nemotron-H and Nemotron 3: Mamba-2, attention, MLPs and experts as layers of their own, squared ReLU, no positions.
void read_nemotron_h(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, false);
  a.head_dim = c.integer_or({"head_dim", "attention_head_dim"}, 128);
  a.ffn_hidden = c.integer_or({"intermediate_size"}, 0);
  a.gated_mlp = false;
  a.positions = PositionEncoding::None;
  a.norms_per_layer = 1;
  for (const char* key : {"use_bias", "mlp_bias"}) {
    c.refuse_unless(!c.flag(key, false), key, "biases of state mixers and of the MLPs beside them are not modelled");
  }
  const auto pattern = c.find({"hybrid_override_pattern", "layers_block_type"});
  c.refuse_unless(pattern.has_value(), "hybrid_override_pattern", "which layer is what is not stated");
  if (pattern) a.layer_pattern = layer_letters(c, *pattern);
  a.state = {.n_heads = c.integer({"mamba_num_heads"}),
             .head_dim = c.integer({"mamba_head_dim"}),
             .n_groups = c.integer_or({"n_groups"}, 8),
             .state_dim = c.integer({"ssm_state_size"}),
             .conv_kernel = c.integer_or({"conv_kernel"}, 4),
             .chunk = c.integer_or({"chunk_size"}, 128)};
  if (a.layer_pattern.find('E') == std::string::npos) return;
  read_hf_routed_experts(c, a);
  a.moe.latent_hidden = c.integer_or({"moe_latent_size"}, 0);
  a.moe.n_shared_experts = c.integer_or({"n_shared_experts"}, 1);
  a.moe.shared_expert_ffn_hidden = c.integer({"moe_shared_expert_intermediate_size"});
  a.moe.router_bias = true;
}

constexpr std::array kFamilies = {
    HfFamily{"nemotron_h", read_nemotron_h},  HfFamily{"qwen3_5", read_qwen3_5},
    HfFamily{"qwen3_5_moe", read_qwen3_next}, HfFamily{"qwen3_5_moe_text", read_qwen3_next},
    HfFamily{"qwen3_5_text", read_qwen3_5},   HfFamily{"qwen3_next", read_qwen3_next},
};

}  // namespace

std::span<const HfFamily> hf_hybrid_families() { return kFamilies; }

}  // namespace smplan
