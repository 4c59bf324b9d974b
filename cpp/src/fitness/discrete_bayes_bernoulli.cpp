#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"

namespace bitsieve {
namespace {

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
};

BernoulliFitness::BernoulliFitness(std::shared_ptr<const Table> table, Target target,
                                   SplitSource source, DiscreteOptions options, double threshold)
    : DiscreteBayesFitness(std::move(table), std::move(target), std::move(source),
                           std::move(options)),
      threshold_(threshold) {}

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

// The bits, as numbers, and their totals.
std::size_t BernoulliFitness::block_size(const State&) const {
  return target().codes.size() * lanes + totals_size();
}

void BernoulliFitness::begin_block(const State&, const FeatureBlock& block) const {
  const std::size_t size = target().codes.size() * lanes;
  for (std::size_t k = 0; k < size; ++k) block.kept[k] = block.values[k] > threshold_ ? 1.0 : 0.0;
  add_totals(block.kept, true, block.kept + size);
}

void BernoulliFitness::terms(const State& state, const TargetSplits& at, const FeatureBlock& block,
                             const double*, bool, std::size_t split, double* out,
                             Scratch& scratch) const {
  const Chances& chances = static_cast<const Chances&>(state);
  const std::size_t n_classes = target().n_classes, width = n_classes * lanes;
  const double alpha = options().alpha;
  const double* bits = block.kept;
  Scratch counts(width), yes(width), no(width);
  add_training(at, bits, bits + target().codes.size() * lanes, split, true, counts.data(), scratch);
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
      const double* bit = bits + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) out[l] = bit[l] > 0 ? if_yes[l] : if_no[l];
    }
  }
}

}  // namespace bitsieve
