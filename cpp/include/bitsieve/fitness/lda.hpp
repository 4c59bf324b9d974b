// Cross-validated linear discriminant analysis of masks.
//
// With the covariance matrix S = (1 - s) A + d I, A the weighted scatter within the classes and
// d = s trace(A) / k, the score of class c is (x - b)'S^-1 (m_c - b) - (m_c - b)'S^-1 (m_c - b) / 2
// + log prior_c, b any point; here the mean of the class means by their priors. A mask with more
// features than samples is solved on the samples: A is Z'Z with a row of Z a training sample, and
// S^-1 = (I - (1 - s) Z'((1 - s) Z Z' + d I)^-1 Z) / d, all of whose products are in the mask's Gram
// matrix. A smaller one is solved on the features: on the values, or where samples are many on the
// moments of each training part (moments.hpp), which are made once, so that an
// evaluation depends on the number of samples in its predictions alone.
// Cost of a split: a Cholesky decomposition (n^3 / 6 or k^3 / 6 multiply-adds), and for the features
// the scatter (n k^2 / 2).
//
// All one-flip neighbors of a mask in one pass (lda_flips.cpp): n k multiply-adds a split and feature.
//
// Without shrinkage scikit-learn cuts small singular values off: masks for which it might are
// declined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/fold_scales.hpp"
#include "bitsieve/fitness/moments.hpp"
#include "bitsieve/fitness/scaled_gram.hpp"
#include "bitsieve/fitness/solver_fitness.hpp"

namespace bitsieve {

struct LdaSettings {
  double shrinkage = 0;        // in [0, 1]
  bool svd = false;            // scikit-learn's solver of that name, without shrinkage
  double tol = 1e-4;           // below it that cuts singular values off
  std::vector<double> priors;  // one a class, positive; empty: the shares of the training part
  Outputs::Kind kind = Outputs::Kind::probabilities;  // or decisions
};

class LdaFitness : public SolverFitness {
 public:
  LdaFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
             LdaSettings settings, const ScalerOptions& scaler);

  Outputs::Kind kind() const override { return settings_.kind; }
  std::size_t n_values() const override {
    const std::size_t n_classes = target().n_classes;
    return settings_.kind == Outputs::Kind::decisions && n_classes == 2 ? 1 : n_classes;
  }
  bool may_decline() const override { return true; }
  Counters count() const override {
    Counters out = SolverFitness::count();
    out.emplace_back("flips_open", flips_open_);
    return out;
  }

 protected:
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  std::unique_ptr<Worker> make_worker() const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  void forget_states() override;
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;

 private:
  struct Own;  // a worker
  struct Flips;
  struct FlipSplit;
  struct FlipScratch;

  // Whether a mask of k features is solved on the samples.
  bool is_dual(std::size_t k) const {
    return settings_.shrinkage > 0 && k > table().view().n_samples;
  }
  bool begin_split(const TargetSplits& at, std::size_t split, Own& own) const;
  void list_training(const TargetSplits& at, std::size_t split, Own& own) const;  // own.train
  // Scores of the classes that the split trains on, in own.scores[n_tests][n_present]; false where
  // there is no good answer. Of the Gram matrix of all samples, in the table's order, of columns
  // from any origin; or of the values in own.values.
  bool solve_dual(const double* gram, std::size_t ld, Own& own) const;
  bool solve_primal(Own& own) const;
  // The coefficients in own.solved and own.offsets, of means and scatter in own.means and own.system.
  bool solve_features(Own& own) const;
  // Of moments; lost where they are too coarse, and the values must be read.
  enum class Solved : std::uint8_t { yes, no, lost };
  Solved solve_moments(const MaskMoments& moments, const ScaleView* scales, std::size_t split,
                       Own& own) const;
  bool is_by_moments(std::size_t k, const Splits& splits) const;
  void measure_amplitudes(int n_threads);
  // Class means, their mean, and the scatter within the classes, of the values in own.values.
  void scatter(Own& own) const;
  bool is_whole_rank(Own& own) const;
  bool answer_split(const TargetSplits& at, std::size_t split, const Own& own,
                    const Answer& answer) const;
  void fill_values(const ScaleView* scales, std::size_t split, Own& own) const;

  // One-flip neighbors: what they share of a split, 16 of them, and their classes.
  bool prepare_flips(const TargetSplits& at, std::size_t split, const ScaleView* scales, Own& own,
                     FlipSplit& out) const;
  void flip_block(const Flips& common, const Word* base, const std::int64_t* flips,
                  std::size_t count, const TargetSplits& at, const Scorer& scorer, FlipScratch& own,
                  double* scores, char* open) const;
  void find_short(const FlipSplit& split, std::size_t k, std::size_t ld, const double* inverse,
                  const double* pivot, const double* change, const double* bound, const bool* joins,
                  double cut, FlipScratch& own, double* unsure) const;
  void decide(const FlipSplit& split, const double* differences, const double* bound,
              std::int32_t* codes, double* unsure) const;

  LdaSettings settings_;
  FoldScales scales_;
  Moments moments_;
  std::vector<double> amplitudes_;  // the largest value of each feature; empty: not measured
  const CenteredColumns* columns_ = nullptr;  // of gram_, from the first batch on
  std::uint64_t flips_open_ = 0;
};

}  // namespace bitsieve
