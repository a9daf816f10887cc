#include "catalogs/precision.hpp"

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Precision, kPrecisionCount> kNames = {{{Precision::Fp32, "fp32"},
                                                           {Precision::Tf32, "tf32"},
                                                           {Precision::Fp16, "fp16"},
                                                           {Precision::Bf16, "bf16"},
                                                           {Precision::Fp8, "fp8"},
                                                           {Precision::Fp4, "fp4"}}};

}  // namespace

std::string_view to_string(Precision precision) { return name_of(kNames, precision); }
std::optional<Precision> precision_from(std::string_view name) { return value_of(kNames, name); }

}  // namespace smplan
