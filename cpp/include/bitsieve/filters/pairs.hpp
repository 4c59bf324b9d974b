// What every member of the Relief family comes to: a weighted sum of differences over pairs,
//   weight[f] = sum over pairs (i, j) of c_ij * diff_f(i, j).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/filters/samples.hpp"

namespace bitsieve {

// The pairs of one sample. Samples are places of an order.
struct PairRow {
  std::int32_t sample;
  std::vector<std::int32_t> others;
  std::vector<double> coefficients;
};

// Adds to weights[0 .. p). As diff = 2 max - sum for numeric features, the sums of samples come
// off once instead of once a pair. Float64 throughout; the order of additions is that of the
// rows, the same for any number of threads and every instruction set.
// Cost: a maximum and a multiply-add a (pair, feature); the table is read once a call.
template <typename T>
void add_pair_weights(const SampleRows<T>& samples, const FeatureScale& scale,
                      const std::vector<std::int32_t>& order, const std::vector<PairRow>& rows,
                      int n_threads, double* weights);

}  // namespace bitsieve
