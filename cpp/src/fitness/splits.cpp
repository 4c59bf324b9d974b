#include "bitsieve/fitness/splits.hpp"

#include "bitsieve/core/folds.hpp"

namespace bitsieve {

Splits Splits::from_folds(const std::int32_t* folds, std::size_t n, std::size_t n_repeats,
                          std::size_t n_folds) {
  Splits out;
  out.n_splits = n_repeats * n_folds;
  out.n_words = words_for(out.n_splits);
  out.testing.assign(n * out.n_words, 0);
  out.training.assign(n * out.n_words, 0);
  out.test_begin.assign(out.n_splits + 1, 0);
  const auto split_of = [&](std::size_t r, std::size_t i) {
    return r * n_folds + static_cast<std::size_t>(folds[r * n + i]);
  };
  for (std::size_t r = 0; r < n_repeats; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t split = split_of(r, i);
      set_bit(out.testing.data() + i * out.n_words, split);
      ++out.test_begin[split + 1];
    }
  }
  const Word tail = tail_mask(out.n_splits);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t w = 0; w < out.n_words; ++w) {
      const Word all = w + 1 == out.n_words ? tail : ~Word{0};
      out.training[i * out.n_words + w] = all & ~out.testing[i * out.n_words + w];
    }
  }
  out.complementary = true;
  out.n_train.resize(out.n_splits);
  for (std::size_t s = 0; s < out.n_splits; ++s) {
    out.n_train[s] = static_cast<std::int32_t>(static_cast<std::int64_t>(n) - out.test_begin[s + 1]);
    out.test_begin[s + 1] += out.test_begin[s];
  }
  out.test_samples.resize(static_cast<std::size_t>(out.test_begin.back()));
  std::vector<std::int64_t> next(out.test_begin.begin(), out.test_begin.end() - 1);
  for (std::size_t r = 0; r < n_repeats; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      out.test_samples[static_cast<std::size_t>(next[split_of(r, i)]++)] =
          static_cast<std::int32_t>(i);
    }
  }
  out.place_tests(n);
  return out;
}

Splits Splits::from_lists(const std::int64_t* train, const std::int64_t* train_begin,
                          const std::int64_t* test, const std::int64_t* test_begin,
                          std::size_t n_splits, std::size_t n) {
  Splits out;
  out.n_splits = n_splits;
  out.n_words = words_for(n_splits);
  out.testing.assign(n * out.n_words, 0);
  out.training.assign(n * out.n_words, 0);
  out.test_begin.assign(test_begin, test_begin + n_splits + 1);
  out.n_train.resize(n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) {
    out.n_train[s] = static_cast<std::int32_t>(train_begin[s + 1] - train_begin[s]);
    for (std::int64_t k = train_begin[s]; k < train_begin[s + 1]; ++k) {
      set_bit(out.training.data() + static_cast<std::size_t>(train[k]) * out.n_words, s);
    }
    for (std::int64_t k = test_begin[s]; k < test_begin[s + 1]; ++k) {
      set_bit(out.testing.data() + static_cast<std::size_t>(test[k]) * out.n_words, s);
      out.test_samples.push_back(static_cast<std::int32_t>(test[k]));
    }
  }
  out.place_tests(n);
  return out;
}

void Splits::place_tests(std::size_t n) {
  place_begin.assign(n + 1, 0);
  for (const std::int32_t i : test_samples) ++place_begin[static_cast<std::size_t>(i) + 1];
  for (std::size_t i = 0; i < n; ++i) place_begin[i + 1] += place_begin[i];
  places.resize(test_samples.size());
  std::vector<std::int64_t> next(place_begin.begin(), place_begin.end() - 1);
  for (std::size_t s = 0; s < n_splits; ++s) {
    for (std::int64_t k = test_begin[s]; k < test_begin[s + 1]; ++k) {
      const std::size_t i = static_cast<std::size_t>(test_samples[static_cast<std::size_t>(k)]);
      places[static_cast<std::size_t>(next[i]++)] = {static_cast<std::int32_t>(s), k};
    }
  }
}

SplitSource::SplitSource(std::size_t n_samples, std::size_t n_repeats, std::size_t n_folds,
                         std::vector<std::int32_t> strata, std::size_t n_strata)
    : n_samples_(n_samples),
      n_repeats_(n_repeats),
      n_folds_(n_folds),
      strata_(std::move(strata)),
      n_strata_(n_strata) {}

void SplitSource::set_groups(std::vector<std::int32_t> groups, std::size_t n_groups) {
  groups_ = std::move(groups);
  n_groups_ = n_groups;
}

Splits SplitSource::fresh(std::uint64_t seed) const {
  std::vector<std::int32_t> folds(n_repeats_ * n_samples_);
  const std::int32_t* strata = strata_.empty() ? nullptr : strata_.data();
  if (!groups_.empty()) {
    group_folds(strata, n_samples_, n_strata_, groups_.data(), n_groups_, n_folds_, n_repeats_,
                seed, folds.data());
  } else if (strata != nullptr) {
    stratified_folds(strata, n_samples_, n_strata_, n_folds_, n_repeats_, seed, folds.data());
  } else {
    shuffled_folds(n_samples_, n_folds_, n_repeats_, seed, folds.data());
  }
  return Splits::from_folds(folds.data(), n_samples_, n_repeats_, n_folds_);
}

}  // namespace bitsieve
