#include "bitsieve/fitness/gaussian_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "training_moments.hpp"

namespace bitsieve {
namespace {

constexpr double no_bound = 1e300;
constexpr std::size_t ranked_features = 64;                    // by variance, a split
constexpr std::size_t most_variances = std::size_t{1} << 24;  // that are kept: 128 MB
// Least variances, in smoothings: without derivatives (what is left is then below float32's
// rounding), and with them.
constexpr double plain_ratio = 0x1p18, derived_ratio = 16;
constexpr std::size_t left_out_share = 200;  // one feature in so many may be left out
constexpr std::size_t per_split = 4;         // parameters
constexpr double farthest_scale = 1e100;     // its square is a number, as is that of its inverse
constexpr double seen_share = 0x1p-60;       // of the square of a value, in a smoothing

}  // namespace

struct GaussianBayesFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;  // weighted
  TrainingMoments all;      // not weighted: scikit-learn's smoothing is not
  std::vector<double> log_prior;  // [n_splits][n_classes]
  bool is_refused = false;  // scikit-learn refuses a split, or calls it undefined
  Splits splits;            // where there is a scaler

  // After the survey.
  std::vector<double> variances;                  // [n_features][n_splits] of all classes, or none
  std::vector<std::vector<std::int32_t>> ranked;  // by split: features of the largest, if kept
  std::vector<double> inverses, reaches;  // likewise, where there is a scaler: see begin_block()
  double largest_reach = 0;
  std::vector<double> reference;  // [n_splits][per_split]
  bool has_derivatives = false;
};

GaussianBayesFitness::GaussianBayesFitness(std::shared_ptr<const Table> table, Target target,
                                           SplitSource source, double var_smoothing,
                                           std::vector<double> priors,
                                           const ScalerOptions& scaler)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      var_smoothing_(var_smoothing),
      priors_(std::move(priors)),
      scaler_(this->table(), scaler) {
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      max_abs_[f] = std::max(max_abs_[f], std::abs(values[f * view.ld + i]));
    }
    largest_abs_ = std::max(largest_abs_, max_abs_[f]);
  }
  if (scaler_.is_none()) return;
  least_.resize(view.n_features);
  greatest_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    const double* row = values + f * view.ld;
    least_[f] = *std::min_element(row, row + view.n_samples);
    greatest_[f] = *std::max_element(row, row + view.n_samples);
  }
}

std::size_t GaussianBayesFitness::n_params() const { return per_split; }

// One sum of squares a class and one of logarithms, then the derivatives of both, and what bounds
// the rest.
AdditiveFitness::Sums GaussianBayesFitness::sums(const State& state, bool is_reference) const {
  const std::size_t n_classes = target().n_classes;
  if (is_reference && static_cast<const Folds&>(state).has_derivatives) {
    return {n_classes, 3 * n_classes};
  }
  return {0, n_classes};
}

std::unique_ptr<AdditiveFitness::State> GaussianBayesFitness::make_state(
    const TargetSplits& at) const {
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  auto folds = std::make_unique<Folds>();
  folds->classes = TrainingMoments(at.splits, target().codes, n_classes, target().weights);
  folds->all = TrainingMoments(at.splits, std::vector<std::int32_t>(target().codes.size(), 0), 1, {});
  folds->log_prior.resize(n_splits * n_classes);
  for (std::size_t s = 0; s < n_splits; ++s) {
    double total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const bool is_absent = at.target.train_of_class[s * n_classes + c] == 0;
      const double weight = folds->classes.weight(s, c), prior = at.target.prior[s * n_classes + c];
      total += weight;
      folds->is_refused = folds->is_refused || (is_absent && !priors_.empty()) ||
                          (weight == 0 && prior > 0);
      folds->log_prior[s * n_classes + c] =
          is_absent ? -std::numeric_limits<double>::infinity()
                    : std::log(priors_.empty() ? prior : priors_[c]);
    }
    folds->is_refused = folds->is_refused || !(total > 0);
  }
  if (!scaler_.is_none()) folds->splits = at.splits;
  return folds;
}

// ---- scales ---------------------------------------------------------------------------------

// Of z = (x - center) * inverse the variances are those of x times inverse^2. Where a square is no
// number the inverse is taken for 1, and the reach is infinite.
void GaussianBayesFitness::measure_scales(const Folds& folds, const FeatureBlock& block,
                                          double* inverses, double* reaches) const {
  const std::size_t n_splits = folds.splits.n_splits;
  std::vector<double> center(block.n * n_splits), scale(block.n * n_splits);
  scaler_.measure(block.features, block.n, folds.splits, center.data(), scale.data());
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t k = std::min(l, block.n - 1);
    const auto f = static_cast<std::size_t>(block.features[k]);
    for (std::size_t s = 0; s < n_splits; ++s) {
      double inverse = 1 / scale[k * n_splits + s];
      const double from = center[k * n_splits + s];
      double reach = std::max(std::abs(least_[f] - from), std::abs(greatest_[f] - from)) * inverse;
      if (!(inverse >= 1 / farthest_scale && inverse <= farthest_scale && reach <= no_bound)) {
        inverse = 1;
        reach = std::numeric_limits<double>::infinity();
      }
      inverses[s * lanes + l] = inverse;
      reaches[s * lanes + l] = reach;
    }
  }
}

const double* GaussianBayesFitness::inverses_of(const Folds& folds, const FeatureBlock& block,
                                                std::size_t split) const {
  return block.kept + folds.classes.whole_size() + split * lanes;
}

const double* GaussianBayesFitness::reaches_of(const Folds& folds, const FeatureBlock& block,
                                               std::size_t split) const {
  return inverses_of(folds, block, folds.splits.n_splits + split);
}

// Variances [n][lanes] of x become those of z.
void GaussianBayesFitness::scale_variances(const Folds& folds, const FeatureBlock& block,
                                           std::size_t split, std::size_t n,
                                           double* variances) const {
  if (scaler_.is_none()) return;
  const double* inverse = inverses_of(folds, block, split);
  for (std::size_t k = 0; k < n * lanes; ++k) {
    variances[k] = variances[k] * inverse[k % lanes] * inverse[k % lanes];
  }
}

// ---- smoothings -----------------------------------------------------------------------------

void GaussianBayesFitness::largest_variances(const Folds& folds,
                                             const std::vector<std::int32_t>& features,
                                             std::size_t n_splits, double* out,
                                             std::size_t stride, double* reach) const {
  for (std::size_t s = 0; s < n_splits; ++s) out[s * stride] = 0;
  if (!folds.variances.empty()) {
    std::vector<Word> mask(n_words(), 0);
    for (const std::int32_t f : features) set_bit(mask.data(), static_cast<std::size_t>(f));
    for (std::size_t s = 0; s < n_splits; ++s) {
      const auto& ranked = folds.ranked[s];
      const auto found = std::find_if(ranked.begin(), ranked.end(), [&](std::int32_t f) {
        return get_bit(mask.data(), static_cast<std::size_t>(f));
      });
      if (found != ranked.end()) {
        out[s * stride] = folds.variances[static_cast<std::size_t>(*found) * n_splits + s];
        continue;
      }
      for (const std::int32_t f : features) {
        out[s * stride] =
            std::max(out[s * stride], folds.variances[static_cast<std::size_t>(f) * n_splits + s]);
      }
    }
    return;
  }
  Scratch block_values, whole(folds.all.whole_size());
  alignas(64) double mean[lanes], variance[lanes];
  for_each_block(folds, features.data(), features.size(), block_values,
                 [&](const FeatureBlock& block) {
    folds.all.begin(block.values, whole.data());
    for (std::size_t s = 0; s < n_splits; ++s) {
      folds.all.measure(block.values, whole.data(), s, mean, variance);
      scale_variances(folds, block, s, 1, variance);
      out[s * stride] = std::max(out[s * stride], *std::max_element(variance, variance + block.n));
      if (reach == nullptr || scaler_.is_none()) continue;
      const double* own = reaches_of(folds, block, s);
      reach[s * stride] = std::max(reach[s * stride], *std::max_element(own, own + block.n));
    }
  });
}

void GaussianBayesFitness::measure(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch&) const {
  largest_variances(static_cast<const Folds&>(state), features, at.splits.n_splits, params,
                    per_split, params + 3);
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    params[per_split * s] *= var_smoothing_;
    params[per_split * s + 1] = static_cast<double>(features.size());
  }
}

void GaussianBayesFitness::measure_base(const State& state, const TargetSplits& at,
                                        const std::vector<std::int32_t>& features, double* params,
                                        Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes;
  measure(state, at, features, params, scratch);
  Scratch block_values;
  scratch.resize(2 * n_classes * lanes);
  for_each_block(state, features.data(), features.size(), block_values,
                 [&](const FeatureBlock& block) {
    double *mean = scratch.data(), *variance = mean + n_classes * lanes;
    for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
      folds.classes.measure(block.values, block.kept, s, mean, variance);
      scale_variances(folds, block, s, n_classes, variance);
      for (std::size_t c = 0; c < n_classes; ++c) {
        if (folds.classes.weight(s, c) == 0) continue;
        const double least = *std::min_element(variance + c * lanes, variance + c * lanes + block.n);
        double* own = params + per_split * s;
        own[2] = std::max(own[2], 1 / (least + own[0]));
      }
    }
  });
}

void GaussianBayesFitness::measure_flips(const State& state, const TargetSplits& at,
                                         const std::vector<std::int32_t>& base,
                                         const FeatureBlock& flips, const bool* joins,
                                         double* params, Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  Scratch whole(folds.all.whole_size());
  alignas(64) double unused[lanes], variance[lanes];
  if (folds.variances.empty()) folds.all.begin(flips.values, whole.data());
  unsigned changed = 0, leaving = 0;
  std::vector<double> before(n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) before[s] = params[per_split * s * lanes];
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* smoothing = params + per_split * s * lanes;
    double* count = smoothing + lanes;
    if (folds.variances.empty()) {
      folds.all.measure(flips.values, whole.data(), s, unused, variance);
      scale_variances(folds, flips, s, 1, variance);
    } else {
      for (std::size_t l = 0; l < lanes; ++l) {
        variance[l] = folds.variances[static_cast<std::size_t>(flips.features[l]) * n_splits + s];
      }
    }
    if (!scaler_.is_none()) {
      double* farthest = smoothing + 3 * lanes;
      const double* reach = reaches_of(folds, flips, s);
      for (std::size_t l = 0; l < flips.n; ++l) farthest[l] = std::max(farthest[l], reach[l]);
    }
    for (std::size_t l = 0; l < flips.n; ++l) {
      const double own = variance[l] * var_smoothing_;
      count[l] += joins[l] ? 1 : -1;
      if (joins[l] && own > smoothing[l]) {
        smoothing[l] = own;
        changed |= 1u << l;
      } else if (!joins[l] && own == smoothing[l]) {
        leaving |= 1u << l;
      }
    }
  }
  for (std::size_t l = 0; l < flips.n; ++l) {
    if ((leaving >> l & 1u) == 0) continue;
    std::vector<std::int32_t> rest = base;
    rest.erase(std::lower_bound(rest.begin(), rest.end(), flips.features[l]));
    std::vector<double> most(n_splits);
    largest_variances(folds, rest, n_splits, most.data(), 1, nullptr);
    for (std::size_t s = 0; s < n_splits; ++s) {
      params[per_split * s * lanes + l] = most[s] * var_smoothing_;
    }
    changed |= 1u << l;
  }
  if (changed == 0) return;
  // The flipped feature's own terms change too.
  scratch.resize(2 * n_classes * lanes);
  double *mean = scratch.data(), *of_class = mean + n_classes * lanes;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* reach = params + (per_split * s + 2) * lanes;
    folds.classes.measure(flips.values, flips.kept, s, mean, of_class);
    scale_variances(folds, flips, s, n_classes, of_class);
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (folds.classes.weight(s, c) == 0) continue;
      for (std::size_t l = 0; l < flips.n; ++l) {
        reach[l] = std::max(reach[l], 1 / (of_class[c * lanes + l] + before[s]));
      }
    }
  }
}

void GaussianBayesFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  Folds& folds = static_cast<Folds&>(state);
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  const std::size_t n_classes = target().n_classes;
  const bool is_scaled = !scaler_.is_none();
  const bool is_kept = p * n_splits * (is_scaled ? 3 : 1) <= most_variances;
  std::vector<double> variances(is_kept ? p * n_splits : 0), least(p, no_bound);
  std::vector<double> inverses(is_scaled ? variances.size() : 0), reaches(inverses.size());
  std::vector<std::vector<double>> largest((p + lanes - 1) / lanes);
  parallel_for(largest.size(), n_threads, [&](std::size_t k) {
    Scratch values, numbers(folds.all.whole_size() + 2 * n_classes * lanes);
    double* whole = numbers.data();
    double *mean = whole + folds.all.whole_size(), *variance = mean + n_classes * lanes;
    std::int32_t features[lanes];
    const std::size_t begin = k * lanes, n = std::min(lanes, p - begin);
    for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(begin + l);
    largest[k].assign(n_splits, 0.0);
    for_each_block(state, features, n, values, [&](const FeatureBlock& block) {
      folds.all.begin(block.values, whole);
      for (std::size_t s = 0; s < n_splits; ++s) {
        folds.all.measure(block.values, whole, s, mean, variance);
        scale_variances(folds, block, s, 1, variance);
        largest[k][s] = *std::max_element(variance, variance + n);
        for (std::size_t l = 0; l < n && is_kept; ++l) {
          variances[(begin + l) * n_splits + s] = variance[l];
          if (!is_scaled) continue;
          inverses[(begin + l) * n_splits + s] = inverses_of(folds, block, s)[l];
          reaches[(begin + l) * n_splits + s] = reaches_of(folds, block, s)[l];
        }
        folds.classes.measure(block.values, block.kept, s, mean, variance);
        scale_variances(folds, block, s, n_classes, variance);
        for (std::size_t c = 0; c < n_classes; ++c) {
          if (folds.classes.weight(s, c) == 0) continue;
          for (std::size_t l = 0; l < n; ++l) {
            least[begin + l] = std::min(least[begin + l], variance[c * lanes + l]);
          }
        }
      }
    });
  });
  folds.variances = std::move(variances);
  folds.inverses = std::move(inverses);
  folds.reaches = std::move(reaches);
  for (const double reach : folds.reaches) {
    folds.largest_reach = std::max(folds.largest_reach, reach);
  }
  folds.reference.assign(per_split * n_splits, 0.0);
  folds.ranked.resize(n_splits);
  // Between the largest variance and the fourth: most large masks have one of those.
  double farthest = 0, smallest = no_bound;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double most = 0, fourth = 0;
    for (const auto& of_block : largest) most = std::max(most, of_block[s]);
    if (is_kept) {
      std::vector<std::int32_t>& ranked = folds.ranked[s];
      ranked.resize(p);
      for (std::size_t f = 0; f < p; ++f) ranked[f] = static_cast<std::int32_t>(f);
      const auto more = [&](std::int32_t a, std::int32_t b) {
        const double x = folds.variances[static_cast<std::size_t>(a) * n_splits + s];
        const double y = folds.variances[static_cast<std::size_t>(b) * n_splits + s];
        return x != y ? x > y : a < b;
      };
      const std::size_t n = std::min(p, ranked_features);
      std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(n),
                        ranked.end(), more);
      ranked.resize(n);
      ranked.shrink_to_fit();
      fourth = folds.variances[static_cast<std::size_t>(ranked[std::min<std::size_t>(3, n - 1)]) *
                                   n_splits + s];
    }
    const double middle = var_smoothing_ * (most + fourth) / 2;
    folds.reference[per_split * s] = middle;
    smallest = std::min(smallest, middle);
    farthest = std::max({farthest, middle, var_smoothing_ * most - middle});
  }
  std::vector<double> sorted = least;
  const auto few = sorted.begin() + static_cast<std::ptrdiff_t>(p / left_out_share);
  std::nth_element(sorted.begin(), few, sorted.end());
  const double bar = std::clamp(*few, derived_ratio * farthest, plain_ratio * farthest);
  folds.has_derivatives = bar < plain_ratio * farthest;
  double floor = no_bound;
  folds.left_out.clear();
  for (std::size_t f = 0; f < p; ++f) {
    if (least[f] < bar) {
      folds.left_out.push_back(static_cast<std::int32_t>(f));
    } else {
      floor = std::min(floor, least[f]);
    }
  }
  for (std::size_t s = 0; s < n_splits; ++s) {
    folds.reference[per_split * s + 2] = 1 / (floor + smallest) * (1 + 0x1p-40);
  }
}

void GaussianBayesFitness::reference_params(const State& state, double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  std::copy(folds.reference.begin(), folds.reference.end(), params);
}

// ---- masks without a good answer ------------------------------------------------------------

double GaussianBayesFitness::most_abs(const std::vector<std::int32_t>& features) const {
  double most = 0;
  for (const std::int32_t f : features) most = std::max(most, max_abs_[static_cast<std::size_t>(f)]);
  return most;
}

// Where the survey kept no reaches, the parameters have that of the mask.
bool GaussianBayesFitness::declines_scaled(const Folds& folds,
                                           const std::vector<std::int32_t>& features,
                                           const double* params, std::size_t stride) const {
  const std::size_t n_splits = folds.splits.n_splits;
  const bool is_kept = !folds.reaches.empty();
  double least = params[0];
  for (std::size_t s = 1; s < n_splits; ++s) {
    least = std::min(least, params[per_split * s * stride]);
  }
  if (is_kept && least > seen_share * folds.largest_reach * folds.largest_reach) return false;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double reach = is_kept ? 0 : params[(per_split * s + 3) * stride];
    for (const std::int32_t f : features) {
      if (!is_kept) break;
      reach = std::max(reach, folds.reaches[static_cast<std::size_t>(f) * n_splits + s]);
    }
    if (!(params[per_split * s * stride] > seen_share * reach * reach)) return true;
  }
  return false;
}

// Of a feature that is constant in a class scikit-learn's variance is the rounding of its sums. That
// must not be seen beside the smoothing.
bool GaussianBayesFitness::declines(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& features,
                                    const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  if (!scaler_.is_none()) return declines_scaled(folds, features, params, 1);
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) {
    least = std::min(least, params[per_split * s]);
  }
  if (least > seen_share * largest_abs_ * largest_abs_) return false;
  const double most = most_abs(features);
  return !(least > seen_share * most * most);
}

bool GaussianBayesFitness::may_decline_near(const State& state, const TargetSplits& at,
                                            const std::vector<std::int32_t>& base,
                                            std::int32_t flip, const double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  if (folds.is_refused) return true;
  if (!scaler_.is_none()) {
    std::vector<std::int32_t> both = base;
    if (!std::binary_search(base.begin(), base.end(), flip)) both.push_back(flip);
    return declines_scaled(folds, both, params, lanes);
  }
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) {
    least = std::min(least, params[per_split * s * lanes]);
  }
  if (least > seen_share * largest_abs_ * largest_abs_) return false;
  const double most = std::max(most_abs(base), max_abs_[static_cast<std::size_t>(flip)]);
  return !(least > seen_share * most * most);
}

// ---- terms ----------------------------------------------------------------------------------

std::size_t GaussianBayesFitness::block_size(const State& state) const {
  const Folds& folds = static_cast<const Folds&>(state);
  return folds.classes.whole_size() + 2 * folds.splits.n_splits * lanes;
}

// Kept are the moments of the whole table, and behind a scaler of each split the inverse scale and
// the greatest |z| of the table, [n_splits][lanes] each.

void GaussianBayesFitness::begin_block(const State& state, const FeatureBlock& block) const {
  const Folds& folds = static_cast<const Folds&>(state);
  folds.classes.begin(block.values, block.kept);
  if (scaler_.is_none()) return;
  const std::size_t n_splits = folds.splits.n_splits;
  double* inverses = block.kept + folds.classes.whole_size();
  double* reaches = inverses + n_splits * lanes;
  if (folds.inverses.empty()) return measure_scales(folds, block, inverses, reaches);
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t row = static_cast<std::size_t>(block.features[l]) * n_splits;
    for (std::size_t s = 0; s < n_splits; ++s) {
      inverses[s * lanes + l] = folds.inverses[row + s];
      reaches[s * lanes + l] = folds.reaches[row + s];
    }
  }
}

// Logarithms are told relative to the least of the classes, which changes no difference between
// classes and leaves them not negative. At reference parameters they are added to the squares, so
// that what classes share is taken off both at once; their own sums are then of left-out features
// alone. Behind a scaler variances and derivatives are those of z; squares are made of x.
void GaussianBayesFitness::terms(const State& state, const TargetSplits& at,
                                 const FeatureBlock& block, const double* params,
                                 bool is_reference, std::size_t split, double* out,
                                 Scratch& scratch) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const AdditiveKernels& kernel = *kernels().additive;
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const bool derives = is_reference && folds.has_derivatives;
  scratch.resize(4 * rows);
  double *mean = scratch.data(), *variance = mean + rows, *halves = variance + rows;
  double* logs = halves + rows;
  const double* inverse = scaler_.is_none() ? nullptr : inverses_of(folds, block, split);
  folds.classes.measure(block.values, block.kept, split, mean, variance);
  scale_variances(folds, block, split, n_classes, variance);
  double least[lanes];
  std::fill_n(least, lanes, no_bound);
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (folds.classes.weight(split, c) == 0) continue;
    kernel.gaussian_weights(variance + c * lanes, params[0], halves + c * lanes, logs + c * lanes);
    for (std::size_t l = 0; l < lanes; ++l) least[l] = std::min(least[l], logs[c * lanes + l]);
  }
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  const std::size_t width = n_tests * lanes;
  alignas(64) const double none[lanes] = {};
  double* slopes = out + n_classes * width;
  double* sums = derives ? slopes + n_classes * width : slopes;
  std::fill_n(sums, (derives ? 3 : 1) * rows, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    double* slope = derives ? slopes + c * width : nullptr;
    if (folds.classes.weight(split, c) == 0) {
      std::fill_n(out + c * width, width, 0.0);
      if (derives) std::fill_n(slope, width, 0.0);
      continue;
    }
    double* log = is_reference ? logs + c * lanes : sums + c * lanes;
    for (std::size_t l = 0; l < lanes; ++l) log[l] = logs[c * lanes + l] - least[l];
    double* rest = derives ? sums + 2 * rows + c * lanes : nullptr;
    alignas(64) double factors[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
      factors[l] = halves[c * lanes + l];
      if (inverse != nullptr) factors[l] = factors[l] * inverse[l] * inverse[l];
    }
    kernel.gaussian_terms(block.values, tests, n_tests, mean + c * lanes, factors,
                          is_reference ? log : none, out + c * width, slope, rest);
    if (!derives) continue;
    if (inverse != nullptr) {
      for (std::size_t k = 0; k < width; ++k) {
        slope[k] = slope[k] / inverse[k % lanes] / inverse[k % lanes];
      }
      for (std::size_t l = 0; l < lanes; ++l) rest[l] = rest[l] / inverse[l] / inverse[l];
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      const double half = halves[c * lanes + l];
      sums[rows + c * lanes + l] = half;
      rest[l] = 2 * half * (rest[l] + 0.5 * half);
    }
  }
}

// With e' - e = d and x = d / (variance + e): a term of Q changes by x of itself at most, to first
// order by d times its derivative, and the rest is below x^2 / (1 - x) of it; of L likewise by x / 2,
// and below x^2 / 4 (1 - x), a feature. The reach is the greatest 1 / (variance + e).
void GaussianBayesFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                                   const SplitSums& sums, const double* params,
                                   const double* reference, const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const bool derives = sums.has_reference && folds.has_derivatives;
  double change[lanes] = {}, relative[lanes] = {}, slack[lanes] = {}, rest[lanes] = {};
  if (reference != nullptr) {
    for (std::size_t l = 0; l < lanes; ++l) {
      change[l] = params[l] - reference[0];
      const double reach = sums.has_reference ? reference[2] : params[2 * lanes + l];
      const double x = std::abs(change[l]) * reach;
      if (x >= 0.25) {
        relative[l] = slack[l] = no_bound;
      } else if (!derives) {
        relative[l] = x / (1 - x);
        slack[l] = 0.5 * relative[l] * params[lanes + l];
      }
      rest[l] = change[l] * change[l] / (1 - std::min(x, 0.25)) * (1 + 2 * sums.share);
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_prior = folds.log_prior[split * n_classes + c];
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t at = c * lanes + l;
      out.offset[at] = sums.sums[at] - log_prior;
      out.relative[at] = relative[l];
      out.slack[at] = slack[l] + sums.share * sums.magnitudes[at];
      if (!derives) continue;
      out.factor[at] = -change[l];
      out.offset[at] += change[l] * sums.sums[rows + at];
      out.slack[at] += sums.share * std::abs(change[l]) * sums.magnitudes[rows + at] +
                       rest[l] * sums.sums[2 * rows + at];
    }
  }
}

}  // namespace bitsieve
