// What Gaussian naive Bayes keeps of a set of splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/fitness/gaussian_bayes.hpp"
#include "training_moments.hpp"

namespace bitsieve {

inline constexpr double no_gaussian_bound = 1e300;
inline constexpr std::size_t gaussian_params = 4;  // a split

struct GaussianBayesFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;  // weighted
  TrainingMoments all;      // not weighted: scikit-learn's smoothing is not
  std::vector<double> log_prior;  // [n_splits][n_classes]
  bool is_refused = false;  // scikit-learn refuses a split, or calls it undefined
  Splits splits;            // where there is a scaler

  // After the survey.
  std::vector<double> variances;                  // [n_features][n_splits] of all classes, or none
  std::vector<std::vector<std::int32_t>> ranked;  // by split: features of the largest, if kept
  // Of the classes, variances as terms() takes them, [n_features][n_splits][2][n_classes], where they
  // are kept: each block of features that is asked for again then reads them.
  std::vector<double> moments;
  std::vector<double> inverses, reaches;  // as variances, where there is a scaler: see begin_block()
  double largest_reach = 0;
  std::vector<double> reference;  // [n_splits][gaussian_params]
  bool has_derivatives = false;
  std::size_t moment_rows() const { return 2 * log_prior.size(); }  // a feature
  // What begin_block() keeps of the moments.
  std::size_t kept_size() const {
    return moments.empty() ? classes.whole_size() : moment_rows() * additive_lanes;
  }
  double steepest = 0;  // the greatest 1 / variance of a class, where nothing is left out
};

}  // namespace bitsieve
