// Cross-validated Gaussian naive Bayes of masks.
//
// The cost of class c is Q_c + L_c - log prior_c, with Q_c the sum over the features of
// (x - mean)^2 / 2 (variance + e) and L_c that of log(variance + e) / 2, less what is the same for all classes. The smoothing e is a
// fraction of the greatest variance among the mask's features in the training part, so it differs
// from mask to mask. A batch is added at one reference value. What changes with e is bounded by the
// least variance of any feature and class; where the variances of a table differ so much that this
// says little, Q and L are corrected by their derivatives, which are sums too, and what is left is
// of second order. The features of the least variances are left out of that.
//
// Behind a scaler the values are z = (x - center) / scale, with a scale a feature and split. The
// scale is common to all classes, so it is seen in the smoothing alone: the square of z is
// (x - mean)^2 / 2 (variance + e scale^2) of x, and the logarithms differ by the same for all
// classes. What is said of variances and smoothings above is said of z.
#pragma once

#include <memory>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"
#include "bitsieve/fitness/fold_scaler.hpp"

namespace bitsieve {

class GaussianBayesFitness : public AdditiveFitness {
 public:
  // Priors one a class, or none: then the shares of the training part, weighted.
  GaussianBayesFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       double var_smoothing, std::vector<double> priors,
                       const ScalerOptions& scaler);

  bool may_decline() const override { return true; }

 protected:
  Sums sums(const State& state, bool is_reference) const override;
  // The smoothing, the number of features, the greatest 1 / (variance + e) of a mask that others are
  // near to (or of a reference, or of the whole table, or 0 where that is not known), and behind a scaler the greatest |z|.
  std::size_t n_params() const override;
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
  void add_sums(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params,
                const std::vector<std::size_t>& splits, SumScratch& scratch,
                double* sums) const override;
  // Where the smoothings are equal, or nearly so beside the least variance of the table.
  bool is_near(const State& state, const double* kept, const double* own,
               std::size_t n_splits) const override;
  void offsets(const State& state, const TargetSplits& at, std::size_t split,
               const SplitSums& sums, const double* params, const double* reference,
               const Offsets& out) const override;

 private:
  struct Folds;  // a state

  // Largest variance of a training part over the features of a mask, by split; where wanted, and not
  // kept by the survey, the greatest |z| too.
  void largest_variances(const Folds& folds, const std::vector<std::int32_t>& features,
                         std::size_t n_splits, double* out, std::size_t stride,
                         double* reach) const;
  void measure_scales(const Folds& folds, const FeatureBlock& block, double* inverses,
                      double* reaches) const;
  const double* inverses_of(const Folds& folds, const FeatureBlock& block, std::size_t split) const;
  const double* reaches_of(const Folds& folds, const FeatureBlock& block, std::size_t split) const;
  void scale_variances(const Folds& folds, const FeatureBlock& block, std::size_t split,
                       std::size_t n, double* variances) const;
  // Means and variances of the classes in a split's training part, [n_classes][lanes] each, of a
  // block that was begun; behind a scaler the variances are of z.
  void measure_parts(const Folds& folds, const FeatureBlock& block, std::size_t split,
                     double* mean, double* variance) const;
  bool declines_scaled(const Folds& folds, const std::vector<std::int32_t>& features,
                       const double* params, std::size_t stride) const;
  double most_abs(const std::vector<std::int32_t>& features) const;

  double var_smoothing_;
  std::vector<double> priors_;
  std::vector<double> max_abs_;  // of the user's values, by feature
  double largest_abs_ = 0;
  FoldScaler scaler_;
  std::vector<double> least_, greatest_;  // by feature, where there is a scaler
};

}  // namespace bitsieve
