#include "models/layers/architecture_facts.hpp"

#include "models/layers/layers.hpp"

namespace smplan {

std::vector<std::pair<std::string_view, std::int64_t>> architecture_facts(const Architecture& a) {
  std::vector<std::pair<std::string_view, std::int64_t>> facts = {{"parameters", count_parameters(a).total()},
                                                                  {"active_parameters", active_parameters(a)},
                                                                  {"n_layers", a.n_layers},
                                                                  {"n_encoder_layers", a.n_encoder_layers},
                                                                  {"hidden", a.hidden},
                                                                  {"n_heads", a.n_heads},
                                                                  {"n_kv_heads", a.n_kv_heads},
                                                                  {"head_dim", a.head_dim},
                                                                  {"ffn_hidden", a.ffn_hidden},
                                                                  {"vocab", a.vocab},
                                                                  {"n_experts", a.moe.n_experts},
                                                                  {"experts_per_token", a.moe.top_k}};
  if (a.has_state_mixer()) facts.emplace_back("state_mixer_heads", a.state.n_heads);
  return facts;
}

}  // namespace smplan
