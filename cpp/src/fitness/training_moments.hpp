// Means and variances of training parts, of a block of features and each group of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/splits.hpp"
#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {

// Samples in groups (the classes, or all in one), and which of them train and test in each split.
class TrainingMoments {
 public:
  TrainingMoments() = default;
  // group[i] in [0, n_groups); weights may be empty.
  TrainingMoments(const Splits& splits, const std::vector<std::int32_t>& group,
                  std::size_t n_groups, const std::vector<double>& weights);

  // Total weight of a group in the training part of a split; 0 where scikit-learn takes it to be.
  double weight(std::size_t split, std::size_t group) const {
    return weight_[split * n_groups_ + group];
  }
  const double* weights_of(std::size_t split) const { return weight_.data() + split * n_groups_; }

  // What measure() takes of the whole table: whole[3][n_groups][lanes], and of each sample what it
  // adds, [n_samples + 1][2][lanes]. values[n_samples][lanes].
  std::size_t whole_size() const {
    return (3 * n_groups_ + 2 * (n_samples_ + 1)) * additive_lanes;
  }
  void begin(const double* values, double* whole) const;

  // mean[n_groups][lanes] and variance likewise of a split's training part; zeros where there is no
  // weight. Sums of squares about the mean of the whole group, less the test part's where a sample
  // trains wherever it does not test; where that loses digits (a relative 2^-36 is kept) they are
  // made in two passes over the training part. Bits depend on a feature and a split alone.
  // Cost: n_test (else n_train) steps of part_moments.
  void measure(const double* values, const double* whole, std::size_t split, double* mean,
               double* variance) const;

 private:
  void measure_again(const double* values, std::size_t split, std::size_t group, std::size_t lane,
                     double* mean, double* variance) const;
  const double* weights() const { return sample_weight_.empty() ? nullptr : sample_weight_.data(); }

  // Samples by (part, group): part k's group g is samples[begin[k * n_groups + g], ...).
  struct Lists {
    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> samples;
  };

  void pad(Lists& lists) const;

  std::size_t n_groups_ = 0, n_samples_ = 0;
  bool from_whole_ = false;
  std::vector<double> sample_weight_;
  std::vector<double> weight_, whole_weight_;  // [n_splits][n_groups], [n_groups]
  Lists all_, train_, test_;                   // of the whole table; test_ where it is taken off
  double digits_ = 0;
};

}  // namespace bitsieve
