// Where each mask of a batch is built from.
#include <algorithm>

#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {
// Three ways: each mask from nothing; from the full mask, once that has paid for itself; or the
// state moves to the bitwise majority of the batch, and each mask is built from there.
//
// A move is an investment. It is made where this batch alone repays it, or where the batches so
// far would have saved as much had the state stood at the median before theirs (so masks that have
// nothing to do with one another never pay for a state).
void KnnFitness::plan(const Word* masks, std::size_t n_masks, int n_threads,
                      std::vector<Task>& tasks) {
  tasks.clear();
  if (table_.n_samples > matrix_samples || n_masks == 0) {
    for (std::size_t m = 0; m < n_masks; ++m) tasks.push_back({m, Origin::empty, 0});
    return;
  }
  const std::size_t p = table_.n_features;
  std::vector<Word> median = hamming_median(masks, n_masks, n_words_, state().mask().data());
  const std::size_t move = fixed_cost * std::min(
      hamming(state().mask().data(), median.data(), n_words_), count_bits(median.data(), n_words_));
  std::size_t direct = 0, by_median = move, by_last = 0, wished = 0;
  for (std::size_t m = 0; m < n_masks; ++m) {
    const Word* mask = masks + m * n_words_;
    const std::size_t size = count_bits(mask, n_words_);
    const std::size_t from_full = p - size;
    const std::size_t cost = full_ ? std::min(size, from_full) : size;
    direct += cost;
    by_median += std::min(cost, hamming(median.data(), mask, n_words_));
    if (!last_median_.empty()) {
      by_last += std::min(cost, hamming(last_median_.data(), mask, n_words_));
    }
    if (size > from_full) wished += size - from_full;
    tasks.push_back({m, full_ && from_full < size ? Origin::full : Origin::empty, cost});
  }
  if (!last_median_.empty() && by_last < direct) {
    median_credit_ += static_cast<double>(direct - by_last);
  }
  const bool repaid = median_credit_ >= static_cast<double>(move) && by_median - move < direct;
  if (by_median < direct || repaid) {
    state().move_to(median.data(), n_threads);
    counters_.fixed_features += move / fixed_cost;
    if (by_median >= direct) median_credit_ = 0;
    for (Task& task : tasks) {
      const std::size_t distance = hamming(median.data(), masks + task.mask * n_words_, n_words_);
      if (distance < task.cost) {
        task.cost = distance;
        task.origin = Origin::state;
      }
    }
    if (n_masks >= 2 && n_masks <= 8) plan_pair(masks, n_threads, tasks);
  } else if (!full_) {
    full_credit_ += static_cast<double>(wished);
    if (full_credit_ >= static_cast<double>(fixed_cost * p)) {
      std::vector<Word> everything(n_words_, ~Word{0});
      everything.back() = tail_mask(p);
      auto full = std::make_unique<GramState>(table_);
      full->move_to(everything.data(), n_threads);
      full_ = std::move(full);
      counters_.fixed_features += p;
    }
  }
  last_median_ = std::move(median);
  for (const Task& task : tasks) counters_.float_features += task.cost;
}

// Two masks far from the median whose union and intersection have hardly moved since the last
// pair: the second is then a subtraction. The sum of states is an investment like the median.
void KnnFitness::plan_pair(const Word* masks, int n_threads, std::vector<Task>& tasks) {
  std::vector<std::size_t> far(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) far[t] = t;
  std::partial_sort(far.begin(), far.begin() + 2, far.end(), [&](std::size_t a, std::size_t b) {
    return tasks[a].cost != tasks[b].cost ? tasks[a].cost > tasks[b].cost : a < b;
  });
  Task& first = tasks[far[0]];
  Task& second = tasks[far[1]];
  if (first.origin != Origin::state || second.origin != Origin::state) return;
  std::vector<Word> either(n_words_), both(n_words_);
  for (std::size_t w = 0; w < n_words_; ++w) {
    const Word a = masks[first.mask * n_words_ + w], b = masks[second.mask * n_words_ + w];
    either[w] = a | b;
    both[w] = a & b;
  }
  const double saving = static_cast<double>(std::max(first.cost, second.cost));
  if (!last_either_.empty()) {
    const std::size_t drift = hamming(last_either_.data(), either.data(), n_words_) +
                              hamming(last_both_.data(), both.data(), n_words_);
    pair_credit_ = std::max(0.0, pair_credit_ + saving - static_cast<double>(fixed_cost * drift));
  }
  const std::size_t flips =
      pair_ ? pair_->distance(either.data(), both.data())
            : count_bits(either.data(), n_words_) + count_bits(both.data(), n_words_);
  const double move = static_cast<double>(fixed_cost * flips);
  if (move < saving || pair_credit_ >= move) {
    if (!pair_) pair_ = std::make_unique<PairSum>(table_);
    pair_->move_to(either.data(), both.data(), n_threads);
    counters_.fixed_features += flips;
    if (move >= saving) pair_credit_ = 0;
    if (second.cost < first.cost) std::swap(first, second);
    first.origin = Origin::pair_first;
    second.origin = Origin::pair_second;
    second.cost = 0;
  }
  last_either_ = std::move(either);
  last_both_ = std::move(both);
}

}  // namespace bitsieve
