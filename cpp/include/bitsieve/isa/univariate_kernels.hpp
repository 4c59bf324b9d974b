// One pass over a table for scores that look at one feature at a time. Contract as in kernels.hpp:
// plain pointers and sizes, no allocation, no threads, no exceptions; here no alignment is asked
// for. Features stand in vector lanes, so every sum runs over the samples in a fixed order and has
// the same bits on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t pair_lanes = 16;  // features a call of pairs_*
inline constexpr std::size_t sort_lanes = 8;   // features a call of sort and sort_with
inline constexpr std::size_t rank_lanes = 16;  // features a call of rank_classes
inline constexpr std::size_t sort_padding = 16;  // rows of a sort come in so many

// x points at the first of `width` neighboring features; sample i lies at x + i * ld.
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

  // Keys for rank_classes: each value as a float32 (of float64 its difference from the first
  // sample's), the lowest bits replaced by the sample's code. m is n rounded up to sort_padding.
  //   keys[((f / rank_lanes) * m + i) * rank_lanes + f % rank_lanes]   feature f, sample i
  //   lossy[f]   not zero where two different values might have the same key but for the code
  //   poison[f]  zero, or NaN where a value is not finite
  // Samples past n get keys of infinity. lossy and poison have room for a whole number of rank_lanes.
  void (*rank_keys)(const T* x, std::size_t ld, std::size_t n, std::size_t width,
                    const std::int32_t* codes, std::uint32_t mask, float* keys,
                    std::uint32_t* lossy, T* poison);

  // The same for a tile of rank_lanes features (tile[i * rank_lanes + lane]) whose values are
  // decimals: whole numbers after multiplication by a power of ten up to 10^6, which are the keys.
  // lossy is not zero for a feature where they are not, or where they are too large.
  void (*decimal_keys)(const T* tile, std::size_t n, const std::int32_t* codes, std::uint32_t mask,
                       float* keys, std::uint32_t* lossy);
};

struct UnivariateKernels {
  MomentKernels<float> single;
  MomentKernels<double> twofold;

  // Sort each of sort_lanes columns of keys[i * sort_lanes + lane], n of them, a multiple of
  // sort_padding, by a network of exchanges without a branch: about n (log2 n)^2 / 4 of them, most in
  // registers (Knuth, volume 3, section 5.3.4). The other form carries a second array along. Equal
  // keys come in any order.
  void (*sort)(double* keys, std::size_t n);
  void (*sort_with)(double* keys, double* carried, std::size_t n);

  // Sort rank_lanes columns of keys[i * rank_lanes + lane], whose lowest bits (those of `mask`) hold
  // the class of the sample, and rank them by their other bits, ranks from 1:
  //   twice[c * rank_lanes + lane]  doubled sum of the ranks of class c, equal values sharing theirs
  //   ties[lane]                    sum of t^3 - t over groups of t equal values
  // The rows are those of n samples and padding, as from rank_keys. n <= 1024, so that the sums
  // fit; 0 <= classes < n_classes. No key may be NaN.
  // Limit: 4 vector operations an exchange of 16 features, 15 loads and stores a row of 200.
  void (*rank_classes)(float* keys, std::size_t n, std::uint32_t n_classes, std::uint32_t mask,
                       std::uint32_t* twice, std::uint32_t* ties);
};

}  // namespace bitsieve
