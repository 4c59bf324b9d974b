// What the one-pass neighborhoods of a ridge regression share: from all samples at once
// (ridge_flips.cpp) or from the system of each training part (ridge_flips_folds.cpp), classes and
// scores are made in one place (ridge_flips_answers.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ridge_worker.hpp"

namespace bitsieve {

namespace ridge_detail {

constexpr std::size_t lanes = 16;         // neighbors side by side
constexpr std::size_t fewest_flips = 16;  // below, masks are answered one by one

using Lanes = double[lanes];

}  // namespace ridge_detail

// What is known of the base mask, by split.
struct RidgeFitness::FlipBase {
  explicit FlipBase(const RidgePlan& plan_) : plan(plan_) {}

  const RidgePlan& plan;
  std::vector<std::vector<std::size_t>> trained;  // classes of each split
  AlignedVector<double> fitted;                   // [n_tests of all splits][ld_targets]
};

// From all samples at once.
struct RidgeFitness::Flips : FlipBase {
  Flips(const RidgePlan& plan_, std::size_t n_, std::size_t ld_) : FlipBase(plan_), n(n_), ld(ld_) {}

  std::size_t n, ld;
  const double* inverse = nullptr;   // M [n][ld]
  const double* products = nullptr;  // M y [n][ld_targets]
  AlignedVector<double> blocks;      // S of each split, [l][ld of l]
  std::vector<std::size_t> begin;    // of them
  AlignedVector<double> residuals;   // r_L of each split, [n_left][ld_targets]
  // M is the inverse times alpha where it is made of the features.
  bool on_features = false;
  bool is_closed = false;  // a mask of one feature more is answered from one inverse
  double start = 1;        // d of a feature that is zero
  double unit = 1;         // no element of M is greater
  double condition = 0;    // of the base's matrix
  double inflation = 1;    // the greatest of a feature of it
  std::vector<double> most_block;  // a bound of the eigenvalues of S, by split
};

// From the system of each training part.
struct RidgeFitness::FoldFlips : FlipBase {
  explicit FoldFlips(const RidgePlan& plan_) : FlipBase(plan_) {}

  // One split: the base's columns are scaled and centred by what trains there.
  struct Fold {
    AlignedVector<double> rows;      // [n][ld_rows] U^-T Z'W, then w r of each target; 0 if not trained
    AlignedVector<double> factor, inverse_diagonal;  // U of Z'WZ + alpha I, [k][ld_k]
    AlignedVector<double> across;    // [k][ld of n_tests] Z of the test samples
    std::vector<double> diagonal;    // [k] of Z'WZ + alpha I
    std::vector<double> sums;        // of `rows`, by column: 0 where there is an intercept
    std::vector<double> slopes;      // by target: the norm of the coefficients, times roots of `diagonal`
    double total = 0;                // of the weights
    double condition = 1;            // one more than the sum of the inflations of all features
    double reach = 1;                // of test samples, in roots of `diagonal`; at least 1
    double lost = 1;                 // the greatest square of a column before it was centred by that after
  };

  std::size_t k = 0, ld_k = 0, ld_rows = 0, ld_splits = 0;
  AlignedVector<double> weights;  // [n][ld_splits] of training samples
  std::vector<Fold> folds;
};

// What a thread of the pass owns.
struct RidgeFitness::FlipScratch {
  AlignedVector<double> x, u, left, moved, along, change, slack, squares;
  FoldScales::Own scales;
  std::vector<std::int32_t> features, hits, codes, counts;
  ScoreScratch scores;
};

}  // namespace bitsieve
