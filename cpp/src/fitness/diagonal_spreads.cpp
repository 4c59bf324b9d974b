// Spreads within the classes and scales of diagonal discriminant analysis: medians over a mask,
// kept numbers, and which masks have no good answer.
#include <algorithm>
#include <bit>
#include <cmath>

#include "diagonal_folds.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_spreads = std::size_t{1} << 24;  // that are kept
constexpr double median_quantiles = 0.04;  // about the middle: where medians of large masks lie
constexpr double lost_spread = 0x1p-80;  // squared, beside the largest value

}  // namespace

// Of all splits: out[n_splits][lanes].
void DiagonalFitness::measure_scales(const Folds& folds, const FeatureBlock& block,
                                     double* out) const {
  const std::size_t n_splits = folds.splits.n_splits;
  if (!folds.inverses.empty()) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t row = static_cast<std::size_t>(block.features[l]) * n_splits;
      for (std::size_t s = 0; s < n_splits; ++s) out[s * lanes + l] = folds.inverses[row + s];
    }
    return;
  }
  std::vector<double> center(block.n * n_splits), scale(block.n * n_splits);
  scaler_.measure(block.features, block.n, folds.splits, center.data(), scale.data());
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t k = std::min(l, block.n - 1);
    for (std::size_t s = 0; s < n_splits; ++s) out[s * lanes + l] = 1 / scale[k * n_splits + s];
  }
}

unsigned DiagonalFitness::lost_lanes(const Folds& folds, const FeatureBlock& block, std::size_t s,
                                     const Moments& moments) const {
  unsigned lost = 0;
  if (folds.is_plain[s] != 0 || settings_.smoothing > 0) return lost;
  for (std::size_t l = 0; l < block.n; ++l) {
    const auto f = static_cast<std::size_t>(block.features[l]);
    const double most = max_abs_[f];
    const bool is_exact = scaler_.is_none() && is_whole_[f] != 0 && moments.within[l] == 0;
    if (!is_exact && !(moments.within[l] > lost_spread * most * most)) lost |= 1u << l;
  }
  return lost;
}

bool DiagonalFitness::may_lose(const Folds& folds) const {
  return folds.any_divided && settings_.smoothing == 0;
}

// What stands in folds is believed: nothing that Ctrl-C left half-made.
void DiagonalFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  Folds& folds = static_cast<Folds&>(state);
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  const auto for_each_feature_block = [&](FunctionRef<std::size_t, const FeatureBlock&> body) {
    parallel_for((p + lanes - 1) / lanes, n_threads, [&](std::size_t k) {
      Scratch values;
      std::int32_t features[lanes];
      const std::size_t begin = k * lanes, n = std::min(lanes, p - begin);
      for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(begin + l);
      for_each_block(folds, features, n, values, [&](const FeatureBlock& block) { body(k, block); });
    });
  };
  if (uses_scales_ && p * n_splits <= most_spreads) {
    std::vector<double> inverses(p * n_splits);
    for_each_feature_block([&](std::size_t k, const FeatureBlock& block) {
      const double* own = block.kept + folds.classes.whole_size();
      for (std::size_t l = 0; l < block.n; ++l) {
        for (std::size_t s = 0; s < n_splits; ++s) {
          inverses[(k * lanes + l) * n_splits + s] = own[s * lanes + l];
        }
      }
    });
    folds.inverses = std::move(inverses);
  }
  if (settings_.shrink > 0) rank_spreads(folds, at, n_threads);
  if (!may_lose(folds)) return;
  std::vector<unsigned> lost((p + lanes - 1) / lanes, 0);
  for_each_feature_block([&](std::size_t k, const FeatureBlock& block) {
    Scratch scratch;
    Moments moments;
    for (std::size_t s = 0; s < n_splits; ++s) {
      measure_block(folds, block, s, moments, scratch);
      lost[k] |= lost_lanes(folds, block, s, moments);
    }
  });
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
          spreads[s * p + begin + l] = std::sqrt(moments.within[l]) * moments.inverse[l];
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
  for (std::size_t s = 0; s < folds.middle.size(); ++s) params[s * per_split] = folds.middle[s];
}

std::vector<double> DiagonalFitness::spreads_of(const Folds& folds, const TargetSplits& at,
                                                const std::vector<std::int32_t>& features) const {
  const std::size_t k = features.size(), n_splits = at.splits.n_splits;
  Scratch values, scratch;
  Moments moments;
  std::vector<double> out(n_splits * k);
  std::size_t first = 0;
  for_each_block(folds, features.data(), k, values, [&](const FeatureBlock& block) {
    for (std::size_t s = 0; s < n_splits; ++s) {
      measure_block(folds, block, s, moments, scratch);
      for (std::size_t l = 0; l < block.n; ++l) {
        out[s * k + first + l] = std::sqrt(moments.within[l]) * moments.inverse[l];
      }
    }
    first += block.n;
  });
  return out;
}

// The median of s over the mask's features, by split.
void DiagonalFitness::measure(const State& state, const TargetSplits& at,
                              const std::vector<std::int32_t>& features, double* params,
                              Scratch&) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t k = features.size(), n_splits = at.splits.n_splits;
  if (!folds.spreads.empty()) {
    std::vector<Word> mask(n_words(), 0);
    for (const std::int32_t f : features) set_bit(mask.data(), static_cast<std::size_t>(f));
    for (std::size_t s = 0; s < n_splits; ++s) {
      params[s * per_split] = median_of(folds, mask.data(), k, s);
    }
    return;
  }
  std::vector<double> spreads = spreads_of(folds, at, features);
  for (std::size_t s = 0; s < n_splits; ++s) {
    const auto begin = spreads.begin() + static_cast<std::ptrdiff_t>(s * k);
    const auto end = begin + static_cast<std::ptrdiff_t>(k);
    const auto middle = begin + static_cast<std::ptrdiff_t>(k / 2);
    std::nth_element(begin, middle, end);
    params[s * per_split] =
        k % 2 == 1 ? *middle : (*std::max_element(begin, middle) + *middle) / 2;
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
          const double reach = std::sqrt(moments.within[l]) + params[s * per_split] / moments.inverse[l];
          if (apart > share * reach) keeps[s] = 1;
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
    if (!(params[s * per_split] > 0)) return true;
  }
  if (settings_.shrink > 0 && settings_.kind == Outputs::Kind::decisions &&
      !keeps_a_mean(folds, features, params, n_splits)) {
    return true;
  }
  return loses(folds, at, features);
}

bool DiagonalFitness::loses(const Folds& folds, const TargetSplits& at,
                            const std::vector<std::int32_t>& features) const {
  if (!may_lose(folds)) return false;
  if (!folds.lost.empty()) {
    return std::any_of(features.begin(), features.end(), [&](std::int32_t f) {
      return get_bit(folds.lost.data(), static_cast<std::size_t>(f));
    });
  }
  Scratch values, scratch;
  Moments moments;
  unsigned lost = 0;
  for_each_block(folds, features.data(), features.size(), values, [&](const FeatureBlock& block) {
    for (std::size_t s = 0; s < at.splits.n_splits && lost == 0; ++s) {
      measure_block(folds, block, s, moments, scratch);
      lost |= lost_lanes(folds, block, s, moments);
    }
  });
  return lost != 0;
}

}  // namespace bitsieve
