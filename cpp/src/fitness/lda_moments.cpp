// Linear discriminant analysis on the moments of training parts: what is left of them after the
// classes' own means is the scatter within the classes.
#include <algorithm>
#include <cmath>

#include "bitsieve/core/parallel.hpp"
#include "lda_worker.hpp"

namespace bitsieve {
namespace lda_detail {

// Of a feature's square about the mean of all classes, by taking off what is between them: above it
// too many digits are lost, and the values are read.
constexpr double most_between = 16;

}  // namespace lda_detail

// Moments know nothing of classes that weigh more than their samples. They pay where they are kept:
// made for one mask, its columns picked from the table for each test part, they cost more than the
// values of the training parts one by one. A small mask of many features gains little.
bool LdaFitness::is_by_moments(std::size_t k, const Splits& splits) const {
  const TableView& view = table().view();
  const std::size_t n = view.n_samples, p = view.n_features;
  return !is_dual(k) && (settings_.svd || settings_.priors.empty()) && source().is_fixed() &&
         (4 * p <= n || (p <= n && p <= 8 * k)) && moments_.fits(p, splits.n_splits);
}

void LdaFitness::measure_amplitudes(int n_threads) {
  const std::size_t n = table().view().n_samples, p = table().view().n_features;
  if (!amplitudes_.empty()) return;
  const double* values = table().doubles(n_threads);
  std::vector<double> most(p, 0.0);
  parallel_for((p + 63) / 64, n_threads, [&](std::size_t b) {
    for (std::size_t f = b * 64; f < std::min(p, b * 64 + 64); ++f) {
      const double* x = values + f * table().view().ld;
      for (std::size_t i = 0; i < n; ++i) most[f] = std::max(most[f], std::abs(x[i]));
    }
  });
  amplitudes_ = std::move(most);
}

LdaFitness::Solved LdaFitness::solve_moments(const MaskMoments& moments, const ScaleView* scales,
                                             std::size_t s, Own& own) const {
  using namespace lda_detail;
  const std::size_t k = moments.size(), ld = algebra_ld(k), n_present = own.present.size();
  const std::size_t ld_right = algebra_ld(n_present), n_tests = own.tests.size();
  const double* inverse = scales == nullptr ? nullptr : scales->inverse_of(s);
  own.factors.assign(k, 1.0);
  own.amplitude.resize(k);
  for (std::size_t f = 0; f < k; ++f) {
    if (inverse != nullptr) own.factors[f] = inverse[scales->place[f]];
    own.amplitude[f] =
        amplitudes_[static_cast<std::size_t>(moments.features()[f])] * std::abs(own.factors[f]);
  }
  own.system.assign(k * ld, 0.0);
  moments.copy(s, own.system.data(), ld);
  own.means.assign(n_present * ld, 0.0);
  own.mean.assign(ld, 0.0);
  own.squares.resize(k);
  for (std::size_t f = 0; f < k; ++f) own.squares[f] = own.system[f * (ld + 1)];
  own.line.resize(k);
  own.rows.resize(n_present * ld);
  std::fill_n(own.rows.data(), n_present * ld, 0.0);
  for (std::size_t c = 0; c < n_present; ++c) {
    const auto size = static_cast<double>(own.begin[c + 1] - own.begin[c]);
    moments.cross(s, static_cast<std::size_t>(own.present[c]), own.line.data());
    double* mean = own.means.data() + c * ld;
    for (std::size_t f = 0; f < k; ++f) {
      mean[f] = own.line[f] / size;  // from the mean of the training part
      own.rows[c * ld + f] = own.line[f] / std::sqrt(size);
    }
  }
  for (std::size_t c = 0; c < n_present; ++c) {
    const double* row = own.rows.data() + c * ld;
    for (std::size_t f = 0; f < k; ++f) {
      double* to = own.system.data() + f * ld;
      for (std::size_t g = f; g < k; ++g) to[g] -= row[f] * row[g];
    }
  }
  const double weight = moments.weight(s);
  for (std::size_t f = 0; f < k; ++f) {
    if (own.squares[f] > most_between * own.system[f * (ld + 1)]) return Solved::lost;
    for (std::size_t g = f; g < k; ++g) {
      own.system[f * ld + g] *= own.factors[f] * own.factors[g] / weight;
      own.system[g * ld + f] = own.system[f * ld + g];
    }
  }
  for (std::size_t c = 0; c < n_present; ++c) {
    double* mean = own.means.data() + c * ld;
    for (std::size_t f = 0; f < k; ++f) {
      mean[f] *= own.factors[f];
      own.mean[f] += own.prior[c] * mean[f];
    }
  }
  if (!solve_features(own)) return Solved::no;

  own.coefficients.resize(n_present * k);
  own.origins.resize(k);
  moments.means(s, own.origins.data());
  for (std::size_t c = 0; c < n_present; ++c) {
    double offset = own.offsets[c];
    for (std::size_t f = 0; f < k; ++f) {
      const double coefficient = own.solved[f * ld_right + c];
      own.coefficients[c * k + f] = coefficient * own.factors[f];
      offset -= coefficient * own.mean[f];
    }
    own.offsets[c] = offset;
  }
  own.scores.resize(n_tests * n_present);
  predict_rows(table(), moments.features(), own.coefficients.data(), n_present, own.origins.data(),
               own.tests.data(), n_tests, own.scores.data());
  for (std::size_t t = 0; t < n_tests * n_present; ++t) own.scores[t] += own.offsets[t % n_present];
  return Solved::yes;
}

}  // namespace bitsieve
