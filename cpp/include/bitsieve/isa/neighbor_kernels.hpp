// Nearest neighbors beyond what the Gram kernels serve: distances whose scale differs from split to
// split, and more than one neighbor of one-flip masks.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t rectangle_rows = 8;  // rows of a rectangle come in multiples of it

struct NeighborKernels {
  // Some columns of chosen rows of a feature-major table, weighted twice over: with
  // x = table[features[k] * ld + j] and w = weights[k]
  //   scaled[k * width + j] = (x * w) * w,   squares[j] += sum_k (x * w)^2
  // for k < m and j < width, a multiple of 16.
  // Cost: four operations a value. Limit: the store.
  void (*scale_rows)(const float* table, std::size_t ld, const std::int32_t* features,
                     std::size_t m, const float* weights, std::size_t width, float* scaled,
                     float* squares);

  // Products of some samples with all columns:
  //   out[i * ldo + j] = sum_k table[features[k] * ld + rows[i]] * scaled[k * width + j]
  // for i < n_rows, a multiple of rectangle_rows, and j < width, a multiple of 16; added to what is
  // there unless `fresh`.
  // Cost: a multiply-add a (pair, feature); limit 2 vectors of them a cycle (32 on AVX-512).
  // Rounding: |error| <= (m + 1) * 2^-24 * sum |products|, and one rounding of the sum with out.
  void (*rectangle)(const float* table, std::size_t ld, const std::int32_t* features,
                    std::size_t m, const std::int32_t* rows, std::size_t n_rows,
                    const float* scaled, std::size_t width, float* out, std::size_t ldo,
                    bool fresh);

  // The sum over k < m of ((a[k] - b[k]) * factors[k])^2, without factors where they are null: eight
  // partial sums by k modulo 8, added pairwise, each operation rounded (ExactDistance).
  // Cost: a vector of eight at a time. Limit: the latency of an addition.
  double (*squared_distance)(const double* a, const double* b, const double* factors,
                             std::size_t m);
};

}  // namespace bitsieve
