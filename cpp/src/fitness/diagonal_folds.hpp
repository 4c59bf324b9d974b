// What diagonal discriminant analysis keeps of a set of splits, and of a block of features.
#pragma once

#include <cstdint>
#include <vector>

#include "bitsieve/fitness/diagonal_lda.hpp"
#include "training_moments.hpp"

namespace bitsieve {

struct DiagonalFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;
  std::vector<double> n_train;       // [n_splits]
  std::vector<double> n_present;     // [n_splits]
  std::vector<double> log_prior;     // [n_splits][n_classes], -infinity for an absent class
  std::vector<std::uint8_t> is_plain;  // [n_splits]
  bool is_refused = false;
  bool any_divided = false;          // a split that is not plain
  Splits splits;                     // where scales are used

  // After the survey; spreads and scales only where they are kept.
  std::vector<Word> lost;            // features
  std::vector<double> inverses;      // [n_features][n_splits] 1 / scale
  std::vector<double> spreads;       // [n_splits][n_features] ascending
  std::vector<std::int32_t> ranked;  // [n_splits][n_features] whose they are
  std::vector<Word> lower;           // [n_splits][n_words] features of the lower half
  std::vector<double> middle, radius;  // [n_splits] reference median, and how far bounds hold
};

// Of a block in one split; rows of lanes.
struct DiagonalFitness::Moments {
  double* mean;      // [n_classes]
  double* variance;  // [n_classes]
  alignas(64) double within[additive_lanes];   // pooled variance
  alignas(64) double centre[additive_lanes];   // mean of all
  alignas(64) double total[additive_lanes];    // variance of all, 0 where constant
  alignas(64) double inverse[additive_lanes];  // 1 / scale; 1 where scales are not used
};

}  // namespace bitsieve
