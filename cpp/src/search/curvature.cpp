#include "bitsieve/search/curvature.hpp"

#include <algorithm>
#include <cmath>

namespace bitsieve {
namespace {

double sign_at(const Word* signs, std::size_t f) { return get_bit(signs, f) ? 1.0 : -1.0; }

}  // namespace

Curvature::Curvature(std::size_t n_features)
    : n_features_(n_features),
      is_full_(n_features <= most_full),
      mean_(is_full_ ? n_features * n_features : n_features, 0.0) {}

void Curvature::set_mean(const double* mean) { std::copy(mean, mean + mean_.size(), mean_.begin()); }

void Curvature::clear() { std::fill(mean_.begin(), mean_.end(), 0.0); }

void Curvature::update(double h, const Word* delta, const Word* second, double k) {
  const double weight = k + 1.0;
  if (!is_full_) {
    for (std::size_t f = 0; f < n_features_; ++f) {
      const double estimate = get_bit(delta, f) == get_bit(second, f) ? h : -h;
      mean_[f] += (estimate - mean_[f]) / weight;
    }
    return;
  }
  for (std::size_t row = 0; row < n_features_; ++row) {
    const double left = sign_at(delta, row), right = sign_at(second, row);
    double* entries = &mean_[row * n_features_];
    for (std::size_t f = 0; f < n_features_; ++f) {
      const double both = right * sign_at(delta, f) + left * sign_at(second, f);  // -2, 0 or 2
      entries[f] += (0.5 * h * both - entries[f]) / weight;
    }
  }
}

// L L' = M + shift I, by columns from the left; false where a pivot is not positive.
bool Curvature::factorise(double shift) {
  const std::size_t p = n_features_;
  factor_.resize(p * p);
  std::copy(mean_.begin(), mean_.end(), factor_.begin());  // symmetric: rows are columns
  for (std::size_t f = 0; f < p; ++f) factor_[f * p + f] += shift;
  for (std::size_t j = 0; j < p; ++j) {
    double* column = &factor_[j * p];
    if (!(column[j] > 0.0)) return false;
    const double pivot = std::sqrt(column[j]);
    for (std::size_t i = j; i < p; ++i) column[i] /= pivot;
    for (std::size_t next = j + 1; next < p; ++next) {
      double* other = &factor_[next * p];
      const double by = column[next];
      for (std::size_t i = next; i < p; ++i) other[i] -= by * column[i];
    }
  }
  return true;
}

bool Curvature::direction(const Word* delta, double* x) {
  double squares = 0.0;
  for (const double entry : mean_) squares += entry * entry;
  const std::size_t p = n_features_;
  if (!is_full_) {
    const double size = std::sqrt(squares / static_cast<double>(p));
    if (!(size > 0.0)) return false;
    for (std::size_t f = 0; f < p; ++f) x[f] = sign_at(delta, f) / (std::abs(mean_[f]) + size);
    return true;
  }
  const double norm = std::sqrt(squares);
  if (!(norm > 0.0)) return false;
  // No eigenvalue is below -norm, so this ends; rounding is far below the doubled shift.
  for (double shift = norm * 0x1p-10; !factorise(shift); shift *= 2.0) {
  }
  for (std::size_t f = 0; f < p; ++f) x[f] = sign_at(delta, f);
  for (std::size_t j = 0; j < p; ++j) {
    const double* column = &factor_[j * p];
    x[j] /= column[j];
    for (std::size_t i = j + 1; i < p; ++i) x[i] -= x[j] * column[i];
  }
  for (std::size_t j = p; j-- > 0;) {
    const double* column = &factor_[j * p];
    // L' row by row: what lies behind j is known.
    for (std::size_t i = j + 1; i < p; ++i) x[j] -= column[i] * x[i];
    x[j] /= column[j];
  }
  return true;
}

}  // namespace bitsieve
