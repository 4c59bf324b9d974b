// Cross-validated ridge regression, least squares and kernel ridge, of numbers or of classes coded
// as 1 and -1.
//
// The training part of a split is the whole without the samples L that are left out. With M the
// inverse of [[K + alpha W^-1, 1], [1', 0]] over all samples, less its border (no border without an
// intercept), what a fit without L leaves of L is (M_LL)^-1 (M y)_L: one inverse a mask, and one
// small solve a split. Where a mask has fewer features than there are samples the same matrix comes,
// but for a factor, of the k x k system of the features: W - W Z (Z'WZ + alpha I)^-1 Z'W - ww'/1'w
// with Z centred by the weights w; alpha need then not be positive.
// Weights that differ from split to split, parts that leave out most samples and penalties that
// dwarf the kernel matrix take a solve a split instead, on samples or on features. Of many samples
// and few features a split's system is part of moments that are kept (moments.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/fold_scales.hpp"
#include "bitsieve/fitness/moments.hpp"
#include "bitsieve/fitness/ridge_plan.hpp"
#include "bitsieve/fitness/solver_fitness.hpp"

namespace bitsieve {

struct RidgeSettings {
  enum class Kernel : std::uint8_t { linear, rbf, polynomial } kernel = Kernel::linear;
  double alpha = 1;
  bool fit_intercept = true;
  // scikit-learn's LinearRegression: no penalty, and of many solutions the shortest. Masks for which
  // it might cut singular values off are declined.
  bool least_norm = false;
  bool balanced = false;              // classes weigh alike in each training part
  std::vector<double> class_weights;  // one a class; empty: all alike
  double gamma = 0;                   // of rbf and polynomial; 0: one over the size of a mask
  int degree = 3;
  double coef0 = 1;
  ScalerOptions scaler;  // of the features, fitted to each training part
};

class RidgeFitness : public SolverFitness {
 public:
  // Above matrix_samples samples only for tables of fewer features than any training part has
  // samples (a linear kernel).
  RidgeFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
               const RidgeSettings& settings);

  Outputs::Kind kind() const override {
    return target().is_classes() ? Outputs::Kind::decisions : Outputs::Kind::numbers;
  }
  std::size_t n_values() const override { return n_targets_; }
  bool may_decline() const override { return true; }

 protected:
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  std::unique_ptr<Worker> make_worker() const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  void forget_states() override;
  // Of scores of classes with a penalty; where weights vary or features are scaled, of masks that are
  // answered from their features.
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;
  Counters count() const override {
    Counters out = SolverFitness::count();
    out.emplace_back("flips_open", flips_open_);
    return out;
  }

 private:
  struct Own;  // a worker
  struct FlipBase;
  struct Flips;
  struct FoldFlips;
  struct FlipScratch;

  // How a mask of k features is answered: a function of k, the splits and the weights.
  enum class Way : std::uint8_t { declined, dual, primal, dual_each, primal_each, moments };
  Way way_of(std::size_t k, const RidgePlan& plan) const;
  bool takes_moments(const RidgePlan& plan) const;
  double cost_of_moments(std::size_t k, const RidgePlan& plan) const;
  bool is_primal(std::size_t k, std::size_t n_train) const;
  bool takes_matrix(std::size_t k) const;

  const RidgePlan& plan_for(const TargetSplits& at, Own& own) const;
  void prepare_targets(const RidgePlan& plan, Own& own) const;

  // The kernel matrix of a mask in place of its Gram matrix; its trace.
  double make_kernel(const Word* mask, std::size_t k, Own& own) const;
  // Each writes the predictions of all test samples; false where a matrix is too near singular.
  bool solve_dual(const RidgePlan& plan, Own& own) const;
  // M in own.inverse, M y in own.products.
  bool invert_dual(const RidgePlan& plan, Own& own) const;
  // M_LL in own.block, (M y)_L in own.right.
  void gather_block(const std::int32_t* left, std::size_t l, const double* inverse, std::size_t ld,
                    const double* products, Own& own) const;
  bool solve_primal(const RidgePlan& plan, Own& own) const;
  // U of Z'WZ + alpha I in own.a, its diagonal as it was in own.right; then V and M y.
  bool factor_primal(const RidgePlan& plan, Own& own) const;
  void project_primal(const RidgePlan& plan, Own& own) const;
  bool solve_dual_each(const RidgePlan& plan, Own& own) const;
  bool solve_primal_each(const RidgePlan& plan, Own& own) const;
  bool solve_primal_split(const RidgePlan& plan, std::size_t s, Own& own) const;
  // Features that are scaled in each split by themselves: all splits side by side, or one by one.
  bool solve_scaled(const Word* mask, const TargetSplits& at, const RidgePlan& plan, Way way, int n_threads,
                    Own& own) const;
  const double* scaled_kernel(const double* gram, std::size_t k, Own& own) const;
  // `scales` are null without a scaler.
  bool solve_moments(const RidgePlan& plan, const MaskMoments& moments, const ScaleView* scales,
                     Own& own) const;
  bool solve_dual_split(const RidgePlan& plan, std::size_t s, const double* kernel,
                        std::size_t ld, Own& own) const;
  // The predictions of split s from M_LL in own.block and (M y)_L in own.right. Declined, where
  // most_ratio is positive, if one over an eigenvalue of M_LL beside the weights may be above it.
  bool leave_out(const RidgePlan& plan, std::size_t s, std::size_t ld, double most_ratio,
                 Own& own) const;
  void gather_columns(Own& own) const;
  void answer_all(const TargetSplits& at, const Own& own, const Answer& answer) const;

  // One-flip neighbors: what they share, 16 of them, their classes, and those that stay open. From
  // all samples, or from the system of each training part.
  void start_flips(const TargetSplits& at, FlipBase& base) const;
  bool flips_from_features(const Word* base, Flips& common, Own& own) const;
  bool flips_from_samples(const Word* base, int n_threads, Flips& common, Own& own);
  bool prepare_flips(const Word* base, const TargetSplits& at, int n_threads, Flips& common,
                     Own& own);
  void flip_block(const Flips& common, const Word* base, const std::int64_t* flips,
                  std::size_t count, const TargetSplits& at, const Scorer& scorer, FlipScratch& own,
                  double* scores, char* open) const;
  bool prepare_fold_flips(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, int n_threads, FoldFlips& common, Own& own);
  bool prepare_fold(std::size_t s, const ScaleView* scales, FoldFlips& common, Own& own) const;
  void flip_block_of_folds(const FoldFlips& common, const Word* base, const std::int64_t* flips,
                           std::size_t count, const TargetSplits& at, const Scorer& scorer,
                           FlipScratch& own, double* scores, char* open) const;
  void decide(const FlipBase& base, std::size_t s, const double* v, const double* change,
              const double* slack, const double* steady, std::int32_t* codes, double* unsure) const;
  void score_flips(const FlipBase& base, std::size_t count, const TargetSplits& at,
                   const Scorer& scorer, const double* unsure, FlipScratch& own, double* scores,
                   char* open) const;
  void answer_open(const Word* base, const std::int64_t* flips, const std::vector<char>& open,
                   const TargetSplits& at, const Scorer& scorer, int n_threads, double* scores,
                   bool* declined);

  RidgeSettings settings_;
  FoldScales scales_;
  Moments moments_;
  const CenteredColumns* columns_ = nullptr;  // of gram_, from the first batch on
  std::size_t n_targets_, ld_targets_;
  std::uint64_t flips_open_ = 0;
};

}  // namespace bitsieve
