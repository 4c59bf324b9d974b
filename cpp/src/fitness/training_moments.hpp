// Means and variances of training parts, of a block of features and each class (or of all samples).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/additive_fitness.hpp"
#include "bitsieve/fitness/splits.hpp"

namespace bitsieve {

// Samples in groups (classes, or a single group), and which of them train and test in each split.
class TrainingMoments {
 public:
  TrainingMoments() = default;
  // group[i] in [0, n_groups); weights may be empty.
  TrainingMoments(const Splits& splits, std::vector<std::int32_t> group, std::size_t n_groups,
                  const std::vector<double>& weights);

  // Total weight of a group in the training part of a split.
  double weight(std::size_t split, std::size_t group) const {
    return weight_[split * n_groups_ + group];
  }

  // mean[(split - first) * n_groups + group][lanes] and variance likewise, of splits [first, last).
  // Zeros where there is no weight. Variances are sums of squares about the mean of the whole group,
  // less the test part's where a sample trains wherever it does not test; where that loses digits
  // (a relative 2^-36 is kept) they are made in two passes over the training part.
  // Bits depend on a feature and a split alone. Cost: n_tests (else n_train) multiply-adds a split.
  void measure(const double* values, std::size_t first, std::size_t last, double* mean,
               double* variance, AlignedVector<double>& scratch) const;

 private:
  void measure_again(const double* values, std::size_t split, std::size_t group, std::size_t lane,
                     double* mean, double* variance) const;

  std::size_t n_ = 0, n_groups_ = 0, n_splits_ = 0;
  bool from_whole_ = false;
  std::vector<std::int32_t> group_;
  std::vector<double> sample_weight_;
  std::vector<double> weight_, whole_;                 // [n_splits][n_groups], [n_groups]
  std::vector<std::int64_t> begin_, train_begin_;      // [n_splits + 1]
  std::vector<std::int32_t> listed_, train_;           // test samples, or training samples if those are added
};

}  // namespace bitsieve
