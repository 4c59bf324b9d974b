#include "bitsieve/fitness/discrete_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "discrete_sums.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_scales = std::size_t{1} << 24;  // that are kept: 128 MB
constexpr std::size_t surveyed_at_once = 1024;              // between two looks at Ctrl-C

// sum + rest by class, of a sample.
template <bool whole>
inline void add_sample(const Target& target, const double* values, std::size_t i, double* sum,
                       double* rest) {
  const std::size_t c = static_cast<std::size_t>(target.codes[i]) * additive_lanes;
  const double weight = whole || target.weights.empty() ? 1.0 : target.weights[i];
  add_lanes<whole>(values + i * additive_lanes, weight, sum + c, rest + c);
}

}  // namespace

DiscreteBayesFitness::DiscreteBayesFitness(std::shared_ptr<const Table> table, Target target,
                                           SplitSource source, DiscreteOptions options,
                                           const ScalerOptions& scaler)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      refused_(this->table().view().n_features, false),
      options_(std::move(options)),
      scaler_(this->table(), scaler) {
  if (!(options_.alpha > 0) || !std::isfinite(options_.alpha)) {
    throw std::invalid_argument("alpha must be finite and above 0");
  }
  if (!options_.log_prior.empty() && options_.log_prior.size() != this->target().n_classes) {
    throw std::invalid_argument("log_prior must have one number a class, or none");
  }
}

void DiscreteBayesFitness::learn(Learnt& learnt, const TargetSplits& at) const {
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes, n = target().codes.size();
  learnt.has_refused = std::any_of(refused_.begin(), refused_.end(), [](bool is) { return is; });
  learnt.weight.assign(splits.n_splits * n_classes, 0.0);
  for (std::size_t k = 0; k < learnt.weight.size(); ++k) {
    learnt.weight[k] = static_cast<double>(at.target.train_of_class[k]);
  }
  if (!target().weights.empty()) {
    std::fill(learnt.weight.begin(), learnt.weight.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t w = 0; w < splits.n_words; ++w) {
        for_each_bit(splits.training[i * splits.n_words + w], w, [&](std::size_t s) {
          learnt.weight[s * n_classes + static_cast<std::size_t>(target().codes[i])] +=
              target().weights[i];
        });
      }
    }
  }
  learnt.log_prior.assign(learnt.weight.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    double total = 0, n_present = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      total += learnt.weight[s * n_classes + c];
      n_present += at.target.train_of_class[s * n_classes + c] > 0;
    }
    for (std::size_t k = s * n_classes; k < (s + 1) * n_classes; ++k) {
      if (at.target.train_of_class[k] == 0) continue;
      learnt.is_refused = learnt.is_refused || learnt.weight[k] == 0;
      learnt.log_prior[k] = !options_.log_prior.empty() ? options_.log_prior[k - s * n_classes]
                            : options_.fit_prior ? std::log(learnt.weight[k]) - std::log(total)
                                                 : -std::log(n_present);
    }
  }
  if (scaler_.is_none()) return;
  learnt.splits = splits;
  learnt.member_begin.assign(1, 0);
  std::vector<std::vector<std::int32_t>> by_class(n_classes);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (auto& members : by_class) members.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (!get_bit(splits.training.data() + i * splits.n_words, s)) continue;
      by_class[static_cast<std::size_t>(target().codes[i])].push_back(static_cast<std::int32_t>(i));
    }
    for (const auto& members : by_class) {
      learnt.members.insert(learnt.members.end(), members.begin(), members.end());
      learnt.member_begin.push_back(learnt.members.size());
    }
  }
}

// ---- scales ---------------------------------------------------------------------------------

void DiscreteBayesFitness::measure_scales(const std::int32_t* features, std::size_t m,
                                          const Splits& splits, double* first, double* second,
                                          int n_threads) const {
  scaler_.measure(features, m, splits, first, second, n_threads);
}

void DiscreteBayesFitness::survey(State& state, const TargetSplits& at, int n_threads) const {
  const std::size_t p = table().view().n_features, n_splits = at.splits.n_splits;
  if (scaler_.is_none() || 2 * p > most_scales / n_splits) return;
  Learnt& learnt = static_cast<Learnt&>(state);
  std::vector<double> first(p * n_splits), second(p * n_splits);
  const std::size_t n_tasks = (p + surveyed_at_once - 1) / surveyed_at_once;
  for (std::size_t k = 0; k < n_tasks; ++k) {
    check_interrupt();
    const std::size_t begin = k * surveyed_at_once, m = std::min(surveyed_at_once, p - begin);
    std::vector<std::int32_t> features(m);
    std::iota(features.begin(), features.end(), static_cast<std::int32_t>(begin));
    measure_scales(features.data(), m, at.splits, first.data() + begin * n_splits,
                   second.data() + begin * n_splits, n_threads);
  }
  learnt.first = std::move(first);
  learnt.second = std::move(second);
}

void DiscreteBayesFitness::begin_scales(const Learnt& learnt, const FeatureBlock& block,
                                        double* kept) const {
  const std::size_t n_splits = learnt.splits.n_splits;
  std::vector<double> first, second;
  const bool is_known = !learnt.first.empty();
  if (!is_known) {
    first.resize(block.n * n_splits);
    second.resize(block.n * n_splits);
    measure_scales(block.features, block.n, learnt.splits, first.data(), second.data(), 1);
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t row = is_known ? static_cast<std::size_t>(block.features[l])
                                     : std::min(l, block.n - 1);
    const double* from = (is_known ? learnt.first : first).data() + row * n_splits;
    const double* then = (is_known ? learnt.second : second).data() + row * n_splits;
    for (std::size_t s = 0; s < n_splits; ++s) {
      kept[s * lanes + l] = from[s];
      kept[(n_splits + s) * lanes + l] = then[s];
    }
  }
}

// ---- what a mask is told by -----------------------------------------------------------------

std::unique_ptr<AdditiveFitness::State> DiscreteBayesFitness::make_state(
    const TargetSplits& at) const {
  auto learnt = std::make_unique<Learnt>();
  learn(*learnt, at);
  return learnt;
}

bool DiscreteBayesFitness::declines(const State& state, const TargetSplits&,
                                    const std::vector<std::int32_t>& features,
                                    const double*) const {
  if (static_cast<const Learnt&>(state).is_refused) return true;
  return std::any_of(features.begin(), features.end(), [&](std::int32_t f) {
    return refused_[static_cast<std::size_t>(f)];
  });
}

bool DiscreteBayesFitness::may_decline_near(const State& state, const TargetSplits&,
                                            const std::vector<std::int32_t>&, std::int32_t,
                                            const double*) const {
  const Learnt& learnt = static_cast<const Learnt&>(state);
  return learnt.is_refused || learnt.has_refused;
}

void DiscreteBayesFitness::offsets(const State& state, const TargetSplits&, std::size_t split,
                                   const SplitSums&, const double*, const double*,
                                   const Offsets& out) const {
  const std::size_t n_classes = target().n_classes;
  const double* prior = static_cast<const Learnt&>(state).log_prior.data() + split * n_classes;
  const double most = *std::max_element(prior, prior + n_classes);
  for (std::size_t c = 0; c < n_classes; ++c) {
    std::fill_n(out.offset + c * lanes, lanes, most - prior[c]);
  }
}

void DiscreteBayesFitness::add_totals(const double* values, bool whole, double* totals) const {
  const std::size_t width = target().n_classes * lanes;
  std::fill_n(totals, 2 * width, 0.0);
  for (std::size_t i = 0; i < target().codes.size(); ++i) {
    if (whole && target().weights.empty()) {
      add_sample<true>(target(), values, i, totals, totals + width);
    } else {
      add_sample<false>(target(), values, i, totals, totals + width);
    }
  }
}

void DiscreteBayesFitness::add_training(const TargetSplits& at, const double* values,
                                        const double* totals, std::size_t split, bool whole,
                                        double* sums, Scratch& scratch) const {
  const Splits& splits = at.splits;
  const std::size_t width = target().n_classes * lanes;
  scratch.assign(width, 0.0);
  std::fill_n(sums, width, 0.0);
  double* rest = scratch.data();
  const auto add = [&](std::size_t i) {
    if (whole && target().weights.empty()) {
      add_sample<true>(target(), values, i, sums, rest);
    } else {
      add_sample<false>(target(), values, i, sums, rest);
    }
  };
  if (splits.complementary) {
    for (std::int64_t k = splits.test_begin[split]; k < splits.test_begin[split + 1]; ++k) {
      add(static_cast<std::size_t>(splits.test_samples[static_cast<std::size_t>(k)]));
    }
    for (std::size_t k = 0; k < width; ++k) {
      sums[k] = std::max((totals[k] - sums[k]) + (totals[width + k] - rest[k]), 0.0);
    }
  } else {
    for (std::size_t i = 0; i < target().codes.size(); ++i) {
      if (get_bit(splits.training.data() + i * splits.n_words, split)) add(i);
    }
    for (std::size_t k = 0; k < width; ++k) sums[k] += rest[k];
  }
}

}  // namespace bitsieve
