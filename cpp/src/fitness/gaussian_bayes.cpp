#include "bitsieve/fitness/gaussian_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "training_moments.hpp"

namespace bitsieve {

struct GaussianBayesFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;  // weighted
  TrainingMoments all;      // not weighted: scikit-learn's smoothing is not
  std::vector<double> log_prior;  // [n_splits][n_classes]
  bool is_refused = false;  // scikit-learn refuses a split, or calls it undefined
};

GaussianBayesFitness::GaussianBayesFitness(std::shared_ptr<const Table> table, Target target,
                                           SplitSource source, double var_smoothing,
                                           std::vector<double> priors)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      var_smoothing_(var_smoothing),
      priors_(std::move(priors)) {
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      max_abs_[f] = std::max(max_abs_[f], std::abs(values[f * view.ld + i]));
    }
  }
}

// One sum of squares a class; of logarithms those above zero and those below, so that a sum bounds
// its error.
AdditiveFitness::Sums GaussianBayesFitness::sums(const State&, bool) const {
  return {0, 2 * target().n_classes};
}

std::unique_ptr<AdditiveFitness::State> GaussianBayesFitness::make_state(
    const TargetSplits& at) const {
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  auto folds = std::make_unique<Folds>();
  folds->classes = TrainingMoments(at.splits, target().codes, n_classes, target().weights);
  folds->all = TrainingMoments(at.splits, std::vector<std::int32_t>(target().codes.size(), 0), 1, {});
  folds->log_prior.resize(n_splits * n_classes);
  for (std::size_t s = 0; s < n_splits; ++s) {
    double total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const bool is_absent = at.target.train_of_class[s * n_classes + c] == 0;
      const double weight = folds->classes.weight(s, c), prior = at.target.prior[s * n_classes + c];
      total += weight;
      folds->is_refused = folds->is_refused || (is_absent && !priors_.empty()) ||
                          (weight == 0 && prior > 0);
      folds->log_prior[s * n_classes + c] =
          is_absent ? -std::numeric_limits<double>::infinity()
                    : std::log(priors_.empty() ? prior : priors_[c]);
    }
    folds->is_refused = folds->is_refused || !(total > 0);
  }
  return folds;
}

void GaussianBayesFitness::measure(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_splits = at.splits.n_splits;
  Scratch moments(2 * n_splits * lanes), block_values;
  for (std::size_t s = 0; s < n_splits; ++s) {
    params[2 * s] = 0;
    params[2 * s + 1] = static_cast<double>(features.size());
  }
  for_each_block(features.data(), features.size(), 0, n_splits, block_values,
                 [&](const FeatureBlock& block, std::size_t first, std::size_t last) {
    double* variance = moments.data() + n_splits * lanes;
    folds.all.measure(block.values, first, last, moments.data(), variance, scratch);
    for (std::size_t s = first; s < last; ++s) {
      const double* of_split = variance + (s - first) * lanes;
      params[2 * s] = std::max(params[2 * s], *std::max_element(of_split, of_split + block.n));
    }
  });
  for (std::size_t s = 0; s < n_splits; ++s) params[2 * s] *= var_smoothing_;
}

// Of a feature that is constant in a class scikit-learn's variance is the rounding of its sums. That
// must not be seen beside the smoothing.
bool GaussianBayesFitness::declines(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& features,
                                    const double* params) const {
  if (static_cast<const Folds&>(state).is_refused) return true;
  double least = params[0], most = 0;
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) least = std::min(least, params[2 * s]);
  for (const std::int32_t f : features) most = std::max(most, max_abs_[static_cast<std::size_t>(f)]);
  return !(least > 0x1p-60 * most * most);
}

void GaussianBayesFitness::terms(const State& state, const TargetSplits& at,
                                 const FeatureBlock& block, const double* params, bool,
                                 std::size_t first, std::size_t last, double* out,
                                 Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  const std::size_t width = (last - first) * n_classes * lanes;
  Scratch moments(2 * width);
  folds.classes.measure(block.values, first, last, moments.data(), moments.data() + width, scratch);
  for (std::size_t s = first; s < last; ++s) {
    const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[s];
    const auto n_tests = static_cast<std::size_t>(at.splits.test_begin[s + 1] - at.splits.test_begin[s]);
    const double smoothing = params[2 * s];
    double* logs = out + n_classes * n_tests * lanes;
    for (std::size_t c = 0; c < n_classes; ++c, out += n_tests * lanes) {
      double* above = logs + c * lanes;
      double* below = logs + (n_classes + c) * lanes;
      if (folds.classes.weight(s, c) == 0) {
        std::fill_n(out, n_tests * lanes, 0.0);
        std::fill_n(above, lanes, 0.0);
        std::fill_n(below, lanes, 0.0);
        continue;
      }
      const double* mean = moments.data() + ((s - first) * n_classes + c) * lanes;
      const double* variance = mean + width;
      double factor[lanes];
      for (std::size_t l = 0; l < lanes; ++l) {
        const double smoothed = variance[l] + smoothing;
        factor[l] = 0.5 / smoothed;
        const double log = 0.5 * std::log(2 * std::numbers::pi * smoothed);
        above[l] = std::max(log, 0.0);
        below[l] = std::max(-log, 0.0);
      }
      for (std::size_t k = 0; k < n_tests; ++k) {
        const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
        for (std::size_t l = 0; l < lanes; ++l) {
          const double apart = x[l] - mean[l];
          out[k * lanes + l] = apart * apart * factor[l];
        }
      }
    }
    out += 2 * n_classes * lanes;
  }
}

void GaussianBayesFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                                   const SplitSums& sums, const double*, const double*,
                                   const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t above = c * lanes + l, below = (n_classes + c) * lanes + l;
      out.offset[above] = sums.sums[above] - sums.sums[below] - log_prior;
      out.slack[above] = sums.share * (sums.magnitudes[above] + sums.magnitudes[below]);
    }
  }
}

}  // namespace bitsieve
