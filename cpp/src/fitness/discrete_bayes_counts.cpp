#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"
#include "discrete_sums.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_totals = std::size_t{1} << 24;  // 128 MB
constexpr double farthest_below = -1e25;  // of a reference term, so that sums fit float32

template <typename T>
void find_negative(const T* values, std::size_t n, std::size_t p, std::vector<bool>& is_negative) {
  std::vector<T> least(values, values + p);
  for (std::size_t i = 0; i < n; ++i, values += p) {
    for (std::size_t f = 0; f < p; ++f) least[f] = std::min(least[f], values[f]);
  }
  for (std::size_t f = 0; f < p; ++f) is_negative[f] = least[f] < 0;
}

}  // namespace

struct MultinomialFitness::Totals : Learnt {
  // After survey(), where memory allows: the terms of T_c, [n_features][n_splits][n_classes], and
  // the logarithm of their sum over all features.
  std::vector<double> of_feature, log_of_all;
};

MultinomialFitness::MultinomialFitness(std::shared_ptr<const Table> table, Target target,
                                       SplitSource source, DiscreteOptions options,
                                       bool complement, const ScalerOptions& scaler)
    : DiscreteBayesFitness(std::move(table), std::move(target), std::move(source),
                           std::move(options), scaler),
      complement_(complement) {
  using Kind = ScalerOptions::Kind;
  if (scaler.kind == Kind::min_max) {
    if (scaler.low != 0) throw std::invalid_argument("the range of the scaler must begin at 0");
    return;  // no training value is below
  }
  if (scaler.center && (scaler.kind == Kind::standard || scaler.kind == Kind::robust)) {
    throw std::invalid_argument("the scaler must not center");
  }
  const Source& values = this->table().source();
  const std::size_t n = this->target().codes.size(), p = refused_.size();
  if (values.single != nullptr) {
    find_negative(values.single, n, p, refused_);
  } else {
    find_negative(values.doubles, n, p, refused_);
  }
}

// Totals, or behind a scaler what values are made with.
std::size_t MultinomialFitness::block_size(const State& state) const {
  return scaler().is_none() ? totals_size() : scales_size(static_cast<const Learnt&>(state));
}

void MultinomialFitness::begin_block(const State& state, const FeatureBlock& block) const {
  const Totals& totals = static_cast<const Totals&>(state);
  if (!scaler().is_none()) return begin_scales(totals, block, block.kept);
  if (totals.of_feature.empty()) add_totals(block.values, false, block.kept);
}

void MultinomialFitness::add_scaled(const Learnt& learnt, const FeatureBlock& block,
                                    std::size_t split, double* sums) const {
  const std::size_t n_classes = target().n_classes;
  const double* weights = target().weights.empty() ? nullptr : target().weights.data();
  const Scales scales = scales_of(learnt, block.kept, split);
  const auto scaled = [&](std::size_t i, double* out) {
    scaler().of_row(block.values + i * lanes, scales.first, scales.second, lanes, out);
  };
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::size_t begin = learnt.member_begin[split * n_classes + c];
    const std::size_t n = learnt.member_begin[split * n_classes + c + 1] - begin;
    add_rows<false>(learnt.members.data() + begin, n, weights, scaled, sums + c * lanes);
  }
}

void MultinomialFitness::count(const Learnt& learnt, const TargetSplits& at,
                               const FeatureBlock& block, std::size_t split, double* counts,
                               Scratch& scratch) const {
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double* weight = learnt.weight.data() + split * n_classes;
  const double alpha = options().alpha;
  if (scaler().is_none()) {
    add_training(at, block.values, block.kept, split, false, counts, scratch);
  } else {
    add_scaled(learnt, block, split, counts);
  }
  double all[lanes] = {};
  for (std::size_t k = 0; complement_ && k < width; ++k) all[k % lanes] += counts[k];
  for (std::size_t k = 0; k < width; ++k) {
    if (weight[k / lanes] == 0) {
      counts[k] = 0;
    } else {
      counts[k] = complement_ ? std::max(all[k % lanes] + alpha - counts[k], alpha)
                              : counts[k] + alpha;
    }
  }
}

// Those of the survey, or made now: the same.
void MultinomialFitness::counts_of(const Totals& totals, const TargetSplits& at,
                                   const FeatureBlock& block, std::size_t split, double* counts,
                                   Scratch& scratch) const {
  if (totals.of_feature.empty()) return count(totals, at, block, split, counts, scratch);
  const std::size_t n_classes = target().n_classes, width = at.splits.n_splits * n_classes;
  for (std::size_t l = 0; l < lanes; ++l) {
    const double* from = totals.of_feature.data() +
                         static_cast<std::size_t>(block.features[l]) * width + split * n_classes;
    for (std::size_t c = 0; c < n_classes; ++c) counts[c * lanes + l] = from[c];
  }
}

std::unique_ptr<AdditiveFitness::State> MultinomialFitness::make_state(
    const TargetSplits& at) const {
  auto totals = std::make_unique<Totals>();
  learn(*totals, at);
  return totals;
}

void MultinomialFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  DiscreteBayesFitness::survey(state, at, n_threads);
  Totals& totals = static_cast<Totals&>(state);
  const std::size_t p = refused_.size(), n_classes = target().n_classes;
  const std::size_t width = at.splits.n_splits * n_classes;
  if (p * width > most_totals) return;
  std::vector<double> of_feature(p * width);
  parallel_for((p + lanes - 1) / lanes, n_threads, [&](std::size_t k) {
    std::int32_t features[lanes];
    const std::size_t first = k * lanes, n = std::min(lanes, p - first);
    for (std::size_t l = 0; l < n; ++l) features[l] = static_cast<std::int32_t>(first + l);
    Scratch values, scratch, counts(n_classes * lanes);
    for_each_block(state, features, n, values, [&](const FeatureBlock& block) {
      for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
        count(totals, at, block, s, counts.data(), scratch);
        for (std::size_t c = 0; c < n_classes; ++c) {
          for (std::size_t l = 0; l < n; ++l) {
            of_feature[(first + l) * width + s * n_classes + c] = counts[c * lanes + l];
          }
        }
      }
    });
  });
  totals.of_feature = std::move(of_feature);
  std::vector<std::int32_t> all(p);
  for (std::size_t f = 0; f < p; ++f) all[f] = static_cast<std::int32_t>(f);
  totals.log_of_all.assign(width, 0.0);
  Scratch unused;
  measure(state, at, all, totals.log_of_all.data(), unused);
  for (double& total : totals.log_of_all) total = total > 0 ? std::log(total) : 0.0;
}

void MultinomialFitness::measure(const State& state, const TargetSplits& at,
                                 const std::vector<std::int32_t>& features, double* params,
                                 Scratch&) const {
  const Totals& totals = static_cast<const Totals&>(state);
  if (totals.of_feature.empty()) return;
  const std::size_t width = at.splits.n_splits * target().n_classes;
  for (const std::int32_t f : features) {
    if (refused_[static_cast<std::size_t>(f)]) continue;
    const double* of_feature = totals.of_feature.data() + static_cast<std::size_t>(f) * width;
    for (std::size_t k = 0; k < width; ++k) params[k] += of_feature[k];
  }
}

void MultinomialFitness::terms(const State& state, const TargetSplits& at,
                               const FeatureBlock& block, const double*, bool is_reference,
                               std::size_t split, double* out, Scratch& scratch) const {
  const Totals& totals = static_cast<const Totals&>(state);
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double* weight = totals.weight.data() + split * n_classes;
  Scratch counts(width), costs(width);
  counts_of(totals, at, block, split, counts.data(), scratch);
  double least[lanes], most[lanes];
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  std::fill_n(most, lanes, -std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < n_classes; ++c) {
    const bool is_relative = is_reference && !totals.log_of_all.empty();
    const double log_of_all = is_relative ? totals.log_of_all[split * n_classes + c] : 0.0;
    for (std::size_t k = c * lanes; weight[c] > 0 && k < (c + 1) * lanes; ++k) {
      const double log = std::log(counts[k]) - log_of_all;
      costs[k] = complement_ ? log : -log;
      least[k % lanes] = std::min(least[k % lanes], costs[k]);
      most[k % lanes] = std::max(most[k % lanes], costs[k]);
    }
  }
  // A value below zero has the costs the other way round.
  Scratch costs_below(scaler().is_range() ? width : 0);
  for (std::size_t k = 0; k < width; ++k) {
    if (!(weight[k / lanes] > 0)) continue;
    if (scaler().is_range()) costs_below[k] = costs[k] - most[k % lanes];
    costs[k] -= least[k % lanes];
  }
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  const auto row_of = [&](std::size_t k) {
    return block.values + static_cast<std::size_t>(tests[k]) * lanes;
  };
  if (scaler().is_none()) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double* cost = costs.data() + c * lanes;
      for (std::size_t k = 0; k < n_tests; ++k, out += lanes) {
        const double* x = row_of(k);
        for (std::size_t l = 0; l < lanes; ++l) out[l] = x[l] * cost[l];
      }
    }
    for (std::size_t k = 0; k < n_tests; ++k, out += lanes) std::copy_n(row_of(k), lanes, out);
    std::copy(counts.begin(), counts.end(), out);
    return;
  }
  const Scales scales = scales_of(totals, block.kept, split);
  double* total = out + n_classes * n_tests * lanes;
  double below[lanes] = {};
  for (std::size_t k = 0; k < n_tests; ++k) {
    double* x = total + k * lanes;
    scaler().of_row(row_of(k), scales.first, scales.second, lanes, x);
    if (is_reference) {
      for (std::size_t l = 0; l < lanes; ++l) x[l] = std::max(x[l], farthest_below);
    }
    for (std::size_t l = 0; l < lanes; ++l) below[l] = std::max(below[l], -x[l]);
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double* cost = costs.data() + c * lanes;
      double* term = out + (c * n_tests + k) * lanes;
      if (scaler().is_range()) {
        const double* cost_below = costs_below.data() + c * lanes;
        for (std::size_t l = 0; l < lanes; ++l) term[l] = x[l] * (x[l] < 0 ? cost_below : cost)[l];
      } else {
        for (std::size_t l = 0; l < lanes; ++l) term[l] = x[l] * cost[l];
      }
    }
  }
  double* of_split = total + n_tests * lanes;
  std::copy(counts.begin(), counts.end(), of_split);
  if (scaler().is_range()) std::copy_n(below, lanes, of_split + width);
}

// E times log T_c, of complements less log T_c. Where T_c is not exact, factors are raised for all
// classes alike, so that E's own error allows for the logarithm's: by T_c's share of error as a
// multiple of E's. Behind a range E may be negative, of values that add up to E and twice the last
// split sum at most: what it lacks of its error's bound is allowed for by slack.
void MultinomialFitness::offsets(const State& state, const TargetSplits& at, std::size_t split,
                                 const SplitSums& sums, const double* params,
                                 const double* reference, const Offsets& out) const {
  DiscreteBayesFitness::offsets(state, at, split, sums, params, reference, out);
  const Totals& totals = static_cast<const Totals&>(state);
  const std::size_t n_classes = target().n_classes;
  const double* weight = totals.weight.data() + split * n_classes;
  const bool has_totals = sums.has_reference && !totals.of_feature.empty();
  double least[lanes], raised[lanes];
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  std::fill_n(raised, lanes, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double log_of_all = has_totals ? totals.log_of_all[split * n_classes + c] : 0.0;
    for (std::size_t l = 0; weight[c] > 0 && l < lanes; ++l) {
      const std::size_t k = c * lanes + l;
      const double log = std::log(has_totals ? params[k] : sums.sums[k]) - log_of_all;
      out.factor[k] = complement_ ? -log : log;
      least[l] = std::min(least[l], out.factor[k]);
      if (sums.share == 0) continue;
      raised[l] = std::max(raised[l], has_totals ? 0x1p-36 / sums.share
                                                 : 1.25 * sums.magnitudes[k] / sums.sums[k]);
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (weight[c] == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) out.factor[c * lanes + l] += raised[l] - least[l];
    for (std::size_t l = 0; scaler().is_range() && sums.share > 0 && l < lanes; ++l) {
      const double below = sums.magnitudes[n_classes * lanes + l];
      out.slack[c * lanes + l] +=
          sums.has_reference && below > -0.5 * farthest_below
              ? 1e300
              : 2.5 * sums.share * below * out.factor[c * lanes + l];
    }
    if (complement_) std::fill_n(out.offset + c * lanes, lanes, 0.0);
  }
}

// Of a single feature a count and its total are the same, and nothing is left but the prior.
void MultinomialFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                                 int n_threads, Worker& worker, const Answer& answer) {
  const Word* mask = masks + index * n_words();
  if (count_bits(mask, n_words()) != 1) {
    DiscreteBayesFitness::predict(masks, index, at, n_threads, worker, answer);
    return;
  }
  std::vector<std::int32_t> feature;
  list_bits(mask, n_words(), feature);
  const std::size_t n_classes = target().n_classes;
  Learnt learnt;
  learn(learnt, at);
  if (declines(learnt, at, feature, nullptr)) {
    *answer.declined = true;
    return;
  }
  std::vector<double> offsets_of(4 * n_classes * lanes), costs(n_classes);
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    double* numbers = offsets_of.data();
    const std::size_t size = n_classes * lanes;
    DiscreteBayesFitness::offsets(learnt, at, s, {}, nullptr, nullptr,
                                  {numbers, numbers + size, numbers + 2 * size, numbers + 3 * size});
    for (std::size_t c = 0; c < n_classes; ++c) {
      const bool is_present = learnt.weight[s * n_classes + c] > 0;
      costs[c] = complement_ && is_present ? 0.0 : numbers[c * lanes];
    }
    const auto best = std::min_element(costs.begin(), costs.end()) - costs.begin();
    for (std::int64_t k = at.splits.test_begin[s]; k < at.splits.test_begin[s + 1]; ++k) {
      const auto t = static_cast<std::size_t>(k);
      if (answer.classes != nullptr) answer.classes[t] = static_cast<std::int32_t>(best);
      if (answer.values != nullptr) values(costs.data(), answer.values + t * n_values());
    }
  }
}

// Such masks are not told from sums.
bool MultinomialFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                            std::size_t n_masks, const TargetSplits& at,
                                            const Scorer& scorer, int n_threads, double* scores,
                                            bool* declined) {
  const std::size_t size = count_bits(base, n_words());
  return size != 0 && size != 2 &&
         DiscreteBayesFitness::evaluate_neighbors(base, flips, n_masks, at, scorer, n_threads,
                                                  scores, declined);
}

}  // namespace bitsieve
