// Dense linear algebra in float64: products of matrices and the small blocks of a factorisation.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
// Every element is a chain of fused multiply-adds in ascending order, so that the bits are the same
// on every instruction set that has them, and however a matrix is cut into blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// Rows start at multiples of 64 bytes, and leading dimensions are multiples of it.
inline constexpr std::size_t algebra_lanes = 8;
inline constexpr std::size_t algebra_block = 8;  // rows of factor() and solve_block()

// An m x (rows or columns) factor of a product: element (k, r) is at data[k * step + r * row].
struct AlgebraLeft {
  const double* data;
  std::size_t row, step;
};

struct AlgebraKernels {
  // out[r * ld_out + j] += sign * sum_{k < m} left(k, r) * right[k * ld_right + j]
  // for r < rows, j < columns (a multiple of 8); sign is 1 or -1.
  // Cost: a multiply-add an element of out and k; limit 2 vectors of them a cycle (16 on AVX-512).
  void (*add_products)(const AlgebraLeft& left, const double* right, std::size_t ld_right,
                       std::size_t m, std::size_t rows, std::size_t columns, double sign,
                       double* out, std::size_t ld_out);

  // The factor U of a symmetric block of up to 8 rows, A = U'U, in its upper triangle, and one
  // over its diagonal. Returns the greatest a[i][i] / U[i][i]^2, or infinity where a pivot is not
  // positive (what follows it is left as it is). Limit: latency of root and division, about 60
  // cycles a row.
  double (*factor)(double* a, std::size_t ld, std::size_t rows, double* inverse_diagonal);

  // In place, for each column j < columns (a multiple of 8) of up to 8 rows x:
  //   x[r] = (x[r] - sum_{k < r} left(k, r) * x[k]) * inverse_diagonal[r]
  // and backward, with the sum over k > r, in descending order.
  void (*solve_block)(const AlgebraLeft& left, const double* inverse_diagonal, std::size_t rows,
                      std::size_t columns, bool backward, double* x, std::size_t ld);
};

}  // namespace bitsieve
