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

  // z[k * ld + j] = (table[features[k] * ld + j] - origin[place[k]]) * inverse[place[k]] for j < ld,
  // and sums[j] += z[k * ld + j], feature by feature, where sums are wanted.
  // Limit: memory.
  void (*scale)(const double* table, std::size_t ld, const std::int32_t* features, std::size_t m,
                const double* origin, const double* inverse, const std::int32_t* place, double* z,
                double* sums);

  // Products over the m features of z, of the upper triangle and what of the lower shares a tile:
  //   gram[i * ld + j] += sum_k z[k * ld + i] * z[k * ld + j]
  // for j in [j_begin, j_end), multiples of 16, and i < j at least; `fresh` sets instead of adding.
  // One fused multiply-add a product, k ascending from zero, and one addition to gram: the same bits
  // on every instruction set, slow on one without an FMA unit.
  // Cost: a multiply-add a (pair, feature), n^2 / 2 + 8 n of them; limit 2 vectors a cycle.
  void (*triangle)(const double* z, std::size_t ld, std::size_t m, std::size_t j_begin,
                   std::size_t j_end, double* gram, bool fresh);
};

}  // namespace bitsieve
