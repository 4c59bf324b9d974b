// The user's columns less their means over all samples, in float64: what a solver's matrices are
// sums of products of.
#pragma once

#include <cstddef>
#include <vector>

#include "bitsieve/core/table.hpp"

namespace bitsieve {

class CenteredColumns {
 public:
  // Reads the table once, by up to n_threads threads; it must outlive this. A mean is summed in the
  // order of the samples from the first sample's value on, so that a constant column is zero.
  CenteredColumns(const Table& table, int n_threads);

  std::size_t n_samples() const { return n_samples_; }
  std::size_t n_features() const { return means_.size(); }
  std::size_t ld() const { return ld_; }
  double mean(std::size_t f) const { return means_[f]; }
  const std::vector<double>& means() const { return means_; }

  // out[i] = x - mean for i < n_samples, zero from there to ld: one rounding each.
  void copy(std::size_t f, double* out) const;

  bool is_zero(std::size_t f, std::size_t i) const { return values_[f * ld_ + i] == means_[f]; }

  // A power of two of which no product of two centred values of a feature has 2^51, and no sum of
  // such over any features 2^62. Of the table alone.
  double unit() const { return unit_; }

 private:
  const double* values_;
  std::size_t n_samples_, ld_;
  std::vector<double> means_;
  double unit_ = 1.0;
};

}  // namespace bitsieve
