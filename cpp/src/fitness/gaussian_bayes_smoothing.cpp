// The smoothings of masks, and masks that smoothing does not give a good answer.
#include <algorithm>
#include <cmath>

#include "gaussian_folds.hpp"

namespace bitsieve {
namespace {

constexpr double seen_share = 0x1p-60;  // of the square of a value, in a smoothing
constexpr double near_share = 0x1p-24;  // of the least variance, in what a smoothing changes by

}  // namespace

void GaussianBayesFitness::largest_variances(const Folds& folds,
                                             const std::vector<std::int32_t>& features,
                                             std::size_t n_splits, double* out,
                                             std::size_t stride, double* reach) const {
  for (std::size_t s = 0; s < n_splits; ++s) out[s * stride] = 0;
  if (!folds.variances.empty()) {
    std::vector<Word> mask(n_words(), 0);
    for (const std::int32_t f : features) set_bit(mask.data(), static_cast<std::size_t>(f));
    for (std::size_t s = 0; s < n_splits; ++s) {
      const auto& ranked = folds.ranked[s];
      const auto found = std::find_if(ranked.begin(), ranked.end(), [&](std::int32_t f) {
        return get_bit(mask.data(), static_cast<std::size_t>(f));
      });
      if (found != ranked.end()) {
        out[s * stride] = folds.variances[static_cast<std::size_t>(*found) * n_splits + s];
        continue;
      }
      for (const std::int32_t f : features) {
        out[s * stride] =
            std::max(out[s * stride], folds.variances[static_cast<std::size_t>(f) * n_splits + s]);
      }
    }
    return;
  }
  Scratch block_values, whole(folds.all.whole_size());
  alignas(64) double mean[lanes], variance[lanes];
  for_each_block(folds, features.data(), features.size(), block_values,
                 [&](const FeatureBlock& block) {
    folds.all.begin(block.values, whole.data());
    for (std::size_t s = 0; s < n_splits; ++s) {
      folds.all.measure(block.values, whole.data(), s, mean, variance);
      scale_variances(folds, block, s, 1, variance);
      out[s * stride] = std::max(out[s * stride], *std::max_element(variance, variance + block.n));
      if (reach == nullptr || scaler_.is_none()) continue;
      const double* own = reaches_of(folds, block, s);
      reach[s * stride] = std::max(reach[s * stride], *std::max_element(own, own + block.n));
    }
  });
}

void GaussianBayesFitness::measure(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch&) const {
  largest_variances(static_cast<const Folds&>(state), features, at.splits.n_splits, params,
                    gaussian_params, params + 3);
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    params[gaussian_params * s] *= var_smoothing_;
    params[gaussian_params * s + 1] = static_cast<double>(features.size());
    params[gaussian_params * s + 2] = static_cast<const Folds&>(state).steepest;
  }
}

void GaussianBayesFitness::measure_base(const State& state, const TargetSplits& at,
                                        const std::vector<std::int32_t>& features, double* params,
                                        Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  measure(state, at, features, params, scratch);
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) params[gaussian_params * s + 2] = 0;
  Scratch block_values;
  scratch.resize(2 * n_classes * lanes);
  for_each_block(state, features.data(), features.size(), block_values,
                 [&](const FeatureBlock& block) {
    double *mean = scratch.data(), *variance = mean + n_classes * lanes;
    for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
      measure_parts(folds, block, s, mean, variance);
      for (std::size_t c = 0; c < n_classes; ++c) {
        if (folds.classes.weight(s, c) == 0) continue;
        const double least = *std::min_element(variance + c * lanes, variance + c * lanes + block.n);
        double* own = params + gaussian_params * s;
        own[2] = std::max(own[2], 1 / (least + own[0]));
      }
    }
  });
}

void GaussianBayesFitness::measure_flips(const State& state, const TargetSplits& at,
                                         const std::vector<std::int32_t>& base,
                                         const FeatureBlock& flips, const bool* joins,
                                         double* params, Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  Scratch whole;
  alignas(64) double unused[lanes], variance[lanes];
  if (folds.variances.empty()) {
    whole.resize(folds.all.whole_size());
    folds.all.begin(flips.values, whole.data());
  }
  unsigned changed = 0, leaving = 0;
  std::vector<double> before(n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) before[s] = params[gaussian_params * s * lanes];
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* smoothing = params + gaussian_params * s * lanes;
    double* count = smoothing + lanes;
    if (folds.variances.empty()) {
      folds.all.measure(flips.values, whole.data(), s, unused, variance);
      scale_variances(folds, flips, s, 1, variance);
    } else {
      for (std::size_t l = 0; l < lanes; ++l) {
        variance[l] = folds.variances[static_cast<std::size_t>(flips.features[l]) * n_splits + s];
      }
    }
    if (!scaler_.is_none()) {
      double* farthest = smoothing + 3 * lanes;
      const double* reach = reaches_of(folds, flips, s);
      for (std::size_t l = 0; l < flips.n; ++l) farthest[l] = std::max(farthest[l], reach[l]);
    }
    for (std::size_t l = 0; l < flips.n; ++l) {
      const double own = variance[l] * var_smoothing_;
      count[l] += joins[l] ? 1 : -1;
      if (joins[l] && own > smoothing[l]) {
        smoothing[l] = own;
        changed |= 1u << l;
      } else if (!joins[l] && own == smoothing[l]) {
        leaving |= 1u << l;
      }
    }
  }
  for (std::size_t l = 0; l < flips.n; ++l) {
    if ((leaving >> l & 1u) == 0) continue;
    std::vector<std::int32_t> rest = base;
    rest.erase(std::lower_bound(rest.begin(), rest.end(), flips.features[l]));
    std::vector<double> most(n_splits);
    largest_variances(folds, rest, n_splits, most.data(), 1, nullptr);
    for (std::size_t s = 0; s < n_splits; ++s) {
      params[gaussian_params * s * lanes + l] = most[s] * var_smoothing_;
    }
    changed |= 1u << l;
  }
  if (changed == 0) return;
  // The flipped feature's own terms change too.
  scratch.resize(2 * n_classes * lanes);
  double *mean = scratch.data(), *of_class = mean + n_classes * lanes;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* reach = params + (gaussian_params * s + 2) * lanes;
    measure_parts(folds, flips, s, mean, of_class);
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (folds.classes.weight(s, c) == 0) continue;
      for (std::size_t l = 0; l < flips.n; ++l) {
        reach[l] = std::max(reach[l], 1 / (of_class[c * lanes + l] + before[s]));
      }
    }
  }
}

bool GaussianBayesFitness::is_near(const State& state, const double* kept, const double* own,
                                   std::size_t n_splits) const {
  const double steepest = static_cast<const Folds&>(state).steepest;
  for (std::size_t k = 0; k < gaussian_params * n_splits; k += gaussian_params) {
    if (kept[k] == own[k]) continue;
    if (steepest == 0 || !(std::abs(kept[k] - own[k]) * steepest <= near_share)) return false;
  }
  return true;
}

// ---- masks without a good answer ------------------------------------------------------------

double GaussianBayesFitness::most_abs(const std::vector<std::int32_t>& features) const {
  double most = 0;
  for (const std::int32_t f : features) most = std::max(most, max_abs_[static_cast<std::size_t>(f)]);
  return most;
}

// Where the survey kept no reaches, the parameters have that of the mask.
bool GaussianBayesFitness::declines_scaled(const Folds& folds,
                                           const std::vector<std::int32_t>& features,
                                           const double* params, std::size_t stride) const {
  const std::size_t n_splits = folds.splits.n_splits;
  const bool is_kept = !folds.reaches.empty();
  double least = params[0];
  for (std::size_t s = 1; s < n_splits; ++s) {
    least = std::min(least, params[gaussian_params * s * stride]);
  }
  if (is_kept && least > seen_share * folds.largest_reach * folds.largest_reach) return false;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double reach = is_kept ? 0 : params[(gaussian_params * s + 3) * stride];
    for (const std::int32_t f : features) {
      if (!is_kept) break;
      reach = std::max(reach, folds.reaches[static_cast<std::size_t>(f) * n_splits + s]);
    }
    if (!(params[gaussian_params * s * stride] > seen_share * reach * reach)) return true;
  }
  return false;
}

// Of a feature that is constant in a class scikit-learn's variance is the rounding of its sums. That
// must not be seen beside the smoothing.
bool GaussianBayesFitness::declines(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& features,
                                    const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  if (!scaler_.is_none()) return declines_scaled(folds, features, params, 1);
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) {
    least = std::min(least, params[gaussian_params * s]);
  }
  if (least > seen_share * largest_abs_ * largest_abs_) return false;
  const double most = most_abs(features);
  return !(least > seen_share * most * most);
}

bool GaussianBayesFitness::may_decline_near(const State& state, const TargetSplits& at,
                                            const std::vector<std::int32_t>& base,
                                            std::int32_t flip, const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  if (!scaler_.is_none()) {
    std::vector<std::int32_t> both = base;
    if (!std::binary_search(base.begin(), base.end(), flip)) both.push_back(flip);
    return declines_scaled(folds, both, params, lanes);
  }
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) {
    least = std::min(least, params[gaussian_params * s * lanes]);
  }
  if (least > seen_share * largest_abs_ * largest_abs_) return false;
  const double most = std::max(most_abs(base), max_abs_[static_cast<std::size_t>(flip)]);
  return !(least > seen_share * most * most);
}

}  // namespace bitsieve
