// Symmetric positive definite systems in float64: A = U'U with U upper triangular.
//
// Matrices are [n][ld], row-major, rows 64-byte aligned (AlignedVector), ld a multiple of 8, at
// least n; what stands past n must be finite and is of no account. Of a symmetric matrix the upper
// triangle is read. Everything is a function of its input alone, in every bit, on every instruction
// set that fuses multiply-adds (Kernels::has_fma). No threads; large ones look for Ctrl-C.
#pragma once

#include <cstddef>

#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

inline std::size_t algebra_ld(std::size_t n) { return (n + 7) / 8 * 8; }

// U in place of the upper triangle, and 1 / U[i][i] in inverse_diagonal[algebra_ld(n)]. What is
// below the diagonal is of no account.
// Returns how close to singular it is, whatever the units of the variables: the greatest
// a[i][i] / U[i][i]^2, at least 1, which is the variance inflation of a variable by those before it;
// infinity where A is not positive definite. A solution's relative error is about 2^-53 times the
// condition number of A with its diagonal scaled to 1, which lies between this ratio and n times
// the sum of all inflations, A[i][i] * inverse[i][i].
// Cost: n^3 / 6 multiply-adds.
double cholesky(double* a, std::size_t n, std::size_t ld, double* inverse_diagonal);

// In place, b[n][ld_b] of `columns` right sides (a multiple of 8): U'X = B, UX = B, and both, AX = B.
// Cost: n^2 / 2 multiply-adds a column and triangle.
void solve_lower(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                 double* b, std::size_t ld_b, std::size_t columns);
void solve_upper(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                 double* b, std::size_t ld_b, std::size_t columns);
void solve_symmetric(const double* u, const double* inverse_diagonal, std::size_t n,
                     std::size_t ld, double* b, std::size_t ld_b, std::size_t columns);

// The inverse of A = U'U, both triangles, in out[n][ld]; work[n][ld]. Cost: n^3 / 3 multiply-adds.
void invert_symmetric(const double* u, const double* inverse_diagonal, std::size_t n,
                      std::size_t ld, double* work, double* out);

// out[n][ld_out] = left' * right over m rows, left[m][ld_left] and right[m][ld_right], and with
// sign -1 its negative; `fresh` or else added to what is there. `columns` a multiple of 8.
void multiply_transposed(const double* left, std::size_t ld_left, const double* right,
                         std::size_t ld_right, std::size_t m, std::size_t n, std::size_t columns,
                         bool fresh, double sign, double* out, std::size_t ld_out);

// out = rows' * rows of rows[m][ld], n x n: both triangles, or added to (`fresh`: in place of) what
// is in the upper one. Cost: n^2 m / 2 multiply-adds.
void multiply_self(const double* rows, std::size_t m, std::size_t n, std::size_t ld, double* out);
void add_self(const double* rows, std::size_t m, std::size_t n, std::size_t ld, bool fresh,
              double* out);

// Copies the upper triangle to the lower.
void mirror(double* a, std::size_t n, std::size_t ld);

// The bordered system [[A, 1], [1', 0]] [x; c] = [y; 0], of a model with an intercept c. Its inverse
// without the border is A^-1 - v v' / s with v = A^-1 1 and s = 1'v; c = v'y / s.
struct Border {
  AlignedVector<double> v;  // [ld]
  double s = 0;
};

// In place of the inverse of A. Where A is K + c 1 1' the result is the same for any c, which may be
// chosen to make A far from singular.
void border_inverse(double* inverse, std::size_t n, std::size_t ld, Border& border);

// The solution in place of y, b[n][ld_b] of `columns` right sides, intercepts[columns] (may be null).
void solve_bordered(const double* u, const double* inverse_diagonal, std::size_t n, std::size_t ld,
                    double* b, std::size_t ld_b, std::size_t columns, Border& border,
                    double* intercepts);

}  // namespace bitsieve
