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

// ---- moments and products of numbers ------------------------------------------------------

constexpr std::size_t tile_vectors = tile_lanes / Isa::width_double;

void tile_moments(double* tile, std::size_t n, const std::int32_t* codes, const double* sizes,
                  std::size_t n_classes, double* class_means, const double* target,
                  TileMoments* out) {
  using D = typename Isa::D;
  constexpr std::size_t V = tile_vectors, W = Isa::width_double, L = tile_lanes;
  const D zero = Isa::broadcast(0.0);
  D sum[V], least[V], most[V];
  for (std::size_t v = 0; v < V; ++v) {
    sum[v] = zero;
    least[v] = most[v] = Isa::load(tile + v * W);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t v = 0; v < V; ++v) {
      const D value = Isa::load(tile + i * L + v * W);
      sum[v] = Isa::add(sum[v], value);
      least[v] = Isa::minimum(least[v], value);
      most[v] = Isa::maximum(most[v], value);
    }
  }
  for (std::size_t v = 0; v < V; ++v) {
    Isa::store(out->mean + v * W, sum[v]);
    Isa::store(out->between + v * W, least[v]);
    Isa::store(out->within + v * W, most[v]);
  }
  for (std::size_t l = 0; l < L; ++l) {
    // A constant feature is its mean, whatever rounding made of the sum.
    const bool constant = out->between[l] == out->within[l];
    out->mean[l] = constant ? out->between[l] : out->mean[l] / static_cast<double>(n);
  }
  for (std::size_t k = 0; k < n_classes * L; ++k) class_means[k] = 0;
  D mean[V], square[V], between[V], within[V];
  for (std::size_t v = 0; v < V; ++v) {
    mean[v] = Isa::load(out->mean + v * W);
    square[v] = between[v] = within[v] = zero;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t v = 0; v < V; ++v) {
      double* place = tile + i * L + v * W;
      const D value = Isa::subtract(Isa::load(place), mean[v]);
      Isa::store(place, value);
      square[v] = Isa::add(square[v], Isa::multiply(value, value));
      if (codes) {
        double* own = class_means + static_cast<std::size_t>(codes[i]) * L + v * W;
        Isa::store(own, Isa::add(Isa::load(own), value));
      } else if (target) {
        between[v] = Isa::add(between[v], Isa::multiply(value, Isa::broadcast(target[i])));
      }
    }
  }
  if (codes) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      for (std::size_t l = 0; l < L; ++l) class_means[c * L + l] /= sizes[c];
      const D size = Isa::broadcast(sizes[c]);
      for (std::size_t v = 0; v < V; ++v) {
        const D own = Isa::load(class_means + c * L + v * W);
        between[v] = Isa::add(between[v], Isa::multiply(size, Isa::multiply(own, own)));
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double* means = class_means + static_cast<std::size_t>(codes[i]) * L;
      for (std::size_t v = 0; v < V; ++v) {
        const D deviation =
            Isa::subtract(Isa::load(tile + i * L + v * W), Isa::load(means + v * W));
        within[v] = Isa::add(within[v], Isa::multiply(deviation, deviation));
      }
    }
  }
  for (std::size_t v = 0; v < V; ++v) {
    Isa::store(out->square + v * W, square[v]);
    Isa::store(out->between + v * W, between[v]);
    Isa::store(out->within + v * W, within[v]);
  }
}

template <std::size_t R, typename T>
BITSIEVE_INLINE void dots_of(const T* a, const double* const* rows, std::size_t ld,
                             double* out) {
  using D = typename Isa::D;
  constexpr std::size_t V = tile_vectors, W = Isa::width_double, L = tile_lanes;
  D total[R][V];
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < V; ++v) total[r][v] = Isa::broadcast(0.0);
  }
  for (std::size_t i = 0; i < ld; i += L) {
    D left[V];
    for (std::size_t v = 0; v < V; ++v) left[v] = Isa::load_as_double(a + i + v * W);
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t v = 0; v < V; ++v) {
        total[r][v] = Isa::add(total[r][v],
                               Isa::multiply(left[v], Isa::load(rows[r] + i + v * W)));
      }
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    alignas(64) double lanes[L];
    for (std::size_t v = 0; v < V; ++v) Isa::store(lanes + v * W, total[r][v]);
    for (std::size_t half = L / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    out[r] = lanes[0];
  }
}

template <typename T>
BITSIEVE_INLINE void all_dots(const T* a, const double* const* rows, std::size_t count,
                              std::size_t ld, double* out) {
  constexpr std::size_t R = Isa::width_double == 8 ? 4 : 2;
  std::size_t k = 0;
  for (; k + R <= count; k += R) dots_of<R>(a, rows + k, ld, out + k);
  for (; k < count; ++k) dots_of<1>(a, rows + k, ld, out + k);
}

void dots(const double* a, const double* const* rows, std::size_t count, std::size_t ld,
          double* out) {
  all_dots(a, rows, count, ld, out);
}

void float_dots(const float* a, const double* const* rows, std::size_t count, std::size_t ld,
                double* out) {
  all_dots(a, rows, count, ld, out);
}

template <bool quotient>
BITSIEVE_INLINE void mean_scores_of(const double* __restrict relevance,
                                    const double* __restrict sum, const double* __restrict done,
                                    const double* __restrict error,
                                    const double* __restrict penalty, std::size_t n, double chosen,
                                    double least, double slack, double* __restrict out) {
  for (std::size_t c = 0; c < n; ++c) {
    const double missing = chosen - done[c], doubt = error[c] * done[c];
    const double bound = (sum[c] - doubt + least * missing) * slack;
    const double total = missing + doubt > 0 ? bound : sum[c];
    const double score =
        quotient ? relevance[c] * chosen / total : relevance[c] - total / chosen;
    out[c] = score + penalty[c];
  }
}

void mean_scores(const double* relevance, const double* sum, const double* done,
                 const double* error, const double* penalty, std::size_t n, double chosen,
                 double least, double slack, bool quotient, double* out) {
  if (quotient) {
    mean_scores_of<true>(relevance, sum, done, error, penalty, n, chosen, least, slack, out);
  } else {
    mean_scores_of<false>(relevance, sum, done, error, penalty, n, chosen, least, slack, out);
  }
}

inline constexpr InformationKernels information_kernels = {
    plane_counts,
    plane_sum,
    tile_moments,
    dots,
    float_dots,
    mean_scores,
};
