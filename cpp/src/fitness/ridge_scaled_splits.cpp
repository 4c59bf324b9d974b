// Ridge regression of features that are scaled anew for each training part.
#include <algorithm>
#include <cmath>

#include "ridge_worker.hpp"

namespace bitsieve {

// The kernel matrix of a split's Gram matrix.
const double* RidgeFitness::scaled_kernel(const double* gram, std::size_t k, Own& own) const {
  using Kernel = RidgeSettings::Kernel;
  if (settings_.kernel == Kernel::linear) return gram;
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const double gamma = settings_.gamma > 0 ? settings_.gamma : 1 / static_cast<double>(k);
  double* kernel = ridge_detail::grow(own.inverse, n * ld);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      double value = 1;
      if (settings_.kernel == Kernel::rbf) {
        const double apart = gram[i * (ld + 1)] + gram[j * (ld + 1)] - 2 * gram[i * ld + j];
        if (j > i) value = std::exp(-gamma * std::max(apart, 0.0));
      } else {
        const double base = gamma * gram[i * ld + j] + settings_.coef0;
        for (int d = 0; d < settings_.degree; ++d) value *= base;
      }
      kernel[i * ld + j] = value;
    }
  }
  mirror(kernel, n, ld);
  return kernel;
}

bool RidgeFitness::solve_scaled(const Word* mask, const TargetSplits& at, const RidgePlan& plan,
                                Way way, int n_threads, Own& own) const {
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const std::size_t k = own.features.size();
  const ScaleView view = scales_.view(own.features, at, own.scales, n_threads);
  if (way == Way::moments) {
    return solve_moments(plan, moments_.make(mask, at, n_threads, own.moments), &view, own);
  }
  if (way == Way::primal || way == Way::primal_each) {
    const double* values = table().doubles(n_threads);
    double* columns = ridge_detail::grow(own.columns, k * ld);
    for (std::size_t s = 0; s < plan.n_splits(); ++s) {
      for (std::size_t f = 0; f < k; ++f) {
        const std::size_t place = static_cast<std::size_t>(view.place[f]);
        const double origin = view.origin_of(s)[place], inverse = view.inverse_of(s)[place];
        const double* row = values + static_cast<std::size_t>(own.features[f]) * ld;
        for (std::size_t i = 0; i < n; ++i) columns[f * ld + i] = (row[i] - origin) * inverse;
        std::fill(columns + f * ld + n, columns + (f + 1) * ld, 0.0);
      }
      if (!solve_primal_split(plan, s, own)) return false;
    }
    return true;
  }
  const bool is_plain = settings_.kernel == RidgeSettings::Kernel::linear &&
                        settings_.fit_intercept && settings_.alpha > 0;
  if (is_plain && ScaledRidge::is_worth(plan, n, n_targets_)) {
    const ScaledRidgeProblem problem{*columns_,     own.features,        view,
                                     plan,          settings_.alpha,     own.targets.data(),
                                     n_targets_,    ld_targets_};
    if (own.side_by_side.solve(problem, own.predicted.data())) return true;
  }
  own.scaled.begin(own.features, view, plan.n_splits(), n_threads);
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const double* gram = own.scaled.of(s);
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += gram[i * (ld + 1)];
    if (!std::isfinite(trace)) return false;
    if (!solve_dual_split(plan, s, scaled_kernel(gram, k, own), ld, own)) return false;
  }
  return true;
}

}  // namespace bitsieve
