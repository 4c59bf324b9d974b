// What is known of all features of a table before batches are added: variances, what is left out.
#include <algorithm>
#include <cmath>
#include <utility>

#include "gaussian_folds.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t ranked_features = 64;                    // by variance, a split
constexpr std::size_t most_variances = std::size_t{1} << 24;  // that are kept: 128 MB
constexpr std::size_t most_moments = std::size_t{1} << 23;  // that are kept: 64 MB
// Least variances, in smoothings: without derivatives (what is left is then below float32's
// rounding), and with them.
constexpr double plain_ratio = 0x1p18, derived_ratio = 16;
constexpr std::size_t left_out_share = 200;  // one feature in so many may be left out

}  // namespace

void GaussianBayesFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  Folds& folds = static_cast<Folds&>(state);
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  const std::size_t n_classes = target().n_classes;
  const bool is_scaled = !scaler_.is_none();
  const bool is_kept = p * n_splits * (is_scaled ? 3 : 1) <= most_variances;
  std::vector<double> variances(is_kept ? p * n_splits : 0), least(p, no_gaussian_bound);
  std::vector<double> inverses(is_scaled ? variances.size() : 0), reaches(inverses.size());
  const std::size_t moment_rows = folds.moment_rows();
  // Of more splits and classes it is quicker to make them of the values, which are then fewer.
  const bool keeps_moments = is_kept && moment_rows <= table().view().n_samples &&
                             p * moment_rows <= most_moments;
  std::vector<double> moments(keeps_moments ? p * moment_rows : 0);
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
        measure_parts(folds, block, s, mean, variance);
        const std::size_t n_rows = keeps_moments ? 2 * n_classes : 0;
        for (std::size_t l = 0; l < n; ++l) {
          double* row = moments.data() + (begin + l) * moment_rows + s * n_rows;
          for (std::size_t c = 0; c < n_rows; ++c) row[c] = mean[c * lanes + l];
        }
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
  folds.moments = std::move(moments);
  folds.inverses = std::move(inverses);
  folds.reaches = std::move(reaches);
  for (const double reach : folds.reaches) {
    folds.largest_reach = std::max(folds.largest_reach, reach);
  }
  folds.reference.assign(gaussian_params * n_splits, 0.0);
  folds.ranked.resize(n_splits);
  // Between the largest variance and the fourth: most large masks have one of those.
  double farthest = 0, smallest = no_gaussian_bound;
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
    folds.reference[gaussian_params * s] = middle;
    smallest = std::min(smallest, middle);
    farthest = std::max({farthest, middle, var_smoothing_ * most - middle});
  }
  std::vector<double> sorted = least;
  const auto few = sorted.begin() + static_cast<std::ptrdiff_t>(p / left_out_share);
  std::nth_element(sorted.begin(), few, sorted.end());
  const double bar = std::clamp(*few, derived_ratio * farthest, plain_ratio * farthest);
  folds.has_derivatives = bar < plain_ratio * farthest;
  double floor = no_gaussian_bound;
  folds.left_out.clear();
  for (std::size_t f = 0; f < p; ++f) {
    if (least[f] < bar) {
      folds.left_out.push_back(static_cast<std::int32_t>(f));
    } else {
      floor = std::min(floor, least[f]);
    }
  }
  folds.steepest = folds.left_out.empty() ? 1 / floor * (1 + 0x1p-40) : 0.0;
  for (std::size_t s = 0; s < n_splits; ++s) {
    folds.reference[gaussian_params * s + 2] = 1 / (floor + smallest) * (1 + 0x1p-40);
  }
}

void GaussianBayesFitness::reference_params(const State& state, double* params) const {
  const Folds& folds = static_cast<const Folds&>(state);
  std::copy(folds.reference.begin(), folds.reference.end(), params);
}

}  // namespace bitsieve
