#include "bitsieve/fitness/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace algebra_detail {

// Rows that are done against all that went before at once, so that these are read from memory once.
constexpr std::size_t panel = 64;
constexpr std::size_t width = 16;  // columns of a step over all rows above: two vectors

std::size_t up_to(std::size_t begin, std::size_t size, std::size_t n) {
  return std::min(begin + size, n);
}

}  // namespace algebra_detail

double cholesky(double* a, std::size_t n, std::size_t ld, double* inverse_diagonal) {
  using namespace algebra_detail;
  const AlgebraKernels& kernel = *kernels().algebra;
  double most = 1;
  for (std::size_t i = 0; i < n; ++i) inverse_diagonal[i] = a[i * ld + i];  // as it came, for now
  for (std::size_t begin = 0; begin < n; begin += panel) {
    const std::size_t end = up_to(begin, panel, n);
    if (begin > 0) {
      check_interrupt();
      kernel.add_products({a + begin, 1, ld}, a + begin, ld, begin, end - begin, ld - begin, -1.0,
                          a + begin * ld + begin, ld);
    }
    for (std::size_t i = begin; i < end; i += algebra_block) {
      const std::size_t rows = up_to(i, algebra_block, end) - i;
      double* own = a + i * ld + i;
      double given[algebra_block];
      std::copy_n(inverse_diagonal + i, rows, given);
      if (i > begin) {
        const double* above = a + begin * ld + i;
        kernel.add_products({above, 1, ld}, above, ld, i - begin, rows, ld - i, -1.0, own, ld);
      }
      if (std::isinf(kernel.factor(own, ld, rows, inverse_diagonal + i))) {
        return std::numeric_limits<double>::infinity();
      }
      for (std::size_t r = 0; r < rows; ++r) {
        const double inverse = inverse_diagonal[i + r];
        most = std::max(most, given[r] * inverse * inverse);
      }
      const std::size_t next = i + algebra_block;
      if (next < ld) {
        kernel.solve_block({own, 1, ld}, inverse_diagonal + i, rows, ld - next, false,
                           own + algebra_block, ld);
      }
    }
  }
  return most;
}

void solve_lower(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                 double* b, std::size_t ld_b, std::size_t columns) {
  using namespace algebra_detail;
  const AlgebraKernels& kernel = *kernels().algebra;
  for (std::size_t begin = 0; begin < n; begin += panel) {
    const std::size_t end = up_to(begin, panel, n);
    if (begin > 0) check_interrupt();
    kernel.add_products({u + begin, 1, ld}, b, ld_b, begin, end - begin, columns, -1.0,
                        b + begin * ld_b, ld_b);
    for (std::size_t i = begin; i < end; i += algebra_block) {
      const std::size_t rows = up_to(i, algebra_block, end) - i;
      kernel.add_products({u + begin * ld + i, 1, ld}, b + begin * ld_b, ld_b, i - begin, rows,
                          columns, -1.0, b + i * ld_b, ld_b);
      kernel.solve_block({u + i * ld + i, 1, ld}, inverse_diagonal + i, rows, columns, false,
                         b + i * ld_b, ld_b);
    }
  }
}

void solve_upper(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                 double* b, std::size_t ld_b, std::size_t columns) {
  using namespace algebra_detail;
  const AlgebraKernels& kernel = *kernels().algebra;
  const std::size_t n_panels = (n + panel - 1) / panel;
  for (std::size_t p = n_panels; p-- > 0;) {
    const std::size_t begin = p * panel, end = up_to(begin, panel, n);
    if (end < n) check_interrupt();
    kernel.add_products({u + begin * ld + end, ld, 1}, b + end * ld_b, ld_b, n - end, end - begin,
                        columns, -1.0, b + begin * ld_b, ld_b);
    const std::size_t n_blocks = (end - begin + algebra_block - 1) / algebra_block;
    for (std::size_t t = n_blocks; t-- > 0;) {
      const std::size_t i = begin + t * algebra_block, next = up_to(i, algebra_block, end);
      kernel.add_products({u + i * ld + next, ld, 1}, b + next * ld_b, ld_b, end - next, next - i,
                          columns, -1.0, b + i * ld_b, ld_b);
      kernel.solve_block({u + i * ld + i, ld, 1}, inverse_diagonal + i, next - i, columns, true,
                         b + i * ld_b, ld_b);
    }
  }
}

void solve_symmetric(const double* u, const double* inverse_diagonal, std::size_t n,
                     std::size_t ld, double* b, std::size_t ld_b, std::size_t columns) {
  solve_lower(u, inverse_diagonal, n, ld, b, ld_b, columns);
  solve_upper(u, inverse_diagonal, n, ld, b, ld_b, columns);
}

void mirror(double* a, std::size_t n, std::size_t ld) {
  constexpr std::size_t tile = 16;
  for (std::size_t i0 = 0; i0 < n; i0 += tile) {
    for (std::size_t j0 = i0; j0 < n; j0 += tile) {
      for (std::size_t i = i0; i < std::min(i0 + tile, n); ++i) {
        for (std::size_t j = std::max(j0, i + 1); j < std::min(j0 + tile, n); ++j) {
          a[j * ld + i] = a[i * ld + j];
        }
      }
    }
  }
}

void invert_symmetric(const double* u, const double* inverse_diagonal, std::size_t n,
                      std::size_t ld, double* work, double* out) {
  using namespace algebra_detail;
  const AlgebraKernels& kernel = *kernels().algebra;
  // work = U^-T, which is lower triangular: of the rows above, those from a column's own on count.
  for (std::size_t begin = 0; begin < n; begin += panel) {
    const std::size_t end = up_to(begin, panel, n);
    if (begin > 0) check_interrupt();
    for (std::size_t i = begin; i < end; ++i) {
      std::fill_n(work + i * ld, ld, 0.0);
      work[i * ld + i] = 1;
    }
    for (std::size_t j = 0; j < begin; j += panel) {
      kernel.add_products({u + j * ld + begin, 1, ld}, work + j * ld + j, ld, begin - j,
                          end - begin, panel, -1.0, work + begin * ld + j, ld);
    }
    for (std::size_t i = begin; i < end; i += algebra_block) {
      const std::size_t rows = up_to(i, algebra_block, end) - i;
      kernel.add_products({u + begin * ld + i, 1, ld}, work + begin * ld, ld, i - begin, rows, i,
                          -1.0, work + i * ld, ld);
      kernel.solve_block({u + i * ld + i, 1, ld}, inverse_diagonal + i, rows, i + algebra_block,
                         false, work + i * ld, ld);
    }
  }
  // out = work' work: rows of work from the greater index on.
  for (std::size_t j = 0; j < n; j += width) {
    if (j > 0 && j % panel == 0) check_interrupt();
    multiply_transposed(work + j * ld, ld, work + j * ld + j, ld, n - j, up_to(j, width, n),
                        std::min(width, ld - j), true, 1.0, out + j, ld);
  }
  mirror(out, n, ld);
}

void multiply_transposed(const double* left, std::size_t ld_left, const double* right,
                         std::size_t ld_right, std::size_t m, std::size_t n, std::size_t columns,
                         bool fresh, double sign, double* out, std::size_t ld_out) {
  if (fresh) {
    for (std::size_t i = 0; i < n; ++i) std::fill_n(out + i * ld_out, columns, 0.0);
  }
  kernels().algebra->add_products({left, 1, ld_left}, right, ld_right, m, n, columns, sign, out,
                                  ld_out);
}

void add_self(const double* rows, std::size_t m, std::size_t n, std::size_t ld, bool fresh,
              double* out) {
  using namespace algebra_detail;
  for (std::size_t j = 0; j < n; j += width) {
    if (j > 0 && j % panel == 0) check_interrupt();
    const std::size_t columns = std::min(width, ld - j);
    multiply_transposed(rows, ld, rows + j, ld, m, std::min(j + columns, n), columns, fresh, 1.0,
                        out + j, ld);
  }
}

void multiply_self(const double* rows, std::size_t m, std::size_t n, std::size_t ld, double* out) {
  add_self(rows, m, n, ld, true, out);
  mirror(out, n, ld);
}

void border_inverse(double* inverse, std::size_t n, std::size_t ld, Border& border) {
  border.v.assign(ld, 0.0);
  double* v = border.v.data();
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = inverse + i * ld;
    for (std::size_t j = 0; j < n; ++j) v[j] += row[j];
  }
  border.s = 0;
  for (std::size_t j = 0; j < n; ++j) border.s += v[j];
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse + i * ld;
    for (std::size_t j = 0; j < n; ++j) row[j] -= v[i] * v[j] / border.s;
  }
}

void solve_bordered(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                    double* b, std::size_t ld_b, std::size_t columns, Border& border,
                    double* intercepts) {
  // The border is one more right side; a vector of them costs what one does.
  border.v.assign(n * algebra_lanes, 0.0);
  double* ones = border.v.data();
  for (std::size_t i = 0; i < n; ++i) ones[i * algebra_lanes] = 1;
  solve_symmetric(u, inverse_diagonal, n, ld, ones, algebra_lanes, algebra_lanes);
  for (std::size_t i = 0; i < n; ++i) ones[i] = ones[i * algebra_lanes];
  border.v.resize(algebra_ld(n));
  std::fill(border.v.begin() + static_cast<std::ptrdiff_t>(n), border.v.end(), 0.0);
  border.s = 0;
  for (std::size_t i = 0; i < n; ++i) border.s += ones[i];
  solve_symmetric(u, inverse_diagonal, n, ld, b, ld_b, columns);
  // 1'x = 0 fixes the intercept: the sum of A^-1 y over that of A^-1 1.
  for (std::size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += b[i * ld_b + j];
    const double intercept = sum / border.s;
    for (std::size_t i = 0; i < n; ++i) b[i * ld_b + j] -= intercept * ones[i];
    if (intercepts != nullptr) intercepts[j] = intercept;
  }
}

}  // namespace bitsieve
