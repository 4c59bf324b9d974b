// The bodies of scaled_kernels.hpp. See body.hpp for the rule about headers.

namespace scaled {

using D = typename Isa::D;
constexpr int width = Isa::width_double;

// R features over V vectors of sets.
template <int R, int V>
BITSIEVE_INLINE void means(const double* const* rows, std::size_t n, const double* weights,
                           std::size_t ld, const double* counts, double* mean) {
  D total[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) total[r][v] = Isa::broadcast(0.0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    D weight[V];
    for (int v = 0; v < V; ++v) weight[v] = Isa::load(weights + i * ld + v * width);
    for (int r = 0; r < R; ++r) {
      const D value = Isa::broadcast(rows[r][i]);
      for (int v = 0; v < V; ++v) total[r][v] = Isa::multiply_add(value, weight[v], total[r][v]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      Isa::store(mean + r * ld + v * width,
                 Isa::divide(total[r][v], Isa::load(counts + v * width)));
    }
  }
}

template <int R, int V>
BITSIEVE_INLINE void variances(const double* const* rows, std::size_t n, const double* weights,
                               std::size_t ld, const double* counts, const double* mean,
                               double* variance) {
  D middle[R][V], total[R][V], square[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      middle[r][v] = Isa::load(mean + r * ld + v * width);
      total[r][v] = square[r][v] = Isa::broadcast(0.0);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    D weight[V];
    for (int v = 0; v < V; ++v) weight[v] = Isa::load(weights + i * ld + v * width);
    for (int r = 0; r < R; ++r) {
      const D value = Isa::broadcast(rows[r][i]);
      for (int v = 0; v < V; ++v) {
        const D apart = Isa::subtract(value, middle[r][v]);
        total[r][v] = Isa::multiply_add(apart, weight[v], total[r][v]);
        square[r][v] =
            Isa::multiply_add(Isa::multiply(apart, apart), weight[v], square[r][v]);
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      const D count = Isa::load(counts + v * width);
      const D off = Isa::divide(Isa::multiply(total[r][v], total[r][v]), count);
      Isa::store(variance + r * ld + v * width,
                 Isa::divide(Isa::subtract(square[r][v], off), count));
    }
  }
}

template <int R, int V>
BITSIEVE_INLINE void ends(const double* const* rows, std::size_t n, const double* weights,
                          std::size_t ld, double* least, double* most) {
  const D none = Isa::broadcast(__builtin_huge_val()), half = Isa::broadcast(0.5);
  const D never = Isa::broadcast(-__builtin_huge_val());
  D low[R][V], high[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      low[r][v] = none;
      high[r][v] = never;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    D weight[V];
    for (int v = 0; v < V; ++v) weight[v] = Isa::load(weights + i * ld + v * width);
    for (int r = 0; r < R; ++r) {
      const D value = Isa::broadcast(rows[r][i]);
      for (int v = 0; v < V; ++v) {
        low[r][v] = Isa::minimum(low[r][v], Isa::where_greater(weight[v], half, value, none));
        high[r][v] = Isa::maximum(high[r][v], Isa::where_greater(weight[v], half, value, never));
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      Isa::store(least + r * ld + v * width, low[r][v]);
      Isa::store(most + r * ld + v * width, high[r][v]);
    }
  }
}

// Calls body.run<R, V>(first row, first set) for tiles that cover rows and sets.
template <int R, int V, typename Body>
BITSIEVE_INLINE void tiles(std::size_t n_rows, std::size_t ld, const Body& body) {
  std::size_t s = 0;
  for (; s + V * width <= ld; s += V * width) {
    std::size_t r = 0;
    for (; r + R <= n_rows; r += R) body.template run<R, V>(r, s);
    for (; r < n_rows; ++r) body.template run<1, V>(r, s);
  }
  for (; s < ld; s += width) {
    std::size_t r = 0;
    for (; r + R <= n_rows; r += R) body.template run<R, 1>(r, s);
    for (; r < n_rows; ++r) body.template run<1, 1>(r, s);
  }
}

struct Sets {
  const double* const* rows;
  std::size_t n;
  const double* weights;
  std::size_t ld;
  const double* counts;
  double *one, *other;
};

struct Means : Sets {
  template <int R, int V>
  BITSIEVE_INLINE void run(std::size_t r, std::size_t s) const {
    means<R, V>(rows + r, n, weights + s, ld, counts + s, one + r * ld + s);
  }
};

struct Variances : Sets {
  template <int R, int V>
  BITSIEVE_INLINE void run(std::size_t r, std::size_t s) const {
    variances<R, V>(rows + r, n, weights + s, ld, counts + s, one + r * ld + s, other + r * ld + s);
  }
};

struct Ends : Sets {
  template <int R, int V>
  BITSIEVE_INLINE void run(std::size_t r, std::size_t s) const {
    ends<R, V>(rows + r, n, weights + s, ld, one + r * ld + s, other + r * ld + s);
  }
};

void moments(const double* const* rows, std::size_t n_rows, std::size_t n, const double* weights,
             std::size_t ld, const double* counts, double* mean, double* variance) {
  tiles<4, 2>(n_rows, ld, Means{{rows, n, weights, ld, counts, mean, variance}});
  tiles<2, 2>(n_rows, ld, Variances{{rows, n, weights, ld, counts, mean, variance}});
}

void extremes(const double* const* rows, std::size_t n_rows, std::size_t n, const double* weights,
              std::size_t ld, double* least, double* most) {
  tiles<2, 2>(n_rows, ld, Ends{{rows, n, weights, ld, nullptr, least, most}});
}

// ---- products of scaled values --------------------------------------------------------------

void scale(const double* table, std::size_t ld, const std::int32_t* features, std::size_t m,
           const double* origin, const double* inverse, const std::int32_t* place, double* z,
           double* sums) {
  for (std::size_t k = 0; k < m; ++k) {
    const double* row = table + static_cast<std::size_t>(features[k]) * ld;
    const std::size_t at = static_cast<std::size_t>(place[k]);
    const D from = Isa::broadcast(origin[at]), factor = Isa::broadcast(inverse[at]);
    double* out = z + k * ld;
    for (std::size_t j = 0; j < ld; j += width) {
      Isa::store(out + j, Isa::multiply(Isa::subtract(Isa::load(row + j), from), factor));
    }
    if (sums == nullptr) continue;
    for (std::size_t j = 0; j < ld; j += width) {
      Isa::store(sums + j, Isa::add(Isa::load(sums + j), Isa::load(out + j)));
    }
  }
}

template <int I, int J>
BITSIEVE_INLINE void product_tile(const double* z, std::size_t ld, std::size_t m, std::size_t i0,
                                  std::size_t j0, double* gram, bool fresh) {
  D total[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) total[i][j] = Isa::broadcast(0.0);
  }
  const double *left = z + i0, *right = z + j0;
  for (std::size_t k = 0; k < m; ++k, left += ld, right += ld) {
    D column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(right + j * width);
    for (int i = 0; i < I; ++i) {
      const D row = Isa::broadcast(left[i]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::scale_add(row, column[j], total[i][j]);
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      double* out = gram + (i0 + i) * ld + j0 + j * width;
      Isa::store(out, fresh ? total[i][j] : Isa::add(Isa::load(out), total[i][j]));
    }
  }
}

void triangle(const double* z, std::size_t ld, std::size_t m, std::size_t j_begin,
              std::size_t j_end, double* gram, bool fresh) {
  constexpr std::size_t I = Isa::fixed_rows, J = Isa::fixed_columns, W = width;
  static_assert(16 % (J * W) == 0 && W % I == 0);
  for (std::size_t j = j_begin; j < j_end; j += J * W) {
    std::size_t i = 0;
    for (; i < j + W; i += I) product_tile<I, J>(z, ld, m, i, j, gram, fresh);
    if constexpr (J > 1) {
      // Below the first vector of columns nothing is wanted of it.
      for (; i < j + J * W; i += I) product_tile<I, J - 1>(z, ld, m, i, j + W, gram, fresh);
    }
  }
}

}  // namespace scaled

const ScaledKernels scaled_kernels = {scaled::moments, scaled::extremes, scaled::scale,
                                      scaled::triangle};
