// The exact re-check of close comparisons: squared Euclidean distances in float64 on the user's own
// values.
//
// This is the definition of the distance that every faster way must agree with. Eight partial
// sums, one for each position of the feature in the mask modulo 8, are added pairwise at the end,
// so that the value is a function of the mask alone. Equal distances go to the lowest index. With
// factors each difference is multiplied by that of its feature first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitsieve {

class ExactDistance {
 public:
  ExactDistance(const float* x, std::size_t n_features) : single_(x), stride_(n_features) {}
  ExactDistance(const double* x, std::size_t n_features) : double_(x), stride_(n_features) {}

  double distance(std::size_t i, std::size_t j, const std::vector<std::int32_t>& features) const {
    const One one;
    return single_ != nullptr ? sum(single_ + i * stride_, single_ + j * stride_, features, one)
                              : sum(double_ + i * stride_, double_ + j * stride_, features, one);
  }

  double value(std::size_t i, std::size_t f) const {
    const std::size_t at = i * stride_ + f;
    return single_ != nullptr ? static_cast<double>(single_[at]) : double_[at];
  }

  // The values of sample i, side by side: squared_distance of two such rows (isa) is the distance.
  void gather(std::size_t i, const std::vector<std::int32_t>& features, double* out) const {
    for (std::size_t k = 0; k < features.size(); ++k) {
      out[k] = value(i, static_cast<std::size_t>(features[k]));
    }
  }

  // factors[k] is of features[k].
  double distance(std::size_t i, std::size_t j, const std::vector<std::int32_t>& features,
                  const double* factors) const {
    return single_ != nullptr ? sum(single_ + i * stride_, single_ + j * stride_, features, factors)
                              : sum(double_ + i * stride_, double_ + j * stride_, features, factors);
  }

 private:
  struct One {};
  static double scaled(double difference, std::size_t, const One&) { return difference; }
  static double scaled(double difference, std::size_t k, const double* factors) {
    return difference * factors[k];
  }

  template <typename T, typename Factors>
  static double sum(const T* a, const T* b, const std::vector<std::int32_t>& features,
                    const Factors& factors) {
    double partial[8] = {};
    const std::size_t m = features.size();
    std::size_t k = 0;
    for (; k + 8 <= m; k += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        const std::size_t f = static_cast<std::size_t>(features[k + lane]);
        const double d =
            scaled(static_cast<double>(a[f]) - static_cast<double>(b[f]), k + lane, factors);
        partial[lane] += d * d;
      }
    }
    for (std::size_t lane = 0; k < m; ++k, ++lane) {
      const std::size_t f = static_cast<std::size_t>(features[k]);
      const double d = scaled(static_cast<double>(a[f]) - static_cast<double>(b[f]), k, factors);
      partial[lane] += d * d;
    }
    return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
           ((partial[1] + partial[5]) + (partial[3] + partial[7]));
  }

  const float* single_ = nullptr;
  const double* double_ = nullptr;
  std::size_t stride_;
};

}  // namespace bitsieve
