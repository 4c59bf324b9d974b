// What is left of variables after those of a set, from correlations alone (Cholesky).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "bitsieve/causal/fisher.hpp"

namespace bitsieve {

class Projection {
 public:
  // between(i, j): the correlation of two of the set, j < i.
  template <typename Between>
  void factor(std::size_t size, const Between& between) {
    used_.clear();
    lower_.resize(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      double* row = lower_.data() + used_.size() * size;
      const double rest = solve([&](std::size_t j) { return between(i, j); }, row, size);
      if (rest <= FisherTest::explained) continue;
      row[used_.size()] = std::sqrt(rest);
      used_.push_back(i);
    }
    size_ = size;
  }

  std::size_t rank() const { return used_.size(); }
  std::size_t used(std::size_t k) const { return used_[k]; }  // a place in the set

  // From the part along each to the weight of each used one in the regression.
  void back(double* along) const {
    for (std::size_t k = used_.size(); k-- > 0;) {
      for (std::size_t j = k + 1; j < used_.size(); ++j) along[k] -= lower_[j * size_ + k] * along[j];
      along[k] /= lower_[k * size_ + k];
    }
  }

  // Its part along each of the set, and what is left of its variance 1. with(j): the correlation
  // with variable j of the set.
  template <typename With>
  double project(const With& with, double* along) const {
    return solve(with, along, size_);
  }

 private:
  template <typename With>
  double solve(const With& with, double* along, std::size_t stride) const {
    double rest = 1.0;
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const double* row = lower_.data() + k * stride;
      double value = with(used_[k]);
      for (std::size_t j = 0; j < k; ++j) value -= row[j] * along[j];
      along[k] = value / row[k];
      rest -= along[k] * along[k];
    }
    return rest;
  }

  std::vector<double> lower_;
  std::vector<std::size_t> used_;  // of the set, those that the others before do not explain
  std::size_t size_ = 0;
};

// The partial correlation, from the parts of both along the set.
inline double partial_correlation(double r, const double* a, const double* b, std::size_t rank,
                                  double rest_a, double rest_b) {
  if (rest_a <= FisherTest::explained || rest_b <= FisherTest::explained) return 0.0;
  for (std::size_t k = 0; k < rank; ++k) r -= a[k] * b[k];
  return r / std::sqrt(rest_a * rest_b);
}

}  // namespace bitsieve
