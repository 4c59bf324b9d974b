// The bodies of information_kernels.hpp. See body.hpp for the rule about headers.

// The builtin is one instruction from AVX2 on; plain SSE2 has none and a call for each word would
// cost more than these shifts.
BITSIEVE_INLINE std::uint64_t ones(std::uint64_t word) {
#if defined(__POPCNT__) || !defined(BITSIEVE_X86)
#if defined(__GNUC__)
  return static_cast<std::uint64_t>(__builtin_popcountll(word));
#endif
#endif
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (word * 0x0101010101010101u) >> 56;
}

BITSIEVE_INLINE std::uint32_t common_ones(const std::uint64_t* a, const std::uint64_t* b,
                                          std::size_t words) {
  std::uint64_t even = 0, odd = 0;
  std::size_t w = 0;
  for (; w + 2 <= words; w += 2) {
    even += ones(a[w] & b[w]);
    odd += ones(a[w + 1] & b[w + 1]);
  }
  if (w < words) even += ones(a[w] & b[w]);
  return static_cast<std::uint32_t>(even + odd);
}

// Any numbers of levels: what the last ones have is what the planes leave of the margins.
void plane_counts(const PlaneView& a, const PlaneView& b, std::size_t words,
                  std::uint32_t* counts) {
  const std::size_t last_a = a.levels - 1, last_b = b.levels - 1;
  std::uint32_t* bottom = counts + last_a * b.levels;
  for (std::size_t j = 0; j < b.levels; ++j) bottom[j] = b.margins[j];
  for (std::size_t i = 0; i < last_a; ++i) {
    std::uint32_t* row = counts + i * b.levels;
    std::uint32_t rest = a.margins[i];
    for (std::size_t j = 0; j < last_b; ++j) {
      const std::uint32_t count = common_ones(a.planes + i * words, b.planes + j * words, words);
      row[j] = count;
      rest -= count;
      bottom[j] -= count;
    }
    row[last_b] = rest;
    bottom[last_b] -= rest;
  }
}

// Few levels, known when this is compiled: the whole table stays in registers.
template <std::size_t A, std::size_t B>
BITSIEVE_INLINE std::int64_t plane_sum_small(const PlaneView& a, const PlaneView& b,
                                             std::size_t words, const std::int64_t* table) {
  std::uint64_t counts[A - 1][B - 1] = {};
  for (std::size_t w = 0; w < words; ++w) {
    for (std::size_t i = 0; i < A - 1; ++i) {
      const std::uint64_t left = a.planes[i * words + w];
      for (std::size_t j = 0; j < B - 1; ++j) {
        counts[i][j] += ones(left & b.planes[j * words + w]);
      }
    }
  }
  std::int64_t total = 0;
  std::uint64_t corner = a.margins[A - 1];
  for (std::size_t j = 0; j < B - 1; ++j) {
    std::uint64_t rest = b.margins[j];
    for (std::size_t i = 0; i < A - 1; ++i) {
      rest -= counts[i][j];
      total += table[counts[i][j]];
    }
    total += table[rest];
    corner -= rest;
  }
  for (std::size_t i = 0; i < A - 1; ++i) {
    std::uint64_t rest = a.margins[i];
    for (std::size_t j = 0; j < B - 1; ++j) rest -= counts[i][j];
    total += table[rest];
  }
  return total + table[corner];
}

std::int64_t plane_sum(const PlaneView& a, const PlaneView& b, std::size_t words,
                       const std::int64_t* table) {
  const std::size_t shape = a.levels * 16 + b.levels;
  if (b.levels < 16) {
    switch (shape) {
      case 2 * 16 + 2: return plane_sum_small<2, 2>(a, b, words, table);
      case 2 * 16 + 3: return plane_sum_small<2, 3>(a, b, words, table);
      case 2 * 16 + 4: return plane_sum_small<2, 4>(a, b, words, table);
      case 2 * 16 + 6: return plane_sum_small<2, 6>(a, b, words, table);
      case 3 * 16 + 2: return plane_sum_small<3, 2>(a, b, words, table);
      case 3 * 16 + 3: return plane_sum_small<3, 3>(a, b, words, table);
      case 3 * 16 + 4: return plane_sum_small<3, 4>(a, b, words, table);
      case 3 * 16 + 6: return plane_sum_small<3, 6>(a, b, words, table);
      case 4 * 16 + 2: return plane_sum_small<4, 2>(a, b, words, table);
      case 4 * 16 + 3: return plane_sum_small<4, 3>(a, b, words, table);
      case 4 * 16 + 4: return plane_sum_small<4, 4>(a, b, words, table);
      default: break;
    }
  }
  const std::size_t last_a = a.levels - 1, last_b = b.levels - 1;
  std::uint64_t right[most_plane_levels];  // what each level of a has of b's last
  for (std::size_t i = 0; i < a.levels; ++i) right[i] = a.margins[i];
  std::int64_t total = 0;
  for (std::size_t j = 0; j < last_b; ++j) {
    std::uint64_t bottom = b.margins[j];
    for (std::size_t i = 0; i < last_a; ++i) {
      const std::uint64_t count = common_ones(a.planes + i * words, b.planes + j * words, words);
      total += table[count];
      bottom -= count;
      right[i] -= count;
    }
    total += table[bottom];
    right[last_a] -= bottom;
  }
  for (std::size_t i = 0; i < a.levels; ++i) total += table[right[i]];
  return total;
}

inline constexpr InformationKernels information_kernels = {
    plane_counts,
    plane_sum,
};
