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

}  // namespace

struct GaussianBayesFitness::Folds : AdditiveFitness::State {
  TrainingMoments classes;  // weighted
  TrainingMoments all;      // not weighted: scikit-learn's smoothing is not
  std::vector<double> log_prior;  // [n_splits][n_classes]
  bool is_refused = false;  // scikit-learn refuses a split, or calls it undefined

  // After the survey.
  std::vector<double> variances;                  // [n_features][n_splits] of all classes, or none
  std::vector<std::vector<std::int32_t>> ranked;  // by split: features of the largest, if kept
  std::vector<double> reference;                  // [n_splits][3]
  bool has_derivatives = false;
};

GaussianBayesFitness::GaussianBayesFitness(std::shared_ptr<const Table> table, Target target,
                                           SplitSource source, double var_smoothing,
                                           std::vector<double> priors)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      var_smoothing_(var_smoothing),
      priors_(std::move(priors)) {
  const TableView& view = this->table().view();
  const double* values = this->table().doubles(1);
  max_abs_.resize(view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f) {
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      max_abs_[f] = std::max(max_abs_[f], std::abs(values[f * view.ld + i]));
    }
    largest_abs_ = std::max(largest_abs_, max_abs_[f]);
  }
}

// One sum of squares a class and one of logarithms, then the derivatives of both.
AdditiveFitness::Sums GaussianBayesFitness::sums(const State& state, bool is_reference) const {
  const std::size_t n_classes = target().n_classes;
  if (is_reference && static_cast<const Folds&>(state).has_derivatives) {
    return {n_classes, 2 * n_classes};
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
  return folds;
}

// ---- smoothings -----------------------------------------------------------------------------

void GaussianBayesFitness::largest_variances(const Folds& folds,
                                             const std::vector<std::int32_t>& features,
                                             std::size_t n_splits, double* out,
                                             std::size_t stride) const {
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
      out[s * stride] = std::max(out[s * stride], *std::max_element(variance, variance + block.n));
    }
  });
}

void GaussianBayesFitness::measure(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch&) const {
  largest_variances(static_cast<const Folds&>(state), features, at.splits.n_splits, params, 3);
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    params[3 * s] *= var_smoothing_;
    params[3 * s + 1] = static_cast<double>(features.size());
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
      for (std::size_t c = 0; c < n_classes; ++c) {
        if (folds.classes.weight(s, c) == 0) continue;
        const double least = *std::min_element(variance + c * lanes, variance + c * lanes + block.n);
        params[3 * s + 2] = std::max(params[3 * s + 2], 1 / (least + params[3 * s]));
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
  for (std::size_t s = 0; s < n_splits; ++s) before[s] = params[3 * s * lanes];
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* smoothing = params + 3 * s * lanes;
    double* count = smoothing + lanes;
    if (folds.variances.empty()) {
      folds.all.measure(flips.values, whole.data(), s, unused, variance);
    } else {
      for (std::size_t l = 0; l < lanes; ++l) {
        variance[l] = folds.variances[static_cast<std::size_t>(flips.features[l]) * n_splits + s];
      }
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
    largest_variances(folds, rest, n_splits, most.data(), 1);
    for (std::size_t s = 0; s < n_splits; ++s) params[3 * s * lanes + l] = most[s] * var_smoothing_;
    changed |= 1u << l;
  }
  if (changed == 0) return;
  // The flipped feature's own terms change too.
  scratch.resize(2 * n_classes * lanes);
  double *mean = scratch.data(), *of_class = mean + n_classes * lanes;
  for (std::size_t s = 0; s < n_splits; ++s) {
    double* reach = params + (3 * s + 2) * lanes;
    folds.classes.measure(flips.values, flips.kept, s, mean, of_class);
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
  const bool is_kept = p * n_splits <= most_variances;
  std::vector<double> variances(is_kept ? p * n_splits : 0), least(p, no_bound);
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
        largest[k][s] = *std::max_element(variance, variance + n);
        for (std::size_t l = 0; l < n && is_kept; ++l) {
          variances[(begin + l) * n_splits + s] = variance[l];
        }
        folds.classes.measure(block.values, block.kept, s, mean, variance);
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
  folds.reference.assign(3 * n_splits, 0.0);
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
    folds.reference[3 * s] = middle;
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
    folds.reference[3 * s + 2] = 1 / (floor + smallest) * (1 + 0x1p-40);
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

// Of a feature that is constant in a class scikit-learn's variance is the rounding of its sums. That
// must not be seen beside the smoothing.
bool GaussianBayesFitness::declines(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& features,
                                    const double* params) const {
  if (static_cast<const Folds&>(state).is_refused) return true;
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) least = std::min(least, params[3 * s]);
  if (least > 0x1p-60 * largest_abs_ * largest_abs_) return false;
  const double most = most_abs(features);
  return !(least > 0x1p-60 * most * most);
}

bool GaussianBayesFitness::may_decline_near(const State& state, const TargetSplits& at,
                                            const std::vector<std::int32_t>& base,
                                            std::int32_t flip, const double* params) const {
  if (static_cast<const Folds&>(state).is_refused) return true;
  double least = params[0];
  for (std::size_t s = 1; s < at.splits.n_splits; ++s) least = std::min(least, params[3 * s * lanes]);
  if (least > 0x1p-60 * largest_abs_ * largest_abs_) return false;
  const double most = std::max(most_abs(base), max_abs_[static_cast<std::size_t>(flip)]);
  return !(least > 0x1p-60 * most * most);
}

// ---- terms ----------------------------------------------------------------------------------

std::size_t GaussianBayesFitness::block_size(const State& state) const {
  return static_cast<const Folds&>(state).classes.whole_size();
}

void GaussianBayesFitness::begin_block(const State& state, const FeatureBlock& block) const {
  static_cast<const Folds&>(state).classes.begin(block.values, block.kept);
}

// Logarithms are told relative to the least of the classes, which changes no difference between
// classes and leaves them not negative. At reference parameters they are added to the squares, so
// that what classes share is taken off both at once; their own sums are then of left-out features
// alone.
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
  folds.classes.measure(block.values, block.kept, split, mean, variance);
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
  std::fill_n(sums, (derives ? 2 : 1) * rows, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    double* slope = derives ? slopes + c * width : nullptr;
    if (folds.classes.weight(split, c) == 0) {
      std::fill_n(out + c * width, width, 0.0);
      if (derives) std::fill_n(slope, width, 0.0);
      continue;
    }
    double* log = is_reference ? logs + c * lanes : sums + c * lanes;
    for (std::size_t l = 0; l < lanes; ++l) log[l] = logs[c * lanes + l] - least[l];
    if (derives) std::copy_n(halves + c * lanes, lanes, sums + rows + c * lanes);
    kernel.gaussian_terms(block.values, tests, n_tests, mean + c * lanes, halves + c * lanes,
                          is_reference ? log : none, out + c * width, slope);
  }
}

// With e' - e = d and d R = x, R the greatest 1 / (variance + e): a term of Q changes by x of itself
// at most, to first order by d times its derivative, and the rest is below x^2 / (1 - x) of it; of L
// likewise by x / 2, and below x^2 / 4 (1 - x), a feature.
void GaussianBayesFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                                   const SplitSums& sums, const double* params,
                                   const double* reference, const Offsets& out) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const bool derives = sums.has_reference && folds.has_derivatives;
  double change[lanes] = {}, relative[lanes] = {}, slack[lanes] = {};
  if (reference != nullptr) {
    for (std::size_t l = 0; l < lanes; ++l) {
      change[l] = params[l] - reference[0];
      const double reach = sums.has_reference ? reference[2] : params[2 * lanes + l];
      const double x = std::abs(change[l]) * reach;
      relative[l] = x < 0.25 ? x / (1 - x) * (derives ? x : 1) : no_bound;
      slack[l] = x < 0.25 ? 0.5 * relative[l] * params[lanes + l] : no_bound;
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
      out.slack[at] += sums.share * std::abs(change[l]) * sums.magnitudes[rows + at];
    }
  }
}

}  // namespace bitsieve
