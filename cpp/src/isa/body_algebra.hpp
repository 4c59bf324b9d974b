// The bodies of algebra_kernels.hpp. See body.hpp for the rule about headers.

namespace algebra {

#if defined(__GNUC__)
BITSIEVE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
BITSIEVE_INLINE double root(double a) { return __builtin_sqrt(a); }
#else
extern "C" double fma(double, double, double);
extern "C" double sqrt(double);
BITSIEVE_INLINE double fused(double a, double b, double c) { return fma(a, b, c); }
BITSIEVE_INLINE double root(double a) { return sqrt(a); }
#endif

// Rows of the right side that stay in the first cache while all rows of the left pass.
constexpr std::size_t chunk = 128;

// The sign is put on what is added to, which is exact, so that the loop has one operation.
template <int I, int J>
BITSIEVE_INLINE void product_tile(const double* left, std::size_t row, std::size_t step,
                                  const double* right, std::size_t ld_right, std::size_t m,
                                  double sign, double* out, std::size_t ld_out) {
  using D = typename Isa::D;
  constexpr std::size_t W = Isa::width_double;
  const D side = Isa::broadcast(sign);
  D total[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      total[i][j] = Isa::multiply(side, Isa::load(out + i * ld_out + j * W));
    }
  }
  for (std::size_t k = 0; k < m; ++k, left += step, right += ld_right) {
    D column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(right + j * W);
    for (int i = 0; i < I; ++i) {
      const D value = Isa::broadcast(left[i * row]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::scale_add(value, column[j], total[i][j]);
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      Isa::store(out + i * ld_out + j * W, Isa::multiply(side, total[i][j]));
    }
  }
}

template <int J>
BITSIEVE_INLINE void product_panel(const double* left, std::size_t row, std::size_t step,
                                   const double* right, std::size_t ld_right, std::size_t m,
                                   std::size_t rows, double sign, double* out,
                                   std::size_t ld_out) {
  constexpr int I = Isa::fixed_rows;
  std::size_t i = 0;
  for (; i + I <= rows; i += I) {
    product_tile<I, J>(left + i * row, row, step, right, ld_right, m, sign, out + i * ld_out,
                       ld_out);
  }
  for (; i + 2 <= rows; i += 2) {
    product_tile<2, J>(left + i * row, row, step, right, ld_right, m, sign, out + i * ld_out,
                       ld_out);
  }
  if (i < rows) {
    product_tile<1, J>(left + i * row, row, step, right, ld_right, m, sign, out + i * ld_out,
                       ld_out);
  }
}

void add_products(const AlgebraLeft& left, const double* right, std::size_t ld_right,
                  std::size_t m, std::size_t rows, std::size_t columns, double sign, double* out,
                  std::size_t ld_out) {
  constexpr std::size_t W = Isa::width_double;
  constexpr int J = Isa::fixed_columns;
  for (std::size_t begin = 0; begin < m; begin += chunk) {
    const std::size_t part = m - begin < chunk ? m - begin : chunk;
    const double* first = left.data + begin * left.step;
    const double* from = right + begin * ld_right;
    std::size_t j = 0;
    for (; j + J * W <= columns; j += J * W) {
      product_panel<J>(first, left.row, left.step, from + j, ld_right, part, rows, sign, out + j,
                       ld_out);
    }
    for (; j < columns; j += W) {
      product_panel<1>(first, left.row, left.step, from + j, ld_right, part, rows, sign, out + j,
                       ld_out);
    }
  }
}

double factor(double* a, std::size_t ld, std::size_t rows, double* inverse_diagonal) {
  double most = 1.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double own = a[i * ld + i];
    double pivot = own;
    for (std::size_t k = 0; k < i; ++k) pivot = fused(-a[k * ld + i], a[k * ld + i], pivot);
    // Below the least normal number one over the root would say nothing; NaN is refused too.
    if (!(pivot >= 0x1p-1000) || !(pivot <= 0x1p1000)) return __builtin_huge_val();
    const double ratio = own / pivot;
    most = ratio > most ? ratio : most;
    const double inverse = 1.0 / root(pivot);
    inverse_diagonal[i] = inverse;
    a[i * ld + i] = root(pivot);
    for (std::size_t j = i + 1; j < rows; ++j) {
      double value = a[i * ld + j];
      for (std::size_t k = 0; k < i; ++k) value = fused(-a[k * ld + i], a[k * ld + j], value);
      a[i * ld + j] = value * inverse;
    }
  }
  return most;
}

template <bool Backward>
BITSIEVE_INLINE void solve_rows(const AlgebraLeft& left, const double* inverse_diagonal,
                                std::size_t rows, double* x, std::size_t ld) {
  using D = typename Isa::D;
  D value[algebra_block];
  for (std::size_t r = 0; r < rows; ++r) value[r] = Isa::load(x + r * ld);
  for (std::size_t s = 0; s < rows; ++s) {
    const std::size_t r = Backward ? rows - 1 - s : s;
    D total = Isa::subtract(Isa::broadcast(0.0), value[r]);
    for (std::size_t t = 0; t < s; ++t) {
      const std::size_t k = Backward ? rows - 1 - t : t;
      total = Isa::scale_add(Isa::broadcast(left.data[k * left.step + r * left.row]), value[k],
                             total);
    }
    value[r] = Isa::multiply(total, Isa::broadcast(-inverse_diagonal[r]));
    Isa::store(x + r * ld, value[r]);
  }
}

void solve_block(const AlgebraLeft& left, const double* inverse_diagonal, std::size_t rows,
                 std::size_t columns, bool backward, double* x, std::size_t ld) {
  constexpr std::size_t W = Isa::width_double;
  if (rows == algebra_block && !backward) {
    for (std::size_t j = 0; j < columns; j += W) {
      solve_rows<false>(left, inverse_diagonal, algebra_block, x + j, ld);  // unrolled
    }
    return;
  }
  for (std::size_t j = 0; j < columns; j += W) {
    if (backward) {
      solve_rows<true>(left, inverse_diagonal, rows, x + j, ld);
    } else {
      solve_rows<false>(left, inverse_diagonal, rows, x + j, ld);
    }
  }
}

}  // namespace algebra

const AlgebraKernels algebra_kernels = {
    algebra::add_products,
    algebra::factor,
    algebra::solve_block,
};
