// Ridge regression on the kernel matrix of the samples.
#include <algorithm>
#include <cmath>

#include "ridge_worker.hpp"

namespace bitsieve {

double RidgeFitness::make_kernel(const Word* mask, std::size_t k, Own& own) const {
  using Kernel = RidgeSettings::Kernel;
  const std::size_t n = table().view().n_samples, ld = gram_.ld();
  double* gram = own.matrix.gram.data();
  const double gamma = settings_.gamma > 0 ? settings_.gamma : 1 / static_cast<double>(k);
  if (settings_.kernel == Kernel::rbf) {
    own.weights.resize(n);
    for (std::size_t i = 0; i < n; ++i) own.weights[i] = gram[i * (ld + 1)];
    for (std::size_t i = 0; i < n; ++i) {
      gram[i * (ld + 1)] = 1;
      for (std::size_t j = i + 1; j < n; ++j) {
        const double apart = own.weights[i] + own.weights[j] - 2 * gram[i * ld + j];
        gram[i * ld + j] = std::exp(-gamma * std::max(apart, 0.0));
      }
    }
    mirror(gram, n, ld);
  } else if (!settings_.fit_intercept) {
    gram_.shift_of(mask, own.shift);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        double value = own.shift.raw(gram[i * ld + j], i, j);
        if (settings_.kernel == Kernel::polynomial) {
          const double base = gamma * value + settings_.coef0;
          value = 1;
          for (int d = 0; d < settings_.degree; ++d) value *= base;
        }
        gram[i * ld + j] = value;
      }
    }
    mirror(gram, n, ld);
  }
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += gram[i * (ld + 1)];
  return trace;
}

namespace ridge_detail {

// What is added to all elements of a kernel matrix: an intercept leaves no trace of it, and it keeps
// the matrix of centred values, which is singular, away from that.
double level_of(double trace, std::size_t n, double alpha) {
  const double size = static_cast<double>(n), level = trace / (size * size);
  return level > 0 ? level : (alpha > 0 ? alpha : 1.0) / size;
}

}  // namespace ridge_detail

bool RidgeFitness::invert_dual(const RidgePlan& plan, Own& own) const {
  using namespace ridge_detail;
  const std::size_t n = table().view().n_samples, ld = gram_.ld();
  double* a = own.matrix.gram.data();
  double* inverse = grow(own.inverse, n * ld);
  double* inverse_diagonal = grow(own.inverse_diagonal, ld);
  grow(own.weights, n);
  const double level = settings_.fit_intercept ? level_of(own.trace, n, settings_.alpha) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (settings_.fit_intercept) {
      for (std::size_t j = i; j < n; ++j) a[i * ld + j] += level;
    }
    a[i * (ld + 1)] += settings_.alpha / plan.weights[i];
    own.weights[i] = a[i * (ld + 1)];
  }
  if (!(cholesky(a, n, ld, inverse_diagonal) <= most_inflation)) return false;
  invert_symmetric(a, inverse_diagonal, n, ld, grow(own.work, n * ld), inverse);
  double most = 0, least = 0;  // of singular values, squared: trace of the matrix and of its inverse
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = inverse[i * (ld + 1)];
    if (!(own.weights[i] * diagonal <= most_inflation)) return false;
    most += own.weights[i];
    least += diagonal;
  }
  if (settings_.least_norm && !(most * least * plan.weight_ratio <= most_spread)) return false;
  if (settings_.fit_intercept) border_inverse(inverse, n, ld, own.border);
  double* products = grow(own.products, n * ld_targets_);
  multiply_transposed(inverse, ld, own.targets.data(), ld_targets_, n, n, ld_targets_, true, 1.0,
                      products, ld_targets_);
  return true;
}

void RidgeFitness::gather_block(const std::int32_t* left, std::size_t l, const double* inverse,
                                std::size_t ld, const double* products, Own& own) const {
  const std::size_t ld_block = algebra_ld(l);
  double* block = ridge_detail::grow(own.block, l * ld_block);
  double* right = ridge_detail::grow(own.right, l * ld_targets_);
  for (std::size_t i = 0; i < l; ++i) {
    const std::size_t sample = static_cast<std::size_t>(left[i]);
    const double* row = inverse + sample * ld;
    for (std::size_t j = 0; j < l; ++j) block[i * ld_block + j] = row[left[j]];
    std::fill(block + i * ld_block + l, block + (i + 1) * ld_block, 0.0);
    std::copy_n(products + sample * ld_targets_, ld_targets_, right + i * ld_targets_);
  }
}

bool RidgeFitness::solve_dual(const RidgePlan& plan, Own& own) const {
  if (!invert_dual(plan, own)) return false;
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::size_t l = plan.n_left(s);
    gather_block(plan.left.data() + plan.left_begin[s], l, own.inverse.data(), gram_.ld(),
                 own.products.data(), own);
    if (!leave_out(plan, s, algebra_ld(l), 0, own)) return false;
  }
  return true;
}

// f = y - (M_LL)^-1 (M y)_L for the test samples, which are the first of those left out.
bool RidgeFitness::leave_out(const RidgePlan& plan, std::size_t s, std::size_t ld,
                             double most_ratio, Own& own) const {
  using namespace ridge_detail;
  const std::size_t l = plan.n_left(s), n_tests = plan.n_tests[s];
  const std::int32_t* left = plan.left.data() + plan.left_begin[s];
  double* diagonal = grow(own.block_diagonal, ld);
  double *block = own.block.data(), *right = own.right.data();
  if (!(cholesky(block, l, ld, diagonal) <= most_inflation)) return false;
  if (most_ratio > 0) {
    grow(own.weights, l);
    for (std::size_t i = 0; i < l; ++i) own.weights[i] = plan.weights[static_cast<std::size_t>(left[i])];
    double* work = grow(own.work, l * ld);
    if (!(trace_of_inverse(block, diagonal, l, ld, own.weights.data(), work) <= most_ratio)) return false;
  }
  solve_symmetric(block, diagonal, l, ld, right, ld_targets_, ld_targets_);
  double* out = own.predicted.data() + plan.test_begin[s] * ld_targets_;
  for (std::size_t t = 0; t < n_tests; ++t) {
    const double* y = own.targets.data() + static_cast<std::size_t>(left[t]) * ld_targets_;
    for (std::size_t c = 0; c < ld_targets_; ++c) {
      out[t * ld_targets_ + c] = y[c] - right[t * ld_targets_ + c];
    }
  }
  return true;
}

bool RidgeFitness::solve_dual_each(const RidgePlan& plan, Own& own) const {
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    if (!solve_dual_split(plan, s, own.matrix.gram.data(), gram_.ld(), own)) return false;
  }
  return true;
}

bool RidgeFitness::solve_dual_split(const RidgePlan& plan, std::size_t s, const double* kernel,
                                    std::size_t ld_kernel, Own& own) const {
  using namespace ridge_detail;
  check_interrupt();
  const std::size_t m = plan.n_trained(s), ld = algebra_ld(m);
  const std::size_t n_tests = plan.n_tests[s], ld_tests = algebra_ld(n_tests);
  const std::int32_t* train = plan.train.data() + plan.train_begin[s];
  const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
  double* a = grow(own.a, m * ld);
  double* b = grow(own.coefficients, m * ld_targets_);
  double* across = grow(own.block, m * ld_tests);
  double* inverse_diagonal = grow(own.inverse_diagonal, ld);
  double trace = 0;
  for (std::size_t i = 0; i < m; ++i) trace += kernel[static_cast<std::size_t>(train[i]) * (ld_kernel + 1)];
  const double level = settings_.fit_intercept ? level_of(trace, m, settings_.alpha) : 0;
  double most = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t sample = static_cast<std::size_t>(train[i]);
    const double* row = kernel + sample * ld_kernel;
    for (std::size_t j = i; j < m; ++j) a[i * ld + j] = row[train[j]] + level;
    std::fill(a + i * ld + m, a + (i + 1) * ld, 0.0);
    a[i * (ld + 1)] += settings_.alpha / plan.weight(sample, s);
    most += a[i * (ld + 1)];
    std::copy_n(own.targets.data() + sample * ld_targets_, ld_targets_, b + i * ld_targets_);
    for (std::size_t t = 0; t < n_tests; ++t) across[i * ld_tests + t] = row[tests[t]];
  }
  if (!(cholesky(a, m, ld, inverse_diagonal) <= most_inflation)) return false;
  if (settings_.least_norm) {
    const double least = trace_of_inverse(a, inverse_diagonal, m, ld, nullptr, grow(own.work, m * ld));
    if (!(most * least * plan.weight_ratio <= most_spread)) return false;
  }
  own.means.assign(ld_targets_, 0.0);  // intercepts
  if (settings_.fit_intercept) {
    solve_bordered(a, inverse_diagonal, m, ld, b, ld_targets_, ld_targets_, own.border,
                   own.means.data());
  } else {
    solve_symmetric(a, inverse_diagonal, m, ld, b, ld_targets_, ld_targets_);
  }
  double* out = own.predicted.data() + plan.test_begin[s] * ld_targets_;
  for (std::size_t t = 0; t < n_tests; ++t) {
    std::copy_n(own.means.data(), ld_targets_, out + t * ld_targets_);
  }
  multiply_transposed(across, ld_tests, b, ld_targets_, m, n_tests, ld_targets_, false, 1.0, out,
                      ld_targets_);
  return true;
}

}  // namespace bitsieve
