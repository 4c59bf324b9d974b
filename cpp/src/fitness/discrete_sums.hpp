// Sums of sixteen features side by side, in twice the digits where values are no whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/fitness/additive_fitness.hpp"

namespace bitsieve {

// sum + rest of sixteen lanes, as if in twice the digits.
template <bool whole>
inline void add_lanes(const double* values, double weight, double* sum, double* rest) {
  for (std::size_t l = 0; l < additive_lanes; ++l) {
    if constexpr (whole) {
      sum[l] += values[l];
    } else {
      const double value = weight * values[l], added = sum[l] + value, part = added - sum[l];
      rest[l] += (sum[l] - (added - part)) + (value - part);
      sum[l] = added;
    }
  }
}

// Over some samples: row(sample, out) gives their values. Weights may be null.
template <bool whole, typename Row>
inline void add_rows(const std::int32_t* samples, std::size_t n, const double* weights, Row row,
                     double* out) {
  alignas(64) double sum[additive_lanes] = {}, rest[additive_lanes] = {}, values[additive_lanes];
  for (std::size_t k = 0; k < n; ++k) {
    const auto i = static_cast<std::size_t>(samples[k]);
    row(i, values);
    add_lanes<whole>(values, weights == nullptr ? 1.0 : weights[i], sum, rest);
  }
  for (std::size_t l = 0; l < additive_lanes; ++l) out[l] = sum[l] + rest[l];
}

}  // namespace bitsieve
