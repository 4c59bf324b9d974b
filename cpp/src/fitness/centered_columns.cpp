#include "bitsieve/fitness/centered_columns.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t measured_features = 64;   // a task
constexpr double most_centered_squares = 1e300;  // sums of products stay far from the end of float64

double power_of_two_for(double sum, double most) {
  if (!(most > 0)) return 1.0;
  const int product_exponent = std::ilogb(most) + 1 - 51;
  const int sum_exponent = std::ilogb(sum) + 1 - 62;
  return std::ldexp(1.0, std::max({product_exponent, sum_exponent, -1000}));
}

}  // namespace

CenteredColumns::CenteredColumns(const Table& table, int n_threads)
    : values_(table.doubles(n_threads)),
      n_samples_(table.view().n_samples),
      ld_(table.view().ld),
      means_(table.view().n_features) {
  const std::size_t p = means_.size();
  std::vector<double> squares(p);
  parallel_for((p + measured_features - 1) / measured_features, n_threads, [&](std::size_t task) {
    const std::size_t end = std::min((task + 1) * measured_features, p);
    for (std::size_t f = task * measured_features; f < end; ++f) {
      const double* row = values_ + f * ld_;
      const double first = row[0];
      double sum = 0, most = 0;
      for (std::size_t i = 1; i < n_samples_; ++i) sum += row[i] - first;
      means_[f] = first + sum / static_cast<double>(n_samples_);
      for (std::size_t i = 0; i < n_samples_; ++i) most = std::max(most, std::abs(row[i] - means_[f]));
      squares[f] = most * most;
    }
  });
  double sum = 0, most = 0;
  for (const double square : squares) {
    sum += square;
    most = std::max(most, square);
  }
  if (!(sum <= most_centered_squares)) {
    throw std::invalid_argument("features must have squares within float64");
  }
  unit_ = power_of_two_for(sum, most);
}

void CenteredColumns::copy(std::size_t f, double* out) const {
  const double* row = values_ + f * ld_;
  const double mean = means_[f];
  for (std::size_t i = 0; i < n_samples_; ++i) out[i] = row[i] - mean;
  std::fill(out + n_samples_, out + ld_, 0.0);
}

}  // namespace bitsieve
