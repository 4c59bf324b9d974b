// The train/test splits of one evaluation, laid out by sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/mask.hpp"

namespace bitsieve {

class Splits {
 public:
  // From fold numbers: repeat r, fold f becomes split r * n_folds + f, its test set the samples
  // with folds[r * n + i] == f, its training set the others.
  static Splits from_folds(const std::int32_t* folds, std::size_t n, std::size_t n_repeats,
                           std::size_t n_folds, const std::int32_t* codes, std::size_t n_classes);

  // From index lists, one a split (test_begin has n_splits + 1 entries, as has train_begin).
  static Splits from_lists(const std::int64_t* train, const std::int64_t* train_begin,
                           const std::int64_t* test, const std::int64_t* test_begin,
                           std::size_t n_splits, std::size_t n, const std::int32_t* codes,
                           std::size_t n_classes);

  struct Place {
    std::int32_t split;
    std::int64_t position;  // in test_samples
  };

  std::size_t n_splits = 0;
  std::size_t n_words = 0;                     // words of a set of splits
  std::vector<Word> testing;                   // [n][n_words] splits that test sample i
  std::vector<Word> training;                  // [n][n_words] splits that train on sample i
  std::vector<std::int64_t> test_begin;        // [n_splits + 1] of test_samples
  std::vector<std::int32_t> test_samples;      // in each split's own order
  std::vector<std::int32_t> test_of_class;     // [n_splits][n_classes]
  std::vector<std::int64_t> place_begin;       // [n + 1] of places
  std::vector<Place> places;                   // where each sample is tested
  std::vector<std::int32_t> n_train;           // [n_splits]
  std::vector<std::int32_t> majority;          // [n_splits] most frequent class of training

 private:
  void count_training(std::size_t n_classes, const std::vector<std::int32_t>& train_of_class);
  void place_tests(std::size_t n);
};

}  // namespace bitsieve
