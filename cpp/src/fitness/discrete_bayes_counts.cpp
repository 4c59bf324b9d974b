#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"

namespace bitsieve {
namespace {

template <typename T>
void find_negative(const T* values, std::size_t n, std::size_t p, std::vector<bool>& is_negative) {
  std::vector<T> least(values, values + p);
  for (std::size_t i = 0; i < n; ++i, values += p) {
    for (std::size_t f = 0; f < p; ++f) least[f] = std::min(least[f], values[f]);
  }
  for (std::size_t f = 0; f < p; ++f) is_negative[f] = least[f] < 0;
}

}  // namespace

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

void MultinomialFitness::terms(const State& state, const TargetSplits& at,
                               const FeatureBlock& block, const double*, bool, std::size_t split,
                               double* out, Scratch& scratch) const {
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double* weight = static_cast<const Learnt&>(state).weight.data() + split * n_classes;
  const double alpha = options().alpha;
  Scratch counts(width), costs(width);
  add_training(at, block.values, block.kept, split, false, counts.data(), scratch);
  double least[lanes], all[lanes];
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  std::fill_n(all, lanes, 0.0);
  for (std::size_t k = 0; complement_ && k < width; ++k) all[k % lanes] += counts[k];
  for (std::size_t c = 0; c < n_classes; ++c) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t k = c * lanes + l;
      counts[k] = complement_ ? std::max(all[l] + alpha - counts[k], alpha) : counts[k] + alpha;
      if (weight[c] == 0) {
        counts[k] = costs[k] = 0;
        continue;
      }
      costs[k] = complement_ ? std::log(counts[k]) : -std::log(counts[k]);
      least[l] = std::min(least[l], costs[k]);
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (weight[c] == 0) continue;
    for (std::size_t l = 0; l < lanes; ++l) costs[c * lanes + l] -= least[l];
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

// E times log T_c, of complements less log T_c. Where T_c may be wrong factors are raised for all
// classes alike, by how much that share is of T_c: E's own error then allows for the logarithm's.
void MultinomialFitness::offsets(const State& state, const TargetSplits& at, std::size_t split,
                                 const SplitSums& sums, const double* params,
                                 const double* reference, const Offsets& out) const {
  DiscreteBayesFitness::offsets(state, at, split, sums, params, reference, out);
  const std::size_t n_classes = target().n_classes;
  const double* weight = static_cast<const Learnt&>(state).weight.data() + split * n_classes;
  double least[lanes], raised[lanes];
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  std::fill_n(raised, lanes, 0.0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    for (std::size_t l = 0; weight[c] > 0 && l < lanes; ++l) {
      const double log = std::log(sums.sums[c * lanes + l]);
      out.factor[c * lanes + l] = complement_ ? -log : log;
      least[l] = std::min(least[l], out.factor[c * lanes + l]);
      if (sums.share == 0) continue;
      raised[l] = std::max(raised[l], 1.25 * sums.magnitudes[c * lanes + l] / sums.sums[c * lanes + l]);
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
