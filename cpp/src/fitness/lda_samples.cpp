// Linear discriminant analysis of more features than samples, on the samples.
#include <algorithm>
#include <cmath>

#include "lda_worker.hpp"

namespace bitsieve {

bool LdaFitness::solve_dual(const double* gram, std::size_t ld, Own& own) const {
  const std::size_t n_train = own.train.size(), n_tests = own.tests.size();
  const std::size_t n_present = own.present.size(), n_rows = n_train + n_tests;
  const std::size_t m = algebra_ld(n_train), ld_right = algebra_ld(n_present);
  own.system.resize(n_train * m);
  own.tests_by_train.resize(n_tests * m);
  own.class_means.resize(n_present * n_rows);
  own.centre.assign(n_rows, 0.0);
  for (std::size_t a = 0; a < n_rows; ++a) {
    const auto i = static_cast<std::size_t>(a < n_train ? own.train[a] : own.tests[a - n_train]);
    const double* from = gram + i * ld;
    double* row = a < n_train ? own.system.data() + a * m
                              : own.tests_by_train.data() + (a - n_train) * m;
    for (std::size_t b = 0; b < n_train; ++b) row[b] = from[own.train[b]];
    for (std::size_t c = 0; c < n_present; ++c) {
      double sum = 0;
      for (std::size_t b = own.begin[c]; b < own.begin[c + 1]; ++b) sum += row[b];
      const double mean = sum / static_cast<double>(own.begin[c + 1] - own.begin[c]);
      own.class_means[c * n_rows + a] = mean;
      own.centre[a] += own.prior[c] * mean;
    }
  }
  own.products.resize(n_present * n_present);
  own.mean_products.assign(n_present, 0.0);
  double mean_square = 0;
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t d = 0; d < n_present; ++d) {
      double sum = 0;
      for (std::size_t b = own.begin[c]; b < own.begin[c + 1]; ++b) {
        sum += own.class_means[d * n_rows + b];
      }
      own.products[c * n_present + d] = sum / static_cast<double>(own.begin[c + 1] - own.begin[c]);
      own.mean_products[c] += own.prior[d] * own.products[c * n_present + d];
    }
    mean_square += own.prior[c] * own.mean_products[c];
  }

  // (1 - s) Z Z' + d I, whose row a is of a sample less its class mean.
  const double share = 1 - settings_.shrinkage;
  double trace = 0;
  for (std::size_t c = 0; c < n_present; ++c) {
    const double* of_class = own.class_means.data() + c * n_rows;
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      double* row = own.system.data() + a * m;
      for (std::size_t d = 0; d < n_present; ++d) {
        const double factor = own.weight[c] * own.weight[d];
        const double shift = own.products[c * n_present + d] - own.class_means[d * n_rows + a];
        for (std::size_t b = own.begin[d]; b < own.begin[d + 1]; ++b) {
          row[b] = factor * (row[b] + (shift - of_class[b]));
        }
      }
      trace += row[a];
    }
  }
  const double ridge = settings_.shrinkage * trace / static_cast<double>(own.features.size());
  if (!(ridge > 0)) return false;
  for (std::size_t a = 0; a < n_train; ++a) {
    double* row = own.system.data() + a * m;
    for (std::size_t b = a; b < n_train; ++b) row[b] *= share;
    row[a] += ridge;
  }
  own.diagonal.resize(m);
  if (!std::isfinite(cholesky(own.system.data(), n_train, m, own.diagonal.data()))) return false;

  own.right.assign(n_train * ld_right, 0.0);
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double away = own.centre[a] - own.mean_products[c];
      for (std::size_t d = 0; d < n_present; ++d) {
        own.right[a * ld_right + d] =
            own.weight[c] *
            (own.class_means[d * n_rows + a] - own.products[c * n_present + d] - away);
      }
    }
  }
  own.solved = own.right;
  solve_symmetric(own.system.data(), own.diagonal.data(), n_train, m, own.solved.data(), ld_right,
                  ld_right);

  own.scores.resize(n_tests * n_present);
  std::vector<double>& offsets = own.between;
  offsets.assign(n_present, 0.0);
  for (std::size_t d = 0; d < n_present; ++d) {
    double seen = 0;
    for (std::size_t a = 0; a < n_train; ++a) {
      seen += own.right[a * ld_right + d] * own.solved[a * ld_right + d];
    }
    const double square =
        own.products[d * n_present + d] - 2 * own.mean_products[d] + mean_square;
    offsets[d] = own.log_prior[d] - 0.5 * (square - share * seen) / ridge;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    double* row = own.tests_by_train.data() + t * m;
    double* scores = own.scores.data() + t * n_present;
    std::fill_n(scores, n_present, 0.0);
    for (std::size_t c = 0; c < n_present; ++c) {
      const double shift =
          own.mean_products[c] - own.class_means[c * n_rows + n_train + t];
      for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
        const double product = own.weight[c] * (row[a] + (shift - own.centre[a]));
        for (std::size_t d = 0; d < n_present; ++d) {
          scores[d] += product * own.solved[a * ld_right + d];
        }
      }
    }
    const double away = own.centre[n_train + t] - mean_square;
    for (std::size_t d = 0; d < n_present; ++d) {
      const double product =
          own.class_means[d * n_rows + n_train + t] - own.mean_products[d] - away;
      scores[d] = (product - share * scores[d]) / ridge + offsets[d];
    }
  }
  return true;
}

}  // namespace bitsieve
