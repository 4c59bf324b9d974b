// What the matrices of a batch are made from. As GramPlanner plans, but for two things: all is in
// the same integers, so that a feature costs the same wherever it is added, and no answer can
// depend on the plan.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/solver_gram.hpp"

namespace bitsieve {

SolverGram::SolverGram(const Table& table)
    : table_(table), n_words_(words_for(table.view().n_features)) {}

SolverGram::~SolverGram() = default;

void SolverGram::forget() {
  for (auto* state : {&state_, &pair_}) leave_behind(*state);
  leave_behind(columns_);
  leave_behind(first_of_pair_);
  leave_behind(scratch_);
  leave_behind(tables_);
  leave_behind(steps_);
  median_credit_ = pair_credit_ = 0;
  for (auto* words : {&last_median_, &last_either_, &last_both_}) leave_behind(*words);
}

const CenteredColumns& SolverGram::columns(int n_threads) {
  if (!kernels().has_fma) {
    throw std::invalid_argument(
        "this instruction set has no fused multiply-add, which the kernel needs");
  }
  if (!columns_) columns_ = std::make_unique<CenteredColumns>(table_, n_threads);
  return *columns_;
}

SolverState& SolverGram::state() {
  if (!state_) state_ = std::make_unique<SolverState>(*columns_);
  return *state_;
}

void SolverGram::plan(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  if (!has_matrices()) {
    throw std::invalid_argument("no matrices are made for more than " +
                                std::to_string(matrix_samples) + " samples");
  }
  columns(n_threads);
  if (batch.n_masks > 0 && seen_coarse_) {
    seen_coarse_ = is_coarse(batch.base != nullptr ? batch.base : batch.masks, scratch_);
  }
  if (seen_coarse_) {
    steps_.resize(batch.n_masks);
    for (std::size_t m = 0; m < batch.n_masks; ++m) {
      steps_[m] = {Origin::doubles, count_bits(batch.masks + m * n_words_, n_words_)};
      features_made_ += steps_[m].cost;
    }
  } else if (batch.base != nullptr && move_near(batch.base, batch.n_neighbors, n_threads)) {
    steps_.assign(batch.n_masks, {Origin::state, 1});
    features_made_ += batch.n_masks;
  } else {
    choose(batch, n_threads);
  }
  costs.resize(batch.n_masks);
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    costs[m] = steps_[m].cost;
    // What both of a pair are made from is made by all threads.
    if (steps_[m].origin == Origin::pair_first) {
      sum_units(batch.masks + m * n_words_, state_.get(), n_threads, first_of_pair_);
    }
  }
}

// False where a move costs more than the neighbors from nothing.
bool SolverGram::move_near(const Word* base, std::size_t n_neighbors, int n_threads) {
  const std::size_t size = count_bits(base, n_words_);
  const std::size_t move = std::min(hamming(state().mask().data(), base, n_words_), size);
  if (move + n_neighbors > n_neighbors * size) return false;
  state().move_to(base, n_threads);
  features_moved_ += move;
  return true;
}

// Each mask from nothing, or the state moves to the bitwise majority of the batch and each is made
// from there. A move is made where this batch alone repays it, or where the batches so far would
// have saved as much had the state stood at the median before theirs.
void SolverGram::choose(const MaskBatch& batch, int n_threads) {
  const Word* masks = batch.masks;
  const std::size_t n_masks = batch.n_masks;
  steps_.clear();
  if (n_masks == 0) return;
  std::vector<Word> median = hamming_median(masks, n_masks, n_words_, state().mask().data());
  const std::size_t move = std::min(hamming(state().mask().data(), median.data(), n_words_),
                                    count_bits(median.data(), n_words_));
  std::size_t direct = 0, by_median = move, by_last = 0;
  for (std::size_t m = 0; m < n_masks; ++m) {
    const Word* mask = masks + m * n_words_;
    const std::size_t cost = count_bits(mask, n_words_);
    direct += cost;
    by_median += std::min(cost, hamming(median.data(), mask, n_words_));
    if (!last_median_.empty()) {
      by_last += std::min(cost, hamming(last_median_.data(), mask, n_words_));
    }
    steps_.push_back({Origin::empty, cost});
  }
  if (!last_median_.empty() && by_last < direct) {
    median_credit_ += static_cast<double>(direct - by_last);
  }
  if (by_tables(batch, std::min(direct, by_median), n_threads)) {
    last_median_ = std::move(median);
    return;
  }
  const bool repaid = median_credit_ >= static_cast<double>(move) && by_median - move < direct;
  if (by_median < direct || repaid) {
    state().move_to(median.data(), n_threads);
    features_moved_ += move;
    if (by_median >= direct) median_credit_ = 0;
    for (std::size_t m = 0; m < n_masks; ++m) {
      const std::size_t distance = hamming(median.data(), masks + m * n_words_, n_words_);
      if (distance < steps_[m].cost) steps_[m] = {Origin::state, distance};
    }
    if (n_masks >= 2 && n_masks <= 8) pair_up(masks, n_threads);
  }
  last_median_ = std::move(median);
  for (const Step& step : steps_) features_made_ += step.cost;
}

// Whether the masks are made from tables: where that is cheaper than by the features that each
// would take otherwise.
bool SolverGram::by_tables(const MaskBatch& batch, std::size_t cost, int n_threads) {
  if (batch.n_masks > most_masks()) return false;
  std::vector<Word> either(n_words_, 0);
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    for (std::size_t w = 0; w < n_words_; ++w) either[w] |= batch.masks[m * n_words_ + w];
  }
  const std::size_t together = count_bits(either.data(), n_words_);
  if (SolverTables::cost(together, batch.n_masks) >= static_cast<double>(cost)) return false;
  tables_.make(*columns_, batch.masks, batch.n_masks, n_threads);
  steps_.assign(batch.n_masks, {Origin::tables, 1});
  tabled_features_ += together;
  return true;
}

// Two masks far from the median whose union and intersection have hardly moved since the last
// pair: S(second) = S(union) + S(intersection) - S(first). The sum is an investment like the median.
void SolverGram::pair_up(const Word* masks, int n_threads) {
  std::vector<std::size_t> far(steps_.size());
  for (std::size_t t = 0; t < far.size(); ++t) far[t] = t;
  std::partial_sort(far.begin(), far.begin() + 2, far.end(), [&](std::size_t a, std::size_t b) {
    return steps_[a].cost != steps_[b].cost ? steps_[a].cost > steps_[b].cost : a < b;
  });
  Step& first = steps_[far[0]];
  Step& second = steps_[far[1]];
  if (first.origin != Origin::state || second.origin != Origin::state) return;
  std::vector<Word> either(n_words_), both(n_words_);
  for (std::size_t w = 0; w < n_words_; ++w) {
    const Word a = masks[far[0] * n_words_ + w], b = masks[far[1] * n_words_ + w];
    either[w] = a | b;
    both[w] = a & b;
  }
  const double saving = static_cast<double>(first.cost);
  if (!last_either_.empty()) {
    const std::size_t drift = hamming(last_either_.data(), either.data(), n_words_) +
                              hamming(last_both_.data(), both.data(), n_words_);
    pair_credit_ = std::max(0.0, pair_credit_ + saving - static_cast<double>(drift));
  }
  const std::size_t flips =
      pair_ ? pair_->distance(either.data(), both.data())
            : count_bits(either.data(), n_words_) + count_bits(both.data(), n_words_);
  const double move = static_cast<double>(flips);
  if (move < saving || pair_credit_ >= move) {
    if (!pair_) pair_ = std::make_unique<SolverState>(*columns_);
    pair_->move_to(either.data(), both.data(), n_threads);
    features_moved_ += flips;
    if (move >= saving) pair_credit_ = 0;
    second.origin = Origin::pair_first;  // the nearer one is made, the other one subtracted
    first = {Origin::pair_second, 0};
  }
  last_either_ = std::move(either);
  last_both_ = std::move(both);
}

void SolverGram::make_one(const Word* mask, int n_threads, SolverMatrix& out) {
  std::vector<std::size_t> costs;
  const MaskBatch batch{mask, 1, nullptr};
  plan(batch, n_threads, costs);
  make(mask, 0, n_threads, out);
}

}  // namespace bitsieve
