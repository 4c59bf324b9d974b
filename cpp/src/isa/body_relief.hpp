// The bodies of relief_kernels.hpp. See body.hpp for the rule about headers.

template <typename T>
BITSIEVE_INLINE void widen(const T* x, std::size_t count, T* low, T* high) {
  for (std::size_t f = 0; f < count; ++f) {
    low[f] = x[f] < low[f] ? x[f] : low[f];
    high[f] = x[f] > high[f] ? x[f] : high[f];
  }
}

inline void widen_float(const float* x, std::size_t count, float* low, float* high) {
  widen(x, count, low, high);
}

inline void widen_double(const double* x, std::size_t count, double* low, double* high) {
  widen(x, count, low, high);
}

// ---- quantised distances ------------------------------------------------------------------

template <typename T>
BITSIEVE_INLINE double quantise(const T* x, const double* low, const double* scale,
                                std::size_t count, std::uint32_t* q) {
  constexpr std::size_t W = Isa::width_double;
  auto error = Isa::broadcast(0.0);
  std::size_t f = 0;
  for (; f + W <= count; f += W) {
    const auto value = Isa::multiply(Isa::subtract(Isa::load_as_double(x + f), Isa::load_any(low + f)),
                                     Isa::load_any(scale + f));
    const auto rounded = Isa::store_rounded(q + f, value);
    error = Isa::add(error, Isa::magnitude(Isa::subtract(value, rounded)));
  }
  double total = Isa::sum(error);
  for (; f < count; ++f) {
    const double value = (static_cast<double>(x[f]) - low[f]) * scale[f];
    const std::uint32_t rounded = static_cast<std::uint32_t>(value + 0.5);
    const double off = value - static_cast<double>(rounded);
    q[f] = rounded;
    total += off < 0 ? -off : off;
  }
  return total;
}

inline double quantise_float(const float* x, const double* low, const double* scale,
                             std::size_t count, std::uint32_t* q) {
  return quantise(x, low, scale, count, q);
}

inline double quantise_double(const double* x, const double* low, const double* scale,
                              std::size_t count, std::uint32_t* q) {
  return quantise(x, low, scale, count, q);
}

// I x J pairs of samples in registers for all columns of a block.
template <int I, int J>
BITSIEVE_INLINE void max_tile(const std::uint32_t* a, const std::uint32_t* b, std::size_t ld,
                              std::size_t width, bool fresh, std::int64_t* sums,
                              std::size_t lds) {
  using U = typename Isa::U;
  U total[I * J];
  for (int t = 0; t < I * J; ++t) total[t] = Isa::zero_words();
  for (std::size_t f = 0; f < width; f += Isa::width) {
    U own[I];
    for (int i = 0; i < I; ++i) own[i] = Isa::load_words(a + i * ld + f);
    for (int j = 0; j < J; ++j) {
      const U other = Isa::load_words(b + j * ld + f);
      for (int i = 0; i < I; ++i) {
        total[i * J + j] = Isa::add_words(total[i * J + j], Isa::max_words(own[i], other));
      }
    }
  }
  std::int64_t reduced[I * J];
  Isa::template sum_words<I * J>(total, reduced);
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      sums[i * lds + j] = reduced[i * J + j] + (fresh ? 0 : sums[i * lds + j]);
    }
  }
}

// Calls tile(i, j) for I x J groups of a rectangle, the rows of a group outermost.
template <int I, int J, typename Tile>
BITSIEVE_INLINE void over_tiles(std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                                std::size_t j_end, bool triangle, Tile&& tile) {
  for (std::size_t i = i_begin; i < i_end; i += I) {
    std::size_t j = j_begin;
    if (triangle && j < i) j = i - i % J;
    for (; j < j_end; j += J) tile(i, j);
  }
}

inline void max_sums(const std::uint32_t* q, std::size_t ld, std::size_t width,
                     std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                     std::size_t j_end, bool triangle, bool fresh,
                     std::int64_t* sums, std::size_t lds) {
  constexpr int I = Isa::l1_rows, J = 4;
  over_tiles<I, J>(i_begin, i_end, j_begin, j_end, triangle, [&](std::size_t i, std::size_t j) {
    max_tile<I, J>(q + i * ld, q + j * ld, ld, width, fresh, sums + i * lds + j, lds);
  });
}

template <int I, int J>
BITSIEVE_INLINE void max_word_tile(const std::uint16_t* a, const std::uint16_t* b, std::size_t ld,
                                   std::size_t width, bool fresh, std::int64_t* sums,
                              std::size_t lds) {
  using U = typename Isa::U;
  constexpr std::size_t W = 2 * Isa::width;
  constexpr std::size_t run = 16;  // sums of so many 12-bit values fit 16 bits
  U total[I * J];
  for (int t = 0; t < I * J; ++t) total[t] = Isa::zero_words();
  for (std::size_t begin = 0; begin < width; begin += run * W) {
    const std::size_t end = begin + run * W < width ? begin + run * W : width;
    U part[I * J];
    for (int t = 0; t < I * J; ++t) part[t] = Isa::zero_words();
    for (std::size_t f = begin; f < end; f += W) {
      U own[I];
      for (int i = 0; i < I; ++i) own[i] = Isa::load_halves(a + i * ld + f);
      for (int j = 0; j < J; ++j) {
        const U other = Isa::load_halves(b + j * ld + f);
        for (int i = 0; i < I; ++i) {
          part[i * J + j] = Isa::add_halves(part[i * J + j], Isa::max_halves(own[i], other));
        }
      }
    }
    for (int t = 0; t < I * J; ++t) total[t] = Isa::add_words(total[t], Isa::pair_halves(part[t]));
  }
  std::int64_t reduced[I * J];
  Isa::template sum_words<I * J>(total, reduced);
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      sums[i * lds + j] = reduced[i * J + j] + (fresh ? 0 : sums[i * lds + j]);
    }
  }
}

inline void max_sums_word(const std::uint16_t* q, std::size_t ld, std::size_t width,
                          std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                          std::size_t j_end, bool triangle, bool fresh,
                     std::int64_t* sums, std::size_t lds) {
  constexpr int I = 2, J = 4;
  over_tiles<I, J>(i_begin, i_end, j_begin, j_end, triangle, [&](std::size_t i, std::size_t j) {
    max_word_tile<I, J>(q + i * ld, q + j * ld, ld, width, fresh, sums + i * lds + j, lds);
  });
}

template <int I, int J>
BITSIEVE_INLINE void difference_tile(const std::uint8_t* a, const std::uint8_t* b, std::size_t ld,
                                     std::size_t width, bool fresh, std::int64_t* sums,
                              std::size_t lds) {
  using U = typename Isa::U;
  U total[I * J];
  for (int t = 0; t < I * J; ++t) total[t] = Isa::zero_words();
  for (std::size_t f = 0; f < width; f += 4 * Isa::width) {
    U own[I];
    for (int i = 0; i < I; ++i) own[i] = Isa::load_bytes(a + i * ld + f);
    for (int j = 0; j < J; ++j) {
      const U other = Isa::load_bytes(b + j * ld + f);
      for (int i = 0; i < I; ++i) {
        total[i * J + j] = Isa::add_differences(total[i * J + j], own[i], other);
      }
    }
  }
  std::int64_t reduced[I * J];
  Isa::template sum_words<I * J>(total, reduced);
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      sums[i * lds + j] = reduced[i * J + j] + (fresh ? 0 : sums[i * lds + j]);
    }
  }
}

inline void difference_sums(const std::uint8_t* q, std::size_t ld, std::size_t width,
                            std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                            std::size_t j_end, bool triangle, bool fresh,
                     std::int64_t* sums, std::size_t lds) {
  constexpr int I = Isa::l1_rows, J = 4;
  over_tiles<I, J>(i_begin, i_end, j_begin, j_end, triangle, [&](std::size_t i, std::size_t j) {
    difference_tile<I, J>(q + i * ld, q + j * ld, ld, width, fresh, sums + i * lds + j, lds);
  });
}

// ---- the exact re-check
// --------------------------------------------------------------------------

template <typename T>
BITSIEVE_INLINE std::int64_t fixed_distance(const T* a, const T* b, const double* cap,
                                            const double* scale, std::size_t count) {
  // Adding `magic` rounds to whole units and leaves them in the low bits.
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  const std::uint64_t offset = __builtin_bit_cast(std::uint64_t, magic);
  std::uint64_t total = 0;
  for (std::size_t f = 0; f < count; ++f) {
    double difference = static_cast<double>(a[f]) - static_cast<double>(b[f]);
    difference = difference < 0 ? -difference : difference;
    difference = difference < cap[f] ? difference : cap[f];
    const double pinned = difference * scale[f] + magic;
    total += __builtin_bit_cast(std::uint64_t, pinned) - offset;
  }
  return static_cast<std::int64_t>(total);
}

inline std::int64_t fixed_distance_float(const float* a, const float* b, const double* cap,
                                         const double* scale, std::size_t count) {
  return fixed_distance(a, b, cap, scale, count);
}

inline std::int64_t fixed_distance_double(const double* a, const double* b, const double* cap,
                                          const double* scale, std::size_t count) {
  return fixed_distance(a, b, cap, scale, count);
}

// ---- weights ------------------------------------------------------------------------------

template <typename T>
BITSIEVE_INLINE void normalise(const T* x, const double* low, const double* factor,
                               std::size_t count, double* out) {
  constexpr std::size_t W = Isa::width_double;
  std::size_t f = 0;
  for (; f + W <= count; f += W) {
    Isa::store(out + f, Isa::multiply(Isa::subtract(Isa::load_as_double(x + f), Isa::load_any(low + f)),
                                      Isa::load_any(factor + f)));
  }
  for (; f < count; ++f) out[f] = (static_cast<double>(x[f]) - low[f]) * factor[f];
  for (; f < relief_features; ++f) out[f] = 0.0;
}

inline void normalise_float(const float* x, const double* low, const double* factor,
                            std::size_t count, double* out) {
  normalise(x, low, factor, count, out);
}

inline void normalise_double(const double* x, const double* low, const double* factor,
                             std::size_t count, double* out) {
  normalise(x, low, factor, count, out);
}

// Two running totals a column, for even and odd entries of a segment: the same sums on every
// instruction set.
inline void weigh_max(const double* block, const PairSegment* segments, std::size_t n_segments,
                      const std::int32_t* others, const double* coefficients, double* totals) {
  using D = typename Isa::D;
  constexpr int W = Isa::width_double;
  constexpr int V = 4;
  for (std::size_t begin = 0; begin < relief_features; begin += V * W) {
    const double* columns = block + begin;
    D even[V], odd[V];
    for (int v = 0; v < V; ++v) {
      even[v] = Isa::load(totals + begin + v * W);
      odd[v] = Isa::broadcast(0.0);
    }
    for (std::size_t s = 0; s < n_segments; ++s) {
      const PairSegment segment = segments[s];
      const double* own = columns + static_cast<std::size_t>(segment.sample) * relief_features;
      D mine[V];
      for (int v = 0; v < V; ++v) mine[v] = Isa::load(own + v * W);
      std::size_t e = segment.begin;
      for (; e + 2 <= segment.end; e += 2) {
        const double* first = columns + static_cast<std::size_t>(others[e]) * relief_features;
        const double* second = columns + static_cast<std::size_t>(others[e + 1]) * relief_features;
        const D c = Isa::broadcast(coefficients[e]), d = Isa::broadcast(coefficients[e + 1]);
        for (int v = 0; v < V; ++v) {
          even[v] = Isa::scale_add(c, Isa::maximum(mine[v], Isa::load(first + v * W)), even[v]);
          odd[v] = Isa::scale_add(d, Isa::maximum(mine[v], Isa::load(second + v * W)), odd[v]);
        }
      }
      if (e < segment.end) {
        const double* first = columns + static_cast<std::size_t>(others[e]) * relief_features;
        const D c = Isa::broadcast(coefficients[e]);
        for (int v = 0; v < V; ++v) {
          even[v] = Isa::scale_add(c, Isa::maximum(mine[v], Isa::load(first + v * W)), even[v]);
        }
      }
    }
    for (int v = 0; v < V; ++v) Isa::store(totals + begin + v * W, Isa::add(even[v], odd[v]));
  }
}

inline void weigh_capped(const double* block, const PairSegment* segments, std::size_t n_segments,
                         const std::int32_t* others, const double* coefficients,
                         const double* cap, double* totals) {
  using D = typename Isa::D;
  constexpr int W = Isa::width_double;
  constexpr int V = 4;
  for (std::size_t begin = 0; begin < relief_features; begin += V * W) {
    const double* columns = block + begin;
    D limit[V], total[V];
    for (int v = 0; v < V; ++v) {
      limit[v] = Isa::load(cap + begin + v * W);
      total[v] = Isa::load(totals + begin + v * W);
    }
    for (std::size_t s = 0; s < n_segments; ++s) {
      const PairSegment segment = segments[s];
      const double* own = columns + static_cast<std::size_t>(segment.sample) * relief_features;
      D mine[V];
      for (int v = 0; v < V; ++v) mine[v] = Isa::load(own + v * W);
      for (std::size_t e = segment.begin; e < segment.end; ++e) {
        const double* other = columns + static_cast<std::size_t>(others[e]) * relief_features;
        const D c = Isa::broadcast(coefficients[e]);
        for (int v = 0; v < V; ++v) {
          const D difference = Isa::magnitude(Isa::subtract(mine[v], Isa::load(other + v * W)));
          total[v] = Isa::scale_add(c, Isa::minimum(difference, limit[v]), total[v]);
        }
      }
    }
    for (int v = 0; v < V; ++v) Isa::store(totals + begin + v * W, total[v]);
  }
}

inline constexpr ReliefKernels relief_kernels = {
    widen_float,          widen_double,          quantise_float,  quantise_double,
    max_sums,             max_sums_word,         difference_sums, fixed_distance_float,
    fixed_distance_double, normalise_float,      normalise_double, weigh_max,
    weigh_capped,
};
