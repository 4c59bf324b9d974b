#include "bitsieve/fitness/target.hpp"

#include <algorithm>

namespace bitsieve {
namespace {

template <typename Function>
void for_each_training(const Splits& splits, std::size_t n, Function&& function) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t w = 0; w < splits.n_words; ++w) {
      for_each_bit(splits.training[i * splits.n_words + w], w,
                   [&](std::size_t s) { function(i, s); });
    }
  }
}

void count_classes(const Splits& splits, const Target& target, SplitTarget& out) {
  const std::size_t n = target.codes.size(), n_classes = target.n_classes;
  const auto class_of = [&](std::size_t i) { return static_cast<std::size_t>(target.codes[i]); };
  out.test_of_class.assign(splits.n_splits * n_classes, 0);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    std::int32_t* counts = out.test_of_class.data() + s * n_classes;
    const std::int32_t* end = splits.test_samples.data() + splits.test_begin[s + 1];
    for (const std::int32_t* i = splits.test_samples.data() + splits.test_begin[s]; i < end; ++i) {
      ++counts[class_of(static_cast<std::size_t>(*i))];
    }
  }
  out.train_of_class.assign(splits.n_splits * n_classes, 0);
  if (splits.complementary) {
    std::vector<std::int32_t> size(n_classes, 0);
    for (std::size_t i = 0; i < n; ++i) ++size[class_of(i)];
    for (std::size_t s = 0; s < splits.n_splits; ++s) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::size_t k = s * n_classes + c;
        out.train_of_class[k] = size[c] - out.test_of_class[k];
      }
    }
  } else {
    for_each_training(splits, n, [&](std::size_t i, std::size_t s) {
      ++out.train_of_class[s * n_classes + class_of(i)];
    });
  }
  out.prior.assign(splits.n_splits * n_classes, 0.0);
  out.majority.assign(splits.n_splits, 0);
  if (!target.weights.empty()) {
    for_each_training(splits, n, [&](std::size_t i, std::size_t s) {
      out.prior[s * n_classes + class_of(i)] += target.weights[i];
    });
  }
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    double* prior = out.prior.data() + s * n_classes;
    double total = static_cast<double>(splits.n_train[s]);
    if (target.weights.empty()) {
      for (std::size_t c = 0; c < n_classes; ++c) prior[c] = out.train_of_class[s * n_classes + c];
    } else {
      total = 0;
      for (std::size_t c = 0; c < n_classes; ++c) total += prior[c];
    }
    out.majority[s] = static_cast<std::int32_t>(std::max_element(prior, prior + n_classes) - prior);
    for (std::size_t c = 0; c < n_classes; ++c) prior[c] /= total;
  }
}

void average(const Splits& splits, const Target& target, SplitTarget& out) {
  out.mean.assign(splits.n_splits, 0.0);
  const bool weighted = !target.weights.empty();
  std::vector<double> total(splits.n_splits, 0.0);
  for_each_training(splits, target.numbers.size(), [&](std::size_t i, std::size_t s) {
    const double weight = weighted ? target.weights[i] : 1;
    out.mean[s] += weight * target.numbers[i];
    total[s] += weight;
  });
  for (std::size_t s = 0; s < splits.n_splits; ++s) out.mean[s] /= total[s];
}

}  // namespace

SplitTarget::SplitTarget(const Splits& splits, const Target& target) {
  if (target.is_classes()) {
    count_classes(splits, target, *this);
  } else {
    average(splits, target, *this);
  }
}

}  // namespace bitsieve
