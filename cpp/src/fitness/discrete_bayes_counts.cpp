#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_totals = std::size_t{1} << 24;  // 128 MB

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
                                       bool complement)
    : DiscreteBayesFitness(std::move(table), std::move(target), std::move(source),
                           std::move(options)),
      complement_(complement) {
  const Source& values = this->table().source();
  const std::size_t n = this->target().codes.size(), p = refused_.size();
  if (values.single != nullptr) {
    find_negative(values.single, n, p, refused_);
  } else {
    find_negative(values.doubles, n, p, refused_);
  }
}

std::size_t MultinomialFitness::block_size(const State&) const { return totals_size(); }

void MultinomialFitness::begin_block(const State&, const FeatureBlock& block) const {
  add_totals(block.values, false, block.kept);
}

void MultinomialFitness::count(const Learnt& learnt, const TargetSplits& at,
                               const FeatureBlock& block, std::size_t split, double* counts,
                               Scratch& scratch) const {
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double* weight = learnt.weight.data() + split * n_classes;
  const double alpha = options().alpha;
  add_training(at, block.values, block.kept, split, false, counts, scratch);
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

std::unique_ptr<AdditiveFitness::State> MultinomialFitness::make_state(
    const TargetSplits& at) const {
  auto totals = std::make_unique<Totals>();
  learn(*totals, at);
  return totals;
}

void MultinomialFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  Totals& totals = static_cast<Totals&>(state);
  const std::size_t p = refused_.size(), n_classes = target().n_classes;
  const std::size_t width = at.splits.n_splits * n_classes;
  if (p * width > most_totals) return;
  totals.of_feature.resize(p * width);
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
            totals.of_feature[(first + l) * width + s * n_classes + c] = counts[c * lanes + l];
          }
        }
      }
    });
  });
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
  count(totals, at, block, split, counts.data(), scratch);
  double least[lanes];
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < n_classes; ++c) {
    const bool is_relative = is_reference && !totals.log_of_all.empty();
    const double log_of_all = is_relative ? totals.log_of_all[split * n_classes + c] : 0.0;
    for (std::size_t k = c * lanes; weight[c] > 0 && k < (c + 1) * lanes; ++k) {
      const double log = std::log(counts[k]) - log_of_all;
      costs[k] = complement_ ? log : -log;
      least[k % lanes] = std::min(least[k % lanes], costs[k]);
    }
  }
  for (std::size_t k = 0; k < width; ++k) {
    if (weight[k / lanes] > 0) costs[k] -= least[k % lanes];
  }
  const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double* cost = costs.data() + c * lanes;
    for (std::size_t k = 0; k < n_tests; ++k, out += lanes) {
      const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) out[l] = x[l] * cost[l];
    }
  }
  for (std::size_t k = 0; k < n_tests; ++k, out += lanes) {
    const double* x = block.values + static_cast<std::size_t>(tests[k]) * lanes;
    std::copy(x, x + lanes, out);
  }
  std::copy(counts.begin(), counts.end(), out);
}

// E times log T_c, of complements less log T_c. Where T_c is not exact, factors are raised for all
// classes alike, so that E's own error allows for the logarithm's: by T_c's share of error as a
// multiple of E's.
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
