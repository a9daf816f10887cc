#pragma once

#include <optional>
#include <string_view>

namespace smplan {

/// Number format of the matrix multiplications of a training step (mixed precision names the
/// compute format; master weights and reductions have their own rules, see models/memory/memory.hpp).
enum class Precision { Fp32, Tf32, Fp16, Bf16, Fp8, Fp4 };

inline constexpr int kPrecisionCount = 6;

/// Weights and activations are kept in 32 bits; in 16 for all narrower formats of the products.
constexpr bool keeps_32_bits(Precision precision) {
  return precision == Precision::Fp32 || precision == Precision::Tf32;
}
/// Bytes of an element of weights and activations, as they are stored and sent.
constexpr double tensor_bytes(Precision precision) { return keeps_32_bits(precision) ? 4 : 2; }

std::string_view to_string(Precision precision);
std::optional<Precision> precision_from(std::string_view name);

/// A framework's word for a format, and what to tell who wrote it.
struct PrecisionWord {
  std::string_view word;  ///< letters and digits alone
  Precision precision;
  bool pure_half = false;  ///< weights, gradients and moments too
  std::string_view note = {};
};
/// `bf16-true`, `16-mixed`, `mxfp8`, `amp`: nullptr where no framework has the word.
const PrecisionWord* precision_word(std::string_view text);

}  // namespace smplan
