#include "bitsieve/fitness/discrete_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bitsieve {
namespace {

// sum + rest of sixteen lanes, as if in twice the digits.
template <bool whole>
inline void add_lanes(const double* values, double weight, double* sum, double* rest) {
  for (std::size_t l = 0; l < additive_lanes; ++l) {
    if constexpr (whole) {
      sum[l] += values[l];
    } else {
      const double value = weight * values[l], added = sum[l] + value, part = added - sum[l];
      rest[l] += (sum[l] - (added - part)) + (value - part);
      sum[l] = added;
    }
  }
}

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
                                           SplitSource source, DiscreteOptions options)
    : AdditiveFitness(std::move(table), std::move(target), std::move(source)),
      refused_(this->table().view().n_features, false),
      options_(std::move(options)) {
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
}

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
