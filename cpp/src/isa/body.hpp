// The bodies of the kernels, once for all instruction sets. Each of the files beside this one
// defines `Isa` (a vector of floats, one of doubles and one of 64-bit integers, and the few
// operations on them) in a namespace of its own, then includes this file into that namespace.
// No other header may be included here: an inline function compiled with wider instructions could
// become the copy that the whole program links.

// clang-format off
#if defined(__GNUC__)
#define BITSIEVE_INLINE inline __attribute__((always_inline))
#else
#define BITSIEVE_INLINE __forceinline
#endif
// clang-format on

constexpr float far_away = 3.0e38f;  // no distance reaches it; marks what is no candidate

// ---- float Gram ---------------------------------------------------------------------------

// A tile of I rows by J vectors lives in registers for the whole block of features.
template <int I, int J>
BITSIEVE_INLINE void gram_float_tile(const float* table, std::size_t ld,
                                     const std::int32_t* features, std::size_t m, std::size_t i0,
                                     std::size_t j0, float* gram, std::size_t ldc, float sign,
                                     bool fresh) {
  using F = typename Isa::F;
  F total[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) total[i][j] = Isa::zero();
  }
  for (std::size_t f = 0; f < m; ++f) {
    const float* row = table + static_cast<std::size_t>(features[f]) * ld;
    F column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(row + j0 + j * Isa::width);
    for (int i = 0; i < I; ++i) {
      const F value = Isa::broadcast(row[i0 + i]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::multiply_add(value, column[j], total[i][j]);
    }
  }
  const F factor = Isa::broadcast(sign);
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      float* out = gram + i * ldc + j * Isa::width;
      Isa::store(out, fresh ? Isa::multiply(factor, total[i][j])
                            : Isa::multiply_add(factor, total[i][j], Isa::load(out)));
    }
  }
}

void gram_float(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
                std::size_t i_begin, std::size_t i_end, std::size_t j_begin, std::size_t j_end,
                float* gram, std::size_t ldc, float sign, bool fresh) {
  constexpr std::size_t I = Isa::float_rows, J = Isa::float_columns, W = Isa::width;
  std::size_t j = j_begin;
  for (; j + J * W <= j_end; j += J * W) {
    for (std::size_t i = i_begin; i < i_end; i += I) {
      gram_float_tile<I, J>(table, ld, features, m, i, j,
                            gram + (i - i_begin) * ldc + (j - j_begin), ldc, sign, fresh);
    }
  }
  for (; j < j_end; j += W) {
    for (std::size_t i = i_begin; i < i_end; i += I) {
      gram_float_tile<I, 1>(table, ld, features, m, i, j,
                            gram + (i - i_begin) * ldc + (j - j_begin), ldc, sign, fresh);
    }
  }
}

void add_squares(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
                 float* squares) {
  for (std::size_t f = 0; f < m; ++f) {
    const float* row = table + static_cast<std::size_t>(features[f]) * ld;
    for (std::size_t i = 0; i < ld; i += Isa::width) {
      const auto value = Isa::load(row + i);
      Isa::store(squares + i, Isa::multiply_add(value, value, Isa::load(squares + i)));
    }
  }
}

// ---- fixed-point Gram ---------------------------------------------------------------------

template <int I, int J>
BITSIEVE_INLINE void gram_fixed_tile(const double* rows, std::size_t ld, std::size_t m,
                                     std::size_t i0, std::size_t j0, std::int64_t* gram,
                                     std::size_t ldc, double magic, int sign) {
  using D = typename Isa::D;
  using L = typename Isa::L;
  L total[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) total[i][j] = Isa::zero_long();
  }
  const D pin = Isa::broadcast(magic);
  const double* left = rows + i0;
  const double* right = rows + j0;
  for (std::size_t f = 0; f < m; ++f, left += ld, right += ld) {
    D column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(right + j * Isa::width_double);
    for (int i = 0; i < I; ++i) {
      const D row = Isa::broadcast(left[i]);
      for (int j = 0; j < J; ++j) {
        total[i][j] = Isa::add(total[i][j], Isa::bits(Isa::multiply_add(row, column[j], pin)));
      }
    }
  }
  // The bits of a pinned sum are its units plus the bits of magic; m of those come off, modulo
  // 2^64, and what is left is exact.
  const std::uint64_t excess =
      __builtin_bit_cast(std::uint64_t, magic) * static_cast<std::uint64_t>(m);
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      Isa::accumulate(gram + i * ldc + j * Isa::width_double, total[i][j], excess, sign);
    }
  }
}

void gram_fixed(const double* rows, std::size_t ld, std::size_t m, std::size_t i_begin,
                std::size_t i_end, std::size_t j_begin, std::size_t j_end, std::int64_t* gram,
                std::size_t ldc, double magic, int sign) {
  constexpr std::size_t I = Isa::fixed_rows, J = Isa::fixed_columns, W = Isa::width_double;
  for (std::size_t j = j_begin; j < j_end; j += J * W) {
    for (std::size_t i = i_begin; i < i_end; i += I) {
      gram_fixed_tile<I, J>(rows, ld, m, i, j, gram + (i - i_begin) * ldc + (j - j_begin), ldc, magic,
                            sign);
    }
  }
}

// ---- nearest neighbors -------------------------------------------------------------------

void lower_bounds(const float* gram_row, const float* squares, const float* roots, float factor,
                  std::size_t ld, float* lower, float* block_least) {
  const auto minus_two = Isa::broadcast(-2.0f);
  const auto minus_factor = Isa::broadcast(-factor);
  for (std::size_t begin = 0; begin < ld; begin += least_block) {
    const std::size_t end = begin + least_block < ld ? begin + least_block : ld;
    auto lowest = Isa::broadcast(far_away);
    for (std::size_t j = begin; j < end; j += Isa::width) {
      const auto term =
          Isa::multiply_add(minus_two, Isa::load(gram_row + j), Isa::load(squares + j));
      const auto bound = Isa::multiply_add(minus_factor, Isa::load(roots + j), term);
      Isa::store(lower + j, bound);
      lowest = Isa::minimum(lowest, bound);
    }
    block_least[begin / least_block] = Isa::least(lowest);
  }
}

float least(const float* values, std::size_t n) {
  auto lowest = Isa::load(values);
  for (std::size_t j = Isa::width; j < n; j += Isa::width) {
    lowest = Isa::minimum(lowest, Isa::load(values + j));
  }
  return Isa::least(lowest);
}

std::size_t find(const float* values, std::size_t n, float value) {
  const auto wanted = Isa::broadcast(value);
  for (std::size_t j = 0; j < n; j += Isa::width) {
    const unsigned hits = Isa::equal(Isa::load(values + j), wanted);
    if (hits != 0) {
      std::size_t lane = 0;
      while (((hits >> lane) & 1u) == 0) ++lane;
      return j + lane;
    }
  }
  return n;
}

// ---- one-flip neighbors ------------------------------------------------------------------

// The values of one block of flips and what bounds their errors.
struct FlipLanes {
  static constexpr int J = static_cast<int>(flip_lanes) / Isa::width;
  using F = typename Isa::F;

  FlipLanes(const float* values_, const float* sign, const float* spread) : values(values_) {
    for (int v = 0; v < J; ++v) {
      signs[v] = Isa::load(sign + v * Isa::width);
      spreads[v] = Isa::load(spread + v * Isa::width);
    }
  }

  void begin(std::size_t sample) {
    for (int v = 0; v < J; ++v) {
      own[v] = Isa::load(values + sample * flip_lanes + static_cast<std::size_t>(v * Isa::width));
    }
  }

  // The sign of all lanes that have one, or 0 where they differ.
  static int common(const float* sign) {
    bool joins = false, leaves = false;
    for (std::size_t lane = 0; lane < flip_lanes; ++lane) {
      joins = joins || sign[lane] > 0;
      leaves = leaves || sign[lane] < 0;
    }
    return joins == leaves ? 0 : joins ? 1 : -1;
  }

  template <int Sign>
  F distance(int v, std::size_t j, F base) const {
    const F difference =
        Isa::subtract(own[v], Isa::load(values + j * flip_lanes + v * Isa::width));
    if constexpr (Sign > 0) return Isa::multiply_add(difference, difference, base);
    if constexpr (Sign < 0) return Isa::multiply_less(difference, difference, base);
    return Isa::multiply_add(difference, Isa::multiply(difference, signs[v]), base);
  }

  // The least distance to candidates [first, last). Chains of minima, as one would wait for itself.
  template <int Sign>
  void nearest(const float* distances, const std::int32_t* candidates, std::int32_t first,
               std::int32_t last, F* least) const {
    constexpr int U = 4 / J > 2 ? 4 / J : 2;
    F chain[U][J];
    for (int u = 0; u < U; ++u) {
      for (int v = 0; v < J; ++v) chain[u][v] = Isa::broadcast(far_away);
    }
    std::int32_t c = first;
    for (; c + U <= last; c += U) {
      for (int u = 0; u < U; ++u) {
        const std::size_t j = static_cast<std::size_t>(candidates[c + u]);
        const F base = Isa::broadcast(distances[j]);
        for (int v = 0; v < J; ++v) {
          chain[u][v] = Isa::minimum(chain[u][v], distance<Sign>(v, j, base));
        }
      }
    }
    for (; c < last; ++c) {
      const std::size_t j = static_cast<std::size_t>(candidates[c]);
      const F base = Isa::broadcast(distances[j]);
      for (int v = 0; v < J; ++v) {
        chain[0][v] = Isa::minimum(chain[0][v], distance<Sign>(v, j, base));
      }
    }
    // The first chain has a candidate where any has: it is the operand that keeps a NaN.
    for (int v = 0; v < J; ++v) {
      F rest = chain[1][v];
      for (int u = 2; u < U; ++u) rest = Isa::minimum(rest, chain[u][v]);
      least[v] = Isa::minimum(rest, chain[0][v]);
    }
  }

  // Twice the error of a distance near the least.
  F bound(int v, float margin, F least) const {
    const F reach = Isa::add(Isa::magnitude(own[v]), spreads[v]);
    F out = Isa::multiply_add(Isa::broadcast(0x1p-21f), Isa::multiply(reach, reach),
                              Isa::broadcast(margin));
    out = Isa::multiply_add(Isa::broadcast(0x1p-22f), least, out);
    return Isa::add(out, out);
  }

  // Where all features join: lanes whose two least distances, `gap` apart, are surely in this order.
  // What joins is off by 2^-21 * reach * |difference|, and the square of a difference is at most a
  // distance A and its margin: with L the least and s = sqrt(L + margin) + 2^-19 * reach,
  //   error(A) <= margin + 2^-22 * A + 2^-21 * reach * s + (A - L) / 8,
  // so that a gap of 2.5 error(L) decides. Compared are squares, for want of a root.
  unsigned apart(int v, float margin, F least, F gap) const {
    const F reach = Isa::add(Isa::magnitude(own[v]), spreads[v]);
    const F about = Isa::broadcast(margin);
    F error = Isa::multiply_add(Isa::broadcast(0x1p-22f), least, about);
    error = Isa::multiply_add(Isa::multiply(Isa::broadcast(0x1p-40f), reach), reach, error);
    const F left = Isa::subtract(gap, Isa::multiply(Isa::broadcast(2.5f), error));
    const F share = Isa::multiply(Isa::broadcast(2.5f * 0x1p-21f), reach);
    // Beyond 2^-100, which keeps the squares clear of where float32 ends.
    const F wanted = Isa::multiply_add(Isa::multiply(share, share), Isa::add(least, about),
                                       Isa::broadcast(0x1p-100f));
    return Isa::less(wanted, Isa::multiply(left, left)) & Isa::less(Isa::zero(), left);
  }

  const float* values;
  F signs[J], spreads[J], own[J];
};

template <int Sign>
BITSIEVE_INLINE void flips_nearest_of(const float* values, const float* base, std::size_t ld,
                                      const float* sign, const float* margin, const float* spread,
                                      const FlipTests& tests, std::int32_t* correct,
                                      std::uint16_t* unsure) {
  using F = typename Isa::F;
  FlipLanes lanes(values, sign, spread);
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) correct[k] = 0;
  for (std::size_t t = 0; t < tests.n_tests; ++t) {
    const FlipTest& test = tests.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const float* distances = base + static_cast<std::size_t>(test.row) * ld;
    F same[FlipLanes::J], other[FlipLanes::J];
    lanes.begin(i);
    lanes.nearest<Sign>(distances, tests.candidates, test.same_begin, test.same_end, same);
    lanes.nearest<Sign>(distances, tests.candidates, test.other_begin, test.other_end, other);
    unsigned open = 0;
    for (int v = 0; v < FlipLanes::J; ++v) {
      const F least = Isa::minimum(same[v], other[v]);
      const F bound = lanes.bound(v, margin[i], least);
      const F gap = Isa::subtract(other[v], same[v]);
      unsigned sure = Isa::less(bound, gap);
      unsigned wrong = Isa::less(bound, Isa::subtract(Isa::zero(), gap));
      if constexpr (Sign > 0) {
        if ((sure | wrong) != Isa::all) {
          const unsigned apart = lanes.apart(v, margin[i], least, Isa::magnitude(gap));
          sure |= apart & Isa::less(Isa::zero(), gap);
          wrong |= apart & Isa::less(gap, Isa::zero());
        }
      }
      Isa::count(correct + static_cast<std::size_t>(test.counter) * flip_lanes + v * Isa::width, sure);
      open |= (~(sure | wrong) & Isa::all) << (v * Isa::width);
    }
    unsure[t] = static_cast<std::uint16_t>(open);
  }
}

void flips_nearest(const float* values, const float* base, std::size_t ld, const float* sign,
                   const float* margin, const float* spread, const FlipTests& tests,
                   std::int32_t* correct, std::uint16_t* unsure) {
  switch (FlipLanes::common(sign)) {
    case 1:
      return flips_nearest_of<1>(values, base, ld, sign, margin, spread, tests, correct, unsure);
    case -1:
      return flips_nearest_of<-1>(values, base, ld, sign, margin, spread, tests, correct, unsure);
    default:
      return flips_nearest_of<0>(values, base, ld, sign, margin, spread, tests, correct, unsure);
  }
}

template <int Sign>
BITSIEVE_INLINE void flips_class_of(const float* values, const float* base, std::size_t ld,
                                    const float* sign, const float* margin, const float* spread,
                                    const FlipTests& tests, std::int32_t* counts,
                                    std::uint16_t* unsure) {
  using F = typename Isa::F;
  constexpr int J = FlipLanes::J;
  const F zero = Isa::zero();
  const std::size_t n_classes = tests.n_classes;
  FlipLanes lanes(values, sign, spread);
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) counts[k] = 0;
  for (std::size_t t = 0; t < tests.n_tests; ++t) {
    const FlipTest& test = tests.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const std::size_t counter = static_cast<std::size_t>(test.counter);
    const std::int32_t* begin = tests.class_begin + counter / n_classes * (n_classes + 1);
    const float* distances = base + static_cast<std::size_t>(test.row) * ld;
    F least[J], second[J];  // of the classes' nearest
    for (int v = 0; v < J; ++v) least[v] = second[v] = Isa::broadcast(far_away);
    unsigned nearer[flip_classes][J];  // lanes in which a class is nearer than those before it
    lanes.begin(i);
    for (std::size_t c = 0; c < n_classes; ++c) {
      F found[J];
      lanes.nearest<Sign>(distances, tests.candidates, begin[c], begin[c + 1], found);
      for (int v = 0; v < J; ++v) {
        nearer[c][v] = Isa::less(found[v], least[v]);
        const F farther = Isa::subtract(
            zero, Isa::minimum(Isa::subtract(zero, found[v]), Isa::subtract(zero, least[v])));
        second[v] = Isa::minimum(second[v], farther);
        least[v] = Isa::minimum(least[v], found[v]);
      }
    }
    unsigned open = 0;
    for (int v = 0; v < J; ++v) {
      const F bound = lanes.bound(v, margin[i], least[v]);
      const F gap = Isa::subtract(second[v], least[v]);
      unsigned left = Isa::less(bound, gap);
      if constexpr (Sign > 0) {
        if (left != Isa::all) left |= lanes.apart(v, margin[i], least[v], gap);
      }
      open |= (~left & Isa::all) << (v * Isa::width);
      for (std::size_t c = n_classes; c-- > 0 && left != 0;) {
        const unsigned won = left & nearer[c][v];
        Isa::count(counts + (counter * n_classes + c) * flip_lanes + v * Isa::width, won);
        left ^= won;
      }
    }
    unsure[t] = static_cast<std::uint16_t>(open);
  }
}

void flips_class(const float* values, const float* base, std::size_t ld, const float* sign,
                 const float* margin, const float* spread, const FlipTests& tests,
                 std::int32_t* counts, std::uint16_t* unsure) {
  switch (FlipLanes::common(sign)) {
    case 1:
      return flips_class_of<1>(values, base, ld, sign, margin, spread, tests, counts, unsure);
    case -1:
      return flips_class_of<-1>(values, base, ld, sign, margin, spread, tests, counts, unsure);
    default:
      return flips_class_of<0>(values, base, ld, sign, margin, spread, tests, counts, unsure);
  }
}
