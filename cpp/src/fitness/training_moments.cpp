#include "training_moments.hpp"

#include <algorithm>
#include <utility>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr double least_class_weight = 1e-8;  // up to it scikit-learn learns nothing of a class

}  // namespace

TrainingMoments::TrainingMoments(const Splits& splits, const std::vector<std::int32_t>& group,
                                 std::size_t n_groups, const std::vector<double>& weights)
    : n_groups_(n_groups), from_whole_(splits.complementary), sample_weight_(weights) {
  const std::size_t n = group.size(), n_splits = splits.n_splits;
  const auto list = [&](std::size_t n_parts, auto&& is_in, Lists& out) {
    std::vector<std::vector<std::int32_t>> members(n_groups);
    out.begin.assign(1, 0);
    for (std::size_t k = 0; k < n_parts; ++k) {
      for (auto& some : members) some.clear();
      for (std::size_t i = 0; i < n; ++i) {
        if (is_in(i, k)) {
          members[static_cast<std::size_t>(group[i])].push_back(static_cast<std::int32_t>(i));
        }
      }
      for (const auto& some : members) {
        out.samples.insert(out.samples.end(), some.begin(), some.end());
        out.begin.push_back(static_cast<std::int64_t>(out.samples.size()));
      }
    }
  };
  const auto bit_of = [&](const std::vector<Word>& words) {
    return [&](std::size_t i, std::size_t s) { return get_bit(words.data() + i * splits.n_words, s); };
  };
  list(1, [](std::size_t, std::size_t) { return true; }, all_);
  list(n_splits, bit_of(splits.training), train_);
  if (from_whole_) list(n_splits, bit_of(splits.testing), test_);
  const auto total = [&](const Lists& lists, std::vector<double>& out) {
    out.assign(lists.begin.size() - 1, 0.0);
    for (std::size_t k = 0; k < out.size(); ++k) {
      for (std::int64_t j = lists.begin[k]; j < lists.begin[k + 1]; ++j) {
        const auto i = static_cast<std::size_t>(lists.samples[static_cast<std::size_t>(j)]);
        out[k] += sample_weight_.empty() ? 1.0 : sample_weight_[i];
      }
    }
  };
  total(all_, whole_weight_);
  total(train_, weight_);
  for (double& weight : weight_) weight = weight <= least_class_weight ? 0 : weight;
  digits_ = 4 * static_cast<double>(n) * 0x1p-17;
}

void TrainingMoments::begin(const double* values, double* whole) const {
  const std::size_t width = n_groups_ * additive_lanes;
  const AdditiveKernels& kernel = *kernels().additive;
  std::fill(whole, whole + 3 * width, 0.0);
  double *centre = whole, *sum = whole + width, *squares = whole + 2 * width;
  for (std::size_t g = 0; g < n_groups_; ++g) {
    const std::size_t at = g * additive_lanes;
    const std::int32_t* samples = all_.samples.data() + all_.begin[g];
    const auto n = static_cast<std::size_t>(all_.begin[g + 1] - all_.begin[g]);
    alignas(64) double total[additive_lanes] = {}, unused[additive_lanes] = {};
    kernel.moment_sums(values, samples, n, weights(), centre + at, total, unused);
    const double weight = whole_weight_[g] > 0 ? whole_weight_[g] : 1;
    for (std::size_t l = 0; l < additive_lanes; ++l) centre[at + l] = total[l] / weight;
    kernel.moment_sums(values, samples, n, weights(), centre + at, sum + at, squares + at);
  }
}

void TrainingMoments::measure_again(const double* values, std::size_t split, std::size_t group,
                                    std::size_t lane, double* mean, double* variance) const {
  const std::size_t part = split * n_groups_ + group;
  const std::int64_t first = train_.begin[part], last = train_.begin[part + 1];
  const auto value = [&](std::int64_t k) {
    const auto i = static_cast<std::size_t>(train_.samples[static_cast<std::size_t>(k)]);
    return values[i * additive_lanes + lane];
  };
  const auto average = [&](auto&& term) {
    double total = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const auto i = static_cast<std::size_t>(train_.samples[static_cast<std::size_t>(k)]);
      total += (sample_weight_.empty() ? 1.0 : sample_weight_[i]) * term(value(k));
    }
    return total / weight_[part];
  };
  // The first value is taken off, so that a constant has its own value as mean.
  const double from = value(first);
  const double centre = from + average([&](double x) { return x - from; });
  *mean = centre;
  *variance = average([&](double x) { return (x - centre) * (x - centre); });
}

void TrainingMoments::measure(const double* values, const double* whole, std::size_t split,
                              double* mean, double* variance) const {
  constexpr std::size_t L = additive_lanes;
  const AdditiveKernels& kernel = *kernels().additive;
  const double *centre = whole, *sum = whole + n_groups_ * L, *squares = sum + n_groups_ * L;
  const Lists& lists = from_whole_ ? test_ : train_;
  for (std::size_t g = 0; g < n_groups_; ++g, mean += L, variance += L) {
    const std::size_t part = split * n_groups_ + g;
    if (weight_[part] == 0) {
      std::fill(mean, mean + L, 0.0);
      std::fill(variance, variance + L, 0.0);
      continue;
    }
    alignas(64) double own[L] = {}, own_squares[L] = {};
    kernel.moment_sums(values, lists.samples.data() + lists.begin[part],
                       static_cast<std::size_t>(lists.begin[part + 1] - lists.begin[part]),
                       weights(), centre + g * L, own, own_squares);
    const double* reach = own_squares;
    if (from_whole_) {
      reach = squares + g * L;
      for (std::size_t l = 0; l < L; ++l) {
        own[l] = sum[g * L + l] - own[l];
        own_squares[l] = squares[g * L + l] - own_squares[l];
      }
    }
    unsigned again = kernel.finish_moments(own, own_squares, centre + g * L, reach,
                                           1 / weight_[part], digits_, mean, variance);
    for (std::size_t l = 0; again != 0; ++l, again >>= 1) {
      if (again & 1u) measure_again(values, split, g, l, mean + l, variance + l);
    }
  }
}

}  // namespace bitsieve
