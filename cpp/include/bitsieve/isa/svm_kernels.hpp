// Sequential minimal optimisation of one support vector machine on a kernel matrix. Contract as in
// kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t svm_lanes = 16;  // rows are 64-byte aligned, ld a multiple of it

// Samples past n, up to ld, have zeros in the matrices and in `slack`, and infinity in the bars.
struct SvmState {
  const double* matrix;   // [n][ld] inner products
  const double* inverse;  // [n][ld] of the squared distances, see invert
  std::size_t n, ld;
  const double* lower;  // [n] bounds of the coefficients
  const double* upper;
  double* coefficients;  // [n]
  double* slack;         // [ld] sign less the sum over the coefficients
  double* raise_bar;     // [ld] 0, or -infinity where a coefficient is at its upper bound
  double* drop_bar;      // [ld] 0, or infinity where one is at its lower bound
};

// What is wrong with the optimality conditions: the greatest slack of a coefficient that may rise
// and the least of one that may drop, whose difference is at most 0 at the solution.
struct SvmViolation {
  double most, least;
};

struct SvmKernels {
  // inverse[i][j] = 1 / max(d, 2^-44 s, 1e-300) with s = matrix[i][i] + matrix[j][j] and
  // d = s - 2 matrix[i][j], for j < ld: squared distances that are rounding alone stay finite.
  // Cost: a division a pair.
  void (*invert)(const double* matrix, std::size_t n, std::size_t ld, const double* diagonal,
                 double* inverse);

  // slack[j] -= step * row[j] for j < ld.
  void (*subtract)(const double* row, std::size_t ld, double step, double* slack);

  // Up to `most` steps, fewer where the violation falls to the tolerance; adds them to `steps`.
  // A step moves the pair of Fan, Chen and Lin (2005, "Working set selection using second order
  // information", WSS 2): the most violating that may rise, and with it the one that lowers the
  // objective most. Ties go to the lowest index. Multiplications and additions are rounded each, so
  // that the bits are the same on every instruction set.
  // Cost: 6 loads and a store of a vector for each vector of samples. Limit: the latency of two
  // searches of a maximum, one after the other, about 90 ns a step, up to 100 samples.
  SvmViolation (*optimise)(const SvmState& state, double tolerance, std::uint64_t most,
                           std::uint64_t& steps);
};

}  // namespace bitsieve
