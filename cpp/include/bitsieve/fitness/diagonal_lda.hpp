// Cross-validated diagonal linear discriminant analysis, and nearest centroids in its terms.
//
// The cost of class c is h (sum over the features of (x - mean_c)^2 / s^2 - 2 log prior_c) with s^2
// the pooled variance within the classes: of diagonal discriminant analysis h is 1/2, of scikit-learn's
// NearestCentroid 1. The latter predicts by plain distances where all priors are alike, and may move
// the means towards the mean of all by a threshold times (s + the median of s over the mask's
// features): the one parameter that depends on the mask. A batch is added at one reference value of it, with
// the derivative; a feature whose mean comes to rest in between has no derivative, and counts as error.
// Behind a scaler (x - mean)^2 and the spreads under the median are in units of the feature's scale; in
// those of s^2 no scale is seen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"
#include "bitsieve/fitness/fold_scaler.hpp"

namespace bitsieve {

struct DiagonalSettings {
  enum class Priors : std::uint8_t { uniform, shares, given } priors = Priors::shares;
  std::vector<double> given;  // one a class, positive
  // Plain distances for a training part whose priors are all alike.
  bool plain = false;
  // Added to s^2, as a portion of the variance over all of the training part; a feature that is
  // constant there is then left out. Where it is 0, a feature with s = 0 is not divided by it.
  double smoothing = 0;
  double shrink = 0;                               // threshold of the means; 0: they stay
  bool halved = false;                             // h is 1/2
  Outputs::Kind kind = Outputs::Kind::probabilities;  // or decisions
};

class DiagonalFitness : public AdditiveFitness {
 public:
  DiagonalFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                  DiagonalSettings settings, const ScalerOptions& scaler);

  Outputs::Kind kind() const override { return settings_.kind; }
  std::size_t n_values() const override {
    const std::size_t n_classes = target().n_classes;
    return settings_.kind == Outputs::Kind::decisions && n_classes == 2 ? 1 : n_classes;
  }
  bool may_decline() const override { return true; }

 protected:
  Sums sums(const State&, bool is_reference) const override {
    const std::size_t n_classes = target().n_classes;
    return is_reference && settings_.shrink > 0 ? Sums{n_classes, 3 * n_classes} : Sums{};
  }
  // The median, and of the mask that others are near to the spreads below, at and above its middle.
  std::size_t n_params() const override { return settings_.shrink > 0 ? per_split : 0; }
  // One flip moves the median up or down, mostly to one of two values.
  std::size_t n_bases() const override { return settings_.shrink > 0 ? 2 : 1; }
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
  void values(const double* costs, double* out) const override;

  // Exact or reference terms of a split at some samples, as terms() gives them for all it tests.
  void terms_of(const State& state, const FeatureBlock& block, const double* params,
                bool is_reference, std::size_t split, const std::int32_t* samples, std::size_t n,
                double* out, Scratch& scratch) const;

  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;

 private:
  static constexpr std::size_t per_split = 4;  // parameters

  struct Folds;  // a state
  struct Moments;

  void measure_block(const Folds& folds, const FeatureBlock& block, std::size_t split,
                     Moments& moments, Scratch& scratch) const;
  // Whether costs are distances to the means as they are: no spread is used.
  bool is_of_means() const {
    return settings_.plain && settings_.shrink == 0 &&
           settings_.priors == DiagonalSettings::Priors::uniform;
  }
  void measure_scales(const Folds& folds, const FeatureBlock& block, double* out) const;
  // Whether there may be features in whose masks all digits are lost.
  bool may_lose(const Folds& folds) const;
  bool loses(const Folds& folds, const TargetSplits& at,
             const std::vector<std::int32_t>& features) const;
  // [n_splits][features] of the features' spreads, of each split in their order.
  std::vector<double> spreads_of(const Folds& folds, const TargetSplits& at,
                                 const std::vector<std::int32_t>& features) const;
  void rank_spreads(Folds& folds, const TargetSplits& at, int n_threads) const;
  double median_of(const Folds& folds, const Word* mask, std::size_t k, std::size_t split) const;
  bool keeps_a_mean(const Folds& folds, const std::vector<std::int32_t>& features,
                    const double* params, std::size_t n_splits) const;
  // Bits of lanes whose spread within the classes is the rounding of scikit-learn's sums.
  unsigned lost_lanes(const Folds& folds, const FeatureBlock& block, std::size_t split,
                      const Moments& moments) const;

  DiagonalSettings settings_;
  FoldScaler scaler_;
  bool uses_scales_;                   // they change an answer
  std::vector<double> max_abs_;        // of the user's values, by feature
  std::vector<std::uint8_t> is_whole_;  // by feature: whole numbers, whose sums are exact
};

}  // namespace bitsieve
