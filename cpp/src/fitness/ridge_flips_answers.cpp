// Which neighborhoods of a ridge regression are answered in one pass; the classes, the scores, and
// the neighbors that a pass left open.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ridge_flips.hpp"

namespace bitsieve {
namespace ridge_detail {

constexpr std::size_t most_flip_classes = 64;

}  // namespace ridge_detail

bool RidgeFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                      std::size_t n_masks, const TargetSplits& at,
                                      const Scorer& scorer, int n_threads, double* scores,
                                      bool* declined) {
  using namespace ridge_detail;
  if (!target().is_classes() || !is_of_classes(scorer.score().metric) || settings_.alpha == 0 ||
      settings_.kernel != RidgeSettings::Kernel::linear || n_masks < fewest_flips) {
    return false;
  }
  if (target().n_classes > most_flip_classes && !scorer.takes_hits()) return false;
  columns_ = &gram_.columns(n_threads);
  Own& own = static_cast<Own&>(*workers(n_threads)[0]);
  const RidgePlan& plan = plan_for(at, own);
  if (plan.least_train == 0) return false;

  std::vector<FlipScratch> scratch(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  std::vector<char> open(n_masks, 0);
  const auto pass = [&](auto&& block) {
    parallel_for_worker((n_masks + lanes - 1) / lanes, n_threads, [&](std::size_t b, int worker) {
      const std::size_t first = b * lanes, count = std::min(lanes, n_masks - first);
      if (b % 64 == 0) check_interrupt();
      block(flips + first, count, scratch[static_cast<std::size_t>(worker)],
            scores + first * at.splits.n_splits, open.data() + first);
    });
  };
  if (plan.varies || !scales_.is_none()) {
    FoldFlips common(plan);
    if (!prepare_fold_flips(base, flips, n_masks, at, n_threads, common, own)) return false;
    pass([&](const std::int64_t* some, std::size_t count, FlipScratch& mine, double* out, char* left) {
      flip_block_of_folds(common, base, some, count, at, scorer, mine, out, left);
    });
  } else {
    if (!gram_.has_matrices()) return false;
    Flips common(plan, table().view().n_samples, gram_.ld());
    if (!prepare_flips(base, at, n_threads, common, own)) return false;
    pass([&](const std::int64_t* some, std::size_t count, FlipScratch& mine, double* out, char* left) {
      flip_block(common, base, some, count, at, scorer, mine, out, left);
    });
  }
  answer_open(base, flips, open, at, scorer, n_threads, scores, declined);
  return true;
}

// Which classes each training part has, and room for the base's values.
void RidgeFitness::start_flips(const TargetSplits& at, FlipBase& base) const {
  const std::size_t n_classes = target().n_classes;
  base.trained.resize(base.plan.n_splits());
  for (std::size_t s = 0; s < base.plan.n_splits(); ++s) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (at.target.train_of_class[s * n_classes + c] > 0) base.trained[s].push_back(c);
    }
  }
  base.fitted.assign(base.plan.test_begin.back() * ld_targets_, 0.0);
}

// The classes of the test samples of a split, codes[t][lanes], and which lanes are unsure of one. A
// value is fitted + v * change, to a bound of slack * |v| + steady.
void RidgeFitness::decide(const FlipBase& base, std::size_t s, const double* v,
                          const double* change, const double* slack, const double* steady,
                          std::int32_t* codes, double* unsure) const {
  using namespace ridge_detail;
  const std::vector<std::size_t>& trained = base.trained[s];
  const std::size_t n_tests = base.plan.n_tests[s];
  const double* fitted = base.fitted.data() + base.plan.test_begin[s] * ld_targets_;
  if (trained.size() < 2) {
    std::fill_n(codes, n_tests * lanes, static_cast<std::int32_t>(trained.front()));
    return;
  }
  if (trained.size() == 2) {
    const std::size_t c = n_targets_ == 1 ? 0 : trained[1];
    const std::int32_t low = static_cast<std::int32_t>(trained[0]);
    const std::int32_t high = static_cast<std::int32_t>(trained[1]);
    for (std::size_t t = 0; t < n_tests; ++t) {
      const double f = fitted[t * ld_targets_ + c];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double along = v[t * lanes + lane];
        const double value = f + along * change[c * lanes + lane];
        const double bound = steady[lane] + slack[c * lanes + lane] * std::abs(along);
        codes[t * lanes + lane] = value > 0 ? high : low;
        unsure[lane] = std::abs(value) > bound ? unsure[lane] : 1.0;  // NaN is unsure
      }
    }
    return;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    alignas(64) Lanes best, second, best_bound, second_upper;
    std::int32_t* own = codes + t * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      best[lane] = -HUGE_VAL;
      second_upper[lane] = -HUGE_VAL;
      best_bound[lane] = 0;
      second[lane] = 0;
    }
    for (const std::size_t c : trained) {
      const double f = fitted[t * ld_targets_ + c];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double along = v[t * lanes + lane];
        const double value = f + along * change[c * lanes + lane];
        const double bound = steady[lane] + slack[c * lanes + lane] * std::abs(along);
        const bool wins = value > best[lane];
        const double loser = wins ? best[lane] + best_bound[lane] : value + bound;
        second_upper[lane] = std::max(second_upper[lane], loser);
        best_bound[lane] = wins ? bound : best_bound[lane];
        best[lane] = wins ? value : best[lane];
        own[lane] = wins ? static_cast<std::int32_t>(c) : own[lane];
        second[lane] += value * 0;  // NaN stays
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool sure = best[lane] - best_bound[lane] + second[lane] > second_upper[lane];
      unsure[lane] = sure ? unsure[lane] : 1.0;
      if (!sure) own[lane] = static_cast<std::int32_t>(trained.front());
    }
  }
}

// The scores of the lanes that are sure of all classes, own.codes[t][lanes].
void RidgeFitness::score_flips(const FlipBase& base, std::size_t count, const TargetSplits& at,
                               const Scorer& scorer, const double* unsure, FlipScratch& own,
                               double* scores, char* open) const {
  using namespace ridge_detail;
  const RidgePlan& plan = base.plan;
  const std::size_t n_classes = target().n_classes, n_splits = plan.n_splits();
  const bool by_hits = scorer.takes_hits();
  const std::size_t width = n_splits * n_classes * (by_hits ? 1 : n_classes);
  own.hits.assign(by_hits ? width * lanes : 0, 0);
  own.counts.resize(width);
  const std::int32_t* codes = own.codes.data();
  for (std::size_t s = 0; by_hits && s < n_splits; ++s) {
    const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
    for (std::size_t t = 0; t < plan.n_tests[s]; ++t, codes += lanes) {
      const std::int32_t truth = target().codes[static_cast<std::size_t>(tests[t])];
      std::int32_t* hits = own.hits.data() + (s * n_classes + static_cast<std::size_t>(truth)) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) hits[lane] += codes[lane] == truth;
    }
  }
  for (std::size_t lane = 0; lane < count; ++lane) {
    open[lane] = unsure[lane] > 0;
    if (open[lane] != 0) continue;
    double* out = scores + lane * n_splits;
    if (by_hits) {
      for (std::size_t w = 0; w < width; ++w) own.counts[w] = own.hits[w * lanes + lane];
      scorer.of_hits(at, own.counts.data(), own.scores, out);
      continue;
    }
    std::fill(own.counts.begin(), own.counts.end(), 0);
    const std::int32_t* given = own.codes.data() + lane;
    for (std::size_t s = 0; s < n_splits; ++s) {
      const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
      for (std::size_t t = 0; t < plan.n_tests[s]; ++t, given += lanes) {
        const auto truth = static_cast<std::size_t>(target().codes[static_cast<std::size_t>(tests[t])]);
        ++own.counts[(s * n_classes + truth) * n_classes + static_cast<std::size_t>(*given)];
      }
    }
    scorer.of_confusion(at, own.counts.data(), own.scores, out);
  }
}

// Neighbors that the pass left open, each as it would be alone.
void RidgeFitness::answer_open(const Word* base, const std::int64_t* flips,
                               const std::vector<char>& open, const TargetSplits& at,
                               const Scorer& scorer, int n_threads, double* scores,
                               bool* declined) {
  std::vector<std::size_t> rows;
  const bool is_single = count_bits(base, n_words()) == 1;
  for (std::size_t m = 0; m < open.size(); ++m) {
    const bool is_empty = is_single && get_bit(base, static_cast<std::size_t>(flips[m]));
    if (open[m] != 0 || is_empty) rows.push_back(m);
  }
  flips_open_ += rows.size();
  const std::size_t n_splits = at.splits.n_splits;
  constexpr std::size_t most = 1024;  // masks written out at a time
  std::vector<Word> words;
  std::vector<double> answers;
  const auto unanswered = std::make_unique<bool[]>(most);
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const std::size_t count = std::min(most, rows.size() - first);
    words.resize(count * n_words());
    answers.resize(count * n_splits);
    const std::vector<std::uint64_t> seeds(count, at.seed);
    for (std::size_t m = 0; m < count; ++m) {
      Word* mask = words.data() + m * n_words();
      std::copy(base, base + n_words(), mask);
      flip_bit(mask, static_cast<std::size_t>(flips[rows[first + m]]));
    }
    evaluate_batch({words.data(), count, seeds.data(), base, count}, scorer, n_threads,
                   answers.data(), unanswered.get());
    for (std::size_t m = 0; m < count; ++m) {
      const std::size_t row = rows[first + m];
      std::copy_n(answers.data() + m * n_splits, n_splits, scores + row * n_splits);
      if (declined != nullptr) declined[row] = unanswered[m];
    }
  }
}

}  // namespace bitsieve
