// What greedy selections have in common: their result, and who wins a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bitsieve {

struct Selection {
  std::vector<std::int64_t> order;  // features, the first taken first
  std::vector<double> scores;       // of each when it was taken
  std::uint64_t n_terms = 0;        // pairs of a candidate and a chosen feature that were computed
};

inline constexpr std::size_t npos = std::numeric_limits<std::size_t>::max();

// The greatest score, and of equal ones the lowest index.
struct Best {
  double score = -std::numeric_limits<double>::infinity();
  std::size_t feature = npos;

  // Would (other, index) win?
  bool yields(double other, std::size_t index) const {
    return other > score || (other == score && index < feature);
  }
  void offer(const Best& other) {
    if (other.feature != npos && yields(other.score, other.feature)) *this = other;
  }
};

}  // namespace bitsieve
