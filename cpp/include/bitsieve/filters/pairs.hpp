// What every member of the Relief family comes to: a weighted sum of differences over pairs,
//   weight[f] = sum over pairs (i, j) of c_ij * diff_f(i, j).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/filters/ranges.hpp"

namespace bitsieve {

// Samples of one panel are read again and again while they lie in the nearest cache.
inline constexpr std::size_t panel_samples = 96;

// Pairs whose second samples are places of one panel, by first sample and then by second.
struct PairPanel {
  std::vector<PairSegment> segments;
  std::vector<std::int32_t> others;
  std::vector<double> coefficients;

  // Opens the segment of a sample; one that gets no pair takes no room.
  void open(std::int32_t sample) {
    const auto at = static_cast<std::uint32_t>(others.size());
    if (!segments.empty() && segments.back().begin == segments.back().end) segments.pop_back();
    segments.push_back({sample, at, at});
  }
  void add(std::int32_t other, double coefficient) {
    others.push_back(other);
    coefficients.push_back(coefficient);
    ++segments.back().end;
  }
};

// Adds to weights[0 .. p). As diff = 2 max - sum for numeric features, the sums of samples come
// off once instead of once a pair. Float64 throughout; the order of additions is that of the
// panels, the same for any number of threads and every instruction set.
// Cost: a maximum and a multiply-add a (pair, feature); the table is read once a call.
template <typename T>
void add_pair_weights(const SampleRows<T>& samples, const FeatureScale& scale,
                      const std::vector<std::int32_t>& order, const std::vector<PairPanel>& panels,
                      int n_threads, double* weights);

}  // namespace bitsieve
