// What is predicted, and what of it the two parts of each split hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/fitness/splits.hpp"

namespace bitsieve {

// Classes or numbers, one a sample; the other list is empty.
struct Target {
  std::vector<std::int32_t> codes;  // in [0, n_classes)
  std::size_t n_classes = 0;        // 0 where the target is numbers
  std::vector<double> numbers;
  std::vector<double> weights;  // of training samples, finite and not negative; empty: all alike

  bool is_classes() const { return n_classes > 0; }
};

// The target under a set of splits. Lists of classes are empty where the target is numbers, and the
// other way round.
struct SplitTarget {
  SplitTarget() = default;
  SplitTarget(const Splits& splits, const Target& target);

  std::vector<std::int32_t> test_of_class;   // [n_splits][n_classes]
  std::vector<std::int32_t> train_of_class;  // [n_splits][n_classes]
  std::vector<double> prior;                 // [n_splits][n_classes] shares of training, weighted
  std::vector<std::int32_t> majority;        // [n_splits] the class of the greatest share
  std::vector<double> mean;                  // [n_splits] of the numbers of training, weighted
};

// The splits of one evaluation and what they hold of the target. Not owned.
struct TargetSplits {
  const Splits& splits;
  const SplitTarget& target;
  // What fresh folds were drawn from, 0 for fixed splits: a state that depends on the folds knows by
  // it whether it is theirs.
  std::uint64_t seed = 0;
};

}  // namespace bitsieve
