// The n largest of p values as a mask; ties go to the lowest index. O(p): values fall into equal
// buckets between their extremes, and only the bucket that holds the n-th is looked at closely.
// A bucket's number never decreases with the value, whatever the rounding, so the answer is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/mask.hpp"

namespace bitsieve {

class TopN {
 public:
  // `values` finite, with room (of finite numbers) to the end of the last word; n <= p; `mask`
  // gets words_for(p) words.
  void select(const double* values, std::size_t p, std::size_t n, Word* mask);

 private:
  std::vector<std::int32_t> buckets_;
  std::vector<std::size_t> counts_;
  std::vector<double> candidates_;
};

}  // namespace bitsieve
