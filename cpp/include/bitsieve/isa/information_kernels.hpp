// Counts of the information filters. Contract as in kernels.hpp: plain pointers and sizes, no
// allocation, no threads, no exceptions.
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
};

}  // namespace bitsieve
