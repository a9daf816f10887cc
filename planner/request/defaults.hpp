#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// What a practitioner assumes where a request says nothing.

/// 20 tokens per parameter, of pre-training. Source: Hoffmann et al. 2022 (Chinchilla), table 3.
double default_tokens(const Architecture& architecture);

/// Tokens of a fine-tuning run that does not say: three epochs over 52,002 instructions (Taori et al. 2023, Stanford
/// Alpaca), each taken to be 128 tokens long. How much data there is has nothing to do with the size of the model.
inline constexpr double kFineTuneTokens = 3 * 52002 * 128.0;
/// Sequences of a step of fine-tuning (Taori et al. 2023, Stanford Alpaca).
inline constexpr std::int64_t kFineTuneBatch = 128;

/// Pre-training length of the preset, else 4096 (Llama 2, Touvron et al. 2023) or what the model can.
std::int64_t default_seq_len(const Architecture& architecture, std::int64_t preset_seq_len);

/// Tokens per optimizer step of a pre-training run of `flops` in all that lose least: 0.2920 flops^0.3271.
/// Source: Bi et al. 2024 (DeepSeek LLM), section 3.1, figure 3.
double default_batch_tokens(Flops flops);

/// Sequences per step: the batch above for 6 FLOPs per active parameter and token, a power of two so that it divides
/// over data-parallel ranks.
std::int64_t default_global_batch(const Architecture& architecture, double tokens, std::int64_t seq_len);

/// Sequences for a model's published batch: as below, and a multiple of 64 where it has as many, so that it divides
/// over data-parallel ranks (1538 sequences are 2 x 769).
std::int64_t published_batch(double batch_tokens, std::int64_t seq_len);

/// Sequences for a batch given in tokens: a power of two where one is within 5 % (4M tokens of 4096 are
/// 1024 sequences), else the nearest whole number.
std::int64_t sequences_of(double batch_tokens, std::int64_t seq_len);

}  // namespace smplan
