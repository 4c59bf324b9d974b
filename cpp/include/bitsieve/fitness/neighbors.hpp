// The neighbors of a sample, nearest first, from approximate distances with known error.
//
// A candidate j of row i has a squared distance in [lower_j, lower_j + 2 (r_i + r_j)^2]. Candidates
// come in the order of `lower`; those whose intervals may overlap form a cluster, and a cluster of
// several classes is put in order by the exact re-check. (In a cluster of one class the order
// changes no vote; without classes every cluster is put in order.) So the order is that of the exact distances, ties to the lowest index, whatever
// the error was: the error costs time only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/exact_distance.hpp"

namespace bitsieve {

class NeighborOrder {
 public:
  // `codes` are the samples' classes, or null where the order itself counts.
  NeighborOrder(std::size_t n, std::size_t ld, const std::int32_t* codes, const ExactDistance& recheck);

  // A new mask, before what depends on it.
  void begin_mask() { gathered_.assign(gathered_.size(), 0); }

  // A new matrix. squares[j] = |x_j|^2, approximately; bounds[j] = r_j^2; all zero: exact.
  void begin_matrix(const double* squares, const double* bounds);

  // Differences are multiplied by these from now on, one a feature of the mask; null: they are not.
  void set_factors(const double* factors) { factors_ = factors; }

  // Sample j is no neighbor of any row of this matrix.
  void leave_out(std::size_t j) { adjusted_[j] = gone; }

  // A new row. features() is asked for only where the exact re-check is.
  void begin_row(std::size_t i, const float* gram_row);

  // The next nearest sample, or -1 when there are no more.
  template <typename Features>
  std::ptrdiff_t next(Features&& features) {
    if (position_ == cluster_.size()) {
      if (!gather()) return -1;
      if (cluster_.size() > 1 && mixed()) arrange(features());
    }
    return static_cast<std::ptrdiff_t>(cluster_[position_++].sample);
  }

  // The squared distance of the last sample that next() gave, by the exact re-check.
  template <typename Features>
  double distance(Features&& features) {
    Candidate& last = cluster_[position_ - 1];
    if (last.distance < 0) {
      last.distance = measure(last.sample, features());
      ++n_rechecked_;
    }
    return last.distance;
  }

  // Distances measured by the exact re-check since the last call.
  std::size_t take_rechecked() {
    const std::size_t count = n_rechecked_;
    n_rechecked_ = 0;
    return count;
  }

 private:
  struct Candidate {
    std::size_t sample;
    double distance;  // below zero: not measured
  };

  static constexpr float gone = 3.0e38f;  // no candidate, or no more of one; distances stay far below

  double measure(std::size_t j, const std::vector<std::int32_t>& features);
  const double* gathered(std::size_t i, const std::vector<std::int32_t>& features);
  bool gather();
  void sweep(double& upper);
  double width(std::size_t j) const;
  bool mixed() const;
  void arrange(const std::vector<std::int32_t>& features);
  void peek();
  void remove(std::size_t j);

  std::size_t n_, ld_;
  const std::int32_t* codes_;
  ExactDistance recheck_;
  const double* factors_ = nullptr;
  std::vector<double> rows_;  // values of the mask's features of samples that were measured
  std::vector<std::uint8_t> gathered_;  // which
  AlignedVector<float> adjusted_, roots_, lower_;
  std::vector<float> block_least_;  // of each least_block of lower_
  bool exact_ = false;
  std::size_t row_ = 0;
  std::size_t next_sample_ = 0;
  float next_lower_ = 0;
  std::vector<Candidate> cluster_;
  std::size_t position_ = 0;
  std::size_t n_rechecked_ = 0;
};

}  // namespace bitsieve
