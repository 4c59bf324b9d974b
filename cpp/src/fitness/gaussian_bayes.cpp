#include "bitsieve/fitness/gaussian_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "gaussian_folds.hpp"

namespace bitsieve {

GaussianBayesFitness::GaussianBayesFitness(std::shared_ptr<const Table> table, Target target,
                                           SplitSource source, double var_smoothing,
                                           std::vector<double> priors,
                                           const ScalerOptions& scaler)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      var_smoothing_(var_smoothing),
      priors_(std::move(priors)),
      scaler_(this->table(), scaler) {
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      max_abs_[f] = std::max(max_abs_[f], std::abs(values[f * view.ld + i]));
    }
    largest_abs_ = std::max(largest_abs_, max_abs_[f]);
  }
  if (scaler_.is_none()) return;
  least_.resize(view.n_features);
  greatest_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    const double* row = values + f * view.ld;
    least_[f] = *std::min_element(row, row + view.n_samples);
    greatest_[f] = *std::max_element(row, row + view.n_samples);
  }
}

std::size_t GaussianBayesFitness::n_params() const { return gaussian_params; }

// One sum of squares a class and one of logarithms, then the derivatives of both, and what bounds
// the rest.
AdditiveFitness::Sums GaussianBayesFitness::sums(const State& state, bool is_reference) const {
  const std::size_t n_classes = target().n_classes;
  if (is_reference && static_cast<const Folds&>(state).has_derivatives) {
    return {n_classes, 3 * n_classes};
  }
  return {0, n_classes};
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
  if (!scaler_.is_none()) folds->splits = at.splits;
  return folds;
}

// ---- terms ----------------------------------------------------------------------------------

std::size_t GaussianBayesFitness::block_size(const State& state) const {
  const Folds& folds = static_cast<const Folds&>(state);
  return folds.kept_size() + 2 * folds.splits.n_splits * lanes;
}

// Kept are the moments of the classes in all splits, or what they are made of, and behind a scaler of each split the inverse scale and
// the greatest |z| of the table, [n_splits][lanes] each.

void GaussianBayesFitness::begin_block(const State& state, const FeatureBlock& block) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.moments.empty()) {
    folds.classes.begin(block.values, block.kept);
  } else {
    const double* row[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
      row[l] = folds.moments.data() +
               static_cast<std::size_t>(block.features[l]) * folds.moment_rows();
    }
    for (std::size_t k = 0; k < folds.moment_rows(); ++k) {
      for (std::size_t l = 0; l < lanes; ++l) block.kept[k * lanes + l] = row[l][k];
    }
  }
  if (scaler_.is_none()) return;
  const std::size_t n_splits = folds.splits.n_splits;
  double* inverses = block.kept + folds.kept_size();
  double* reaches = inverses + n_splits * lanes;
  if (folds.inverses.empty()) return measure_scales(folds, block, inverses, reaches);
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t row = static_cast<std::size_t>(block.features[l]) * n_splits;
    for (std::size_t s = 0; s < n_splits; ++s) {
      inverses[s * lanes + l] = folds.inverses[row + s];
      reaches[s * lanes + l] = folds.reaches[row + s];
    }
  }
}

void GaussianBayesFitness::measure_parts(const Folds& folds, const FeatureBlock& block,
                                         std::size_t split, double* mean,
                                         double* variance) const {
  const std::size_t rows = target().n_classes * lanes;
  if (!folds.moments.empty()) {
    const double* kept = block.kept + 2 * split * rows;
    std::copy_n(kept, rows, mean);
    std::copy_n(kept + rows, rows, variance);
    return;
  }
  folds.classes.measure(block.values, block.kept, split, mean, variance);
  scale_variances(folds, block, split, target().n_classes, variance);
}

// Logarithms are told relative to the least of the classes, which changes no difference between
// classes and leaves them not negative. At reference parameters they are added to the squares, so
// that what classes share is taken off both at once; their own sums are then of left-out features
// alone. Behind a scaler variances and derivatives are those of z; squares are made of x.
void GaussianBayesFitness::terms(const State& state, const TargetSplits& at,
                                 const FeatureBlock& block, const double* params,
                                 bool is_reference, std::size_t split, double* out,
                                 Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const AdditiveKernels& kernel = *kernels().additive;
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const bool derives = is_reference && folds.has_derivatives;
  scratch.resize(4 * rows);
  double *mean = scratch.data(), *variance = mean + rows, *halves = variance + rows;
  double* logs = halves + rows;
  const double* inverse = scaler_.is_none() ? nullptr : inverses_of(folds, block, split);
  measure_parts(folds, block, split, mean, variance);
  double least[lanes];
  std::fill_n(least, lanes, no_gaussian_bound);
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (folds.classes.weight(split, c) == 0) continue;
    kernel.gaussian_weights(variance + c * lanes, params[0], halves + c * lanes, logs + c * lanes);
    for (std::size_t l = 0; l < lanes; ++l) least[l] = std::min(least[l], logs[c * lanes + l]);
  }
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  const std::size_t width = n_tests * lanes;
  alignas(64) const double none[lanes] = {};
  double* slopes = out + n_classes * width;
  double* sums = derives ? slopes + n_classes * width : slopes;
  std::fill_n(sums, (derives ? 3 : 1) * rows, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    double* slope = derives ? slopes + c * width : nullptr;
    if (folds.classes.weight(split, c) == 0) {
      std::fill_n(out + c * width, width, 0.0);
      if (derives) std::fill_n(slope, width, 0.0);
      continue;
    }
    double* log = is_reference ? logs + c * lanes : sums + c * lanes;
    for (std::size_t l = 0; l < lanes; ++l) log[l] = logs[c * lanes + l] - least[l];
    double* rest = derives ? sums + 2 * rows + c * lanes : nullptr;
    alignas(64) double factors[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
      factors[l] = halves[c * lanes + l];
      if (inverse != nullptr) factors[l] = factors[l] * inverse[l] * inverse[l];
    }
    kernel.gaussian_terms(block.values, tests, n_tests, mean + c * lanes, factors,
                          is_reference ? log : none, out + c * width, slope, rest);
    if (!derives) continue;
    if (inverse != nullptr) {
      for (std::size_t k = 0; k < width; ++k) {
        slope[k] = slope[k] / inverse[k % lanes] / inverse[k % lanes];
      }
      for (std::size_t l = 0; l < lanes; ++l) rest[l] = rest[l] / inverse[l] / inverse[l];
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      const double half = halves[c * lanes + l];
      sums[rows + c * lanes + l] = half;
      rest[l] = 2 * half * (rest[l] + 0.5 * half);
    }
  }
}

// With e' - e = d and x = d / (variance + e): a term of Q changes by x of itself at most, to first
// order by d times its derivative, and the rest is below x^2 / (1 - x) of it; of L likewise by x / 2,
// and below x^2 / 4 (1 - x), a feature. The reach is the greatest 1 / (variance + e).
void GaussianBayesFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                                   const SplitSums& sums, const double* params,
                                   const double* reference, const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const bool derives = sums.has_reference && folds.has_derivatives;
  double change[lanes] = {}, relative[lanes] = {}, slack[lanes] = {}, rest[lanes] = {};
  if (reference != nullptr) {
    for (std::size_t l = 0; l < lanes; ++l) {
      change[l] = params[l] - reference[0];
      const double reach = sums.has_reference ? reference[2] : params[2 * lanes + l];
      const double x = std::abs(change[l]) * reach;
      if (x >= 0.25) {
        relative[l] = slack[l] = no_gaussian_bound;
      } else if (!derives) {
        relative[l] = x / (1 - x);
        slack[l] = 0.5 * relative[l] * params[lanes + l];
      }
      rest[l] = change[l] * change[l] / (1 - std::min(x, 0.25)) * (1 + 2 * sums.share);
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t at = c * lanes + l;
      out.offset[at] = sums.sums[at] - log_prior;
      out.relative[at] = relative[l];
      out.slack[at] = slack[l] + sums.share * sums.magnitudes[at];
      if (!derives) continue;
      out.factor[at] = -change[l];
      out.offset[at] += change[l] * sums.sums[rows + at];
      out.slack[at] += sums.share * std::abs(change[l]) * sums.magnitudes[rows + at] +
                       rest[l] * sums.sums[2 * rows + at];
    }
  }
}

}  // namespace bitsieve
