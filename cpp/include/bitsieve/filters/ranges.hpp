// What a feature's values span, and how the Relief family tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/samples.hpp"
#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {

// How features are told apart by the Relief family: |a - b| / range for a numeric feature, 0 or 1
// for a nominal one (whose values are codes from 0 on), 0 for a constant one.
struct FeatureScale {
  std::vector<double> low, range;    // range is 0 for a constant feature
  std::vector<std::uint8_t> nominal; // empty where there is none
  std::vector<double> weights;       // of the features in a distance; empty where all are 1
  double largest_weight = 1.0;
  // Where above 0, every weighted difference is a whole multiple of largest_weight / common.
  std::int64_t common = 0;
  bool is_nominal(std::size_t f) const { return !nominal.empty() && nominal[f] != 0; }
  double weight(std::size_t f) const { return weights.empty() ? 1.0 : weights[f]; }
};

// Fills low and range from the samples. Reads the table once.
template <typename T>
void measure_ranges(const SampleRows<T>& samples, int n_threads, FeatureScale* scale);

// Fills common, after the ranges, where there is one of at most largest_common: tables of whole
// numbers or of few levels have one. Others show in their first values that they have none.
inline constexpr std::int64_t largest_common = std::int64_t{1} << 40;
template <typename T>
void find_common(const SampleRows<T>& samples, int n_threads, FeatureScale* scale);

}  // namespace bitsieve
