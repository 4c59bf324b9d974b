// Ridge regression and least squares on the products of the features, of masks that have fewer
// features than there are samples.
#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "ridge_worker.hpp"

namespace bitsieve {

// columns[k][ld]: the mask's columns, centred where there is an intercept, else as they are.
void RidgeFitness::gather_columns(Own& own) const {
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  double* out = ridge_detail::grow(own.columns, own.features.size() * ld);
  const CenteredColumns* centered = settings_.fit_intercept ? columns_ : nullptr;
  for (const std::int32_t feature : own.features) {
    const std::size_t f = static_cast<std::size_t>(feature);
    if (centered != nullptr) {
      centered->copy(f, out);
    } else {
      std::copy_n(table().doubles(1) + f * ld, n, out);
      std::fill(out + n, out + ld, 0.0);
    }
    out += ld;
  }
}

namespace ridge_detail {

void transpose(const double* columns, std::size_t ld, std::size_t k, const std::int32_t* samples,
               std::size_t m, const double* factors, double* rows, std::size_t ld_rows) {
  constexpr std::size_t tile = 16;
  for (std::size_t i0 = 0; i0 < m; i0 += tile) {
    const std::size_t i1 = std::min(i0 + tile, m);
    for (std::size_t f = 0; f < k; ++f) {
      const double* column = columns + f * ld;
      for (std::size_t i = i0; i < i1; ++i) {
        const double value = column[samples == nullptr ? i : static_cast<std::size_t>(samples[i])];
        rows[i * ld_rows + f] = factors == nullptr ? value : factors[i] * value;
      }
    }
    for (std::size_t i = i0; i < i1; ++i) {
      std::fill(rows + i * ld_rows + k, rows + (i + 1) * ld_rows, 0.0);
    }
  }
}

}  // namespace ridge_detail

bool RidgeFitness::factor_primal(const RidgePlan& plan, Own& own) const {
  using namespace ridge_detail;
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const std::size_t k = own.features.size(), ld_k = algebra_ld(k);
  double* columns = own.columns.data();
  own.total = 0;
  for (std::size_t i = 0; i < n; ++i) own.total += plan.weights[i];
  if (settings_.fit_intercept && plan.is_weighted) {
    for (std::size_t f = 0; f < k; ++f) {
      double* column = columns + f * ld;
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) mean += plan.weights[i] * column[i];
      mean /= own.total;
      for (std::size_t i = 0; i < n; ++i) column[i] -= mean;
    }
  }
  double* roots = grow(own.weights, ld);
  for (std::size_t i = 0; i < n; ++i) roots[i] = std::sqrt(plan.weights[i]);
  double* rows = grow(own.rows, n * ld_k);
  transpose(columns, ld, k, nullptr, n, plan.is_weighted ? roots : nullptr, rows, ld_k);
  double* a = grow(own.a, k * ld_k);
  multiply_self(rows, n, k, ld_k, a);
  own.trace = 0;
  double* diagonal = grow(own.right, k);
  for (std::size_t f = 0; f < k; ++f) {
    own.trace += a[f * (ld_k + 1)];
    a[f * (ld_k + 1)] += settings_.alpha;
    diagonal[f] = a[f * (ld_k + 1)];
  }
  if (!std::isfinite(own.trace)) return false;
  double* inverse_diagonal = grow(own.inverse_diagonal, ld_k);
  return cholesky(a, k, ld_k, inverse_diagonal) <= most_inflation;
}

// V = U^-T Z'W in own.columns and M y in own.products, with M = W - V'V - ww' / 1'w.
void RidgeFitness::project_primal(const RidgePlan& plan, Own& own) const {
  using namespace ridge_detail;
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const std::size_t k = own.features.size(), ld_k = algebra_ld(k);
  double* columns = own.columns.data();
  if (plan.is_weighted) {
    for (std::size_t f = 0; f < k; ++f) {
      for (std::size_t i = 0; i < n; ++i) columns[f * ld + i] *= plan.weights[i];
    }
  }
  solve_lower(own.a.data(), own.inverse_diagonal.data(), k, ld_k, columns, ld, ld);
  const AlgebraKernels& kernel = *kernels().algebra;
  const double* targets = own.targets.data();
  double* inner = grow(own.coefficients, k * ld_targets_);  // V y
  std::fill_n(inner, k * ld_targets_, 0.0);
  kernel.add_products({columns, ld, 1}, targets, ld_targets_, n, k, ld_targets_, 1.0, inner,
                      ld_targets_);
  double* products = grow(own.products, n * ld_targets_);
  own.means.assign(ld_targets_, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < ld_targets_; ++c) {
      own.means[c] += plan.weights[i] * targets[i * ld_targets_ + c];
    }
  }
  for (std::size_t c = 0; c < ld_targets_; ++c) own.means[c] = settings_.fit_intercept ? own.means[c] / own.total : 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < ld_targets_; ++c) {
      products[i * ld_targets_ + c] = plan.weights[i] * (targets[i * ld_targets_ + c] - own.means[c]);
    }
  }
  multiply_transposed(columns, ld, inner, ld_targets_, k, n, ld_targets_, false, -1.0, products,
                      ld_targets_);
}

bool RidgeFitness::solve_primal(const RidgePlan& plan, Own& own) const {
  using namespace ridge_detail;
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const std::size_t k = own.features.size(), ld_k = algebra_ld(k);
  if (!factor_primal(plan, own)) return false;
  // What is predicted would be lost beside what is left.
  if (own.trace < least_share * settings_.alpha) return solve_primal_each(plan, own);
  double most_ratio = 0;
  if (settings_.least_norm) {
    const double least = trace_of_inverse(own.a.data(), own.inverse_diagonal.data(), k, ld_k, nullptr, grow(own.work, k * ld_k));
    most_ratio = most_spread / (own.trace * least * plan.weight_ratio);
    if (!(most_ratio >= 1)) return false;
  }
  project_primal(plan, own);
  const double *columns = own.columns.data(), *products = own.products.data();
  const bool whole = plan.square_left >= static_cast<double>(n * n);
  if (whole) multiply_self(columns, k, n, ld, grow(own.inverse, n * ld));
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    const std::size_t l = plan.n_left(s), ld_block = algebra_ld(l);
    double* block = grow(own.block, l * ld_block);
    double* right = grow(own.right, l * ld_targets_);
    if (!whole) {
      double* gathered = grow(own.rows, k * ld_block);
      for (std::size_t f = 0; f < k; ++f) {
        for (std::size_t j = 0; j < l; ++j) gathered[f * ld_block + j] = columns[f * ld + static_cast<std::size_t>(left[j])];
        std::fill(gathered + f * ld_block + l, gathered + (f + 1) * ld_block, 0.0);
      }
      multiply_self(gathered, k, l, ld_block, block);
    }
    for (std::size_t i = 0; i < l; ++i) {
      const std::size_t sample = static_cast<std::size_t>(left[i]);
      const double weight = plan.weights[sample];
      double* row = block + i * ld_block;
      if (whole) {
        const double* from = own.inverse.data() + sample * ld;
        for (std::size_t j = 0; j < l; ++j) row[j] = from[left[j]];
        std::fill(row + l, row + ld_block, 0.0);
      }
      for (std::size_t j = 0; j < l; ++j) {
        const double other = plan.weights[static_cast<std::size_t>(left[j])];
        row[j] = -row[j] - (settings_.fit_intercept ? weight * other / own.total : 0.0);
      }
      row[i] += weight;
      std::copy_n(products + sample * ld_targets_, ld_targets_, right + i * ld_targets_);
    }
    if (!leave_out(plan, s, ld_block, most_ratio, own)) return false;
  }
  return true;
}

bool RidgeFitness::solve_primal_each(const RidgePlan& plan, Own& own) const {
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    if (!solve_primal_split(plan, s, own)) return false;
  }
  return true;
}

bool RidgeFitness::solve_primal_split(const RidgePlan& plan, std::size_t s, Own& own) const {
  using namespace ridge_detail;
  constexpr std::size_t chunk = 512;  // samples laid out by row at a time
  const std::size_t ld = table().view().ld, k = own.features.size(), ld_k = algebra_ld(k);
  const double* columns = own.columns.data();
  double* a = grow(own.a, k * ld_k);
  double* inverse_diagonal = grow(own.inverse_diagonal, ld_k);
  double* b = grow(own.coefficients, k * ld_targets_);
  double* means = grow(own.means, ld_k + ld_targets_);
  double* offsets = means + ld_k;  // of the targets
  const std::size_t m = plan.n_trained(s), n_tests = plan.n_tests[s];
  const std::int32_t* train = plan.train.data() + plan.train_begin[s];
  const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
  std::fill_n(means, ld_k + ld_targets_, 0.0);
  if (settings_.fit_intercept) {
    double total = 0;
    for (std::size_t i = 0; i < m; ++i) total += plan.weight(static_cast<std::size_t>(train[i]), s);
    for (std::size_t f = 0; f < k; ++f) {
      double sum = 0;
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t sample = static_cast<std::size_t>(train[i]);
        sum += plan.weight(sample, s) * columns[f * ld + sample];
      }
      means[f] = sum / total;
    }
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t sample = static_cast<std::size_t>(train[i]);
      for (std::size_t c = 0; c < ld_targets_; ++c) {
        offsets[c] += plan.weight(sample, s) * own.targets[sample * ld_targets_ + c];
      }
    }
    for (std::size_t c = 0; c < ld_targets_; ++c) offsets[c] /= total;
  }
  std::fill_n(b, k * ld_targets_, 0.0);
  for (std::size_t begin = 0; begin < m; begin += chunk) {
    check_interrupt();
    const std::size_t part = std::min(chunk, m - begin);
    double* rows = grow(own.rows, chunk * ld_k);
    double* right = grow(own.right, chunk * ld_targets_);
    transpose(columns, ld, k, train + begin, part, nullptr, rows, ld_k);
    for (std::size_t i = 0; i < part; ++i) {
      const std::size_t sample = static_cast<std::size_t>(train[begin + i]);
      const double root = std::sqrt(plan.weight(sample, s));
      double* row = rows + i * ld_k;
      for (std::size_t f = 0; f < k; ++f) row[f] = root * (row[f] - means[f]);
      for (std::size_t c = 0; c < ld_targets_; ++c) {
        right[i * ld_targets_ + c] = root * (own.targets[sample * ld_targets_ + c] - offsets[c]);
      }
    }
    add_self(rows, part, k, ld_k, begin == 0, a);
    multiply_transposed(rows, ld_k, right, ld_targets_, part, k, ld_targets_, false, 1.0, b,
                        ld_targets_);
  }
  double trace = 0;
  for (std::size_t f = 0; f < k; ++f) {
    trace += a[f * (ld_k + 1)];
    a[f * (ld_k + 1)] += settings_.alpha;
  }
  if (!std::isfinite(trace)) return false;
  if (!(cholesky(a, k, ld_k, inverse_diagonal) <= most_inflation)) return false;
  if (settings_.least_norm) {
    const double least = trace_of_inverse(a, inverse_diagonal, k, ld_k, nullptr, grow(own.work, k * ld_k));
    if (!(trace * least <= most_spread)) return false;
  }
  solve_symmetric(a, inverse_diagonal, k, ld_k, b, ld_targets_, ld_targets_);
  double* out = own.predicted.data() + plan.test_begin[s] * ld_targets_;
  for (std::size_t begin = 0; begin < n_tests; begin += chunk) {
    const std::size_t part = std::min(chunk, n_tests - begin), ld_part = algebra_ld(part);
    // Features by test sample, so that tests are the rows of a product.
    double* across = grow(own.rows, k * ld_part);
    for (std::size_t f = 0; f < k; ++f) {
      for (std::size_t t = 0; t < part; ++t) {
        const std::size_t sample = static_cast<std::size_t>(tests[begin + t]);
        across[f * ld_part + t] = columns[f * ld + sample] - means[f];
      }
    }
    double* to = out + begin * ld_targets_;
    for (std::size_t t = 0; t < part; ++t) std::copy_n(offsets, ld_targets_, to + t * ld_targets_);
    multiply_transposed(across, ld_part, b, ld_targets_, k, part, ld_targets_, false, 1.0, to,
                        ld_targets_);
  }
  return true;
}

}  // namespace bitsieve
