#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/causal/pair_errors.hpp"

namespace bitsieve {

PairTarget make_pair_target(const std::int32_t* codes, std::size_t n_samples,
                            std::size_t n_classes, const std::int64_t* train,
                            const std::int64_t* train_begin, const std::int64_t* test,
                            const std::int64_t* test_begin, std::size_t n_folds) {
  PairTarget out;
  out.n_samples = n_samples;
  out.n_classes = n_classes;
  out.n_folds = n_folds;
  out.sizes.assign(n_classes, 0);
  for (std::size_t i = 0; i < n_samples; ++i) ++out.sizes[static_cast<std::size_t>(codes[i])];

  // Sort by class and fold, by counting.
  std::vector<std::size_t> segment(n_samples, 0);
  out.begin.assign(out.n_segments() + 1, 0);
  for (std::size_t s = 0; s < n_folds; ++s) {
    for (std::int64_t k = test_begin[s]; k < test_begin[s + 1]; ++k) {
      const auto i = static_cast<std::size_t>(test[k]);
      segment[i] = static_cast<std::size_t>(codes[i]) * n_folds + s;
      ++out.begin[segment[i] + 1];
    }
  }
  for (std::size_t k = 0; k < out.n_segments(); ++k) out.begin[k + 1] += out.begin[k];
  std::vector<std::size_t> next(out.begin.begin(), out.begin.end() - 1);
  out.samples.resize(n_samples);
  for (std::size_t i = 0; i < n_samples; ++i) {
    out.samples[next[segment[i]]++] = static_cast<std::int32_t>(i);
  }

  out.train.resize(n_folds * n_classes);
  out.log_prior.resize(n_folds * n_classes);
  for (std::size_t s = 0; s < n_folds; ++s) {
    for (std::int64_t k = train_begin[s]; k < train_begin[s + 1]; ++k) {
      const auto i = static_cast<std::size_t>(train[k]);
      out.train[s * n_classes + static_cast<std::size_t>(codes[i])].push_back(
          static_cast<std::int32_t>(i));
    }
    const auto all = static_cast<double>(train_begin[s + 1] - train_begin[s]);
    for (std::size_t c = 0; c < n_classes; ++c) {
      const auto count = static_cast<double>(out.train[s * n_classes + c].size());
      out.log_prior[s * n_classes + c] =
          count > 0 ? std::log(count / all) : -std::numeric_limits<double>::infinity();
    }
  }
  return out;
}

}  // namespace bitsieve
