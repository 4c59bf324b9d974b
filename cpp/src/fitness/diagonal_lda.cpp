#include "bitsieve/fitness/diagonal_lda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"
#include "diagonal_folds.hpp"

namespace bitsieve {
namespace {

constexpr double never_predicted = std::numeric_limits<double>::infinity();
constexpr double unbounded = 1e300;

// As numpy.isclose with its tolerances.
bool is_alike_prior(double prior, double other) { return std::abs(prior - other) <= 1e-8 + 1e-5 * other; }

}  // namespace

DiagonalFitness::DiagonalFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source, DiagonalSettings settings,
                                 const ScalerOptions& scaler)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      settings_(std::move(settings)),
      scaler_(this->table(), scaler),
      uses_scales_(!scaler_.is_none() && (settings_.plain || settings_.shrink > 0)) {
  if (is_of_means()) return;
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  is_whole_.assign(view.n_features, 1);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      const double x = values[f * view.ld + i];
      max_abs_[f] = std::max(max_abs_[f], std::abs(x));
      is_whole_[f] &= std::nearbyint(x) == x ? 1 : 0;
    }
    if (max_abs_[f] > 0x1p40) is_whole_[f] = 0;
  }
}

std::unique_ptr<AdditiveFitness::State> DiagonalFitness::make_state(const TargetSplits& at) const {
  using Priors = DiagonalSettings::Priors;
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  auto folds = std::make_unique<Folds>();
  folds->classes = TrainingMoments(at.splits, target().codes, n_classes, {});
  folds->log_prior.assign(n_splits * n_classes, -never_predicted);
  folds->n_train.resize(n_splits);
  folds->n_present.resize(n_splits);
  folds->is_plain.resize(n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) {
    const std::int32_t* sizes = at.target.train_of_class.data() + s * n_classes;
    const auto n_present = static_cast<double>(
        n_classes - static_cast<std::size_t>(std::count(sizes, sizes + n_classes, 0)));
    const double n_train = at.splits.n_train[s];
    bool all_alike = true;
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (sizes[c] == 0) {
        folds->is_refused = folds->is_refused || settings_.priors == Priors::given;
        continue;
      }
      const double prior = settings_.priors == Priors::given    ? settings_.given[c]
                           : settings_.priors == Priors::shares ? sizes[c] / n_train
                                                                : 1 / n_present;
      all_alike = all_alike && is_alike_prior(prior, 1 / n_present);
      folds->log_prior[s * n_classes + c] = std::log(prior);
    }
    folds->n_train[s] = n_train;
    folds->n_present[s] = n_present;
    folds->is_plain[s] = settings_.plain && all_alike ? 1 : 0;
    folds->any_divided = folds->any_divided || folds->is_plain[s] == 0;
    const bool needs_spread = !is_of_means() && n_train <= n_present;
    folds->is_refused = folds->is_refused || n_present < 2 || needs_spread;
  }
  if (uses_scales_) folds->splits = at.splits;
  return folds;
}

// Kept are the moments of the whole table, and of each split the inverse scales, [n_splits][lanes].
std::size_t DiagonalFitness::block_size(const State& state) const {
  const Folds& folds = static_cast<const Folds&>(state);
  return folds.classes.whole_size() + folds.splits.n_splits * lanes;
}

void DiagonalFitness::begin_block(const State& state, const FeatureBlock& block) const {
  const Folds& folds = static_cast<const Folds&>(state);
  folds.classes.begin(block.values, block.kept);
  if (uses_scales_) measure_scales(folds, block, block.kept + folds.classes.whole_size());
}

void DiagonalFitness::measure_block(const Folds& folds, const FeatureBlock& block, std::size_t s,
                                    Moments& moments, Scratch& scratch) const {
  const std::size_t n_classes = target().n_classes;
  scratch.resize(2 * n_classes * lanes);
  moments.mean = scratch.data();
  moments.variance = moments.mean + n_classes * lanes;
  folds.classes.measure(block.values, block.kept, s, moments.mean, moments.variance);
  std::fill_n(moments.inverse, lanes, 1.0);
  if (uses_scales_) {
    std::copy_n(block.kept + folds.classes.whole_size() + s * lanes, lanes, moments.inverse);
  }
  if (is_of_means()) return;
  const double freedom = 1 / (folds.n_train[s] - folds.n_present[s]), share = 1 / folds.n_train[s];
  alignas(64) double squares[lanes] = {}, sum[lanes] = {}, least[lanes], most[lanes];
  std::fill_n(least, lanes, never_predicted);
  std::fill_n(most, lanes, -never_predicted);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double mean = moments.mean[c * lanes + l];
      squares[l] += size * std::max(moments.variance[c * lanes + l], 0.0);
      sum[l] += size * mean;
      least[l] = std::min(least[l], mean);
      most[l] = std::max(most[l], mean);
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    moments.within[l] = squares[l] * freedom;
    moments.centre[l] = sum[l] * share;
    moments.total[l] = squares[l];
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double apart = moments.mean[c * lanes + l] - moments.centre[l];
      moments.total[l] += size * (apart * apart);
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    moments.total[l] = squares[l] == 0 && least[l] == most[l] ? 0.0 : moments.total[l] * share;
  }
}

void DiagonalFitness::terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
                            const double* params, bool is_reference, std::size_t s,
                            double* out, Scratch& scratch) const {
  terms_of(state, block, params, is_reference, s,
           at.splits.test_samples.data() + at.splits.test_begin[s], tests_of(at.splits, s), out,
           scratch);
}

void DiagonalFitness::terms_of(const State& state, const FeatureBlock& block, const double* params,
                               bool is_reference, std::size_t s, const std::int32_t* tests,
                               std::size_t n_tests, double* out, Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const AdditiveKernels& kernel = *kernels().additive;
  const std::size_t n_classes = target().n_classes;
  alignas(64) const double none[lanes] = {};
  Moments moments;
  measure_block(folds, block, s, moments, scratch);
  alignas(64) double factor[lanes], reach[lanes], mean[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    if (folds.is_plain[s] != 0) {
      factor[l] = moments.inverse[l] * moments.inverse[l];
    } else {
      const double squared = moments.within[l] + settings_.smoothing * moments.total[l];
      factor[l] = (settings_.halved ? 0.5 : 1) / squared;
      if (settings_.smoothing > 0 && moments.total[l] == 0) factor[l] = 0;
      if (settings_.smoothing == 0 && squared == 0) factor[l] = 1;
    }
    reach[l] = settings_.shrink > 0
                   ? std::sqrt(moments.within[l]) + params[0] / moments.inverse[l]
                   : 0;
  }
  // Of sums at a reference median: slopes, raised to be no less than 0, and what bounds need.
  const bool derives = is_reference && settings_.shrink > 0;
  const std::size_t width = n_classes * n_tests * lanes;
  double* raised = out + 2 * width;
  double* bent = raised + n_classes * lanes;
  double* curved = bent + n_classes * lanes;
  if (derives) std::fill_n(out + width, width + 3 * n_classes * lanes, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c, out += n_tests * lanes) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) {
      std::fill_n(out, n_tests * lanes, 0.0);
      continue;
    }
    std::copy_n(moments.mean + c * lanes, lanes, mean);
    alignas(64) double slope[lanes] = {}, most[lanes] = {};
    if (settings_.shrink > 0) {
      const double share = settings_.shrink * std::sqrt(1 / size - 1 / folds.n_train[s]);
      for (std::size_t l = 0; l < lanes; ++l) {
        const double apart = mean[l] - moments.centre[l];
        const double left = std::max(std::abs(apart) - share * reach[l], 0.0);
        mean[l] = moments.centre[l] + std::copysign(left, apart);
        if (!derives) continue;
        const double step = share / moments.inverse[l];  // of the mean, for each of the median
        const bool bends = std::abs(std::abs(apart) - share * reach[l]) <=
                           step * folds.radius[s] * (1 + 0x1p-30) + 0x1p-40 * std::abs(apart);
        slope[l] = left > 0 ? std::copysign(2 * step * factor[l], apart) : 0.0;
        curved[c * lanes + l] = left > 0 || bends ? factor[l] * step * step : 0.0;
        bent[c * lanes + l] = bends ? 2 * step * factor[l] : 0.0;
      }
    }
    kernel.gaussian_terms(block.values, tests, n_tests, mean, factor, none, out, nullptr, nullptr);
    if (!derives) continue;
    for (std::size_t k = 0; k < n_tests; ++k) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) most[l] = std::max(most[l], std::abs(x[l] - mean[l]));
    }
    for (std::size_t k = 0; k < n_tests; ++k) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) {
        out[width + k * lanes + l] = std::abs(slope[l]) * most[l] + slope[l] * (x[l] - mean[l]);
      }
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      raised[c * lanes + l] = std::abs(slope[l]) * most[l];
      bent[c * lanes + l] *= most[l];
    }
  }
}

void DiagonalFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                              const SplitSums& sums, const double* params,
                              const double* reference, const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    double offset = (settings_.halved ? -1 : -2) * log_prior;
    if (folds.is_plain[split] != 0 && offset != never_predicted) offset = 0;
    std::fill_n(out.offset + c * lanes, lanes, offset);
    if (!sums.has_reference || settings_.shrink == 0) continue;
    // A feature whose mean stops or begins to move within the change is wrong by twice its slope.
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t raised = c * lanes + l, rows = n_classes * lanes;
      const double change = params[l] - reference[0], size = std::abs(change);
      out.factor[raised] = change;
      out.offset[raised] -= change * sums.sums[raised];
      out.slack[raised] = sums.share * size * sums.magnitudes[raised] +
                          1.001 * size * (2 * sums.sums[rows + raised] +
                                          size * sums.sums[2 * rows + raised]);
      if (!(size <= folds.radius[split])) out.slack[raised] = unbounded;
    }
  }
}

void DiagonalFitness::values(const double* costs, double* out) const {
  if (settings_.kind == Outputs::Kind::probabilities) return AdditiveFitness::values(costs, out);
  if (n_values() == 1) {
    out[0] = costs[0] - costs[1];
  } else {
    for (std::size_t c = 0; c < target().n_classes; ++c) out[c] = -costs[c];
  }
}

}  // namespace bitsieve
