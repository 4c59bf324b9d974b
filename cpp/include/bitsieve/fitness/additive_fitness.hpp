// A mask fitness whose state is a sum over the features of the mask: naive Bayes, nearest centroids.
//
// Each class c has a cost at each place t (a test sample in a split), and the least cost wins:
//
//   cost_c(t) = S_c(t) + offset_c(split) + factor_c(split) * E(t)
//
// S_c (and E, where a model has it) are sums over the mask's features of terms >= 0 that depend on
// feature, place, class and the parameters of the split. Offsets are made of further sums, one a
// split (split sums, of terms >= 0 too), and of the parameters. A parameter is what depends on mask
// and split beyond sums: a smoothing, a median.
//
// The model says terms, parameters and offsets. The base adds: exactly (float64, features ascending,
// the mask's own parameters), or for a batch at once at reference parameters, with an error bound.
// What the bound leaves open, and whatever needs numbers, is of the exact sums, so that the answer is
// a function of (mask, splits) alone, in every bit. As terms are not negative, a sum bounds its own
// rounding error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/mask_fitness.hpp"
#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {

// Where the sums of the splits stand: columns of split s from begin[s] on, first those of its
// places, [place sum][test sample of the split], then its split sums.
struct SumLayout {
  SumLayout() = default;
  SumLayout(const Splits& splits, std::size_t n_place_sums, std::size_t n_split_sums);

  std::size_t n_columns() const { return begin.back(); }

  std::size_t n_place_sums = 0;  // one a class, then those of E
  std::size_t n_split_sums = 0;
  std::vector<std::size_t> begin;  // [n_splits + 1]
};

// Up to additive_lanes features side by side.
struct FeatureBlock {
  std::int32_t features[additive_lanes];  // lanes past n repeat the last one
  std::size_t n = 0;
  const double* values = nullptr;  // [n_samples][additive_lanes]
  double* kept = nullptr;          // [block_size()] what begin_block() left there
};

class AdditiveFitness : public MaskFitness {
 public:
  AdditiveFitness(std::shared_ptr<const Table> table, Target target, SplitSource source);
  ~AdditiveFitness() override;

  Outputs::Kind kind() const override { return Outputs::Kind::probabilities; }
  std::size_t n_values() const override { return target().n_classes; }

 protected:
  static constexpr std::size_t lanes = additive_lanes;

  // What the model keeps of a set of splits, and where sums stand: one layout for exact sums, one
  // for those at reference parameters, which may have more (derivatives). Once made it is read by
  // many threads.
  // The reference sums begin with the exact ones: what they have more, of places and of splits,
  // comes after. Last comes a split sum of the base's: from the terms of S_c at a place their least
  // is taken off, so that the sums are smaller and with them their errors; this one bounds what S_c
  // was before.
  struct State {
    virtual ~State() = default;
    SumLayout exact, reference;
    std::uint64_t seed = 0;
    bool is_surveyed = false;
    std::size_t n_asked = 0;  // features of the masks that were asked by themselves
    // Ascending: features that are not added at reference parameters, since no bound would hold:
    // they are added at the mask's own.
    std::vector<std::int32_t> left_out;
  };

  using Scratch = AlignedVector<double>;
  struct SumScratch {
    Scratch block, terms, numbers;
  };

  // How many sums there are beside one a class: of E 0, 1 (for all classes) or one a class.
  struct Sums {
    std::size_t n_extra = 0, n_split = 0;
  };

  // [n_classes][lanes] each, zeros at first; lanes are masks.
  struct Offsets {
    double* offset;    // infinite for a class that is never predicted
    double* factor;    // of E
    double* relative;  // the error of S_c as a share of it, beside that of adding
    double* slack;     // any other error
  };

  struct SplitSums {
    const double* sums;        // [n_split][lanes]
    const double* magnitudes;  // [n_split][lanes] each sum is wrong by share times that, at most
    double share;
    bool has_reference;  // whether they are of the reference layout
  };

  // ---- what a model says --------------------------------------------------------------------

  virtual Sums sums(const State& state, bool is_reference) const = 0;
  virtual std::size_t n_params() const { return 0; }  // a split

  // The state of splits, without its layouts; a pass over the samples at most.
  virtual std::unique_ptr<State> make_state(const TargetSplits& at) const;
  // Called once before reference parameters are used: passes over the table, what is left out.
  virtual void survey(State& state, const TargetSplits& at, int n_threads) const;
  // params[n_splits][n_params] at which sums of a batch are made; after survey().
  virtual void reference_params(const State& state, double* params) const;

  // params[n_splits][n_params] of a mask: a function of it and the splits alone.
  virtual void measure(const State& state, const TargetSplits& at,
                       const std::vector<std::int32_t>& features, double* params,
                       Scratch& scratch) const;
  // What else is known of a mask whose sums others are near to: measure(), and more if need be. A
  // model whose neighbors' parameters take few values has a base for each of them: params[n_bases]
  // [n_splits][n_params]. Neighbors are then told by the base whose parameters are theirs, in every
  // bit, and those that have none by exact sums of their own.
  virtual std::size_t n_bases() const { return 1; }
  virtual void measure_base(const State& state, const TargetSplits& at,
                            const std::vector<std::int32_t>& features, double* params,
                            Scratch& scratch) const;
  // The parameters of masks that are one flip from that base, a lane each:
  // params[n_splits][n_params][lanes], which hold the (first) base's at first. joins[lane]: the feature is
  // not in the base.
  virtual void measure_flips(const State& state, const TargetSplits& at,
                             const std::vector<std::int32_t>& base, const FeatureBlock& flips,
                             const bool* joins, double* params, Scratch& scratch) const;

  // Whether this mask has no good answer.
  virtual bool declines(const State& state, const TargetSplits& at,
                        const std::vector<std::int32_t>& features, const double* params) const;

  // Whether a mask that is one flip from a base may be such; params[n_splits][n_params][lanes] of its
  // lane. Here: as may_decline() says.
  virtual bool may_decline_near(const State& state, const TargetSplits& at,
                                const std::vector<std::int32_t>& base, std::int32_t flip,
                                const double* params) const;

  // What terms() keeps of a block for all splits, in block.kept.
  virtual std::size_t block_size(const State&) const { return 0; }
  virtual void begin_block(const State& state, const FeatureBlock& block) const;

  // out[column - layout.begin[split]][lanes] for the columns of a split: the terms of the block's
  // features, >= 0. Same bits whatever the block and the other lanes. params[n_params]. Lanes past
  // block.n are not read.
  virtual void terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
                     const double* params, bool is_reference, std::size_t split, double* out,
                     Scratch& scratch) const = 0;

  // sums[columns of the exact layout, of these splits one after the other] over the features at
  // params[n_splits][n_params]. A feature's lane is its rank, so that the bits are of the features,
  // the parameters and the split alone. Here: terms, added a block at a time.
  virtual void add_sums(const State& state, const TargetSplits& at,
                        const std::vector<std::int32_t>& features, const double* params,
                        const std::vector<std::size_t>& splits, SumScratch& scratch,
                        double* sums) const;

  // Whether sums at the parameters of one mask serve another, whose own parameters offsets() is given
  // (and those of the first as reference): both [n_splits][n_params]. Here: where they are equal.
  virtual bool is_near(const State& state, const double* kept, const double* own,
                       std::size_t n_splits) const;

  // Fills out for a split. params[n_params][lanes] are the masks' own; reference[n_params] those of
  // the sums, null where the sums are at the masks' own.
  virtual void offsets(const State& state, const TargetSplits& at, std::size_t split,
                       const SplitSums& sums, const double* params, const double* reference,
                       const Offsets& out) const = 0;

  // What is said of a place with these costs: out[n_values]. Here the probabilities of log-likelihoods
  // -cost.
  virtual void values(const double* costs, double* out) const;

  // ---- what the base gives ------------------------------------------------------------------

  // Body for each block of features, in their order, begun.
  void for_each_block(const State& state, const std::int32_t* features, std::size_t n_features,
                      Scratch& scratch, FunctionRef<const FeatureBlock&> body) const;

  void gather(const std::int32_t* features, std::size_t n, FeatureBlock& block,
              double* values) const;
  void prefetch_rows(const std::int32_t* features, std::size_t n) const;

  std::unique_ptr<Worker> make_worker() const override;
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  std::size_t most_masks() const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;
  void forget_states() override;
  Counters count() const override;

  // Of a model with another way: whether a batch whose masks have these many features together is
  // to be tabled, and whether the batch that was prepared last is.
  virtual bool prefers_tables(const MaskBatch&, const TargetSplits&, std::size_t) const {
    return true;
  }
  bool is_tabled() const { return chosen_ != nullptr; }

  struct Adder;  // a worker
  const State& state_of(const TargetSplits& at, Adder& adder) const;

 private:
  class Tables;   // a batch at once
  class Flips;    // a neighborhood
  struct Chosen;  // what Tables found

  std::unique_ptr<State> new_state(const TargetSplits& at) const;
  const State& shared_state(const TargetSplits& at, bool is_surveyed, int n_threads);
  // Classes of a mask, or no_class, from the sums that a worker keeps of the last one; false where it
  // is too far from that. adder has its features and parameters.
  bool choose_near(const State& state, const TargetSplits& at, const Word* mask, Adder& adder,
                   std::int32_t* classes);
  void choose_kept(const State& state, const TargetSplits& at, std::size_t split, Adder& adder,
                   std::int32_t* classes) const;
  void keep(const TargetSplits& at, const Word* mask, Adder& adder) const;
  // Offsets of a split in adder, for lanes of masks.
  void offsets_of(const State& state, const TargetSplits& at, std::size_t split,
                  const SplitSums& sums, const double* params, const double* reference,
                  Adder& adder) const;
  // What choose() is given, once: share is added to the relative errors in adder.
  LaneCosts lane_costs(const SumLayout& layout, const TargetSplits& at, std::size_t split,
                       const double* sums, const double* magnitudes, double share,
                       Adder& adder) const;
  // The bounds of a split's classes, lanes side by side: classes[test of the split][lanes].
  void choose(const SumLayout& layout, const TargetSplits& at, std::size_t split,
              const double* sums, const double* magnitudes, double share, Adder& adder,
              std::int32_t* classes) const;
  // adder.costs[test of the split][n_classes] from exact sums of the split.
  void costs_of(const State& state, const TargetSplits& at, std::size_t split,
                const double* params, const double* sums, Adder& adder) const;
  std::int32_t cheapest(const double* costs) const;

  std::unique_ptr<State> shared_;  // of the last splits that several masks shared
  std::unique_ptr<Chosen> chosen_;
  std::atomic<std::uint64_t> n_tabled_{0}, n_near_{0}, n_open_{0};
};

}  // namespace bitsieve
