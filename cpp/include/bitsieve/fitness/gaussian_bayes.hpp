// Cross-validated Gaussian naive Bayes of masks.
//
// The cost of class c is Q_c + L_c - log prior_c, with Q_c the sum over the features of
// (x - mean)^2 / 2 (variance + e) and L_c that of log(variance + e) / 2, less what is the same for all classes. The smoothing e is a
// fraction of the greatest variance among the mask's features in the training part, so it differs
// from mask to mask. A batch is added at one reference value. What changes with e is bounded by the
// least variance of any feature and class; where the variances of a table differ so much that this
// says little, Q and L are corrected by their derivatives, which are sums too, and what is left is
// of second order. The features of the least variances are left out of that.
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
  // The smoothing, the number of features, and of a mask that others are near to (or a reference)
  // the greatest 1 / (variance + e).
  std::size_t n_params() const override { return 3; }
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  void survey(State& state, const TargetSplits& at, int n_threads) const override;
  void reference_params(const State& state, double* params) const override;
  void measure(const State& state, const TargetSplits& at,
               const std::vector<std::int32_t>& features, double* params,
               Scratch& scratch) const override;
  void measure_base(const State& state, const TargetSplits& at,
                    const std::vector<std::int32_t>& features, double* params,
                    Scratch& scratch) const override;
  void measure_flips(const State& state, const TargetSplits& at,
                     const std::vector<std::int32_t>& base, const FeatureBlock& flips,
                     const bool* joins, double* params, Scratch& scratch) const override;
  bool declines(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params) const override;
  bool may_decline_near(const State& state, const TargetSplits& at,
                        const std::vector<std::int32_t>& base, std::int32_t flip,
                        const double* params) const override;
  std::size_t block_size(const State& state) const override;
  void begin_block(const State& state, const FeatureBlock& block) const override;
  void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
             const double* params, bool is_reference, std::size_t split, double* out,
             Scratch& scratch) const override;
  void offsets(const State& state, const TargetSplits& at, std::size_t split,
               const SplitSums& sums, const double* params, const double* reference,
               const Offsets& out) const override;

 private:
  struct Folds;  // a state

  // Largest variance of a training part over the features of a mask, by split.
  void largest_variances(const Folds& folds, const std::vector<std::int32_t>& features,
                         std::size_t n_splits, double* out, std::size_t stride) const;
  double most_abs(const std::vector<std::int32_t>& features) const;

  double var_smoothing_;
  std::vector<double> priors_;
  std::vector<double> max_abs_;  // of the user's values, by feature
  double largest_abs_ = 0;
};

}  // namespace bitsieve
