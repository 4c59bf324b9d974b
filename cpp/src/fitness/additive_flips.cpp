// All one-flip neighbors of a mask: its exact sums and the terms of each flip, 16 flips at a time.
// Limit: each value of the table is read once, 8 bytes a (flip, sample). Gaussian naive Bayes reads
// 16 n_splits n_classes bytes a flip besides, where moments are kept: on 104 samples, 5 folds and 2
// classes 992 bytes a flip, 22 MB for 22,283 flips, 1 ms at 23 GB/s. It takes 8.3 ms there, so
// it is bound by operations, not by bytes: by turning rows into lanes, logarithms, terms and bounds.
#include <algorithm>
#include <utility>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t flip_confused_classes = 64;  // counted by pairs

}  // namespace

class AdditiveFitness::Flips {
 public:
  Flips(AdditiveFitness& fitness, const State& state, const Word* base, const TargetSplits& at,
        const Scorer& scorer, Adder& own)
      : fitness_(fitness),
        state_(state),
        base_(base),
        at_(at),
        scorer_(scorer),
        n_params_(fitness.n_params()),
        n_bases_(fitness.n_bases()),
        n_classes_(fitness.target().n_classes),
        hits_only_(scorer.takes_hits()),
        params_(n_bases_ * at.splits.n_splits * n_params_, 0.0),
        sums_(n_bases_ * state.exact.n_columns(), 0.0) {
    list_bits(base, fitness.n_words(), features_);
    fitness.measure_base(state, at, features_, params_.data(), own.scratch_numbers);
    for (std::size_t b = 0; b < n_bases_; ++b) {
      fitness.add_sums(state, at, features_, params_of(b), own.range(0, at.splits.n_splits),
                       own.scratch_sums, sums_.data() + b * state.exact.n_columns());
    }
    for (const std::int32_t i : at.splits.test_samples) {
      own_class_.push_back(fitness.target().codes[static_cast<std::size_t>(i)]);
    }
  }

  void run(const std::int64_t* flips, std::size_t n_masks, int n_threads, double* scores,
           bool* declined) {
    auto& pool = fitness_.workers(n_threads);
    std::vector<Block> blocks(pool.size());
    const std::size_t n_blocks = (n_masks + lanes - 1) / lanes;
    parallel_for_worker(n_blocks, n_threads, [&](std::size_t block, int w) {
      const std::size_t first = block * lanes, n = std::min(lanes, n_masks - first);
      const auto worker = static_cast<std::size_t>(w);
      const std::size_t n_after = std::min(lanes, n_masks - first - n);
      run_block(flips + first, n, n_after, blocks[worker], static_cast<Adder&>(*pool[worker]),
                scores + first * at_.splits.n_splits,
                declined == nullptr ? nullptr : declined + first);
    });
  }

 private:
  // What a thread keeps of a block.
  struct Block {
    std::vector<std::int32_t> hits;       // [n_splits][n_classes][lanes]
    std::vector<std::int32_t> confusion;  // [lanes][n_splits][n_classes][n_classes]
    Scratch params;                       // [n_splits][n_params][lanes]
    alignas(64) double sign[lanes];
    bool joins[lanes], is_open[lanes], is_empty[lanes], is_declined[lanes];
  };

  void run_block(const std::int64_t* flips, std::size_t n, std::size_t n_after, Block& block,
                 Adder& own, double* scores, bool* declined) {
    const std::size_t n_splits = at_.splits.n_splits;
    std::int32_t features[lanes];
    for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(flips[l]);
    std::int32_t after[lanes];
    for (std::size_t l = 0; l < n_after; ++l) after[l] = static_cast<std::int32_t>(flips[n + l]);
    fitness_.prefetch_rows(after, n_after);
    for (std::size_t l = 0; l < lanes; ++l) {
      const auto f = static_cast<std::size_t>(features[std::min(l, n - 1)]);
      block.joins[l] = !get_bit(base_, f);
      block.sign[l] = block.joins[l] ? 1.0 : -1.0;
      block.is_empty[l] = !block.joins[l] && features_.size() == 1;
    }
    block.params.resize(n_splits * n_params_ * lanes);
    for (std::size_t k = 0; k < n_splits * n_params_; ++k) {
      std::fill_n(block.params.data() + k * lanes, lanes, params_[k]);
    }
    if (hits_only_) {
      block.hits.assign(n_splits * n_classes_ * lanes, 0);
    } else {
      block.confusion.assign(lanes * n_splits * n_classes_ * n_classes_, 0);
    }
    fitness_.for_each_block(state_, features, n, own.block, [&](const FeatureBlock& of_flips) {
      fitness_.measure_flips(state_, at_, features_, of_flips, block.joins, block.params.data(),
                             own.scratch_numbers);
      for (std::size_t l = 0; l < n; ++l) {
        block.is_declined[l] = false;
        if (!fitness_.may_decline() || block.is_empty[l]) continue;
        block.is_declined[l] = declines(of_flips.features[l], l, block, own);
      }
      for (std::size_t s = 0; s < n_splits; ++s) run_split(s, of_flips, n, block, own);
    });
    for (std::size_t l = 0; l < n; ++l) {
      score(l, block, own, scores + l * n_splits);
      if (declined != nullptr) declined[l] = block.is_declined[l];
    }
  }

  const double* params_of(std::size_t base) const {
    return params_.data() + base * at_.splits.n_splits * n_params_;
  }

  // Which lanes' parameters in a split are those of a base.
  void match(std::size_t base, std::size_t s, const Block& block, bool* is_its) const {
    std::fill_n(is_its, lanes, true);
    if (n_bases_ == 1) return;
    const double* own = params_of(base) + s * n_params_;
    for (std::size_t k = 0; k < n_params_; ++k) {
      const double* row = block.params.data() + (s * n_params_ + k) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) is_its[l] = is_its[l] && row[l] == own[k];
    }
  }

  // The features of the base with one flipped, ascending, in own.features.
  void list_flipped(std::int32_t f, bool joins, Adder& own) const {
    own.features = features_;
    const auto place = std::lower_bound(own.features.begin(), own.features.end(), f);
    if (joins) {
      own.features.insert(place, f);
    } else {
      own.features.erase(place);
    }
  }

  bool declines(std::int32_t f, std::size_t lane, const Block& block, Adder& own) const {
    if (!fitness_.may_decline_near(state_, at_, features_, f, block.params.data() + lane)) {
      return false;
    }
    list_flipped(f, block.joins[lane], own);
    own.params.assign(at_.splits.n_splits * n_params_, 0.0);
    fitness_.measure(state_, at_, own.features, own.params.data(), own.scratch_numbers);
    return fitness_.declines(state_, at_, own.features, own.params.data());
  }

  // Hits of a split, and which lanes are open, where there is one base.
  void count(std::size_t s, const FeatureBlock& flips, const Block& block, Adder& own,
             std::int32_t* hits, std::int32_t* open) const {
    const AdditiveKernels& kernel = *kernels().additive;
    const SumLayout& layout = state_.exact;
    const std::size_t n_tests = tests_of(at_.splits, s);
    const std::size_t n_places = layout.n_place_sums * n_tests, n_split = layout.n_split_sums;
    const double *reference = params_.data() + s * n_params_, *base = sums_.data() + layout.begin[s];
    own.terms.resize((n_places + n_split) * lanes);
    own.lane_sums.resize(n_split * lanes);
    own.magnitudes.resize(n_split * lanes);
    own.counts.resize(n_classes_ * lanes);
    fitness_.terms(state_, at_, flips, reference, false, s, own.terms.data(), own.scratch_numbers);
    kernel.flip_sums(base + n_places, own.terms.data() + n_places * lanes, block.sign, n_split,
                     own.lane_sums.data(), own.magnitudes.data());
    fitness_.offsets_of(state_, at_, s,
                        {own.lane_sums.data(), own.magnitudes.data(), exact_share, false},
                        block.params.data() + s * n_params_ * lanes, reference, own);
    kernel.flip_hits(fitness_.lane_costs(layout, at_, s, own.terms.data(), nullptr, exact_share, own),
                     base, block.sign, own_class_.data() + at_.splits.test_begin[s],
                     own.counts.data(), hits, open);
  }

  // The classes of the lanes whose parameters are a base's, in own.classes.
  void choose(std::size_t base, std::size_t s, const FeatureBlock& flips, const Block& block,
              Adder& own) {
    const AdditiveKernels& kernel = *kernels().additive;
    const SumLayout& layout = state_.exact;
    const std::size_t n_columns = layout.begin[s + 1] - layout.begin[s];
    const std::size_t n_tests = tests_of(at_.splits, s);
    bool is_its[lanes];
    match(base, s, block, is_its);
    if (std::find(is_its, is_its + lanes, true) == is_its + lanes) return;
    for (auto* list : {&own.terms, &own.lane_sums, &own.magnitudes}) {
      list->resize(n_columns * lanes);
    }
    const double* reference = params_of(base) + s * n_params_;
    fitness_.terms(state_, at_, flips, reference, false, s, own.terms.data(), own.scratch_numbers);
    kernel.flip_sums(sums_.data() + base * layout.n_columns() + layout.begin[s], own.terms.data(),
                     block.sign, n_columns, own.lane_sums.data(), own.magnitudes.data());
    const std::size_t of_split = layout.n_place_sums * n_tests * lanes;
    fitness_.offsets_of(state_, at_, s,
                        {own.lane_sums.data() + of_split, own.magnitudes.data() + of_split,
                         exact_share, false},
                        block.params.data() + s * n_params_ * lanes, reference, own);
    own.others.resize(n_tests * lanes);
    std::int32_t* classes = n_bases_ == 1 ? own.classes.data() : own.others.data();
    fitness_.choose(layout, at_, s, own.lane_sums.data(), own.magnitudes.data(), exact_share, own,
                    classes);
    if (n_bases_ == 1) return;
    for (std::size_t k = 0; k < n_tests * lanes; ++k) {
      if (is_its[k % lanes]) own.classes[k] = classes[k];
    }
  }

  void run_split(std::size_t s, const FeatureBlock& flips, std::size_t n, Block& block,
                 Adder& own) {
    const std::size_t n_tests = tests_of(at_.splits, s);
    const auto first = static_cast<std::size_t>(at_.splits.test_begin[s]);
    std::int32_t* hits = hits_only_ ? block.hits.data() + s * n_classes_ * lanes : nullptr;
    alignas(64) std::int32_t open[lanes] = {};
    own.classes.assign(n_tests * lanes, no_class);
    if (hits_only_ && n_bases_ == 1) {
      count(s, flips, block, own, hits, open);
    } else {
      for (std::size_t b = 0; b < n_bases_; ++b) choose(b, s, flips, block, own);
      if (hits_only_) {
        kernels().additive->count_hits(own.classes.data(), own_class_.data() + first, n_tests, hits,
                                       open);
      }
    }
    if (!hits_only_) {
      for (std::size_t k = 0; k < n_tests * lanes; ++k) {
        open[k % lanes] |= own.classes[k] == no_class;
      }
    }
    for (std::size_t l = 0; l < n; ++l) {
      if (open[l] != 0 && !block.is_declined[l] && !block.is_empty[l]) {
        decide(s, flips.features[l], l, block, own);
        if (hits_only_) {
          for (std::size_t c = 0; c < n_classes_; ++c) hits[c * lanes + l] = 0;
          for (std::size_t k = 0; k < n_tests; ++k) {
            const auto wanted = static_cast<std::size_t>(own_class_[first + k]);
            hits[wanted * lanes + l] += own.classes[k * lanes + l] == own_class_[first + k];
          }
        }
      }
      if (hits_only_ || block.is_declined[l] || block.is_empty[l]) continue;
      std::int32_t* cells = block.confusion.data() +
                            (l * at_.splits.n_splits + s) * n_classes_ * n_classes_;
      for (std::size_t k = 0; k < n_tests; ++k) {
        ++cells[static_cast<std::size_t>(own_class_[first + k]) * n_classes_ +
                static_cast<std::size_t>(own.classes[k * lanes + l])];
      }
    }
  }

  // All places of a split, exactly.
  void decide(std::size_t s, std::int32_t f, std::size_t lane, const Block& block, Adder& own) {
    ++fitness_.n_open_;
    list_flipped(f, block.joins[lane], own);
    own.params.assign(at_.splits.n_splits * n_params_, 0.0);
    for (std::size_t k = 0; k < own.params.size(); ++k) own.params[k] = block.params[k * lanes + lane];
    const SumLayout& layout = state_.exact;
    own.sums.resize(layout.begin[s + 1] - layout.begin[s]);
    fitness_.add_sums(state_, at_, own.features, own.params.data(), own.range(s, s + 1),
                      own.scratch_sums, own.sums.data());
    fitness_.costs_of(state_, at_, s, own.params.data(), own.sums.data(), own);
    for (std::size_t k = 0; k < tests_of(at_.splits, s); ++k) {
      own.classes[k * lanes + lane] =
          fitness_.cheapest(own.costs.data() + k * n_classes_);
    }
  }

  void score(std::size_t lane, Block& block, Adder& own, double* out) const {
    const std::size_t n_splits = at_.splits.n_splits;
    if (block.is_empty[lane]) {
      fitness_.score_empty(at_, scorer_, own, out);
    } else if (block.is_declined[lane]) {
      std::fill_n(out, n_splits, std::numeric_limits<double>::quiet_NaN());
    } else if (hits_only_) {
      own.others.resize(n_splits * n_classes_);
      for (std::size_t k = 0; k < own.others.size(); ++k) own.others[k] = block.hits[k * lanes + lane];
      scorer_.of_hits(at_, own.others.data(), own.scratch, out);
    } else {
      scorer_.of_confusion(
          at_, block.confusion.data() + lane * n_splits * n_classes_ * n_classes_, own.scratch, out);
    }
  }

  AdditiveFitness& fitness_;
  const State& state_;
  const Word* base_;
  const TargetSplits at_;
  const Scorer& scorer_;
  std::size_t n_params_, n_bases_, n_classes_;
  bool hits_only_;
  std::vector<std::int32_t> features_;    // of the base
  std::vector<double> params_, sums_;     // of the bases
  std::vector<std::int32_t> own_class_;  // of each test sample
};

bool AdditiveFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                         std::size_t n_masks, const TargetSplits& at,
                                         const Scorer& scorer, int n_threads, double* scores,
                                         bool* declined) {
  if (!is_of_classes(scorer.score().metric)) return false;
  if (!scorer.takes_hits() && target().n_classes > flip_confused_classes) return false;
  const std::size_t p = table().view().n_features;
  const State& state = shared_state(at, 4 * n_masks > p, n_threads);
  Adder& own = static_cast<Adder&>(*workers(n_threads)[0]);
  Flips(*this, state, base, at, scorer, own).run(flips, n_masks, n_threads, scores, declined);
  return true;
}

}  // namespace bitsieve
