#include "bitsieve/fitness/diagonal_lda.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "training_moments.hpp"

namespace bitsieve {
namespace {

constexpr double never_predicted = std::numeric_limits<double>::infinity();
constexpr double unbounded = 1e300;
constexpr std::size_t most_spreads = std::size_t{1} << 24;  // that are kept
constexpr double median_quantiles = 0.04;  // about the middle: where medians of large masks lie
constexpr double lost_spread = 0x1p-80;  // squared, beside the largest value

// As numpy.isclose with its tolerances.
bool is_alike_prior(double prior, double other) { return std::abs(prior - other) <= 1e-8 + 1e-5 * other; }

}  // namespace

struct DiagonalFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;
  std::vector<double> n_train;       // [n_splits]
  std::vector<double> n_present;     // [n_splits]
  std::vector<double> log_prior;     // [n_splits][n_classes], -infinity for an absent class
  std::vector<std::uint8_t> is_plain;  // [n_splits]
  bool is_refused = false;
  bool any_scaled = false;           // a split that is not plain

  // After the survey; spreads only where they are kept.
  std::vector<Word> lost;            // features
  std::vector<double> spreads;       // [n_splits][n_features] ascending
  std::vector<std::int32_t> ranked;  // [n_splits][n_features] whose they are
  std::vector<Word> lower;           // [n_splits][n_words] features of the lower half
  std::vector<double> middle, radius;  // [n_splits] reference median, and how far bounds hold
};

// Of a block in one split; rows of lanes.
struct DiagonalFitness::Moments {
  double* mean;      // [n_classes]
  double* variance;  // [n_classes]
  alignas(64) double within[additive_lanes];  // pooled variance
  alignas(64) double centre[additive_lanes];  // mean of all
  alignas(64) double total[additive_lanes];   // variance of all, 0 where constant
};

DiagonalFitness::DiagonalFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source, DiagonalSettings settings)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      settings_(std::move(settings)) {
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  is_whole_.assign(view.n_features, 1);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      const double x = values[f * view.ld + i];
      max_abs_[f] = std::max(max_abs_[f], std::abs(x));
      is_whole_[f] &= std::nearbyint(x) == x ? 1 : 0;
    }
    if (max_abs_[f] > 0x1p40) is_whole_[f] = 0;
  }
}

std::unique_ptr<AdditiveFitness::State> DiagonalFitness::make_state(const TargetSplits& at) const {
  using Priors = DiagonalSettings::Priors;
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  auto folds = std::make_unique<Folds>();
  folds->classes = TrainingMoments(at.splits, target().codes, n_classes, {});
  folds->log_prior.assign(n_splits * n_classes, -never_predicted);
  folds->n_train.resize(n_splits);
  folds->n_present.resize(n_splits);
  folds->is_plain.resize(n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) {
    const std::int32_t* sizes = at.target.train_of_class.data() + s * n_classes;
    const auto n_present = static_cast<double>(
        n_classes - static_cast<std::size_t>(std::count(sizes, sizes + n_classes, 0)));
    const double n_train = at.splits.n_train[s];
    bool all_alike = true;
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (sizes[c] == 0) {
        folds->is_refused = folds->is_refused || settings_.priors == Priors::given;
        continue;
      }
      const double prior = settings_.priors == Priors::given    ? settings_.given[c]
                           : settings_.priors == Priors::shares ? sizes[c] / n_train
                                                                : 1 / n_present;
      all_alike = all_alike && is_alike_prior(prior, 1 / n_present);
      folds->log_prior[s * n_classes + c] = std::log(prior);
    }
    folds->n_train[s] = n_train;
    folds->n_present[s] = n_present;
    folds->is_plain[s] = settings_.plain && all_alike ? 1 : 0;
    folds->any_scaled = folds->any_scaled || folds->is_plain[s] == 0;
    folds->is_refused = folds->is_refused || n_present < 2 || n_train <= n_present;
  }
  return folds;
}

std::size_t DiagonalFitness::block_size(const State& state) const {
  return static_cast<const Folds&>(state).classes.whole_size();
}

void DiagonalFitness::begin_block(const State& state, const FeatureBlock& block) const {
  static_cast<const Folds&>(state).classes.begin(block.values, block.kept);
}

void DiagonalFitness::measure_block(const Folds& folds, const FeatureBlock& block, std::size_t s,
                                    Moments& moments, Scratch& scratch) const {
  const std::size_t n_classes = target().n_classes;
  scratch.resize(2 * n_classes * lanes);
  moments.mean = scratch.data();
  moments.variance = moments.mean + n_classes * lanes;
  folds.classes.measure(block.values, block.kept, s, moments.mean, moments.variance);
  const double freedom = 1 / (folds.n_train[s] - folds.n_present[s]), share = 1 / folds.n_train[s];
  alignas(64) double squares[lanes] = {}, sum[lanes] = {}, least[lanes], most[lanes];
  std::fill_n(least, lanes, never_predicted);
  std::fill_n(most, lanes, -never_predicted);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double mean = moments.mean[c * lanes + l];
      squares[l] += size * std::max(moments.variance[c * lanes + l], 0.0);
      sum[l] += size * mean;
      least[l] = std::min(least[l], mean);
      most[l] = std::max(most[l], mean);
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    moments.within[l] = squares[l] * freedom;
    moments.centre[l] = sum[l] * share;
    moments.total[l] = squares[l];
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double apart = moments.mean[c * lanes + l] - moments.centre[l];
      moments.total[l] += size * (apart * apart);
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    moments.total[l] = squares[l] == 0 && least[l] == most[l] ? 0.0 : moments.total[l] * share;
  }
}

unsigned DiagonalFitness::lost_lanes(const Folds& folds, const FeatureBlock& block, std::size_t s,
                                     const Moments& moments) const {
  unsigned lost = 0;
  if (folds.is_plain[s] != 0 || settings_.smoothing > 0) return lost;
  for (std::size_t l = 0; l < block.n; ++l) {
    const auto f = static_cast<std::size_t>(block.features[l]);
    const double most = max_abs_[f];
    const bool is_exact = is_whole_[f] != 0 && moments.within[l] == 0;
    if (!is_exact && !(moments.within[l] > lost_spread * most * most)) lost |= 1u << l;
  }
  return lost;
}

void DiagonalFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  Folds& folds = static_cast<Folds&>(state);
  if (settings_.shrink > 0) rank_spreads(folds, at, n_threads);
  if (!folds.any_scaled || settings_.smoothing > 0) return;
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  std::vector<unsigned> lost((p + lanes - 1) / lanes, 0);
  parallel_for(lost.size(), n_threads, [&](std::size_t k) {
    Scratch values, scratch;
    Moments moments;
    std::int32_t features[lanes];
    const std::size_t begin = k * lanes, n = std::min(lanes, p - begin);
    for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(begin + l);
    for_each_block(state, features, n, values, [&](const FeatureBlock& block) {
      for (std::size_t s = 0; s < n_splits; ++s) {
        measure_block(folds, block, s, moments, scratch);
        lost[k] |= lost_lanes(folds, block, s, moments);
      }
    });
  });
  // What stands in folds is believed: nothing that Ctrl-C left half-made.
  folds.lost.assign(n_words(), 0);
  for (std::size_t f = 0; f < p; ++f) {
    if ((lost[f / lanes] >> (f % lanes) & 1u) != 0) set_bit(folds.lost.data(), f);
  }
}

// Spreads of all features in the order of each split. Sums of a batch are made at the median over all
// of them; where they are not kept nothing is known of a mask's own, and no bound holds.
void DiagonalFitness::rank_spreads(Folds& folds, const TargetSplits& at, int n_threads) const {
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  folds.middle.assign(n_splits, 0.0);
  folds.radius.assign(n_splits, -1.0);
  if (p * n_splits > most_spreads) return;
  std::vector<double> spreads(n_splits * p);
  parallel_for((p + lanes - 1) / lanes, n_threads, [&](std::size_t k) {
    Scratch values, scratch;
    Moments moments;
    std::int32_t features[lanes];
    const std::size_t begin = k * lanes, n = std::min(lanes, p - begin);
    for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(begin + l);
    for_each_block(folds, features, n, values, [&](const FeatureBlock& block) {
      for (std::size_t s = 0; s < n_splits; ++s) {
        measure_block(folds, block, s, moments, scratch);
        for (std::size_t l = 0; l < n; ++l) {
          spreads[s * p + begin + l] = std::sqrt(moments.within[l]);
        }
      }
    });
  });
  std::vector<double> all_sorted(n_splits * p);
  folds.ranked.resize(n_splits * p);
  folds.lower.assign(n_splits * n_words(), 0);
  parallel_for(n_splits, n_threads, [&](std::size_t s) {
    const double* of = spreads.data() + s * p;
    std::int32_t* ranked = folds.ranked.data() + s * p;
    double* sorted = all_sorted.data() + s * p;
    for (std::size_t f = 0; f < p; ++f) ranked[f] = static_cast<std::int32_t>(f);
    std::sort(ranked, ranked + p, [&](std::int32_t a, std::int32_t b) {
      return of[a] != of[b] ? of[a] < of[b] : a < b;
    });
    for (std::size_t r = 0; r < p; ++r) sorted[r] = of[ranked[r]];
    for (std::size_t r = 0; r < p / 2; ++r) {
      set_bit(folds.lower.data() + s * n_words(), static_cast<std::size_t>(ranked[r]));
    }
    const auto quantile = [&](double share) {
      return sorted[static_cast<std::size_t>(share * static_cast<double>(p - 1))];
    };
    folds.middle[s] = quantile(0.5);
    folds.radius[s] = std::max(quantile(0.5 + median_quantiles) - folds.middle[s],
                               folds.middle[s] - quantile(0.5 - median_quantiles));
  });
  folds.spreads = std::move(all_sorted);  // last: they are believed where they stand
}

// Of the kept spreads of a split: from the middle of all to that of the mask.
double DiagonalFitness::median_of(const Folds& folds, const Word* mask, std::size_t k,
                                  std::size_t s) const {
  const std::size_t p = table().view().n_features;
  const double* sorted = folds.spreads.data() + s * p;
  const std::int32_t* ranked = folds.ranked.data() + s * p;
  const Word* lower = folds.lower.data() + s * n_words();
  std::size_t below = 0;
  for (std::size_t w = 0; w < n_words(); ++w) {
    below += static_cast<std::size_t>(std::popcount(mask[w] & lower[w]));
  }
  const auto has = [&](std::size_t r) {
    return get_bit(mask, static_cast<std::size_t>(ranked[r]));
  };
  std::size_t r = p / 2;
  if (below > k / 2) {
    while (below > k / 2) below -= has(--r) ? 1 : 0;
  } else {
    while (!has(r) || below++ < k / 2) ++r;
  }
  if (k % 2 == 1) return sorted[r];
  std::size_t before = r;
  while (!has(--before)) {
  }
  return (sorted[before] + sorted[r]) / 2;
}

void DiagonalFitness::reference_params(const State& state, double* params) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  std::copy(folds.middle.begin(), folds.middle.end(), params);
}

// The median of s over the mask's features, by split.
void DiagonalFitness::measure(const State& state, const TargetSplits& at,
                              const std::vector<std::int32_t>& features, double* params,
                              Scratch& scratch) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t k = features.size(), n_splits = at.splits.n_splits;
  if (!folds.spreads.empty()) {
    std::vector<Word> mask(n_words(), 0);
    for (const std::int32_t f : features) set_bit(mask.data(), static_cast<std::size_t>(f));
    for (std::size_t s = 0; s < n_splits; ++s) params[s] = median_of(folds, mask.data(), k, s);
    return;
  }
  Scratch values;
  Moments moments;
  std::vector<double> spreads(n_splits * k);
  std::size_t first = 0;
  for_each_block(state, features.data(), k, values, [&](const FeatureBlock& block) {
    for (std::size_t s = 0; s < n_splits; ++s) {
      measure_block(folds, block, s, moments, scratch);
      for (std::size_t l = 0; l < block.n; ++l) {
        spreads[s * k + first + l] = std::sqrt(moments.within[l]);
      }
    }
    first += block.n;
  });
  for (std::size_t s = 0; s < n_splits; ++s) {
    const auto begin = spreads.begin() + static_cast<std::ptrdiff_t>(s * k);
    const auto end = begin + static_cast<std::ptrdiff_t>(k);
    const auto middle = begin + static_cast<std::ptrdiff_t>(k / 2);
    std::nth_element(begin, middle, end);
    params[s] = k % 2 == 1 ? *middle : (*std::max_element(begin, middle) + *middle) / 2;
  }
}

// Where all means of a split have become the mean of all, decisions differ by rounding alone.
bool DiagonalFitness::keeps_a_mean(const Folds& folds, const std::vector<std::int32_t>& features,
                                   const double* params, std::size_t n_splits) const {
  const std::size_t n_classes = target().n_classes;
  Scratch values, scratch;
  Moments moments;
  std::vector<std::uint8_t> keeps(n_splits, 0);
  for_each_block(folds, features.data(), features.size(), values, [&](const FeatureBlock& block) {
    for (std::size_t s = 0; s < n_splits; ++s) {
      if (keeps[s] != 0) continue;
      measure_block(folds, block, s, moments, scratch);
      for (std::size_t c = 0; c < n_classes; ++c) {
        const double size = folds.classes.weight(s, c);
        if (size == 0) continue;
        const double share = settings_.shrink * std::sqrt(1 / size - 1 / folds.n_train[s]);
        for (std::size_t l = 0; l < block.n; ++l) {
          const double apart = std::abs(moments.mean[c * lanes + l] - moments.centre[l]);
          if (apart > share * (std::sqrt(moments.within[l]) + params[s])) keeps[s] = 1;
        }
      }
    }
  });
  return std::count(keeps.begin(), keeps.end(), 0) == 0;
}

bool DiagonalFitness::declines(const State& state, const TargetSplits& at,
                               const std::vector<std::int32_t>& features,
                               const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  const std::size_t n_splits = at.splits.n_splits;
  for (std::size_t s = 0; s < n_splits && settings_.shrink > 0; ++s) {
    if (!(params[s] > 0)) return true;
  }
  if (settings_.shrink > 0 && settings_.kind == Outputs::Kind::decisions &&
      !keeps_a_mean(folds, features, params, n_splits)) {
    return true;
  }
  if (!folds.any_scaled || settings_.smoothing > 0) return false;
  if (!folds.lost.empty()) {
    return std::any_of(features.begin(), features.end(), [&](std::int32_t f) {
      return get_bit(folds.lost.data(), static_cast<std::size_t>(f));
    });
  }
  Scratch values, scratch;
  Moments moments;
  unsigned lost = 0;
  for_each_block(state, features.data(), features.size(), values, [&](const FeatureBlock& block) {
    for (std::size_t s = 0; s < n_splits && lost == 0; ++s) {
      measure_block(folds, block, s, moments, scratch);
      lost |= lost_lanes(folds, block, s, moments);
    }
  });
  return lost != 0;
}

bool DiagonalFitness::may_decline_near(const State& state, const TargetSplits& at,
                                       const std::vector<std::int32_t>& base, std::int32_t flip,
                                       const double* params) const {
  std::vector<std::int32_t> all = base;
  all.push_back(flip);
  static_cast<void>(params);
  return declines(state, at, all, nullptr);
}

void DiagonalFitness::terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
                            const double* params, bool is_reference, std::size_t s,
                            double* out, Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[s];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[s + 1] - at.splits.test_begin[s]);
  Moments moments;
  measure_block(folds, block, s, moments, scratch);
  alignas(64) double factor[lanes], reach[lanes], mean[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    const double squared = moments.within[l] + settings_.smoothing * moments.total[l];
    factor[l] = (settings_.halved ? 0.5 : 1) / squared;
    if (settings_.smoothing > 0 && moments.total[l] == 0) factor[l] = 0;
    if (settings_.smoothing == 0 && squared == 0) factor[l] = 1;
    if (folds.is_plain[s] != 0) factor[l] = 1;
    reach[l] = settings_.shrink > 0 ? std::sqrt(moments.within[l]) + params[0] : 0;
  }
  // Of sums at a reference median: slopes, raised to be no less than 0, and what bounds need.
  const bool derives = is_reference && settings_.shrink > 0;
  const std::size_t width = n_classes * n_tests * lanes;
  double* raised = out + 2 * width;
  double* bent = raised + n_classes * lanes;
  double* curved = bent + n_classes * lanes;
  if (derives) std::fill_n(out + width, width + 3 * n_classes * lanes, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c, out += n_tests * lanes) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) {
      std::fill_n(out, n_tests * lanes, 0.0);
      continue;
    }
    std::copy_n(moments.mean + c * lanes, lanes, mean);
    alignas(64) double slope[lanes] = {}, most[lanes] = {};
    if (settings_.shrink > 0) {
      const double share = settings_.shrink * std::sqrt(1 / size - 1 / folds.n_train[s]);
      for (std::size_t l = 0; l < lanes; ++l) {
        const double apart = mean[l] - moments.centre[l];
        const double left = std::max(std::abs(apart) - share * reach[l], 0.0);
        mean[l] = moments.centre[l] + std::copysign(left, apart);
        if (!derives) continue;
        const bool bends = std::abs(std::abs(apart) - share * reach[l]) <=
                           share * folds.radius[s] * (1 + 0x1p-30) + 0x1p-40 * std::abs(apart);
        slope[l] = left > 0 ? std::copysign(2 * share * factor[l], apart) : 0.0;
        curved[c * lanes + l] = left > 0 || bends ? factor[l] * share * share : 0.0;
        bent[c * lanes + l] = bends ? 2 * share * factor[l] : 0.0;
      }
    }
    for (std::size_t k = 0; k < n_tests; ++k) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) {
        const double apart = x[l] - mean[l];
        out[k * lanes + l] = apart * apart * factor[l];
        most[l] = std::max(most[l], std::abs(apart));
      }
    }
    if (!derives) continue;
    for (std::size_t k = 0; k < n_tests; ++k) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) {
        out[width + k * lanes + l] = std::abs(slope[l]) * most[l] + slope[l] * (x[l] - mean[l]);
      }
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      raised[c * lanes + l] = std::abs(slope[l]) * most[l];
      bent[c * lanes + l] *= most[l];
    }
  }
}

void DiagonalFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                              const SplitSums& sums, const double* params,
                              const double* reference, const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    double offset = (settings_.halved ? -1 : -2) * log_prior;
    if (folds.is_plain[split] != 0 && offset != never_predicted) offset = 0;
    std::fill_n(out.offset + c * lanes, lanes, offset);
    if (!sums.has_reference || settings_.shrink == 0) continue;
    // A feature whose mean stops or begins to move within the change is wrong by twice its slope.
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t raised = c * lanes + l, rows = n_classes * lanes;
      const double change = params[l] - reference[0], size = std::abs(change);
      out.factor[raised] = change;
      out.offset[raised] -= change * sums.sums[raised];
      out.slack[raised] = sums.share * size * sums.magnitudes[raised] +
                          1.001 * size * (2 * sums.sums[rows + raised] +
                                          size * sums.sums[2 * rows + raised]);
      if (!(size <= folds.radius[split])) out.slack[raised] = unbounded;
    }
  }
}

void DiagonalFitness::values(const double* costs, double* out) const {
  if (settings_.kind == Outputs::Kind::probabilities) return AdditiveFitness::values(costs, out);
  if (n_values() == 1) {
    out[0] = costs[0] - costs[1];
  } else {
    for (std::size_t c = 0; c < target().n_classes; ++c) out[c] = -costs[c];
  }
}

// The flips of shrunken means are measured one by one.
bool DiagonalFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                         std::size_t n_masks, const TargetSplits& at,
                                         const Scorer& scorer, int n_threads, double* scores,
                                         bool* declined) {
  if (settings_.shrink > 0) return false;
  return AdditiveFitness::evaluate_neighbors(base, flips, n_masks, at, scorer, n_threads, scores,
                                             declined);
}

}  // namespace bitsieve
