// Cross-validated Gaussian naive Bayes of masks.
//
// The cost of class c is Q_c + L_c - log prior_c, with Q_c the sum over the features of
// (x - mean)^2 / 2 (variance + e) and L_c that of log(2 pi (variance + e)) / 2. The smoothing e is a
// fraction of the greatest variance among the mask's features in the training part: the one
// parameter of a split, beside the number of features.
#pragma once

#include <memory>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"

namespace bitsieve {

class GaussianBayesFitness : public AdditiveFitness {
 public:
  // Priors one a class, or none: then the shares of the training part, weighted.
  GaussianBayesFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       double var_smoothing, std::vector<double> priors);

  bool may_decline() const override { return true; }

 protected:
  Sums sums(const State& state, bool is_reference) const override;
  std::size_t n_params() const override { return 2; }
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  void measure(const State& state, const TargetSplits& at,
               const std::vector<std::int32_t>& features, double* params,
               Scratch& scratch) const override;
  bool declines(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params) const override;
  void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
             const double* params, bool is_reference, std::size_t first, std::size_t last,
             double* out, Scratch& scratch) const override;
  void offsets(const State& state, const TargetSplits& at, std::size_t split,
               const SplitSums& sums, const double* params, const double* reference,
               const Offsets& out) const override;

 private:
  struct Folds;  // a state

  double var_smoothing_;
  std::vector<double> priors_;
  std::vector<double> max_abs_;  // of the user's values, by feature
};

}  // namespace bitsieve
