// Values as scikit-learn's scalers give them after each training part, in every bit, for models that
// see where a value stands (above a threshold, below zero) and not only differences.
//
// A value is (x - first) / second, or x * first + second behind min_max: two roundings each, in
// scikit-learn's order. Both ascend with x, so that bits of values are bits of x above a cutoff.
//
// Cost a (feature, split): FoldScaler's; a cutoff takes some ten values more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/fitness/fold_scaler.hpp"

namespace bitsieve {

class FoldValues {
 public:
  FoldValues(const Table& table, const ScalerOptions& options);

  bool is_none() const { return scaler_.is_none(); }
  bool is_range() const { return options_.kind == ScalerOptions::Kind::min_max; }
  const ScalerOptions& options() const { return options_; }

  // first[k * n_splits + s] and second[k * n_splits + s] of features[k].
  void measure(const std::int32_t* features, std::size_t m, const Splits& splits, double* first,
               double* second, int n_threads = 1) const;

  double of(double x, double first, double second) const {
    return is_range() ? x * first + second : (x - first) / second;
  }
  // Lanes side by side.
  void of_row(const double* x, const double* first, const double* second, std::size_t n,
              double* out) const {
    if (is_range()) {
      for (std::size_t l = 0; l < n; ++l) out[l] = x[l] * first[l] + second[l];
    } else {
      for (std::size_t l = 0; l < n; ++l) out[l] = (x[l] - first[l]) / second[l];
    }
  }

  // A value is above `most` where x is above this; x lies in the range of float32.
  double cutoff(double first, double second, double most) const;

 private:
  ScalerOptions options_;
  FoldScaler scaler_;
};

}  // namespace bitsieve
