#include "bitsieve/fitness/splits.hpp"

namespace bitsieve {

Splits Splits::from_folds(const std::int32_t* folds, std::size_t n, std::size_t n_repeats,
                          std::size_t n_folds, const std::int32_t* codes, std::size_t n_classes) {
  Splits out;
  out.n_splits = n_repeats * n_folds;
  out.n_words = words_for(out.n_splits);
  out.testing.assign(n * out.n_words, 0);
  out.training.assign(n * out.n_words, 0);
  out.test_of_class.assign(out.n_splits * n_classes, 0);
  std::vector<std::int32_t> class_size(n_classes, 0);
  for (std::size_t i = 0; i < n; ++i) ++class_size[static_cast<std::size_t>(codes[i])];
  for (std::size_t r = 0; r < n_repeats; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t split = r * n_folds + static_cast<std::size_t>(folds[r * n + i]);
      set_bit(out.testing.data() + i * out.n_words, split);
      ++out.test_of_class[split * n_classes + static_cast<std::size_t>(codes[i])];
    }
  }
  const Word tail = tail_mask(out.n_splits);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t w = 0; w < out.n_words; ++w) {
      const Word all = w + 1 == out.n_words ? tail : ~Word{0};
      out.training[i * out.n_words + w] = all & ~out.testing[i * out.n_words + w];
    }
  }
  std::vector<std::int32_t> train_of_class(out.n_splits * n_classes);
  for (std::size_t s = 0; s < out.n_splits; ++s) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      train_of_class[s * n_classes + c] = class_size[c] - out.test_of_class[s * n_classes + c];
    }
  }
  out.test_begin.assign(out.n_splits + 1, 0);
  for (std::size_t s = 0; s < out.n_splits; ++s) {
    std::int64_t total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) total += out.test_of_class[s * n_classes + c];
    out.test_begin[s + 1] = out.test_begin[s] + total;
  }
  out.test_samples.resize(static_cast<std::size_t>(out.test_begin.back()));
  std::vector<std::int64_t> next(out.test_begin.begin(), out.test_begin.end() - 1);
  for (std::size_t r = 0; r < n_repeats; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t split = r * n_folds + static_cast<std::size_t>(folds[r * n + i]);
      out.test_samples[static_cast<std::size_t>(next[split]++)] = static_cast<std::int32_t>(i);
    }
  }
  out.count_training(n_classes, train_of_class);
  out.place_tests(n);
  return out;
}

Splits Splits::from_lists(const std::int64_t* train, const std::int64_t* train_begin,
                          const std::int64_t* test, const std::int64_t* test_begin,
                          std::size_t n_splits, std::size_t n, const std::int32_t* codes,
                          std::size_t n_classes) {
  Splits out;
  out.n_splits = n_splits;
  out.n_words = words_for(n_splits);
  out.testing.assign(n * out.n_words, 0);
  out.training.assign(n * out.n_words, 0);
  out.test_of_class.assign(n_splits * n_classes, 0);
  std::vector<std::int32_t> train_of_class(n_splits * n_classes, 0);
  out.test_begin.assign(test_begin, test_begin + n_splits + 1);
  for (std::size_t s = 0; s < n_splits; ++s) {
    for (std::int64_t k = train_begin[s]; k < train_begin[s + 1]; ++k) {
      const std::size_t i = static_cast<std::size_t>(train[k]);
      set_bit(out.training.data() + i * out.n_words, s);
      ++train_of_class[s * n_classes + static_cast<std::size_t>(codes[i])];
    }
    for (std::int64_t k = test_begin[s]; k < test_begin[s + 1]; ++k) {
      const std::size_t i = static_cast<std::size_t>(test[k]);
      set_bit(out.testing.data() + i * out.n_words, s);
      out.test_samples.push_back(static_cast<std::int32_t>(i));
      ++out.test_of_class[s * n_classes + static_cast<std::size_t>(codes[i])];
    }
  }
  out.count_training(n_classes, train_of_class);
  out.place_tests(n);
  return out;
}

void Splits::count_training(std::size_t n_classes,
                            const std::vector<std::int32_t>& train_of_class) {
  n_train.assign(n_splits, 0);
  majority.assign(n_splits, 0);
  for (std::size_t s = 0; s < n_splits; ++s) {
    std::int32_t best = -1;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::int32_t count = train_of_class[s * n_classes + c];
      n_train[s] += count;
      if (count > best) {
        best = count;
        majority[s] = static_cast<std::int32_t>(c);
      }
    }
  }
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

}  // namespace bitsieve
