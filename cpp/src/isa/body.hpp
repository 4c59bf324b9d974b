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

  // The least distance to candidates [first, last).
  void nearest(const float* distances, const std::int32_t* candidates, std::int32_t first,
               std::int32_t last, F* least) const {
    for (int v = 0; v < J; ++v) least[v] = Isa::broadcast(far_away);
    for (std::int32_t c = first; c < last; ++c) {
      const std::size_t j = static_cast<std::size_t>(candidates[c]);
      const F distance = Isa::broadcast(distances[j]);
      for (int v = 0; v < J; ++v) {
        const F difference =
            Isa::subtract(own[v], Isa::load(values + j * flip_lanes + v * Isa::width));
        const F signed_difference = Isa::multiply(difference, signs[v]);
        least[v] =
            Isa::minimum(least[v], Isa::multiply_add(difference, signed_difference, distance));
      }
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

  const float* values;
  F signs[J], spreads[J], own[J];
};

void flips_nearest(const float* values, const float* base, std::size_t ld, const float* sign,
                   const float* margin, const float* spread, const FlipTests& tests,
                   std::int32_t* correct, std::uint16_t* unsure) {
  using F = typename Isa::F;
  FlipLanes lanes(values, sign, spread);
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) correct[k] = 0;
  for (std::size_t t = 0; t < tests.n_tests; ++t) {
    const FlipTest& test = tests.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const float* distances = base + static_cast<std::size_t>(test.row) * ld;
    F same[FlipLanes::J], other[FlipLanes::J];
    lanes.begin(i);
    lanes.nearest(distances, tests.candidates, test.same_begin, test.same_end, same);
    lanes.nearest(distances, tests.candidates, test.other_begin, test.other_end, other);
    unsigned open = 0;
    for (int v = 0; v < FlipLanes::J; ++v) {
      const F bound = lanes.bound(v, margin[i], Isa::minimum(same[v], other[v]));
      const F gap = Isa::subtract(other[v], same[v]);
      const unsigned sure = Isa::less(bound, gap);
      const unsigned wrong = Isa::less(bound, Isa::subtract(Isa::zero(), gap));
      Isa::count(correct + static_cast<std::size_t>(test.counter) * flip_lanes + v * Isa::width, sure);
      open |= (~(sure | wrong) & Isa::all) << (v * Isa::width);
    }
    unsure[t] = static_cast<std::uint16_t>(open);
  }
}

void flips_class(const float* values, const float* base, std::size_t ld, const float* sign,
                 const float* margin, const float* spread, const FlipTests& tests,
                 std::int32_t* counts, std::uint16_t* unsure) {
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
      lanes.nearest(distances, tests.candidates, begin[c], begin[c + 1], found);
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
      unsigned left = Isa::less(bound, Isa::subtract(second[v], least[v]));
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
