#include "catalogs/precision.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Precision, kPrecisionCount> kNames = {{{Precision::Fp32, "fp32"},
                                                           {Precision::Tf32, "tf32"},
                                                           {Precision::Fp16, "fp16"},
                                                           {Precision::Bf16, "bf16"},
                                                           {Precision::Fp8, "fp8"},
                                                           {Precision::Fp4, "fp4"}}};

constexpr std::string_view kPure = "weights, gradients and moments in 16 bits too, without fp32 copies";
constexpr std::string_view kMixed = "mixed precision";
constexpr std::string_view kMxBlocks = "the time of fp8: scales of MX blocks are not modelled apart";
constexpr std::string_view kAmp = "torch.autocast's default on CUDA";
// Lightning's, Keras' and accelerate's words, NVIDIA's recipes.
constexpr auto kPrecisionWords = std::to_array<PrecisionWord>({
    {"bf16true", Precision::Bf16, true, kPure},
    {"purebf16", Precision::Bf16, true, kPure},
    {"bf16pure", Precision::Bf16, true, kPure},
    {"fp16true", Precision::Fp16, true, kPure},
    {"16true", Precision::Fp16, true, kPure},
    {"purefp16", Precision::Fp16, true, kPure},
    {"fp16pure", Precision::Fp16, true, kPure},
    {"bf16mixed", Precision::Bf16, false, kMixed},
    {"mixedbf16", Precision::Bf16, false, kMixed},
    {"mixedbfloat16", Precision::Bf16, false, kMixed},
    {"ampbf16", Precision::Bf16, false, kMixed},
    {"bf16amp", Precision::Bf16, false, kMixed},
    {"bfloat16", Precision::Bf16, false, kMixed},
    {"16mixed", Precision::Fp16, false, kMixed},
    {"fp16mixed", Precision::Fp16, false, kMixed},
    {"mixedfloat16", Precision::Fp16, false, kMixed},
    {"ampfp16", Precision::Fp16, false, kMixed},
    {"fp16amp", Precision::Fp16, false, kMixed},
    {"float16", Precision::Fp16, false, kMixed},
    {"half", Precision::Fp16, false, kMixed},
    {"amp", Precision::Fp16, false, kAmp},
    {"tfloat32", Precision::Tf32},
    {"tensorfloat32", Precision::Tf32},
    {"float32", Precision::Fp32},
    {"32true", Precision::Fp32},
    {"single", Precision::Fp32},
    {"float8", Precision::Fp8},
    {"mxfp8", Precision::Fp8, false, kMxBlocks},
    {"fp8mx", Precision::Fp8, false, kMxBlocks},
    {"fp8hybrid", Precision::Fp8},
    {"nvfp4", Precision::Fp4},
    {"float4", Precision::Fp4},
});

}  // namespace

std::string_view to_string(Precision precision) { return name_of(kNames, precision); }
std::optional<Precision> precision_from(std::string_view name) { return value_of(kNames, name); }

const PrecisionWord* precision_word(std::string_view text) {
  const std::string wanted = letters_and_digits(text);
  const auto* found = std::find_if(kPrecisionWords.begin(), kPrecisionWords.end(),
                                   [&](const PrecisionWord& word) { return word.word == wanted; });
  return found == kPrecisionWords.end() ? nullptr : found;
}

}  // namespace smplan
