// Second moments of the training parts, for many samples and few features: an evaluation on them
// does not depend on the number of samples.
//
// Columns are the features and, after them, the targets: one of zeros and ones a class, or the
// numbers. Each sample counts by its weight. The moments of a training part are about its own means:
// they are sums over the other test parts where splits are folds (never a difference of sums), then
// moved from the means of all samples to those of the part; a column that loses digits by that
// (16 times more before than after) is summed again about its own mean, a constant one is zero.
//
// An element is a sum in the order of the samples alone, so that it has the same bits whether the
// moments of all features are kept, once a seed, or those of a mask's features are made for it: a
// function of (mask, splits) alone. Needs fused multiply-adds (Kernels::has_fma).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

// Moments of some columns for every split; the upper triangle, row after row.
struct MomentSums {
  std::size_t n_columns = 0;    // features and targets
  std::vector<double> moments;  // [n_splits][n_columns * (n_columns + 1) / 2]
  std::vector<double> means;    // [n_splits][n_columns], of the user's values
  std::vector<double> weights;  // [n_splits] of the training parts

  const double* row(std::size_t split, std::size_t i) const {  // [j] for j >= i
    const std::size_t each = n_columns * (n_columns + 1) / 2;
    return moments.data() + split * each + i * (2 * n_columns - i + 1) / 2 - i;
  }
};

// The moments of one mask: a part of kept ones, or its own.
class MaskMoments {
 public:
  const std::vector<std::int32_t>& features() const { return features_; }
  std::size_t size() const { return features_.size(); }
  std::size_t n_targets() const { return n_targets_; }

  // The training part of a split: its weight, its means (features, of the user's values).
  double weight(std::size_t split) const { return sums().weights[split]; }
  void means(std::size_t split, double* out) const;
  double target_mean(std::size_t split, std::size_t target) const;

  // out[i * ld + j] = sum of weight * (x_i - mean_i) * (x_j - mean_j), both triangles.
  void copy(std::size_t split, double* out, std::size_t ld) const;
  // out[i] = sum of weight * (x_i - mean_i) * (y - mean) of a target.
  void cross(std::size_t split, std::size_t target, double* out) const;

 private:
  friend class Moments;
  const MomentSums& sums() const { return kept_ != nullptr ? *kept_ : own_; }
  std::size_t place(std::size_t k) const {
    return kept_ != nullptr ? static_cast<std::size_t>(features_[k]) : k;
  }
  std::size_t place_of_target(std::size_t t) const { return sums().n_columns - n_targets_ + t; }

  std::vector<std::int32_t> features_;
  std::size_t n_targets_ = 0;
  const MomentSums* kept_ = nullptr;
  MomentSums own_;
};

class Moments {
 public:
  Moments(const Table& table, const Target& target);

  // Whether the moments of so many features fit the memory that is given to them (256 MiB): a rule
  // of the size of a mask and the number of splits. make() is not for what does not.
  bool fits(std::size_t n_features, std::size_t n_splits) const;

  // Before a batch, by one thread: keep the moments of all features under these splits, where they
  // fit and pay for themselves; `at` is null where masks of the batch have splits of their own.
  void prepare(const Word* masks, std::size_t n_masks, const TargetSplits* at, int n_threads);

  // The moments of a mask, from any number of threads. Cost where they are not kept: for each set of
  // folds 2 * n * k^2 / 2 multiply-adds.
  const MaskMoments& make(const Word* mask, const TargetSplits& at, int n_threads,
                          MaskMoments& own) const;

  // Of all samples, about which sums are first made.
  const std::vector<double>& means() const { return means_; }

  void forget();  // in a forked child

 private:
  double value(std::size_t i, std::int32_t column) const;
  void measure_means();
  void fill_rows(const std::vector<std::int32_t>& features, const std::int32_t* samples,
                 std::size_t m, std::size_t ld, double* rows) const;
  void sum(const std::vector<std::int32_t>& features, const Splits& splits, int n_threads,
           MomentSums& out) const;
  void center(const std::vector<std::int32_t>& features, const Splits& splits, std::size_t split,
              const double* totals, MomentSums& out) const;
  void sum_again(const std::vector<std::int32_t>& columns, const std::vector<std::size_t>& again,
                 const std::vector<std::int32_t>& samples, double weight, std::size_t split,
                 MomentSums& out) const;

  const Table& table_;
  const Target& target_;
  std::size_t n_words_, n_targets_;
  std::vector<double> means_;  // [n_features]
  double target_mean_ = 0;     // of numbers
  MomentSums kept_;
  bool has_kept_ = false;
  std::uint64_t kept_seed_ = 0;
  double credit_ = 0;
};

// out[r * n_targets + t] = sum over k of coefficients[t * m + k] * (x - means[k]) of sample
// samples[r] and features[k]: the user's values, in eight sums by k % 8.
void predict_rows(const Table& table, const std::vector<std::int32_t>& features,
                  const double* coefficients, std::size_t n_targets, const double* means,
                  const std::int32_t* samples, std::size_t n_rows, double* out);

}  // namespace bitsieve
