// Masks that differ from one base by lists of flips.
#include <algorithm>
#include <memory>
#include <numeric>

#include "bitsieve/fitness/mask_fitness.hpp"
#include "flip_groups.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t expanded_masks = 1024;  // written out at a time
constexpr std::size_t least_group = 16;       // masks that make a neighborhood of their own

}  // namespace

void MaskFitness::evaluate_flips(const Word* base, const std::int64_t* flips,
                                 const std::int64_t* begin, std::size_t n_masks,
                                 const std::uint64_t* seeds, const Scorer& scorer, int n_threads,
                                 double* scores, bool* declined) {
  static_cast<void>(way_of(scorer));  // refuses what the model does not give
  const Session session(*this);
  if (n_masks == 0) return;
  if (declined != nullptr) std::fill(declined, declined + n_masks, false);
  bool single = true, shared = true;
  for (std::size_t m = 0; m < n_masks; ++m) {
    single = single && begin[m + 1] == begin[m] + 1;
    shared = shared && (source_.is_fixed() || seeds[m] == seeds[0]);
  }
  std::vector<std::size_t> left;  // masks that are evaluated one by one
  if (shared && single) {
    const TargetSplits at = splits_for(seeds[0], *workers(n_threads)[0]);
    if (evaluate_neighbors(base, flips + begin[0], n_masks, at, scorer, n_threads, scores,
                           declined)) {
      return;
    }
  }
  if (shared && !single) {
    evaluate_groups(base, flips, begin, n_masks, seeds[0], scorer, n_threads, scores, declined,
                    left);
  } else {
    left.resize(n_masks);
    std::iota(left.begin(), left.end(), std::size_t{0});
  }

  std::vector<Word> words;
  std::vector<std::uint64_t> keys;
  std::vector<double> found;
  const std::size_t n_splits = source_.n_splits(), most = std::min(expanded_masks, most_masks());
  const std::unique_ptr<bool[]> unanswered(declined == nullptr ? nullptr : new bool[most]);
  for (std::size_t first = 0; first < left.size(); first += most) {
    const std::size_t count = std::min(most, left.size() - first);
    words.resize(count * n_words_);
    keys.resize(count);
    found.resize(count * n_splits);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t m = left[first + k];
      Word* mask = words.data() + k * n_words_;
      std::copy(base, base + n_words_, mask);
      for (std::int64_t f = begin[m]; f < begin[m + 1]; ++f) {
        flip_bit(mask, static_cast<std::size_t>(flips[f]));
      }
      keys[k] = seeds[m];
    }
    evaluate_batch({words.data(), count, keys.data(), base, left.size()}, scorer, n_threads,
                   found.data(), unanswered.get());
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t m = left[first + k];
      std::copy_n(found.data() + k * n_splits, n_splits, scores + m * n_splits);
      if (declined != nullptr) declined[m] = unanswered[k];
    }
  }
}

void MaskFitness::evaluate_marked(const Word* base, const std::int64_t* flips,
                                  const std::vector<char>& marked, const TargetSplits& at,
                                  const Scorer& scorer, int n_threads, double* scores,
                                  bool* declined) {
  std::vector<std::size_t> rows;
  for (std::size_t m = 0; m < marked.size(); ++m) {
    if (marked[m] != 0) rows.push_back(m);
  }
  const std::size_t n_splits = at.splits.n_splits, most = std::min(expanded_masks, most_masks());
  std::vector<Word> words;
  std::vector<double> answers;
  const auto unanswered = std::make_unique<bool[]>(most);
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const std::size_t count = std::min(most, rows.size() - first);
    words.resize(count * n_words_);
    answers.resize(count * n_splits);
    const std::vector<std::uint64_t> seeds(count, at.seed);
    for (std::size_t m = 0; m < count; ++m) {
      Word* mask = words.data() + m * n_words_;
      std::copy(base, base + n_words_, mask);
      flip_bit(mask, static_cast<std::size_t>(flips[rows[first + m]]));
    }
    evaluate_batch({words.data(), count, seeds.data(), base, count}, scorer, n_threads,
                   answers.data(), unanswered.get());
    for (std::size_t m = 0; m < count; ++m) {
      const std::size_t row = rows[first + m];
      std::copy_n(answers.data() + m * n_splits, n_splits, scores + row * n_splits);
      if (declined != nullptr) declined[row] = unanswered[m];
    }
  }
}

// Masks that share a flip are the neighbors of another base. Writes what belongs to none, or to a
// neighborhood that the model has no short way for, to `left`, ascending.
void MaskFitness::evaluate_groups(const Word* base, const std::int64_t* flips,
                                  const std::int64_t* begin, std::size_t n_masks,
                                  std::uint64_t seed, const Scorer& scorer, int n_threads,
                                  double* scores, bool* declined,
                                  std::vector<std::size_t>& left) {
  FlipGroups all(flips, begin, n_masks, table_->view().n_features, least_group);
  left.swap(all.left);
  if (all.groups.empty()) return;
  const TargetSplits at = splits_for(seed, *workers(n_threads)[0]);
  std::size_t most = 0;
  for (const FlipGroups::Group& group : all.groups) most = std::max(most, group.count);
  const std::size_t n_splits = source_.n_splits(), n_left = left.size();
  std::vector<double> found(most * n_splits);
  const std::unique_ptr<bool[]> unanswered(declined == nullptr ? nullptr : new bool[most]);
  std::vector<Word> near(base, base + n_words_);
  for (const FlipGroups::Group& group : all.groups) {
    const std::size_t* masks = all.masks.data() + group.first;
    std::copy(base, base + n_words_, near.begin());
    if (group.shared != FlipGroups::none) {
      flip_bit(near.data(), static_cast<std::size_t>(group.shared));
    }
    if (declined != nullptr) std::fill_n(unanswered.get(), group.count, false);
    if (!evaluate_neighbors(near.data(), all.others.data() + group.first, group.count, at, scorer,
                            n_threads, found.data(), unanswered.get())) {
      left.insert(left.end(), masks, masks + group.count);
      continue;
    }
    for (std::size_t k = 0; k < group.count; ++k) {
      std::copy_n(found.data() + k * n_splits, n_splits, scores + masks[k] * n_splits);
      if (declined != nullptr) declined[masks[k]] = unanswered[k];
    }
  }
  if (left.size() > n_left) std::sort(left.begin(), left.end());
}

}  // namespace bitsieve
