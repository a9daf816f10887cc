#pragma once

#include <cstdint>

#include "models/workload.hpp"

namespace smplan {

/// What a practitioner assumes where a request says nothing.

/// 20 tokens per trained parameter. Source: Hoffmann et al. 2022 (Chinchilla), table 3.
double default_tokens(const Architecture& architecture, FineTune mode, const Lora& lora);

/// Pre-training length of the preset, else 4096 (Llama 2, Touvron et al. 2023) or what the model can.
std::int64_t default_seq_len(const Architecture& architecture, std::int64_t preset_seq_len);

/// Tokens per optimizer step of a pre-training run of this size: 0.5M under 1B parameters, 2M under 10B
/// (Brown et al. 2020, table 2.1, which has 0.5M to 2M there), 4M from there on (Touvron et al. 2023).
double default_batch_tokens(double parameters);

/// Sequences per step: the batch above in sequences, a power of two so that it divides over data-parallel
/// ranks; 128 for adapters (Taori et al. 2023, Stanford Alpaca).
std::int64_t default_global_batch(double parameters, std::int64_t seq_len, FineTune mode);

/// Sequences for a batch given in tokens: a power of two where one is within 5 % (4M tokens of 4096 are
/// 1024 sequences), else the nearest whole number.
std::int64_t sequences_of(double batch_tokens, std::int64_t seq_len);

}  // namespace smplan
