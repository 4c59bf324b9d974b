// Ridge regression and least squares on the moments of training parts, of many samples.
#include <algorithm>
#include <cmath>

#include "ridge_worker.hpp"

namespace bitsieve {

// Moments know the samples' own weights, not those of classes.
bool RidgeFitness::takes_moments(const RidgePlan& plan) const {
  return !plan.varies && settings_.class_weights.empty();
}

// In multiply-adds. They are taken to be kept where they can be; else each mask makes its own.
double RidgeFitness::cost_of_moments(std::size_t k, const RidgePlan& plan) const {
  const double m = static_cast<double>(k), splits = static_cast<double>(plan.n_splits());
  double n_tests = 0;
  for (const std::size_t tests : plan.n_tests) n_tests += static_cast<double>(tests);
  const bool kept =
      source().is_fixed() && moments_.fits(table().view().n_features, plan.n_splits());
  // Where splits are folds, each sample is added twice.
  const double made = kept ? 0 : std::min(2 * n_tests, plan.n_train) * m * m / 2;
  return made + splits * (2 * m * m + m * m * m / 6) +
         2 * n_tests * m * static_cast<double>(n_targets_);
}

bool RidgeFitness::solve_moments(const RidgePlan& plan, const MaskMoments& moments,
                                 const ScaleView* scales, Own& own) const {
  using namespace ridge_detail;
  const std::size_t k = moments.size(), ld_k = algebra_ld(k);
  const bool centred = settings_.fit_intercept, classes = target().is_classes();
  double* a = grow(own.a, k * ld_k);
  double* inverse_diagonal = grow(own.inverse_diagonal, ld_k);
  double* b = grow(own.coefficients, k * ld_targets_);
  double* lines = grow(own.right, n_targets_ * k);
  double* means = grow(own.means, ld_k + ld_targets_);
  double* offsets = means + ld_k;  // of the targets
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    check_interrupt();
    std::fill_n(a, k * ld_k, 0.0);
    moments.copy(s, a, ld_k);
    moments.means(s, means);
    std::fill_n(b, k * ld_targets_, 0.0);
    for (std::size_t c = 0; c < n_targets_; ++c) {
      // Classes are 1 and -1 to a ridge regression, 1 and 0 to moments.
      const std::size_t t = classes && n_targets_ == 1 ? 1 : c;
      const double mean = moments.target_mean(s, t);
      offsets[c] = classes ? 2 * mean - 1 : mean - own.middle;
      moments.cross(s, t, lines);
      for (std::size_t f = 0; f < k; ++f) b[f * ld_targets_ + c] = (classes ? 2 : 1) * lines[f];
    }
    if (!centred) {
      const double weight = moments.weight(s);
      // Without an intercept values are measured from the scaler's center, or from zero.
      if (scales != nullptr) {
        const double* origin = scales->origin_of(s);
        for (std::size_t f = 0; f < k; ++f) means[f] -= origin[scales->place[f]];
      }
      for (std::size_t i = 0; i < k; ++i) {
        const double left = weight * means[i];
        for (std::size_t j = i; j < k; ++j) a[i * ld_k + j] += left * means[j];
        for (std::size_t c = 0; c < n_targets_; ++c) b[i * ld_targets_ + c] += left * offsets[c];
      }
      std::fill_n(means, ld_k + ld_targets_, 0.0);
      if (scales != nullptr) {
        const double* origin = scales->origin_of(s);
        for (std::size_t f = 0; f < k; ++f) means[f] = origin[scales->place[f]];
      }
    }
    const double* inverse = scales == nullptr ? nullptr : scales->inverse_of(s);
    const auto scale_rows = [&] {  // of b: cross products, then coefficients
      if (inverse == nullptr) return;
      for (std::size_t f = 0; f < k; ++f) {
        const double scale = inverse[scales->place[f]];
        for (std::size_t c = 0; c < ld_targets_; ++c) b[f * ld_targets_ + c] *= scale;
      }
    };
    if (inverse != nullptr) {
      for (std::size_t i = 0; i < k; ++i) {
        const double scale = inverse[scales->place[i]];
        for (std::size_t j = i; j < k; ++j) a[i * ld_k + j] *= scale * inverse[scales->place[j]];
      }
    }
    scale_rows();
    double trace = 0;
    for (std::size_t f = 0; f < k; ++f) {
      trace += a[f * (ld_k + 1)];
      a[f * (ld_k + 1)] += settings_.alpha;
    }
    if (!std::isfinite(trace)) return false;
    if (!(cholesky(a, k, ld_k, inverse_diagonal) <= most_inflation)) return false;
    if (settings_.least_norm) {
      const double least =
          trace_of_inverse(a, inverse_diagonal, k, ld_k, nullptr, grow(own.work, k * ld_k));
      if (!(trace * least <= most_spread)) return false;
    }
    solve_symmetric(a, inverse_diagonal, k, ld_k, b, ld_targets_, ld_targets_);
    scale_rows();
    for (std::size_t c = 0; c < n_targets_; ++c) {
      for (std::size_t f = 0; f < k; ++f) lines[c * k + f] = b[f * ld_targets_ + c];
    }
    const std::size_t n_tests = plan.n_tests[s];
    own.answers.resize(n_tests * n_targets_);
    predict_rows(table(), moments.features(), lines, n_targets_, means,
                 plan.left.data() + plan.left_begin[s], n_tests, own.answers.data());
    double* out = own.predicted.data() + plan.test_begin[s] * ld_targets_;
    for (std::size_t t = 0; t < n_tests; ++t) {
      for (std::size_t c = 0; c < n_targets_; ++c) {
        out[t * ld_targets_ + c] = own.answers[t * n_targets_ + c] + offsets[c];
      }
    }
  }
  return true;
}

}  // namespace bitsieve
