// The nearest samples of each class, as the Relief family wants them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/filters/distances.hpp"

namespace bitsieve {

// Who counts as a group of candidates.
enum class Grouping {
  classes,  // each class by itself
  others,   // group 0: the sample's own class, group 1: all others
  all,      // one group
};

struct NeighborOptions {
  std::size_t n_neighbors = 10;
  Grouping grouping = Grouping::classes;
  bool ordered = false;  // nearest first; else in no order that means anything
};

// Lists of row i and group g: samples[(i * n_groups + g) * n_neighbors + rank], counts[...] of
// them. Samples are places of the order.
struct Neighbors {
  std::size_t n_groups = 0, n_neighbors = 0;
  std::vector<std::int32_t> samples;
  std::vector<std::int32_t> counts;

  const std::int32_t* list(std::size_t i, std::size_t g) const {
    return samples.data() + (i * n_groups + g) * n_neighbors;
  }
  std::size_t count(std::size_t i, std::size_t g) const {
    return static_cast<std::size_t>(counts[i * n_groups + g]);
  }
};

// The nearest by the distances; where their error leaves it open the exact re-check decides, if
// there is one, and equal distances go to the sample that comes first in the user's table. A sample
// is never its own neighbor. Cost: n log(n) or less a row; the exact re-check p a doubtful pair.
template <typename T>
void nearest_by_group(const SampleRows<T>& samples, const Distances& distances,
                      const std::vector<std::int32_t>& order, const std::int32_t* codes,
                      std::size_t n_classes, const NeighborOptions& options,
                      const ExactManhattan* recheck, int n_threads, Neighbors* neighbors);

}  // namespace bitsieve
