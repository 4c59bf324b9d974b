#include "bitsieve/fitness/centered_columns.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t measured_features = 64;   // a task
constexpr double most_centered_squares = 1e300;  // sums of products stay far from the end of float64

// Of the greatest product and the greatest sum of squares of a sample.
double power_of_two_for(double most, double sum) {
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
  const std::size_t n_tasks = (p + measured_features - 1) / measured_features;
  std::vector<double> most(n_tasks, 0.0), squares(n_tasks * n_samples_, 0.0);
  parallel_for(n_tasks, n_threads, [&](std::size_t task) {
    const std::size_t end = std::min((task + 1) * measured_features, p);
    double* sums = squares.data() + task * n_samples_;
    for (std::size_t f = task * measured_features; f < end; ++f) {
      const double* row = values_ + f * ld_;
      const double first = row[0];
      double sum = 0;
      for (std::size_t i = 1; i < n_samples_; ++i) sum += row[i] - first;
      means_[f] = first + sum / static_cast<double>(n_samples_);
      for (std::size_t i = 0; i < n_samples_; ++i) {
        const double square = (row[i] - means_[f]) * (row[i] - means_[f]);
        most[task] = std::max(most[task], square);
        sums[i] += square;
      }
    }
  });
  for (std::size_t task = 1; task < n_tasks; ++task) {
    most[0] = std::max(most[0], most[task]);
    for (std::size_t i = 0; i < n_samples_; ++i) squares[i] += squares[task * n_samples_ + i];
  }
  const double sum = *std::max_element(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(n_samples_));
  if (!(sum <= most_centered_squares)) {
    throw std::invalid_argument("features must have squares within float64");
  }
  unit_ = power_of_two_for(most[0], sum);
}

void CenteredColumns::copy(std::size_t f, double* out) const {
  const double* row = values_ + f * ld_;
  const double mean = means_[f];
  for (std::size_t i = 0; i < n_samples_; ++i) out[i] = row[i] - mean;
  std::fill(out + n_samples_, out + ld_, 0.0);
}

}  // namespace bitsieve
