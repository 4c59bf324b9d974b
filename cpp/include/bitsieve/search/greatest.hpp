// The greatest of some scores, ties by a number drawn before.
#pragma once

#include <cstddef>

namespace bitsieve {

// Of the values that equal the greatest, t of them, the position of number floor(place * t),
// counted from 0. n >= 1 values without a NaN, place in [0, 1). O(n), nothing is allocated.
std::size_t greatest_at(const double* values, std::size_t n, double place);

}  // namespace bitsieve
