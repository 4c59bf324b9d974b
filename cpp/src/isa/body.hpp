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
