// Neighbourhoods of one mask: all p one-flip neighbours in one pass over the table.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t expanded_masks = 1024;  // masks written out at a time where no kernel serves

// Tests and candidates in the kernel's layout: for each split its training samples, grouped by
// class and then once more, so that "all other classes" is one run too.
struct FlipLayout {
  std::vector<FlipTest> tests;
  std::vector<std::int32_t> candidates;
};

FlipLayout lay_out(const Splits& splits, const std::int32_t* codes, std::size_t n,
                   std::size_t n_classes) {
  FlipLayout out;
  std::vector<std::int32_t> begin(n_classes * 2 + 1);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    std::size_t k = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        begin[k++] = static_cast<std::int32_t>(out.candidates.size());
        for (std::size_t j = 0; j < n; ++j) {
          if (codes[j] == static_cast<std::int32_t>(c) &&
              get_bit(splits.training.data() + j * splits.n_words, s)) {
            out.candidates.push_back(static_cast<std::int32_t>(j));
          }
        }
      }
    }
    begin[k] = static_cast<std::int32_t>(out.candidates.size());
    for (std::int64_t t = splits.test_begin[s]; t < splits.test_begin[s + 1]; ++t) {
      const std::int32_t i = splits.test_samples[static_cast<std::size_t>(t)];
      const std::size_t c = static_cast<std::size_t>(codes[i]);
      const std::int32_t counter = static_cast<std::int32_t>(s * n_classes + c);
      out.tests.push_back(
          {i, counter, begin[c], begin[c + 1], begin[c + 1], begin[c + n_classes]});
    }
  }
  return out;
}

}  // namespace

bool KnnFitness::flips_kernel(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                              const Splits& splits, Score score, int n_threads, double* scores) {
  const std::size_t n = table_.n_samples, ld = table_.ld, n_classes = settings_.n_classes;
  const GramState& origin = *state_;
  const FlipLayout layout = lay_out(splits, codes_, n, n_classes);
  const FlipTests tests{layout.tests.data(), layout.tests.size(), layout.candidates.data(),
                        splits.n_splits * n_classes};
  if (layout.candidates.size() > 40000000) return false;

  // Distances under the base mask are exact in the state's units and rounded once here.
  AlignedVector<float> distances(n * ld, 0.0f);
  std::vector<float> margin(n);
  std::vector<double> roots(n);
  const auto gram = [&](std::size_t i, std::size_t j) {
    return origin.gram()[std::min(i, j) * ld + std::max(i, j)];
  };
  const double floor = static_cast<double>(origin.n_selected()) * (2 * origin.unit() + 0x1p-146);
  double farthest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      distances[i * ld + j] = static_cast<float>(
          static_cast<double>(gram(i, i) + gram(j, j) - 2 * gram(i, j)) * origin.unit());
    }
    roots[i] = std::sqrt(float_share * static_cast<double>(gram(i, i)) * origin.unit() + floor);
    farthest = std::max(farthest, roots[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double reach = roots[i] + farthest;
    margin[i] = static_cast<float>(reach * reach * 1.001 + 0x1p-140);
  }
  std::vector<std::int32_t> base_features;
  list_bits(base, n_words_, base_features);

  const std::size_t n_blocks = (n_masks + flip_lanes - 1) / flip_lanes;
  std::vector<std::uint64_t> open_counts(static_cast<std::size_t>(std::max(1, n_threads)), 0);
  const auto block_body = [&](std::size_t block, int w) {
    // Scratch of the thread, kept between its blocks.
    thread_local AlignedVector<float> values;
    thread_local std::vector<std::int32_t> correct, hits, features;
    thread_local std::vector<std::uint16_t> unsure;
    values.assign(n * flip_lanes, 0.0f);
    correct.resize(tests.n_splits * flip_lanes);
    hits.resize(tests.n_splits);
    unsure.resize(tests.n_tests);
    alignas(cache_line) float sign[flip_lanes] = {};
    alignas(cache_line) float spread[flip_lanes] = {};
    const std::size_t first = block * flip_lanes;
    const std::size_t lanes = std::min(flip_lanes, n_masks - first);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t f = static_cast<std::size_t>(flips[first + lane]);
      const float* row = table_.row(f);
      for (std::size_t j = 0; j < n; ++j) values[j * flip_lanes + lane] = row[j];
      sign[lane] = get_bit(base, f) ? -1.0f : 1.0f;
      spread[lane] = static_cast<float>(table_.max_abs[f]);
    }
    kernels().flips_nearest(values.data(), distances.data(), ld, sign, margin.data(), spread,
                            tests, correct.data(), unsure.data());
    for (std::size_t t = 0; t < tests.n_tests; ++t) {
      unsigned open = unsure[t] & ((1u << lanes) - 1u);
      while (open != 0) {
        const std::size_t lane = static_cast<std::size_t>(std::countr_zero(open));
        open &= open - 1;
        ++open_counts[static_cast<std::size_t>(w)];
        const std::int32_t f = static_cast<std::int32_t>(flips[first + lane]);
        features = base_features;
        const auto place = std::lower_bound(features.begin(), features.end(), f);
        if (sign[lane] > 0) {
          features.insert(place, f);
        } else {
          features.erase(place);
        }
        // The arbiter measures whoever may be nearest.
        const FlipTest& test = layout.tests[t];
        const std::size_t i = static_cast<std::size_t>(test.sample);
        const auto approximate = [&](std::size_t j) {
          const double d = static_cast<double>(values[i * flip_lanes + lane]) -
                           static_cast<double>(values[j * flip_lanes + lane]);
          return static_cast<double>(distances[i * ld + j]) + static_cast<double>(sign[lane]) * d * d;
        };
        double least = std::numeric_limits<double>::infinity();
        const auto for_candidates = [&](auto&& body) {
          for (std::int32_t c = test.same_begin; c < test.same_end; ++c) {
            body(static_cast<std::size_t>(layout.candidates[static_cast<std::size_t>(c)]));
          }
          for (std::int32_t c = test.other_begin; c < test.other_end; ++c) {
            body(static_cast<std::size_t>(layout.candidates[static_cast<std::size_t>(c)]));
          }
        };
        for_candidates([&](std::size_t j) { least = std::min(least, approximate(j)); });
        const double reach = std::abs(static_cast<double>(values[i * flip_lanes + lane])) +
                             static_cast<double>(spread[lane]);
        const double bound = static_cast<double>(margin[i]) + float_share * reach * reach +
                             float_share * std::abs(least);
        double best = std::numeric_limits<double>::infinity();
        std::size_t nearest = n;
        for_candidates([&](std::size_t j) {
          if (approximate(j) > least + 4 * bound) return;
          const double distance = arbiter_.distance(i, j, features);
          if (distance < best || (distance == best && j < nearest)) {
            best = distance;
            nearest = j;
          }
        });
        if (nearest < n && codes_[nearest] == codes_[i]) {
          ++correct[static_cast<std::size_t>(test.split) * flip_lanes + lane];
        }
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double* out = scores + (first + lane) * splits.n_splits;
      if (base_features.size() == 1 && flips[first + lane] == base_features[0]) {
        empty_scores(splits, score, out);
        continue;
      }
      for (std::size_t s = 0; s < tests.n_splits; ++s) hits[s] = correct[s * flip_lanes + lane];
      scores_of(hits.data(), splits, score, out);
    }
  };
  parallel_for_worker(n_blocks, n_threads, block_body);
  for (const std::uint64_t count : open_counts) counters_.flips_open += count;
  return true;
}

void KnnFitness::evaluate_flips(const Word* base, const std::int64_t* flips,
                                const std::int64_t* begin, std::size_t n_masks,
                                const std::uint64_t* seeds, Score score, int n_threads,
                                double* scores) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool matrices = table_.n_samples <= matrix_samples;
  const bool single = std::adjacent_find(begin, begin + n_masks + 1,
                                         [](std::int64_t a, std::int64_t b) {
                                           return b != a + 1;
                                         }) == begin + n_masks + 1;
  const bool shared = settings_.n_repeats == 0 ||
                      std::all_of(seeds, seeds + n_masks,
                                  [&](std::uint64_t seed) { return seed == seeds[0]; });
  if (matrices) state().move_to(base, n_threads);
  if (matrices && single && shared && settings_.n_neighbors == 1 && n_masks > 0) {
    const Splits& splits = splits_for(seeds[0], *workers(n_threads)[0]);
    if (flips_kernel(base, flips + begin[0], n_masks, splits, score, n_threads, scores)) return;
  }
  std::vector<Word> words;
  std::vector<Task> tasks;
  for (std::size_t first = 0; first < n_masks; first += expanded_masks) {
    const std::size_t count = std::min(expanded_masks, n_masks - first);
    words.resize(count * n_words_);
    tasks.clear();
    for (std::size_t m = 0; m < count; ++m) {
      Word* mask = words.data() + m * n_words_;
      std::copy(base, base + n_words_, mask);
      for (std::int64_t k = begin[first + m]; k < begin[first + m + 1]; ++k) {
        flip_bit(mask, static_cast<std::size_t>(flips[k]));
      }
      tasks.push_back({m, matrices ? Origin::state : Origin::empty, 1});
    }
    run(words.data(), tasks, seeds + first, score, n_threads, scores + first * n_splits(), nullptr);
  }
}

}  // namespace bitsieve
