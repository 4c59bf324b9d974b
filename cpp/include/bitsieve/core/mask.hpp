// Feature subsets as packed 64-bit words: bit f of word f / 64 is feature f, tail bits are zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitsieve {

using Word = std::uint64_t;

inline std::size_t words_for(std::size_t n_features) { return (n_features + 63) / 64; }

inline Word tail_mask(std::size_t n_features) {
  const std::size_t used = n_features % 64;
  return used == 0 ? ~Word{0} : (Word{1} << used) - 1;
}

inline bool get_bit(const Word* mask, std::size_t f) { return (mask[f / 64] >> (f % 64)) & 1; }
inline void flip_bit(Word* mask, std::size_t f) { mask[f / 64] ^= Word{1} << (f % 64); }
inline void set_bit(Word* mask, std::size_t f) { mask[f / 64] |= Word{1} << (f % 64); }

inline std::size_t count_bits(const Word* mask, std::size_t n_words) {
  std::size_t total = 0;
  for (std::size_t w = 0; w < n_words; ++w) total += static_cast<std::size_t>(std::popcount(mask[w]));
  return total;
}

inline std::size_t hamming(const Word* a, const Word* b, std::size_t n_words) {
  std::size_t total = 0;
  for (std::size_t w = 0; w < n_words; ++w) {
    total += static_cast<std::size_t>(std::popcount(a[w] ^ b[w]));
  }
  return total;
}

template <typename Function>
void for_each_bit(Word word, std::size_t word_index, Function&& function) {
  while (word != 0) {
    function(word_index * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    word &= word - 1;
  }
}

// The features of a mask, ascending.
inline void list_bits(const Word* mask, std::size_t n_words, std::vector<std::int32_t>& out) {
  out.clear();
  for (std::size_t w = 0; w < n_words; ++w) {
    for_each_bit(mask[w], w, [&](std::size_t f) { out.push_back(static_cast<std::int32_t>(f)); });
  }
}

// The features that lead from one mask to another: those to add and those to remove, ascending.
inline void list_difference(const Word* from, const Word* to, std::size_t n_words,
                            std::vector<std::int32_t>& added, std::vector<std::int32_t>& removed) {
  added.clear();
  removed.clear();
  for (std::size_t w = 0; w < n_words; ++w) {
    for_each_bit(to[w] & ~from[w], w,
                 [&](std::size_t f) { added.push_back(static_cast<std::int32_t>(f)); });
    for_each_bit(from[w] & ~to[w], w,
                 [&](std::size_t f) { removed.push_back(static_cast<std::int32_t>(f)); });
  }
}

// The bitwise majority of a batch: the mask with the least total Hamming distance to all of it.
// A tie (an even number of masks) goes to the anchor's bit. The anchor has no vote of its own: a
// bit that a stale anchor kept would be paid for again by every later batch.
std::vector<Word> hamming_median(const Word* masks, std::size_t n_masks, std::size_t n_words,
                                 const Word* anchor);

// Position of the first of n flips that makes one mask of another, or n: also where the two are
// equal or more than one flip apart. O(n_words + n), nothing is allocated.
std::size_t find_flip(const Word* from, const Word* to, std::size_t n_words,
                      const std::int64_t* flips, std::size_t n);

}  // namespace bitsieve
