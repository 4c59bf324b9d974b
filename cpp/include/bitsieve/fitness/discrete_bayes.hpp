// Cross-validated naive Bayes of bits, counts and categories: scikit-learn's BernoulliNB,
// MultinomialNB, ComplementNB without its second normalisation, and CategoricalNB.
//
// The cost of a class is its joint log-likelihood, negative, less what all classes share: from each
// (feature, place) the greatest log-likelihood of a class is taken away, so that terms are not
// negative and no larger than what decides. Counts are sums of weights over the training part,
// correct to one rounding, whichever way the splits were made.
//
// Terms do not depend on the mask. Of counts what does is the total of a class over the mask, T_c,
// a sum a split: its logarithm multiplies E, the total of the sample over the mask. In float32 such
// a sum would leave much open, so that a batch has T_c as parameters, in float64; and its terms are
// those of T_c over all features, which leaves little for E.
//
// Behind a scaler values are others in each split, so that each is counted by itself: all its
// training samples, not the whole less those that are tested.
//
// Cost of the terms of a feature: n_classes steps a place, n_classes logarithms a split; behind a
// scaler a step a training sample of each split too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"
#include "bitsieve/fitness/fold_values.hpp"

namespace bitsieve {

// What the models share. A class that a training part lacks is never predicted there.
struct DiscreteOptions {
  double alpha = 1;               // above 0
  bool fit_prior = true;          // the shares of the training part, or all alike
  std::vector<double> log_prior;  // one a class in place of both, or none
};

class DiscreteBayesFitness : public AdditiveFitness {
 public:
  bool may_decline() const override { return true; }

 protected:
  DiscreteBayesFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       DiscreteOptions options, const ScalerOptions& scaler = {});

  // What is known of splits: weights of the classes, and priors.
  struct Learnt : State {
    std::vector<double> weight;     // [n_splits][n_classes] of training
    std::vector<double> log_prior;  // [n_splits][n_classes], minus infinity where there is none
    bool is_refused = false;        // a training part without weight, or a class of it
    bool has_refused = false;       // a feature, whatever the mask

    // Behind a scaler: the splits, their training samples by class, and after survey(), where memory
    // allows, two numbers a feature and split, [n_features][n_splits] each; see measure_scales().
    Splits splits;
    std::vector<std::int32_t> members;
    std::vector<std::size_t> member_begin;  // [n_splits * n_classes + 1]
    std::vector<double> first, second;
  };

  Sums sums(const State&, bool) const override { return {0, 0}; }
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  void survey(State& state, const TargetSplits& at, int n_threads) const override;
  bool declines(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params) const override;
  bool may_decline_near(const State& state, const TargetSplits& at,
                        const std::vector<std::int32_t>& base, std::int32_t flip,
                        const double* params) const override;
  void offsets(const State& state, const TargetSplits& at, std::size_t split,
               const SplitSums& sums, const double* params, const double* reference,
               const Offsets& out) const override;

  void learn(Learnt& learnt, const TargetSplits& at) const;

  // Of a block's sums over all samples, by class, in twice the digits.
  std::size_t totals_size() const { return 2 * target().n_classes * lanes; }
  void add_totals(const double* values, bool whole, double* totals) const;

  // sums[c][lanes] over the training samples of a class in a split, of weight times value, from the
  // totals where these samples are all but those that are tested. Whole: values are whole numbers,
  // so that sums without weights are exact anyway.
  void add_training(const TargetSplits& at, const double* values, const double* totals,
                    std::size_t split, bool whole, double* sums, Scratch& scratch) const;

  // Of features in all splits what their values, or bits, are made with: [m][n_splits] each.
  virtual void measure_scales(const std::int32_t* features, std::size_t m, const Splits& splits,
                              double* first, double* second, int n_threads) const;
  // Both of a block, [n_splits][lanes] each, and where those of a split are.
  std::size_t scales_size(const Learnt& learnt) const { return 2 * learnt.splits.n_splits * lanes; }
  void begin_scales(const Learnt& learnt, const FeatureBlock& block, double* kept) const;
  struct Scales {
    const double *first, *second;  // [lanes]
  };
  Scales scales_of(const Learnt& learnt, const double* kept, std::size_t split) const {
    const double* first = kept + split * lanes;
    return {first, first + learnt.splits.n_splits * lanes};
  }

  const FoldValues& scaler() const { return scaler_; }
  const DiscreteOptions& options() const { return options_; }
  double weight_of(std::size_t sample) const {
    return target().weights.empty() ? 1.0 : target().weights[sample];
  }

  std::vector<bool> refused_;  // features that scikit-learn refuses, whatever the splits

 private:
  DiscreteOptions options_;
  FoldValues scaler_;
};

class BernoulliFitness : public DiscreteBayesFitness {
 public:
  // A value above the threshold is a one. scikit-learn's standard scaler adds samples up in the order
  // that the splits list them in, of a column by itself in yet another one. Where that is not ours
  // (`ascending`: splits list training samples in ascending order) a mask is declined if a value is so
  // near to the threshold that rounding tells its side.
  BernoulliFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                   DiscreteOptions options, double threshold, const ScalerOptions& scaler = {},
                   bool ascending = true);

 protected:
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  void survey(State& state, const TargetSplits& at, int n_threads) const override;
  bool declines(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params) const override;
  bool may_decline_near(const State& state, const TargetSplits& at,
                        const std::vector<std::int32_t>& base, std::int32_t flip,
                        const double* params) const override;
  // The first number of a feature and split is the value above which its bit is a one.
  void measure_scales(const std::int32_t* features, std::size_t m, const Splits& splits,
                      double* first, double* second, int n_threads) const override;
  std::size_t block_size(const State& state) const override;
  void begin_block(const State& state, const FeatureBlock& block) const override;
  void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
             const double* params, bool is_reference, std::size_t split, double* out,
             Scratch& scratch) const override;

 private:
  struct Chances;  // a state

  // counts[c][lanes] of the training samples whose values are above the cutoffs.
  void count_above(const Learnt& learnt, const double* values, const double* cutoff,
                   std::size_t split, double* counts) const;
  bool depends_on_order(const Splits& splits, std::int32_t feature) const;

  bool is_standard() const {
    return scaler().options().kind == ScalerOptions::Kind::standard;
  }

  double threshold_;
  bool ascending_;
};

class MultinomialFitness : public DiscreteBayesFitness {
 public:
  // Of the class's own counts, or of those of all others (ComplementNB). Masks with a feature that
  // has a negative value are declined. Scalers keep zero where it is, or have a range from it on: a
  // test sample may then be below zero, and with it E.
  MultinomialFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                     DiscreteOptions options, bool complement, const ScalerOptions& scaler = {});

 protected:
  Sums sums(const State&, bool) const override {
    return {1, target().n_classes + (scaler().is_range() ? 1 : 0)};
  }
  std::size_t n_params() const override { return target().n_classes; }
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  void survey(State& state, const TargetSplits& at, int n_threads) const override;
  void measure(const State& state, const TargetSplits& at,
               const std::vector<std::int32_t>& features, double* params,
               Scratch& scratch) const override;
  void measure_base(const State&, const TargetSplits&, const std::vector<std::int32_t>&, double*,
                    Scratch&) const override {}  // exact sums tell T_c well enough
  bool is_near(const State&, const double*, const double*, std::size_t) const override {
    return true;
  }
  std::size_t block_size(const State& state) const override;
  void begin_block(const State& state, const FeatureBlock& block) const override;
  void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
             const double* params, bool is_reference, std::size_t split, double* out,
             Scratch& scratch) const override;
  void offsets(const State& state, const TargetSplits& at, std::size_t split,
               const SplitSums& sums, const double* params, const double* reference,
               const Offsets& out) const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;

 private:
  struct Totals;  // a state

  // N_c + alpha, or what stands in its place, of a block and a split: counts[c][lanes].
  void count(const Learnt& learnt, const TargetSplits& at, const FeatureBlock& block,
             std::size_t split, double* counts, Scratch& scratch) const;
  void counts_of(const Totals& totals, const TargetSplits& at, const FeatureBlock& block,
                 std::size_t split, double* counts, Scratch& scratch) const;
  void add_scaled(const Learnt& learnt, const FeatureBlock& block, std::size_t split,
                  double* sums) const;

  bool complement_;
};

class CategoricalFitness : public DiscreteBayesFitness {
 public:
  // Masks with a feature of which a test part has a category above all of the training part, and not
  // below min_categories, are declined; so are negative ones, and those above 65,535.
  CategoricalFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                     DiscreteOptions options, std::size_t min_categories);

 protected:
  std::unique_ptr<State> make_state(const TargetSplits& at) const override;
  bool declines(const State& state, const TargetSplits& at,
                const std::vector<std::int32_t>& features, const double* params) const override;
  std::size_t block_size(const State& state) const override;
  void begin_block(const State& state, const FeatureBlock& block) const override;
  void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
             const double* params, bool is_reference, std::size_t split, double* out,
             Scratch& scratch) const override;

 private:
  struct Seen;    // a state
  struct Levels;  // what is kept of a block

  // A sample's weight, to the levels and classes of its values.
  void add(std::size_t sample, const double* place, double* count, double* sum,
           double* rest) const;
  bool has_unseen(const Splits& splits, std::size_t feature) const;

  std::size_t min_categories_;
  std::vector<std::int32_t> largest_;  // [n_features] category
  std::size_t most_levels_ = 0;        // categories that occur of a feature
  std::vector<double> log_count_;      // of a number of samples and alpha
};

}  // namespace bitsieve
