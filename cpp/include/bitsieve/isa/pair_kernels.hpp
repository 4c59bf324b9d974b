// Counts of wrong predictions of pairs of features. Contract as in kernels.hpp: plain pointers and
// sizes, no allocation, no threads, no exceptions. Every number is rounded as the formula is
// written, so that the bits are the same on every instruction set.
//
// A margin of a feature, for a sample and another class, is by how much the feature prefers the
// sample's own class; it is positive where it does. Margins of two features add.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t cell_lanes = 16;  // features of bits a call

// Of a Gaussian feature the margin is
//   (x - mean_other)^2 factor_other - (x - mean_own)^2 factor_own + constant.
struct PairLine {
  double mean_other, factor_other, mean_own, factor_own, constant;
};

// Two values of each of 16 features, by segments of samples of one class and fold; segments go class
// by class. margins[segment][row][value], of the many [..][16]; ones[segment], of the many [..][16].
struct PairCells {
  const double *margins, *ones;
  const double *many_margins, *many_ones;
  const double* counts;  // [segment][16] samples with a one in both
  const double* sizes;   // [segment]
  std::size_t n_classes, n_folds, rows;
};

struct PairKernels {
  // out[i] = the margin of x[i] for i < n. Limit: 8 operations a value.
  void (*margins)(const double* x, std::size_t n, const PairLine& line, double* out);

  // For features i < n_a and j < n_b with margins a[i * stride + r * row_stride + k] and those of b,
  // for rows r and k < n, a multiple of 8; rows are 64-byte aligned. With z the least over r of a sum:
  //   wrong[i * ld + j] += how many z are not above 0,
  //   nearest[i * ld + j] = min(itself, least |z|).
  // Cost: rows additions and minima, one comparison, one count, one minimum of magnitudes a sample.
  // Limit of one row: 4 operations a vector, 2 a cycle, so that AVX-512 takes 4 samples of a pair a
  // cycle, from L1 or L2; AVX2 5 operations, 3 a cycle, so that it takes 2.4.
  void (*count_wrong)(const double* a, std::size_t n_a, const double* b, std::size_t n_b,
                      std::size_t stride, std::size_t rows, std::size_t row_stride, std::size_t n,
                      double* nearest, std::int64_t* wrong, std::size_t ld);

  // counts[segment * 16 + j] of the common ones of a and of feature j < n_b at b + j * stride,
  // segment s being the words [begin[s], begin[s + 1]). Limit: one popcount a word, one a cycle.
  void (*count_ones)(const std::uint64_t* a, const std::uint64_t* b, std::size_t n_b,
                     std::size_t stride, const std::uint32_t* begin, std::size_t n_segments,
                     double* counts);

  // wrong[class * 16 + j], and nearest[j]: the least |z| of any cell, whether it has samples or none.
  // Cost: 4 cells a segment of 5 operations a vector.
  void (*count_cells)(const PairCells& cells, double* wrong, double* nearest);
};

}  // namespace bitsieve
