// Ridge regression after a scaler: the training parts of a mask, each with scales of its own, solved
// side by side without a matrix for each.
//
// With x a column less its mean over all samples and w_s one over its squared scale in split s, the
// kernel matrix of the split is sum_f w_sf x_f x_f', but for what an intercept takes up. The dual
// system (K_s + alpha W_s^-1) a + b 1 = y, 1'a = 0 on the training samples is solved by conjugate
// gradients. Products with all K_s are two products of the table with a column a split and target.
// The preconditioner is that system with one scale for all splits, the root mean square of theirs,
// made once a mask: its inverse over all samples, and for each split a small solve on the samples
// left out. As a part holds most samples, scales differ by some percent: six to ten steps bring the
// predictions to 1e-11, on expression data and others (tox_171, khan, chowdary, sonar).
//
// Cost: 2 n multiply-adds a (feature, split, target, step), beside n^2 / 2 a (feature, split) of a
// matrix each; limit two vectors of them a cycle. Everything is a function of mask and splits alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/algebra.hpp"
#include "bitsieve/fitness/centered_columns.hpp"
#include "bitsieve/fitness/fold_scales.hpp"
#include "bitsieve/fitness/ridge_plan.hpp"

namespace bitsieve {

// What is to be solved, of one mask; nothing is owned.
struct ScaledRidgeProblem {
  const CenteredColumns& columns;
  const std::vector<std::int32_t>& features;
  const ScaleView& scales;
  const RidgePlan& plan;
  double alpha;           // positive
  const double* targets;  // [n][ld_targets]
  std::size_t n_targets, ld_targets;
};

// Owned by a thread of an evaluation.
class ScaledRidge {
 public:
  // Whether it is sooner than a matrix a split, and its memory in proportion: a rule of the splits
  // and the number of targets.
  static bool is_worth(const RidgePlan& plan, std::size_t n_samples, std::size_t n_targets);

  // predicted[n_tests of all splits][ld_targets]. The view's origin is a value amid those of each
  // training part. False, and a matrix a split is the way, where it does not converge, where the
  // preconditioner is near singular or not finite, and where a feature's training values are far from
  // its mean over all samples (a scale of what is constant there, or without an outlier).
  bool solve(const ScaledRidgeProblem& problem, double* predicted);

 private:
  bool lay_out(const ScaledRidgeProblem& problem);
  bool precondition(const ScaledRidgeProblem& problem);
  void multiply(const AlignedVector<double>& vectors, AlignedVector<double>& products);
  void apply_inverse(const RidgePlan& plan, AlignedVector<double>& residual,
                     AlignedVector<double>& out);
  void center_residual(const RidgePlan& plan);
  void start(const ScaledRidgeProblem& problem);
  void step();
  void predict(const ScaledRidgeProblem& problem, double* predicted) const;

  // Columns of what follows: target t of split s at t * lanes_ + s, zeros from there to width_.
  std::size_t n_ = 0, ld_ = 0, m_ = 0, n_splits_ = 0, n_solved_ = 0, lanes_ = 0, width_ = 0;
  AlignedVector<double> x_;        // [m][ld]
  AlignedVector<double> weights_;  // [m][lanes] one over the squared scale
  AlignedVector<double> common_;   // [m] root of the weight that the preconditioner takes
  AlignedVector<double> trains_, penalty_;  // [n][lanes] 1 or 0; alpha over the weight of a sample
  AlignedVector<double> inverse_;           // [n][ld] of the preconditioner, without its border
  AlignedVector<double> blocks_, block_diagonals_;  // by split: factors of the inverse, left out
  std::vector<std::size_t> block_begin_, diagonal_begin_;
  AlignedVector<double> solution_, residual_, direction_, product_, conditioned_, fitted_;  // [n][width]
  AlignedVector<double> square_, first_, slope_, along_;  // [width]
  AlignedVector<double> scaled_, work_, right_;
  Border border_;
};

}  // namespace bitsieve
