// One-flip neighbors of diagonal discriminant analysis. Where means are shrunken a flip moves the median
// of the spreads, and with it all terms: up to one value or down to another, but for a flip whose own
// spread lies between them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagonal_folds.hpp"

namespace bitsieve {
namespace {

constexpr double no_spread = std::numeric_limits<double>::infinity();  // below or above all

// Spreads of a mask of `size` features about its middle: in order b, at = b[size / 2], with its
// neighbors in that order.
struct MiddleSpreads {
  double below, at, above;
  bool is_odd;

  // The median with one more or one less of them.
  double with(double spread) const {
    if (!is_odd) return std::clamp(spread, below, at);
    return spread <= at ? (std::max(spread, below) + at) / 2 : (at + std::min(spread, above)) / 2;
  }
  double without(double spread) const {
    if (!is_odd) return spread <= below ? at : below;
    if (spread == at) return (below + above) / 2;
    return spread < at ? (at + above) / 2 : (below + at) / 2;
  }
};

}  // namespace

void DiagonalFitness::measure_base(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch&) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t k = features.size(), n_splits = at.splits.n_splits;
  std::vector<double> spreads = spreads_of(folds, at, features);
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* own = spreads.data() + s * k;
    std::sort(own, own + k);
    MiddleSpreads middle{-no_spread, no_spread, no_spread, k % 2 == 1};
    if (k > 0) middle.at = own[k / 2];
    if (k > 1) middle.below = own[k / 2 - 1];
    if (k / 2 + 1 < k) middle.above = own[k / 2 + 1];
    for (const bool is_high : {false, true}) {
      double* out = params + ((is_high ? n_splits : 0) + s) * per_split;
      out[0] = middle.with(is_high ? no_spread : -no_spread);
      out[1] = middle.below;
      out[2] = middle.at;
      out[3] = middle.above;
    }
  }
}

void DiagonalFitness::measure_flips(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& base,
                                    const FeatureBlock& flips, const bool* joins, double* params,
                                    Scratch& scratch) const {
  if (settings_.shrink == 0) return;
  const Folds& folds = static_cast<const Folds&>(state);
  Moments moments;
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    measure_block(folds, flips, s, moments, scratch);
    double* own = params + s * per_split * lanes;
    for (std::size_t l = 0; l < lanes; ++l) {
      const MiddleSpreads middle{own[lanes + l], own[2 * lanes + l], own[3 * lanes + l],
                                 base.size() % 2 == 1};
      const double spread = std::sqrt(moments.within[l]) * moments.inverse[l];
      own[l] = joins[l] ? middle.with(spread) : middle.without(spread);
    }
  }
}

bool DiagonalFitness::may_decline_near(const State& state, const TargetSplits& at,
                                       const std::vector<std::int32_t>& base, std::int32_t flip,
                                       const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  for (std::size_t s = 0; s < at.splits.n_splits && settings_.shrink > 0; ++s) {
    if (!(params[s * per_split * lanes] > 0)) return true;
  }
  if (!may_lose(folds)) return false;
  std::vector<std::int32_t> all = base;
  all.push_back(flip);
  return loses(folds, at, all);
}

// Decisions of shrunken means may all be alike, and are looked at one by one.
bool DiagonalFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                         std::size_t n_masks, const TargetSplits& at,
                                         const Scorer& scorer, int n_threads, double* scores,
                                         bool* declined) {
  if (settings_.shrink > 0 && settings_.kind == Outputs::Kind::decisions) return false;
  return AdditiveFitness::evaluate_neighbors(base, flips, n_masks, at, scorer, n_threads, scores,
                                             declined);
}

}  // namespace bitsieve
