#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace smplan {

// How transformers names the weights of a causal language model, for patterns that a file matches with them.

/// What stands before blocks, embedding and norm: of a text model, and of one beside a vision tower.
inline constexpr std::array<std::string_view, 4> kTextModels = {"model.", "model.language_model.",
                                                                "language_model.model.", "model.text_model."};
/// What stands before the head.
inline constexpr std::array<std::string_view, 2> kHeads = {"", "language_model."};
/// No open model is deeper: Llama 3.1 405B has 126 blocks. Names of deeper ones are not tried, so that `2[0-9]+` is 20
/// to 29.
inline constexpr std::int64_t kDepths = 128;

}  // namespace smplan
