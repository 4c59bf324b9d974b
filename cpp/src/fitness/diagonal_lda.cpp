#include "bitsieve/fitness/diagonal_lda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "training_moments.hpp"

namespace bitsieve {
namespace {

constexpr double never_predicted = std::numeric_limits<double>::infinity();
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
  std::vector<Word> lost;            // features, after the survey
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
  folds.lost.assign(n_words(), 0);
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
  for (std::size_t f = 0; f < p; ++f) {
    if ((lost[f / lanes] >> (f % lanes) & 1u) != 0) set_bit(folds.lost.data(), f);
  }
}

// The median of s over the mask's features, by split.
void DiagonalFitness::measure(const State& state, const TargetSplits& at,
                              const std::vector<std::int32_t>& features, double* params,
                              Scratch& scratch) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t k = features.size(), n_splits = at.splits.n_splits;
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
                            const double* params, bool, std::size_t s, double* out,
                            Scratch& scratch) const {
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
  for (std::size_t c = 0; c < n_classes; ++c, out += n_tests * lanes) {
    const double size = folds.classes.weight(s, c);
    if (size == 0) {
      std::fill_n(out, n_tests * lanes, 0.0);
      continue;
    }
    std::copy_n(moments.mean + c * lanes, lanes, mean);
    if (settings_.shrink > 0) {
      const double share = settings_.shrink * std::sqrt(1 / size - 1 / folds.n_train[s]);
      for (std::size_t l = 0; l < lanes; ++l) {
        const double apart = mean[l] - moments.centre[l];
        const double left = std::max(std::abs(apart) - share * reach[l], 0.0);
        mean[l] = moments.centre[l] + std::copysign(left, apart);
      }
    }
    for (std::size_t k = 0; k < n_tests; ++k) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) {
        const double apart = x[l] - mean[l];
        out[k * lanes + l] = apart * apart * factor[l];
      }
    }
  }
}

void DiagonalFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                              const SplitSums&, const double*, const double*,
                              const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    double offset = (settings_.halved ? -1 : -2) * log_prior;
    if (folds.is_plain[split] != 0 && offset != never_predicted) offset = 0;
    std::fill_n(out.offset + c * lanes, lanes, offset);
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

// Shrunken means depend on the mask: there are no sums that masks share.
void DiagonalFitness::prepare(const MaskBatch& batch, int n_threads,
                              std::vector<std::size_t>& costs) {
  if (settings_.shrink > 0) return MaskFitness::prepare(batch, n_threads, costs);
  AdditiveFitness::prepare(batch, n_threads, costs);
}

bool DiagonalFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                         std::size_t n_masks, const TargetSplits& at,
                                         const Scorer& scorer, int n_threads, double* scores,
                                         bool* declined) {
  if (settings_.shrink > 0) return false;
  return AdditiveFitness::evaluate_neighbors(base, flips, n_masks, at, scorer, n_threads, scores,
                                             declined);
}

}  // namespace bitsieve
