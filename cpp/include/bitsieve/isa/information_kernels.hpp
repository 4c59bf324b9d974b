// Counts and moments of the information filters. Contract as in kernels.hpp: plain pointers and
// sizes, no allocation, no threads, no exceptions.
//
// A variable of l levels over n samples is l - 1 bit planes of `words` 64-bit words each, level
// after level; the last level is what no plane has. Counts are whole numbers below 2^32 and sums
// of table entries are int64, so no result depends on the order of anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// Variables of more levels are counted sample by sample instead.
inline constexpr std::size_t most_plane_levels = 8;

// A variable by planes.
struct PlaneView {
  const std::uint64_t* planes;   // (levels - 1) x words
  const std::uint32_t* margins;  // samples a level, `levels` of them
  std::size_t levels;
};

inline constexpr std::size_t tile_lanes = 16;  // features a tile, and summands kept apart

// Where the moments of a tile go, one value a feature.
struct alignas(64) TileMoments {
  double mean[tile_lanes];
  double square[tile_lanes];   // sum of squared deviations from the mean
  double between[tile_lanes];  // of it, what the class means account for; or the sum of products
                               // with a centred target
  double within[tile_lanes];   // the rest, summed by itself
};

struct InformationKernels {
  // The contingency table of two variables: counts[a * b.levels + b] for all levels.
  // Cost: (a.levels - 1) * (b.levels - 1) * words ANDs and popcounts. Limit: one popcount
  // instruction a cycle, that is one word operation a cycle and no more than two loads a cycle
  // from L1; the planes of a candidate, (levels - 1) * n / 8 bytes, are read once.
  void (*plane_counts)(const PlaneView& a, const PlaneView& b, std::size_t words,
                       std::uint32_t* counts);

  // The sum of table[count] over the contingency table, which is not stored. The same cost, and
  // a.levels * b.levels look-ups in a table of n + 1 int64 values. a.levels <= most_plane_levels.
  std::int64_t (*plane_sum)(const PlaneView& a, const PlaneView& b, std::size_t words,
                            const std::int64_t* table);

  // Moments of a tile of n samples by tile_lanes features, sample-major; on return it is centred.
  // Either codes in [0, n_classes), their sizes and class_means (n_classes x tile_lanes doubles of
  // scratch), or a centred target, or neither. Samples are added one after the other, features in
  // lanes: the same bits on every instruction set.
  // Limit: 4 additions a value, 3 passes over the cache.
  void (*tile_moments)(double* tile, std::size_t n, const std::int32_t* codes,
                       const double* sizes, std::size_t n_classes, double* class_means,
                       const double* target, TileMoments* out);

  // out[k] = sum_i a[i] * rows[k][i] for k < count and i < ld, a multiple of tile_lanes: summands
  // by i modulo tile_lanes, then these in pairs. Products are rounded before they are added, as
  // not every instruction set can fuse them.
  // Limit: one vector of products a cycle from L1. float_dots: the same for a of float32.
  void (*dots)(const double* a, const double* const* rows, std::size_t count, std::size_t ld,
               double* out);
  void (*float_dots)(const float* a, const double* const* rows, std::size_t count,
                     std::size_t ld, double* out);

  // Scores of n candidates beside `chosen` features (at least one), from the terms that each has:
  // sum[c] of done[c] terms, each right to error[c]. What comes is a bound from above: each term
  // is less by its error, missing ones count `least`, and the sum is scaled by `slack` where it is
  // no exact one, to stay below what it will be.
  //   quotient:   relevance[c] * chosen / sum          difference:   relevance[c] - sum / chosen
  // plus penalty[c], 0 or minus infinity. Limit: one division a candidate.
  void (*mean_scores)(const double* relevance, const double* sum, const double* done,
                      const double* error, const double* penalty, std::size_t n, double chosen,
                      double least, double slack, bool quotient, double* out);
};

}  // namespace bitsieve