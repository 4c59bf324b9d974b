#include "bitsieve/fitness/ridge_plan.hpp"

#include <algorithm>

namespace bitsieve {

RidgePlan::RidgePlan(const TargetSplits& at, const Target& target,
                     const std::vector<double>& class_weights, bool balanced)
    : is_known(true), seed(at.seed), varies(balanced) {
  const Splits& splits = at.splits;
  const std::size_t n_classes = target.n_classes;
  const std::size_t n = target.is_classes() ? target.codes.size() : target.numbers.size();
  weights.assign(n, 1.0);
  if (!target.weights.empty()) weights = target.weights;
  if (!class_weights.empty()) {
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] *= class_weights[static_cast<std::size_t>(target.codes[i])];
    }
  }
  const std::vector<double> own = weights;
  for (double& weight : weights) weight = weight > 0 ? weight : 1.0;
  is_weighted = std::any_of(weights.begin(), weights.end(), [](double w) { return w != 1; });
  const auto ends = std::minmax_element(weights.begin(), weights.end());
  weight_ratio = *ends.second / *ends.first;
  left_begin = train_begin = test_begin = {0};
  least_train = n;
  std::vector<char> listed(n);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    std::fill(listed.begin(), listed.end(), 0);
    for (std::int64_t k = splits.test_begin[s]; k < splits.test_begin[s + 1]; ++k) {
      const std::int32_t i = splits.test_samples[static_cast<std::size_t>(k)];
      left.push_back(i);
      listed[static_cast<std::size_t>(i)] = 1;
    }
    n_tests.push_back(left.size() - left_begin.back());
    test_begin.push_back(test_begin.back() + n_tests.back());
    for (std::size_t i = 0; i < n; ++i) {
      if (listed[i] != 0) continue;
      const bool trains = get_bit(splits.training.data() + i * splits.n_words, s) && own[i] > 0;
      (trains ? train : left).push_back(static_cast<std::int32_t>(i));
    }
    left_begin.push_back(left.size());
    train_begin.push_back(train.size());
    const std::size_t m = n_trained(s), l = n_left(s);
    least_train = std::min(least_train, m);
    most_train = std::max(most_train, m);
    most_left = std::max(most_left, l);
    const double many = static_cast<double>(m), few = static_cast<double>(l);
    n_train += many;
    square_train += many * many;
    cube_train += many * many * many;
    square_left += few * few;
    cube_left += few * few * few;
  }
  if (!varies) return;
  codes = target.codes;
  class_share.assign(splits.n_splits * n_classes, 1.0);
  double least = 1, most = 1;
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    const std::int32_t* counts = at.target.train_of_class.data() + s * n_classes;
    const auto found = std::count_if(counts, counts + n_classes, [](auto c) { return c > 0; });
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (counts[c] == 0) continue;
      const double share = static_cast<double>(splits.n_train[s]) /
                           (static_cast<double>(found) * static_cast<double>(counts[c]));
      class_share[s * n_classes + c] = share;
      least = std::min(least, share);
      most = std::max(most, share);
    }
  }
  weight_ratio *= most / least;
}

}  // namespace bitsieve
