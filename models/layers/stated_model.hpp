#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan {

/// A model as far as somebody states it: a name, widths, or both.
struct StatedModel {
  std::string name;
  std::optional<double> params_b;  ///< billions of parameters
  std::optional<ModelKind> kind;
  std::optional<bool> gated_mlp, tied_embeddings;
  std::optional<std::int64_t> n_layers, n_encoder_layers, hidden, ffn_hidden, n_heads, n_kv_heads, head_dim, vocab,
      n_experts, top_k, expert_ffn_hidden;
};

/// The catalog's model of that name with the stated widths in the place of its own. Where hidden, n_heads or n_experts
/// differ, or the catalog has no such name, the stated widths alone are the model. `assumptions` gets a sentence for
/// each width that was filled in. Errors (`unsupported`): too little is stated.
Result<Architecture> architecture_of(const StatedModel& stated, const Catalog& catalog,
                                     std::vector<std::string>& assumptions);

}  // namespace smplan
