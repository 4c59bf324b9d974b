#include "training_moments.hpp"

#include <algorithm>
#include <utility>

namespace bitsieve {
namespace {

constexpr std::size_t moment_lanes = additive_lanes;
constexpr double least_weight = 1e-8;  // below it scikit-learn learns nothing of a class

}  // namespace

TrainingMoments::TrainingMoments(const Splits& splits, std::vector<std::int32_t> group,
                                 std::size_t n_groups, const std::vector<double>& weights)
    : n_(group.size()),
      n_groups_(n_groups),
      n_splits_(splits.n_splits),
      from_whole_(splits.complementary),
      group_(std::move(group)),
      sample_weight_(weights.empty() ? std::vector<double>(n_, 1.0) : weights) {
  weight_.assign(n_splits_ * n_groups_, 0.0);
  whole_.assign(n_groups_, 0.0);
  train_begin_.assign(n_splits_ + 1, 0);
  for (std::size_t s = 0; s < n_splits_; ++s) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (!get_bit(splits.training.data() + i * splits.n_words, s)) continue;
      weight_[s * n_groups_ + static_cast<std::size_t>(group_[i])] += sample_weight_[i];
      train_.push_back(static_cast<std::int32_t>(i));
    }
    train_begin_[s + 1] = static_cast<std::int64_t>(train_.size());
  }
  for (std::size_t i = 0; i < n_; ++i) whole_[static_cast<std::size_t>(group_[i])] += sample_weight_[i];
  for (double& weight : weight_) weight = weight <= least_weight ? 0 : weight;
  listed_ = from_whole_ ? splits.test_samples : train_;
  begin_ = from_whole_ ? splits.test_begin : train_begin_;
}

void TrainingMoments::measure_again(const double* values, std::size_t split, std::size_t group,
                                    std::size_t lane, double* mean, double* variance) const {
  const double weight = weight_[split * n_groups_ + group];
  const auto sum = [&](auto&& term) {
    double total = 0;
    for (std::int64_t k = train_begin_[split]; k < train_begin_[split + 1]; ++k) {
      const auto i = static_cast<std::size_t>(train_[static_cast<std::size_t>(k)]);
      if (static_cast<std::size_t>(group_[i]) == group) {
        total += sample_weight_[i] * term(values[i * moment_lanes + lane]);
      }
    }
    return total / weight;
  };
  // The first value is taken off, so that a constant has its own value as mean.
  double from = 0;
  for (std::int64_t k = train_begin_[split]; k < train_begin_[split + 1]; ++k) {
    const auto i = static_cast<std::size_t>(train_[static_cast<std::size_t>(k)]);
    if (static_cast<std::size_t>(group_[i]) != group) continue;
    from = values[i * moment_lanes + lane];
    break;
  }
  const double centre = from + sum([&](double x) { return x - from; });
  *mean = centre;
  *variance = sum([&](double x) { return (x - centre) * (x - centre); });
}

void TrainingMoments::measure(const double* values, std::size_t first, std::size_t last,
                              double* mean, double* variance,
                              AlignedVector<double>& scratch) const {
  constexpr std::size_t L = moment_lanes;
  scratch.assign(5 * n_groups_ * L, 0.0);
  double* centre = scratch.data();          // [n_groups][L] mean of the whole group
  double* sum = centre + n_groups_ * L;     // of values less that, over the whole group
  double* squares = sum + n_groups_ * L;
  double* part_sum = squares + n_groups_ * L;  // the same of what a split lists
  double* part_squares = part_sum + n_groups_ * L;
  for (std::size_t i = 0; i < n_; ++i) {
    double* to = centre + static_cast<std::size_t>(group_[i]) * L;
    for (std::size_t l = 0; l < L; ++l) to[l] += sample_weight_[i] * values[i * L + l];
  }
  for (std::size_t g = 0; g < n_groups_; ++g) {
    const double weight = whole_[g] > 0 ? whole_[g] : 1;
    for (std::size_t l = 0; l < L; ++l) centre[g * L + l] /= weight;
  }
  const auto add = [&](std::size_t i, double* sums, double* second) {
    const std::size_t g = static_cast<std::size_t>(group_[i]) * L;
    for (std::size_t l = 0; l < L; ++l) {
      const double apart = values[i * L + l] - centre[g + l];
      const double weighted = sample_weight_[i] * apart;
      sums[g + l] += weighted;
      second[g + l] += weighted * apart;
    }
  };
  for (std::size_t i = 0; i < n_; ++i) add(i, sum, squares);
  const double digits = static_cast<double>(n_) * 4 * 0x1p-17;
  for (std::size_t s = first; s < last; ++s) {
    std::fill(part_sum, part_sum + 2 * n_groups_ * L, 0.0);
    for (std::int64_t k = begin_[s]; k < begin_[s + 1]; ++k) {
      add(static_cast<std::size_t>(listed_[static_cast<std::size_t>(k)]), part_sum, part_squares);
    }
    for (std::size_t g = 0; g < n_groups_; ++g) {
      const double weight = weight_[s * n_groups_ + g];
      double* to_mean = mean + ((s - first) * n_groups_ + g) * L;
      double* to_variance = variance + ((s - first) * n_groups_ + g) * L;
      if (weight == 0) {
        std::fill(to_mean, to_mean + L, 0.0);
        std::fill(to_variance, to_variance + L, 0.0);
        continue;
      }
      unsigned again = 0;
      for (std::size_t l = 0; l < L; ++l) {
        const std::size_t at = g * L + l;
        const double own = from_whole_ ? sum[at] - part_sum[at] : part_sum[at];
        const double own_squares = from_whole_ ? squares[at] - part_squares[at] : part_squares[at];
        const double shift = own / weight;
        to_mean[l] = centre[at] + shift;
        to_variance[l] = own_squares / weight - shift * shift;
        const double reach = (from_whole_ ? squares[at] : part_squares[at]) / weight;
        again |= (to_variance[l] > digits * reach ? 0u : 1u) << l;
      }
      for (std::size_t l = 0; again != 0; ++l, again >>= 1) {
        if (again & 1u) measure_again(values, s, g, l, to_mean + l, to_variance + l);
      }
    }
  }
}

}  // namespace bitsieve
