// Fresh cross-validation folds from a seed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// Stratified k-fold, repeated: folds[r * n + i] is the test fold of sample i in repeat r.
// Every fold gets as many of each class as scikit-learn's StratifiedKFold would give it; which
// samples those are is drawn anew for each repeat (Fisher-Yates on Philox, key (seed, folds)).
void stratified_folds(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                      std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed,
                      std::int32_t* folds);

// Shuffled k-fold, repeated: the first n % n_splits folds are one sample larger.
void shuffled_folds(std::size_t n, std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed,
                    std::int32_t* folds);

// Group k-fold, repeated: the samples of a group share their fold, and every fold gets a group where
// there are enough. Groups are taken in random order, those of a larger power of two of samples
// first; each goes to the fold where it adds least to the sum over classes and folds of the squared
// share of the class that the fold holds, then to the fold with the fewest samples, then to the
// first. `codes` may be null: one class.
void group_folds(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                 const std::int32_t* groups, std::size_t n_groups, std::size_t n_splits,
                 std::size_t n_repeats, std::uint64_t seed, std::int32_t* folds);

}  // namespace bitsieve
