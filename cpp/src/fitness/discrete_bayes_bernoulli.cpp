#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"
#include "discrete_sums.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t scaled_at_once = 32;  // features

// What all classes share is taken away from two logarithms a class, which become costs.
template <std::size_t lanes>
void make_costs(const double* weight, std::size_t n_classes, double* logs) {
  double most[lanes];
  std::fill_n(most, lanes, -std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (weight[c] == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) most[l] = std::max(most[l], logs[c * lanes + l]);
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    for (std::size_t l = 0; l < lanes; ++l) {
      double& log = logs[c * lanes + l];
      log = weight[c] == 0 ? 0.0 : most[l] - log;
    }
  }
}

}  // namespace

// Without weights counts are whole numbers: log p and log(1 - p) of each count are made once for
// all classes of the same size.
struct BernoulliFitness::Chances : Learnt {
  std::vector<double> yes, no;
  std::vector<std::size_t> begin;  // [n_splits][n_classes] of a count of 0
  // After survey(), [n_features], where samples are not listed in ascending order.
  std::vector<std::uint8_t> depends_on_order;
};

BernoulliFitness::BernoulliFitness(std::shared_ptr<const Table> table, Target target,
                                   SplitSource source, DiscreteOptions options, double threshold,
                                   const ScalerOptions& scaler, bool ascending)
    : DiscreteBayesFitness(std::move(table), std::move(target), std::move(source),
                           std::move(options), scaler),
      threshold_(threshold),
      ascending_(ascending) {}

std::unique_ptr<AdditiveFitness::State> BernoulliFitness::make_state(const TargetSplits& at) const {
  auto chances = std::make_unique<Chances>();
  learn(*chances, at);
  if (!target().weights.empty()) return chances;
  const double alpha = options().alpha;
  std::map<double, std::size_t> known;
  chances->begin.reserve(chances->weight.size());
  for (const double weight : chances->weight) {
    const auto [place, is_new] = known.emplace(weight, chances->yes.size());
    chances->begin.push_back(place->second);
    if (!is_new) continue;
    for (double count = 0; count <= weight; ++count) {
      chances->yes.push_back(std::log(count + alpha) - std::log(weight + alpha * 2));
      chances->no.push_back(std::log(1 - std::exp(chances->yes.back())));
    }
  }
  return chances;
}

// ---- behind a scaler ------------------------------------------------------------------------

void BernoulliFitness::measure_scales(const std::int32_t* features, std::size_t m,
                                      const Splits& splits, double* first, double* second,
                                      int n_threads) const {
  DiscreteBayesFitness::measure_scales(features, m, splits, first, second, n_threads);
  const std::size_t n_tasks = (m + scaled_at_once - 1) / scaled_at_once;
  parallel_for(n_tasks, n_threads, [&](std::size_t task) {
    const std::size_t begin = task * scaled_at_once * splits.n_splits;
    const std::size_t end = std::min(begin + scaled_at_once * splits.n_splits, m * splits.n_splits);
    for (std::size_t k = begin; k < end; ++k) {
      first[k] = scaler().cutoff(first[k], second[k], threshold_);
    }
  });
}

// Whether mean and scale, which may differ from ours by what rounding gives, tell on which side of the
// threshold a value is. Whole numbers have the same mean in any order.
bool BernoulliFitness::depends_on_order(const Splits& splits, std::int32_t feature) const {
  const ScalerOptions& standard = scaler().options();
  const std::size_t n = target().codes.size(), n_splits = splits.n_splits;
  const double* row = table().doubles(1) + static_cast<std::size_t>(feature) * table().view().ld;
  double most = 0;
  bool is_whole = true;
  for (std::size_t i = 0; i < n; ++i) {
    most = std::max(most, std::abs(row[i]));
    is_whole = is_whole && std::nearbyint(row[i]) == row[i];
  }
  const double size = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const double apart = !standard.center || (is_whole && size * most < 1) ? 0 : 4 * size * most;
  std::vector<double> center(n_splits), scale(n_splits);
  scaler().measure(&feature, 1, splits, center.data(), scale.data());
  for (std::size_t s = 0; s < n_splits; ++s) {
    double reach = apart;
    if (threshold_ != 0 && standard.scale) {
      const double rounding = 16 * size * (1 + most / scale[s]);
      if (rounding > 1e-3 || scale[s] == 1) return true;  // it may be taken for a constant, or is
      reach += rounding * std::abs(threshold_) * scale[s];
    }
    if (reach == 0) continue;
    reach += 4 * size * std::abs(threshold_) * scale[s];
    const double cutoff = center[s] + threshold_ * scale[s];
    for (std::size_t i = 0; i < n; ++i) {
      if (!(std::abs(row[i] - cutoff) > reach)) return true;
    }
  }
  return false;
}

void BernoulliFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  DiscreteBayesFitness::survey(state, at, n_threads);
  if (!is_standard() || ascending_) return;
  std::vector<std::uint8_t> depends(table().view().n_features);
  parallel_for(depends.size(), n_threads, [&](std::size_t f) {
    depends[f] = depends_on_order(at.splits, static_cast<std::int32_t>(f)) ? 1 : 0;
  });
  static_cast<Chances&>(state).depends_on_order = std::move(depends);
}

bool BernoulliFitness::declines(const State& state, const TargetSplits& at,
                                const std::vector<std::int32_t>& features,
                                const double* params) const {
  if (DiscreteBayesFitness::declines(state, at, features, params)) return true;
  if (!is_standard() || (ascending_ && features.size() > 1)) return false;
  const std::vector<std::uint8_t>& known = static_cast<const Chances&>(state).depends_on_order;
  return std::any_of(features.begin(), features.end(), [&](std::int32_t f) {
    return known.empty() ? depends_on_order(at.splits, f) : known[static_cast<std::size_t>(f)] != 0;
  });
}

bool BernoulliFitness::may_decline_near(const State& state, const TargetSplits& at,
                                        const std::vector<std::int32_t>& base, std::int32_t flip,
                                        const double* params) const {
  return (is_standard() && (!ascending_ || base.size() <= 2)) ||
         DiscreteBayesFitness::may_decline_near(state, at, base, flip, params);
}

// ---- terms ----------------------------------------------------------------------------------

// The bits, as numbers, and their totals; behind a scaler what they are told by.
std::size_t BernoulliFitness::block_size(const State& state) const {
  if (!scaler().is_none()) return scales_size(static_cast<const Learnt&>(state));
  return target().codes.size() * lanes + totals_size();
}

void BernoulliFitness::begin_block(const State& state, const FeatureBlock& block) const {
  if (!scaler().is_none()) {
    return begin_scales(static_cast<const Learnt&>(state), block, block.kept);
  }
  const std::size_t size = target().codes.size() * lanes;
  for (std::size_t k = 0; k < size; ++k) block.kept[k] = block.values[k] > threshold_ ? 1.0 : 0.0;
  add_totals(block.kept, true, block.kept + size);
}

void BernoulliFitness::count_above(const Learnt& learnt, const double* values,
                                   const double* cutoff, std::size_t split, double* counts) const {
  const std::size_t n_classes = target().n_classes;
  const double* weights = target().weights.empty() ? nullptr : target().weights.data();
  const auto bits = [&](std::size_t i, double* out) {
    const double* x = values + i * lanes;
    for (std::size_t l = 0; l < lanes; ++l) out[l] = x[l] > cutoff[l] ? 1.0 : 0.0;
  };
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::size_t begin = learnt.member_begin[split * n_classes + c];
    const std::size_t n = learnt.member_begin[split * n_classes + c + 1] - begin;
    const std::int32_t* members = learnt.members.data() + begin;
    if (weights == nullptr) {
      add_rows<true>(members, n, weights, bits, counts + c * lanes);
    } else {
      add_rows<false>(members, n, weights, bits, counts + c * lanes);
    }
  }
}

void BernoulliFitness::terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
                             const double*, bool, std::size_t split, double* out,
                             Scratch& scratch) const {
  const Chances& chances = static_cast<const Chances&>(state);
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double alpha = options().alpha;
  Scratch counts(width), yes(width), no(width);
  // A sample's bits are what of its numbers is above the cutoffs.
  alignas(64) const double half[lanes] = {.5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5};
  const double *numbers = block.kept, *cutoff = half;
  if (scaler().is_none()) {
    add_training(at, numbers, numbers + target().codes.size() * lanes, split, true, counts.data(),
                 scratch);
  } else {
    numbers = block.values;
    cutoff = scales_of(chances, block.kept, split).first;
    count_above(chances, numbers, cutoff, split, counts.data());
  }
  const double* weight = chances.weight.data() + split * n_classes;
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (weight[c] == 0) continue;
    const double log_weight = std::log(weight[c] + alpha * 2);
    for (std::size_t k = c * lanes; k < (c + 1) * lanes; ++k) {
      if (target().weights.empty()) {
        const std::size_t place =
            chances.begin[split * n_classes + c] + static_cast<std::size_t>(counts[k]);
        yes[k] = chances.yes[place];
        no[k] = chances.no[place];
      } else {
        yes[k] = std::log(counts[k] + alpha) - log_weight;
        no[k] = std::log(1 - std::exp(yes[k]));
      }
    }
  }
  make_costs<lanes>(weight, n_classes, yes.data());
  make_costs<lanes>(weight, n_classes, no.data());
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double *if_yes = yes.data() + c * lanes, *if_no = no.data() + c * lanes;
    for (std::size_t k = 0; k < n_tests; ++k, out += lanes) {
      const double* x = numbers + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) out[l] = x[l] > cutoff[l] ? if_yes[l] : if_no[l];
    }
  }
}

}  // namespace bitsieve
