// The bodies of neighbor_kernels.hpp. See body.hpp for the rule about headers.

namespace neighbor {

using F = typename Isa::F;

template <int J>
BITSIEVE_INLINE void scale_columns(const float* table, std::size_t ld,
                                   const std::int32_t* features, std::size_t m,
                                   const float* weights, std::size_t width, float* scaled,
                                   float* squares) {
  F total[J];
  for (int j = 0; j < J; ++j) total[j] = Isa::zero();
  for (std::size_t k = 0; k < m; ++k) {
    const float* row = table + static_cast<std::size_t>(features[k]) * ld;
    const F weight = Isa::broadcast(weights[k]);
    for (int j = 0; j < J; ++j) {
      const F value = Isa::multiply(Isa::load(row + j * Isa::width), weight);
      total[j] = Isa::multiply_add(value, value, total[j]);
      Isa::store(scaled + k * width + static_cast<std::size_t>(j * Isa::width),
                 Isa::multiply(value, weight));
    }
  }
  for (int j = 0; j < J; ++j) {
    float* out = squares + j * Isa::width;
    Isa::store(out, Isa::add(Isa::load(out), total[j]));
  }
}

void scale_rows(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
                const float* weights, std::size_t width, float* scaled, float* squares) {
  constexpr std::size_t J = 4, W = Isa::width;
  std::size_t j = 0;
  for (; j + J * W <= width; j += J * W) {
    scale_columns<J>(table + j, ld, features, m, weights, width, scaled + j, squares + j);
  }
  for (; j < width; j += W) {
    scale_columns<1>(table + j, ld, features, m, weights, width, scaled + j, squares + j);
  }
}

// A tile of I rows by J vectors lives in registers for all features.
template <int I, int J>
BITSIEVE_INLINE void rectangle_tile(const float* table, std::size_t ld,
                                    const std::int32_t* features, std::size_t m,
                                    const std::int32_t* rows, const float* scaled,
                                    std::size_t width, float* out, std::size_t ldo, bool fresh) {
  F total[I][J];
  std::size_t place[I];
  for (int i = 0; i < I; ++i) {
    place[i] = static_cast<std::size_t>(rows[i]);
    for (int j = 0; j < J; ++j) total[i][j] = Isa::zero();
  }
  for (std::size_t k = 0; k < m; ++k) {
    const float* row = table + static_cast<std::size_t>(features[k]) * ld;
    F column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(scaled + k * width + j * Isa::width);
    for (int i = 0; i < I; ++i) {
      const F value = Isa::broadcast(row[place[i]]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::multiply_add(value, column[j], total[i][j]);
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      float* to = out + static_cast<std::size_t>(i) * ldo + j * Isa::width;
      Isa::store(to, fresh ? total[i][j] : Isa::add(Isa::load(to), total[i][j]));
    }
  }
}

void rectangle(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
               const std::int32_t* rows, std::size_t n_rows, const float* scaled,
               std::size_t width, float* out, std::size_t ldo, bool fresh) {
  constexpr std::size_t I = Isa::float_rows, J = Isa::float_columns, W = Isa::width;
  static_assert(rectangle_rows % I == 0);
  std::size_t j = 0;
  for (; j + J * W <= width; j += J * W) {
    for (std::size_t i = 0; i < n_rows; i += I) {
      rectangle_tile<I, J>(table, ld, features, m, rows + i, scaled + j, width,
                           out + i * ldo + j, ldo, fresh);
    }
  }
  for (; j < width; j += W) {
    for (std::size_t i = 0; i < n_rows; i += I) {
      rectangle_tile<I, 1>(table, ld, features, m, rows + i, scaled + j, width,
                           out + i * ldo + j, ldo, fresh);
    }
  }
}

template <bool scaled>
BITSIEVE_INLINE double sum_squares(const double* a, const double* b, const double* factors,
                                   std::size_t m) {
  constexpr int V = 8 / Isa::width_double;
  typename Isa::D total[V];
  for (int v = 0; v < V; ++v) total[v] = Isa::broadcast(0.0);
  std::size_t k = 0;
  for (; k + 8 <= m; k += 8) {
    for (int v = 0; v < V; ++v) {
      const std::size_t at = k + static_cast<std::size_t>(v * Isa::width_double);
      auto d = Isa::subtract(Isa::load_any(a + at), Isa::load_any(b + at));
      if constexpr (scaled) d = Isa::multiply(d, Isa::load_any(factors + at));
      total[v] = Isa::add(total[v], Isa::multiply(d, d));
    }
  }
  alignas(64) double partial[8];
  for (int v = 0; v < V; ++v) Isa::store(partial + v * Isa::width_double, total[v]);
  for (std::size_t lane = 0; k < m; ++k, ++lane) {
    double d = a[k] - b[k];
    if constexpr (scaled) d = d * factors[k];
    partial[lane] += d * d;
  }
  return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
         ((partial[1] + partial[5]) + (partial[3] + partial[7]));
}

double squared_distance(const double* a, const double* b, const double* factors, std::size_t m) {
  return factors == nullptr ? sum_squares<false>(a, b, factors, m)
                            : sum_squares<true>(a, b, factors, m);
}

}  // namespace neighbor

const NeighborKernels neighbor_kernels = {neighbor::scale_rows, neighbor::rectangle,
                                          neighbor::squared_distance};
