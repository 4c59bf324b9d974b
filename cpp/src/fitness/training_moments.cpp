#include "training_moments.hpp"

#include <algorithm>
#include <utility>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::int64_t most_padding = 4;  // samples of a part
constexpr double least_class_weight = 1e-8;  // up to it scikit-learn learns nothing of a class

}  // namespace

TrainingMoments::TrainingMoments(const Splits& splits, const std::vector<std::int32_t>& group,
                                 std::size_t n_groups, const std::vector<double>& weights)
    : n_groups_(n_groups),
      n_samples_(group.size()),
      from_whole_(splits.complementary),
      sample_weight_(weights) {
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
  if (from_whole_) {
    list(n_splits, bit_of(splits.testing), test_);
    pad(test_);
  }
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

// Parts of a group are made equally long by a sample that adds nothing: loops over them are then
// foreseen by the processor. Not where that would be many.
void TrainingMoments::pad(Lists& lists) const {
  const std::size_t n_parts = lists.begin.size() - 1;
  std::vector<std::int64_t> longest(n_groups_, 0);
  const auto size = [&](std::size_t k) { return lists.begin[k + 1] - lists.begin[k]; };
  for (std::size_t k = 0; k < n_parts; ++k) {
    longest[k % n_groups_] = std::max(longest[k % n_groups_], size(k));
  }
  Lists out;
  out.begin.assign(1, 0);
  for (std::size_t k = 0; k < n_parts; ++k) {
    const auto first = lists.samples.begin() + static_cast<std::ptrdiff_t>(lists.begin[k]);
    out.samples.insert(out.samples.end(), first, first + static_cast<std::ptrdiff_t>(size(k)));
    const std::int64_t missing = longest[k % n_groups_] - size(k);
    if (missing <= most_padding) {
      out.samples.insert(out.samples.end(), static_cast<std::size_t>(missing),
                         static_cast<std::int32_t>(n_samples_));
    }
    out.begin.push_back(static_cast<std::int64_t>(out.samples.size()));
  }
  lists = std::move(out);
}

void TrainingMoments::begin(const double* values, double* whole) const {
  const std::size_t width = n_groups_ * additive_lanes;
  const AdditiveKernels& kernel = *kernels().additive;
  double *centre = whole, *sum = whole + width, *squares = whole + 2 * width;
  double* rows = whole + 3 * width;
  std::fill_n(rows + 2 * n_samples_ * additive_lanes, 2 * additive_lanes, 0.0);
  alignas(64) static constexpr double origin[additive_lanes] = {};
  for (std::size_t g = 0; g < n_groups_; ++g) {
    const std::size_t at = g * additive_lanes;
    const std::int32_t* samples = all_.samples.data() + all_.begin[g];
    const auto n = static_cast<std::size_t>(all_.begin[g + 1] - all_.begin[g]);
    kernel.moment_sums(values, samples, n, weights(), origin, centre + at, squares + at,
                       nullptr);
    const double weight = whole_weight_[g] > 0 ? whole_weight_[g] : 1;
    for (std::size_t l = 0; l < additive_lanes; ++l) centre[at + l] /= weight;
    kernel.moment_sums(values, samples, n, weights(), centre + at, sum + at, squares + at,
                       rows);
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
  const double* rows = squares + n_groups_ * L;
  const Lists& lists = from_whole_ ? test_ : train_;
  for (std::size_t g = 0; g < n_groups_; ++g, mean += L, variance += L) {
    const std::size_t part = split * n_groups_ + g;
    if (weight_[part] == 0) {
      std::fill(mean, mean + L, 0.0);
      std::fill(variance, variance + L, 0.0);
      continue;
    }
    unsigned again = kernel.part_moments(
        rows, lists.samples.data() + lists.begin[part],
        static_cast<std::size_t>(lists.begin[part + 1] - lists.begin[part]), centre + g * L,
        from_whole_ ? sum + g * L : nullptr, squares + g * L, 1 / weight_[part], digits_, mean,
        variance);
    for (std::size_t l = 0; again != 0; ++l, again >>= 1) {
      if (again & 1u) measure_again(values, split, g, l, mean + l, variance + l);
    }
  }
}

}  // namespace bitsieve
