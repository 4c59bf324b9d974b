// Which samples train and which test: one set of splits, laid out by sample, and where it is from.
// Neither knows what is predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitsieve/core/mask.hpp"

namespace bitsieve {

class Splits {
 public:
  // From fold numbers: repeat r, fold f becomes split r * n_folds + f, its test set the samples
  // with folds[r * n + i] == f, its training set the others.
  static Splits from_folds(const std::int32_t* folds, std::size_t n, std::size_t n_repeats,
                           std::size_t n_folds);

  // From index lists, one a split (test_begin has n_splits + 1 entries, as has train_begin). A list
  // names a sample once.
  static Splits from_lists(const std::int64_t* train, const std::int64_t* train_begin,
                           const std::int64_t* test, const std::int64_t* test_begin,
                           std::size_t n_splits, std::size_t n);

  struct Place {
    std::int32_t split;
    std::int64_t position;  // in test_samples
  };

  std::size_t n_splits = 0;
  std::size_t n_words = 0;                 // words of a set of splits
  std::vector<Word> testing;               // [n][n_words] splits that test sample i
  std::vector<Word> training;              // [n][n_words] splits that train on sample i
  std::vector<std::int64_t> test_begin;    // [n_splits + 1] of test_samples
  std::vector<std::int32_t> test_samples;  // in each split's own order
  std::vector<std::int64_t> place_begin;   // [n + 1] of places
  std::vector<Place> places;               // where each sample is tested, by split
  std::vector<std::int32_t> n_train;       // [n_splits]
  bool complementary = false;              // a sample trains wherever it does not test

 private:
  void place_tests(std::size_t n);
};

// Fixed splits, or fresh folds that a seed determines.
class SplitSource {
 public:
  // Fixed ones, that come later: set() before anything is evaluated.
  explicit SplitSource(std::size_t n_samples) : n_samples_(n_samples) {}

  // Fresh folds. `strata`: a class in [0, n_strata) a sample, of which each fold gets its share, or
  // none.
  SplitSource(std::size_t n_samples, std::size_t n_repeats, std::size_t n_folds,
              std::vector<std::int32_t> strata, std::size_t n_strata);

  void set(Splits splits) { fixed_ = std::move(splits); }
  // Fresh folds keep groups together: a number in [0, n_groups) a sample.
  void set_groups(std::vector<std::int32_t> groups, std::size_t n_groups);

  bool is_fixed() const { return n_repeats_ == 0; }
  std::size_t n_samples() const { return n_samples_; }
  std::size_t n_folds() const { return n_folds_; }
  std::size_t n_splits() const { return is_fixed() ? fixed_.n_splits : n_repeats_ * n_folds_; }
  std::size_t n_tests() const {  // test samples of all splits
    return is_fixed() ? fixed_.test_samples.size() : n_repeats_ * n_samples_;
  }

  const Splits& fixed() const { return fixed_; }
  Splits fresh(std::uint64_t seed) const;

 private:
  std::size_t n_samples_, n_repeats_ = 0, n_folds_ = 0;
  std::vector<std::int32_t> strata_, groups_;
  std::size_t n_strata_ = 0, n_groups_ = 0;
  Splits fixed_;
};

}  // namespace bitsieve
