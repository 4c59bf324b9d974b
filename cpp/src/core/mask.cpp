#include "bitsieve/core/mask.hpp"

#include <algorithm>
#include <bit>

namespace bitsieve {

std::vector<Word> hamming_median(const Word* masks, std::size_t n_masks, std::size_t n_words,
                                 const Word* anchor) {
  // Votes are counted 64 features at a time: plane b holds bit b of each feature's count.
  const std::size_t voters = n_masks;
  const int n_planes = static_cast<int>(std::bit_width(voters));
  std::vector<Word> median(n_words);
  std::vector<Word> planes(static_cast<std::size_t>(n_planes));
  for (std::size_t w = 0; w < n_words; ++w) {
    planes.assign(planes.size(), 0);
    for (std::size_t m = 0; m < n_masks; ++m) {
      Word carry = masks[m * n_words + w];
      for (int b = 0; b < n_planes && carry != 0; ++b) {
        const Word old = planes[static_cast<std::size_t>(b)];
        planes[static_cast<std::size_t>(b)] = old ^ carry;
        carry &= old;
      }
    }
    // Compare 2 * count with voters, most significant plane first.
    Word greater = 0, equal = ~Word{0};
    const std::size_t half = voters / 2;
    for (int b = n_planes - 1; b >= 0; --b) {
      const Word plane = planes[static_cast<std::size_t>(b)];
      const Word bit = ((half >> b) & 1) ? ~Word{0} : Word{0};
      greater |= equal & plane & ~bit;
      equal &= ~(plane ^ bit);
    }
    // count > voters / 2 is a majority; count == voters / 2 is a tie for an even number only.
    median[w] = voters % 2 == 0 ? (greater | (equal & anchor[w])) : greater;
  }
  return median;
}

std::size_t find_flip(const Word* from, const Word* to, std::size_t n_words,
                      const std::int64_t* flips, std::size_t n) {
  std::size_t at = n_words;
  for (std::size_t w = 0; w < n_words; ++w) {
    if (from[w] == to[w]) continue;
    if (at != n_words || !std::has_single_bit(from[w] ^ to[w])) return n;
    at = w;
  }
  if (at == n_words) return n;
  const int bit = std::countr_zero(from[at] ^ to[at]);
  const auto flip = static_cast<std::int64_t>(64 * at) + bit;
  return static_cast<std::size_t>(std::find(flips, flips + n, flip) - flips);
}

}  // namespace bitsieve
