#include "bitsieve/core/folds.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/core/rng.hpp"

namespace bitsieve {
namespace {

PhiloxStream repeat_stream(std::uint64_t seed, std::size_t repeat) {
  return {seed, Stream::folds, repeat};
}

}  // namespace

void stratified_folds(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                      std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed,
                      std::int32_t* folds) {
  // Labels sorted by the first appearance of their class are dealt to the folds in turn; that
  // fixes how many of a class a fold gets.
  std::vector<std::vector<std::int32_t>> members;
  std::vector<std::size_t> place(n_classes, n_classes);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t& at = place[static_cast<std::size_t>(codes[i])];
    if (at == n_classes) {
      at = members.size();
      members.emplace_back();
    }
    members[at].push_back(static_cast<std::int32_t>(i));
  }
  n_classes = members.size();
  std::vector<std::vector<std::int32_t>> dealt(n_classes);
  std::size_t position = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    std::vector<std::size_t> counts(n_splits, 0);
    for (std::size_t i = 0; i < members[c].size(); ++i) ++counts[position++ % n_splits];
    for (std::size_t f = 0; f < n_splits; ++f) {
      dealt[c].insert(dealt[c].end(), counts[f], static_cast<std::int32_t>(f));
    }
  }
  std::vector<std::int32_t> labels;
  for (std::size_t r = 0; r < n_repeats; ++r) {
    check_interrupt();
    PhiloxStream rng = repeat_stream(seed, r);
    for (std::size_t c = 0; c < n_classes; ++c) {
      labels = dealt[c];
      rng.shuffle(labels.data(), labels.size());
      for (std::size_t i = 0; i < labels.size(); ++i) {
        folds[r * n + static_cast<std::size_t>(members[c][i])] = labels[i];
      }
    }
  }
}

void shuffled_folds(std::size_t n, std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed,
                    std::int32_t* folds) {
  for (std::size_t r = 0; r < n_repeats; ++r) {
    check_interrupt();
    PhiloxStream rng = repeat_stream(seed, r);
    std::int32_t* row = folds + r * n;
    for (std::size_t i = 0; i < n; ++i) row[i] = static_cast<std::int32_t>(i % n_splits);
    rng.shuffle(row, n);
  }
}

void group_folds(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                 const std::int32_t* groups, std::size_t n_groups, std::size_t n_splits,
                 std::size_t n_repeats, std::uint64_t seed, std::int32_t* folds) {
  if (codes == nullptr) n_classes = 1;
  const auto class_of = [&](std::size_t i) {
    return codes == nullptr ? 0 : static_cast<std::size_t>(codes[i]);
  };
  std::vector<double> counts(n_groups * n_classes, 0.0), weights(n_classes, 0.0);
  std::vector<unsigned> sizes(n_groups, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t g = static_cast<std::size_t>(groups[i]);
    counts[g * n_classes + class_of(i)] += 1;
    weights[class_of(i)] += 1;
    ++sizes[g];
  }
  for (double& w : weights) w = w > 0 ? 1 / (w * w) : 0;
  std::vector<std::int32_t> order(n_groups), fold_of(n_groups);
  std::vector<double> held(n_splits * n_classes);
  std::vector<std::size_t> samples(n_splits);
  for (std::size_t r = 0; r < n_repeats; ++r) {
    check_interrupt();
    PhiloxStream rng = repeat_stream(seed, r);
    for (std::size_t g = 0; g < n_groups; ++g) order[g] = static_cast<std::int32_t>(g);
    rng.shuffle(order.data(), n_groups);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return std::bit_width(sizes[static_cast<std::size_t>(a)]) >
             std::bit_width(sizes[static_cast<std::size_t>(b)]);
    });
    std::fill(held.begin(), held.end(), 0.0);
    std::fill(samples.begin(), samples.end(), std::size_t{0});
    for (const std::int32_t next : order) {
      const std::size_t g = static_cast<std::size_t>(next);
      const double* own = counts.data() + g * n_classes;
      std::size_t best = 0;
      double least = 0;
      for (std::size_t f = 0; f < n_splits; ++f) {
        // What (held + own)^2 is more than held^2 + own^2, halved.
        double added = 0;
        for (std::size_t c = 0; c < n_classes; ++c) {
          added += own[c] * held[f * n_classes + c] * weights[c];
        }
        if (f == 0 || added < least || (added == least && samples[f] < samples[best])) {
          best = f;
          least = added;
        }
      }
      for (std::size_t c = 0; c < n_classes; ++c) held[best * n_classes + c] += own[c];
      samples[best] += sizes[g];
      fold_of[g] = static_cast<std::int32_t>(best);
    }
    for (std::size_t i = 0; i < n; ++i) {
      folds[r * n + i] = fold_of[static_cast<std::size_t>(groups[i])];
    }
  }
}

}  // namespace bitsieve
