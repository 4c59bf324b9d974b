// Sixty-four comparisons as one word.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "bitsieve/core/mask.hpp"

namespace bitsieve {

constexpr std::array<Word, 64> single_bits() {
  std::array<Word, 64> bits{};
  for (int i = 0; i < 64; ++i) bits[i] = Word{1} << i;
  return bits;
}

// Bit i is values[i] >= threshold: the sign of the difference, which rounding cannot turn. Finite
// numbers only. Written as one reduction, so that every compiler vectorises it.
inline Word at_least_64(const double* values, double threshold) {
  static constexpr std::array<Word, 64> bits = single_bits();
  Word below = 0;
  for (int i = 0; i < 64; ++i) {
    const Word negative = std::bit_cast<std::uint64_t>(values[i] - threshold) >> 63;
    below |= bits[i] & (Word{0} - negative);
  }
  return ~below;
}

}  // namespace bitsieve
