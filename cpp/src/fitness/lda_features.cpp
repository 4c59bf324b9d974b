// Linear discriminant analysis of no more features than samples, on the features.
#include <algorithm>
#include <cmath>

#include "lda_worker.hpp"

namespace bitsieve {
namespace lda_detail {

// Eigenvalues of a symmetric matrix of a few classes, by Jacobi rotations, in its diagonal.
void diagonalize_classes(std::vector<double>& a, std::size_t n) {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0, diagonal = 0;
    for (std::size_t p = 0; p < n; ++p) {
      diagonal += a[p * n + p] * a[p * n + p];
      for (std::size_t q = p + 1; q < n; ++q) off += a[p * n + q] * a[p * n + q];
    }
    if (!(off > 1e-34 * diagonal)) return;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const double t = std::copysign(1.0, half) / (std::abs(half) + std::sqrt(half * half + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a[i * n + p], y = a[i * n + q];
          a[i * n + p] = c * x - s * y;
          a[i * n + q] = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a[p * n + i], y = a[q * n + i];
          a[p * n + i] = c * x - s * y;
          a[q * n + i] = s * x + c * y;
        }
      }
    }
  }
}

}  // namespace lda_detail

void LdaFitness::fill_values(const ScaleView* scales, std::size_t s, Own& own) const {
  const std::size_t n = table().view().n_samples, ld_table = table().view().ld;
  const std::size_t k = own.features.size(), ld = algebra_ld(k);
  const double* doubles = table().doubles(1);
  own.values.resize(n * ld);
  own.amplitude.resize(k);
  for (std::size_t f = 0; f < k; ++f) {
    const auto feature = static_cast<std::size_t>(own.features[f]);
    const double* x = doubles + feature * ld_table;
    double origin = columns_->mean(feature), inverse = 1, most = 0;
    if (scales != nullptr) {
      const auto place = static_cast<std::size_t>(scales->place[f]);
      origin = scales->origin_of(s)[place];
      inverse = scales->inverse_of(s)[place];
    }
    for (std::size_t i = 0; i < n; ++i) {
      own.values[i * ld + f] = (x[i] - origin) * inverse;
      most = std::max(most, std::abs(x[i]));
    }
    own.amplitude[f] = most * std::abs(inverse);
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(own.values.begin() + static_cast<std::ptrdiff_t>(i * ld + k),
              own.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * ld), 0.0);
  }
}

void LdaFitness::scatter(Own& own) const {
  const std::size_t n_train = own.train.size(), n_present = own.present.size();
  const std::size_t k = own.features.size(), ld = algebra_ld(k);
  own.means.assign(n_present * ld, 0.0);
  own.mean.assign(ld, 0.0);
  own.rows.resize(n_train * ld);
  for (std::size_t c = 0; c < n_present; ++c) {
    double* mean = own.means.data() + c * ld;
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double* x = own.values.data() + static_cast<std::size_t>(own.train[a]) * ld;
      for (std::size_t f = 0; f < ld; ++f) mean[f] += x[f];
    }
    const auto size = static_cast<double>(own.begin[c + 1] - own.begin[c]);
    for (std::size_t f = 0; f < ld; ++f) {
      mean[f] /= size;
      own.mean[f] += own.prior[c] * mean[f];
    }
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double* x = own.values.data() + static_cast<std::size_t>(own.train[a]) * ld;
      double* row = own.rows.data() + a * ld;
      for (std::size_t f = 0; f < ld; ++f) row[f] = own.weight[c] * (x[f] - mean[f]);
    }
  }
  own.system.resize(k * ld);
  multiply_self(own.rows.data(), n_train, k, ld, own.system.data());
}

bool LdaFitness::solve_features(Own& own) const {
  using namespace lda_detail;
  const std::size_t n_present = own.present.size(), k = own.features.size();
  const std::size_t ld = algebra_ld(k), ld_right = algebra_ld(n_present);
  double trace = 0;
  for (std::size_t f = 0; f < k; ++f) trace += own.system[f * ld + f];
  if (settings_.shrinkage > 0) {
    const double share = 1 - settings_.shrinkage;
    const double ridge = settings_.shrinkage * trace / static_cast<double>(k);
    if (!(ridge > 0)) return false;
    for (std::size_t f = 0; f < k; ++f) {
      double* row = own.system.data() + f * ld;
      for (std::size_t g = 0; g < k; ++g) row[g] *= share;
      row[f] += ridge;
    }
  } else {
    for (std::size_t f = 0; f < k; ++f) {
      const double least = least_within_spread * own.amplitude[f] * own.amplitude[f];
      if (!(own.system[f * ld + f] > least)) return false;
    }
  }
  own.between.resize(k);
  for (std::size_t f = 0; f < k; ++f) own.between[f] = own.system[f * ld + f];
  own.diagonal.resize(ld);
  if (!std::isfinite(cholesky(own.system.data(), k, ld, own.diagonal.data()))) return false;
  if (settings_.shrinkage == 0 && !is_whole_rank(own)) return false;

  own.right.assign(k * ld_right, 0.0);
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t f = 0; f < k; ++f) {
      own.right[f * ld_right + c] = own.means[c * ld + f] - own.mean[f];
    }
  }
  own.solved = own.right;
  solve_symmetric(own.system.data(), own.diagonal.data(), k, ld, own.solved.data(), ld_right,
                  ld_right);
  own.between.assign(n_present * n_present, 0.0);
  for (std::size_t f = 0; f < k; ++f) {
    for (std::size_t c = 0; c < n_present; ++c) {
      for (std::size_t d = 0; d < n_present; ++d) {
        own.between[c * n_present + d] +=
            own.right[f * ld_right + c] * own.solved[f * ld_right + d];
      }
    }
  }
  own.offsets.resize(n_present);
  for (std::size_t c = 0; c < n_present; ++c) {
    own.offsets[c] = own.log_prior[c] - 0.5 * own.between[c * n_present + c];
  }
  if (!settings_.svd || n_present == 2) return true;

  // scikit-learn leaves out directions between the classes that are short beside the longest. Some of
  // them, the shortest, are zero always.
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t d = 0; d < n_present; ++d) {
      own.between[c * n_present + d] *= std::sqrt(own.prior[c] * own.prior[d]);
    }
  }
  diagonalize_classes(own.between, n_present);
  std::vector<double> lengths(n_present);
  for (std::size_t c = 0; c < n_present; ++c) lengths[c] = own.between[c * (n_present + 1)];
  std::sort(lengths.begin(), lengths.end());
  if (!(lengths.back() > 0)) return false;
  const double cut = settings_.tol * settings_.tol * (1 + lda_rank_margin);
  for (std::size_t c = first_length(n_present, k); c < n_present; ++c) {
    const double ratio = lengths[c] / lengths.back();
    if (ratio > 1e-13 && ratio <= cut) return false;
  }
  return true;
}

bool LdaFitness::solve_primal(Own& own) const {
  const std::size_t n_tests = own.tests.size(), n_present = own.present.size();
  const std::size_t k = own.features.size(), ld = algebra_ld(k), ld_right = algebra_ld(n_present);
  scatter(own);
  if (!solve_features(own)) return false;
  own.scores.resize(n_tests * n_present);
  for (std::size_t t = 0; t < n_tests; ++t) {
    const double* x = own.values.data() + static_cast<std::size_t>(own.tests[t]) * ld;
    double* scores = own.scores.data() + t * n_present;
    std::fill_n(scores, n_present, 0.0);
    for (std::size_t f = 0; f < k; ++f) {
      const double apart = x[f] - own.mean[f];
      for (std::size_t c = 0; c < n_present; ++c) {
        scores[c] += apart * own.solved[f * ld_right + c];
      }
    }
    for (std::size_t c = 0; c < n_present; ++c) scores[c] += own.offsets[c];
  }
  return true;
}

// Whether scikit-learn, which looks at singular values, surely keeps them all. own.between holds the
// diagonal of the matrix of own.system.
bool LdaFitness::is_whole_rank(Own& own) const {
  using namespace lda_detail;
  const std::size_t k = own.features.size(), ld = algebra_ld(k);
  own.inverse.resize(k * ld);
  own.work.resize(k * ld);
  invert_symmetric(own.system.data(), own.diagonal.data(), k, ld, own.work.data(),
                   own.inverse.data());
  double trace = 0, inverse_trace = 0, scaled = 0;
  for (std::size_t f = 0; f < k; ++f) {
    trace += own.between[f];
    inverse_trace += own.inverse[f * ld + f];
    scaled += own.between[f] * own.inverse[f * ld + f];
  }
  if (!settings_.svd) return trace * inverse_trace < most_covariance_condition;
  // The eigenvalues of the matrix scaled to a unit diagonal are above one over this.
  const double cut = settings_.tol * settings_.tol * (1 + lda_rank_margin);
  return scaled * cut < 1 && scaled < most_covariance_condition;
}

}  // namespace bitsieve
