// One pass over a table for scores that look at one feature at a time. Contract as in kernels.hpp:
// plain pointers and sizes, no allocation, no threads, no exceptions; here no alignment is asked
// for. Features stand in vector lanes, so every sum runs over the samples in a fixed order and has
// the same bits on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t pair_lanes = 16;  // features a call of pairs_*
inline constexpr std::size_t sort_lanes = 8;   // features a call of sort_*

// x points at the first of `width` neighbouring features; sample i lies at x + i * ld.
template <typename T>
struct MomentKernels {
  // Over the listed samples but the first, d the difference from the first of them:
  //   sum[f] = sum d, square[f] = sum d^2.
  // Limit: memory; sums stay in L1 for width <= 1024.
  void (*moments)(const T* x, std::size_t ld, const std::int32_t* rows, std::size_t n_rows,
                  std::size_t width, double* sum, double* square);

  // The same over all n samples, and with a number for each: cross[f] = sum d * y.
  void (*comoments)(const T* x, std::size_t ld, std::size_t n, const double* y, std::size_t width,
                    double* sum, double* square, double* cross);

  // cross[f] = sum d * y alone.
  void (*weighted)(const T* x, std::size_t ld, std::size_t n, const double* y, std::size_t width,
                   double* cross);

  // twice[lane] = how often high > low plus how often high >= low, over all pairs; both blocks hold
  // pair_lanes values a sample. 2 * n_high * n_low must fit in 32 bits.
  // Cost: 2 comparisons and 2 additions a vector of pairs.
  void (*pairs)(const T* high, std::size_t n_high, const T* low, std::size_t n_low,
                std::uint32_t* twice);
};

struct UnivariateKernels {
  MomentKernels<float> single;
  MomentKernels<double> twofold;

  // Sort each of sort_lanes columns of keys[i * sort_lanes + lane], by a network of exchanges
  // (Batcher's odd-even merge; Knuth, volume 3, algorithm 5.2.2M): n (log2 n)^2 / 4 of them,
  // without a branch. The other form carries a second array along; equal keys in any order.
  void (*sort)(double* keys, std::size_t n);
  void (*sort_with)(double* keys, double* carried, std::size_t n);
};

}  // namespace bitsieve
