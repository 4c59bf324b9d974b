// Behind a scaler: what it makes of variances and of the greatest values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gaussian_folds.hpp"

namespace bitsieve {
namespace {

constexpr double farthest_scale = 1e100;  // its square is a number, as is that of its inverse

}  // namespace

// Of z = (x - center) * inverse the variances are those of x times inverse^2. Where a square is no
// number the inverse is taken for 1, and the reach is infinite.
void GaussianBayesFitness::measure_scales(const Folds& folds, const FeatureBlock& block,
                                          double* inverses, double* reaches) const {
  const std::size_t n_splits = folds.splits.n_splits;
  std::vector<double> center(block.n * n_splits), scale(block.n * n_splits);
  scaler_.measure(block.features, block.n, folds.splits, center.data(), scale.data());
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t k = std::min(l, block.n - 1);
    const auto f = static_cast<std::size_t>(block.features[k]);
    for (std::size_t s = 0; s < n_splits; ++s) {
      double inverse = 1 / scale[k * n_splits + s];
      const double from = center[k * n_splits + s];
      double reach = std::max(std::abs(least_[f] - from), std::abs(greatest_[f] - from)) * inverse;
      if (!(inverse >= 1 / farthest_scale && inverse <= farthest_scale &&
            reach <= no_gaussian_bound)) {
        inverse = 1;
        reach = std::numeric_limits<double>::infinity();
      }
      inverses[s * lanes + l] = inverse;
      reaches[s * lanes + l] = reach;
    }
  }
}

const double* GaussianBayesFitness::inverses_of(const Folds& folds, const FeatureBlock& block,
                                                std::size_t split) const {
  return block.kept + folds.kept_size() + split * lanes;
}

const double* GaussianBayesFitness::reaches_of(const Folds& folds, const FeatureBlock& block,
                                               std::size_t split) const {
  return inverses_of(folds, block, folds.splits.n_splits + split);
}

// Variances [n][lanes] of x become those of z.
void GaussianBayesFitness::scale_variances(const Folds& folds, const FeatureBlock& block,
                                           std::size_t split, std::size_t n,
                                           double* variances) const {
  if (scaler_.is_none()) return;
  const double* inverse = inverses_of(folds, block, split);
  for (std::size_t k = 0; k < n * lanes; ++k) {
    variances[k] = variances[k] * inverse[k % lanes] * inverse[k % lanes];
  }
}

}  // namespace bitsieve
