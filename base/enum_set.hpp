#pragma once

#include <cstdint>

namespace smplan {

/// A set of enumerators as bits.
template <typename E, typename... Es>
constexpr std::uint32_t set_of(E first, Es... rest) {
  return ((1U << static_cast<unsigned>(first)) | ... | (1U << static_cast<unsigned>(rest)));
}
template <typename E>
constexpr bool holds(std::uint32_t set, E value) {
  return (set >> static_cast<unsigned>(value) & 1U) != 0;
}

}  // namespace smplan
