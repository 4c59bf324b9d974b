// Products and distances of features that are scaled anew for each training part.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t scaled_rows = 4;   // features a call
inline constexpr std::size_t scaled_lanes = 8;  // splits come in multiples of it

struct ScaledKernels {
  // Means and variances of up to scaled_rows features over sets of their n values:
  // weights[i * ld + s] is 1 where sample i is in set s, else 0, counts[s] its size; the results are
  // [n_rows][ld]. The corrected two-pass algorithm (Chan, Golub and LeVeque 1983, "Algorithms for
  // computing the sample variance", eq. 1.7), samples in ascending order. Products with a weight are
  // exact, so the bits are the same with and without an FMA unit.
  // Cost a (value, 8 sets): 5 vector operations; limit two a cycle.
  void (*moments)(const double* const* rows, std::size_t n_rows, std::size_t n,
                  const double* weights, std::size_t ld, const double* counts, double* mean,
                  double* variance);

  // The least and the greatest value of each feature in each set, laid out the same way.
  // Cost a (value, 8 sets): 4 vector operations; limit two a cycle.
  void (*extremes)(const double* const* rows, std::size_t n_rows, std::size_t n,
                   const double* weights, std::size_t ld, double* least, double* most);
};

}  // namespace bitsieve
