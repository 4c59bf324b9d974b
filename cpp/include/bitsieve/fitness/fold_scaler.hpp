// What scikit-learn's scalers learn of each training part, feature by feature: a center and a scale,
// z = (x - center) / scale.
//
// In float64, of the user's own values, by scikit-learn's formulas in scikit-learn's order: means and
// variances have the bits of StandardScaler on the training part of a float64 table of two features
// or more, medians and quantiles those of RobustScaler. So it agrees which features are constant, to
// the last bit of what it takes for one. Samples are added in ascending order, in every split anew:
// the whole less the test part would be cheaper for many folds, but have other bits and lose digits
// where the test part holds what varies.
//
// Cost a (feature, split): five multiply-adds a sample for standard, two comparisons for min_max and
// max_abs, one sort a feature and a few steps a left-out sample for robust. Limit: eight splits an
// instruction, two a cycle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/splits.hpp"

namespace bitsieve {

struct ScalerOptions {
  enum class Kind : std::uint8_t { none, standard, min_max, max_abs, robust };

  Kind kind = Kind::none;
  double low = 0, high = 1;  // min_max: the range; robust: the quantiles, in [0, 1]
  bool center = true, scale = true;  // standard, robust
  double divisor = 1;  // robust: of the scale, where a normal feature shall have a variance of 1
};

class FoldScaler {
 public:
  FoldScaler(const Table& table, const ScalerOptions& options) : table_(table), options_(options) {}

  bool is_none() const { return options_.kind == ScalerOptions::Kind::none; }
  const ScalerOptions& options() const { return options_; }

  // center[k * n_splits + s] and scale[k * n_splits + s] of features[k]; 0 and 1 where there is no
  // scaler. Neither depends on the other features or on the threads. `middle`, where wanted, is a
  // value amid those of the training part, whatever the center: differences and centred products are
  // the same from there, and lose no digits where the center is far from the values.
  void measure(const std::int32_t* features, std::size_t m, const Splits& splits, double* center,
               double* scale, int n_threads = 1, double* middle = nullptr) const;

 private:
  const Table& table_;
  ScalerOptions options_;
};

}  // namespace bitsieve
