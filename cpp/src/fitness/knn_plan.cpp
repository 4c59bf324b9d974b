// Where each mask of a batch is built from.
#include <algorithm>

#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {
namespace {

// A feature of the kept state costs this many features of a float32 matrix: half the lanes, and an
// integer addition beside each multiply-add.
constexpr std::size_t fixed_cost = 4;

}  // namespace

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

}  // namespace bitsieve
