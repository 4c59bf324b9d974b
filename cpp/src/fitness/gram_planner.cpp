#include "bitsieve/fitness/gram_planner.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bitsieve {
namespace {

// A feature of a kept state costs this many features of a float32 matrix: half the lanes, and an
// integer addition beside each multiply-add.
constexpr std::size_t fixed_cost = 4;

// Sums of squares stay far from the end of float32. (Underflow is within the error bounds.)
constexpr double most_squares = 1.001e36;

}  // namespace

GramPlanner::GramPlanner(const Table& table)
    : table_(table.view()), grid_(table.grid()), n_words_(words_for(table_.n_features)) {
  double squares = 0;
  for (std::size_t f = 0; f < table_.n_features; ++f) {
    squares += table_.max_abs[f] * table_.max_abs[f];
  }
  if (!(squares <= most_squares)) {
    throw std::invalid_argument("features must have squares within float32");
  }
}

GramPlanner::~GramPlanner() = default;

void GramPlanner::forget() {
  for (auto* state : {&state_, &full_}) leave_behind(*state);
  leave_behind(pair_);
  leave_behind(first_of_pair_);
  leave_behind(steps_);
  full_credit_ = median_credit_ = pair_credit_ = 0;
  for (auto* words : {&last_median_, &last_either_, &last_both_}) leave_behind(*words);
}

GramState& GramPlanner::state() {
  if (!state_) state_ = std::make_unique<GramState>(table_);
  return *state_;
}

const GramState* GramPlanner::origin_of(Origin origin) const {
  if (origin == Origin::state) return state_.get();
  return origin == Origin::full ? full_.get() : nullptr;
}

// ---- plans ----------------------------------------------------------------------------------

void GramPlanner::plan(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  if (batch.base != nullptr && move_near(batch.base, batch.n_neighbors, n_threads)) {
    steps_.assign(batch.n_masks, {Origin::state, 1});
  } else {
    choose(batch.masks, batch.n_masks, n_threads);
  }
  costs.resize(batch.n_masks);
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    costs[m] = steps_[m].cost;
    // What both of a pair are made from is made by all threads.
    if (steps_[m].origin == Origin::pair_first) {
      build(batch.masks + m * n_words_, state_.get(), n_threads, first_of_pair_);
    }
  }
}

std::size_t GramPlanner::expected(const Word* masks, std::size_t n_masks) const {
  const std::vector<Word> nothing(n_words_, 0);
  const Word* stands = state_ ? state_->mask().data() : nothing.data();
  const std::vector<Word> median = hamming_median(masks, n_masks, n_words_, stands);
  std::size_t by_state = 0;
  std::size_t by_median = fixed_cost * std::min(hamming(stands, median.data(), n_words_),
                                                count_bits(median.data(), n_words_));
  for (std::size_t m = 0; m < n_masks; ++m) {
    const Word* mask = masks + m * n_words_;
    const std::size_t size = count_bits(mask, n_words_);
    const std::size_t cost = full_ ? std::min(size, table_.n_features - size) : size;
    by_state += std::min(cost, hamming(stands, mask, n_words_));
    by_median += std::min(cost, hamming(median.data(), mask, n_words_));
  }
  return std::min(by_state, by_median);
}

bool GramPlanner::move_near(const Word* base, std::size_t n_neighbors, int n_threads) {
  if (!has_matrices()) return false;
  const std::size_t size = count_bits(base, n_words_);
  const std::size_t move = std::min(hamming(state().mask().data(), base, n_words_), size);
  if (fixed_cost * move > n_neighbors * (size + 1)) return false;
  state().move_to(base, n_threads);
  fixed_features_ += move;
  return true;
}

// Three ways: each mask from nothing; from the full mask, once that has paid for itself; or the
// state moves to the bitwise majority of the batch, and each mask is built from there.
//
// A move is an investment. It is made where this batch alone repays it, or where the batches so
// far would have saved as much had the state stood at the median before theirs (so masks that have
// nothing to do with one another never pay for a state).
void GramPlanner::choose(const Word* masks, std::size_t n_masks, int n_threads) {
  steps_.clear();
  if (!has_matrices() || n_masks == 0) {
    steps_.assign(n_masks, {Origin::empty, 0});
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
    steps_.push_back({full_ && from_full < size ? Origin::full : Origin::empty, cost});
  }
  if (!last_median_.empty() && by_last < direct) {
    median_credit_ += static_cast<double>(direct - by_last);
  }
  const bool repaid = median_credit_ >= static_cast<double>(move) && by_median - move < direct;
  if (by_median < direct || repaid) {
    state().move_to(median.data(), n_threads);
    fixed_features_ += move / fixed_cost;
    if (by_median >= direct) median_credit_ = 0;
    for (std::size_t m = 0; m < n_masks; ++m) {
      const std::size_t distance = hamming(median.data(), masks + m * n_words_, n_words_);
      if (distance < steps_[m].cost) steps_[m] = {Origin::state, distance};
    }
    if (n_masks >= 2 && n_masks <= 8) pair_up(masks, n_threads);
  } else if (!full_) {
    full_credit_ += static_cast<double>(wished);
    if (full_credit_ >= static_cast<double>(fixed_cost * p)) {
      std::vector<Word> everything(n_words_, ~Word{0});
      everything.back() = tail_mask(p);
      auto full = std::make_unique<GramState>(table_);
      full->move_to(everything.data(), n_threads);
      full_ = std::move(full);
      fixed_features_ += p;
    }
  }
  last_median_ = std::move(median);
  for (const Step& step : steps_) float_features_ += step.cost;
}

// Two masks far from the median whose union and intersection have hardly moved since the last
// pair: the second is then a subtraction. The sum of states is an investment like the median.
void GramPlanner::pair_up(const Word* masks, int n_threads) {
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
    fixed_features_ += flips;
    if (move >= saving) pair_credit_ = 0;
    const bool swapped = second.cost < first.cost;
    (swapped ? second : first).origin = Origin::pair_first;
    (swapped ? first : second) = {Origin::pair_second, 0};
  }
  last_either_ = std::move(either);
  last_both_ = std::move(both);
}

// ---- matrices -------------------------------------------------------------------------------

GramMatrix& GramPlanner::make(const Word* masks, std::size_t index, int n_threads,
                              GramMatrix& own) {
  const Origin origin = steps_.at(index).origin;
  if (origin == Origin::pair_first) {
    finish(nullptr, first_of_pair_);
    return first_of_pair_;
  }
  if (origin == Origin::pair_second) {
    derive(first_of_pair_, own);
    finish(pair_.get(), own);
  } else {
    build(masks + index * n_words_, origin_of(origin), n_threads, own);
    finish(nullptr, own);
  }
  return own;
}

void GramPlanner::build(const Word* mask, const GramState* origin, int n_threads,
                        GramMatrix& matrix) const {
  const std::size_t ld = table_.ld;
  if (origin == nullptr) {
    list_bits(mask, n_words_, matrix.added);
    matrix.removed.clear();
  } else {
    list_difference(origin->mask().data(), mask, n_words_, matrix.added, matrix.removed);
  }
  matrix.gram.resize(ld * ld);
  matrix.partial.resize(ld * ld);
  matrix.moved.resize(ld);
  float_gram(table_, matrix.added, matrix.removed, n_threads, matrix.gram.data(),
             matrix.partial.data(), matrix.moved.data());
  matrix.changed = matrix.added.size() + matrix.removed.size();
  matrix.floor = static_cast<double>(matrix.changed + 1) * underflow;
  matrix.exact = false;
  if (origin != nullptr) {
    origin->add_to(matrix.gram.data());
    matrix.floor += 2 * static_cast<double>(origin->n_selected()) * origin->unit();
  }
  if (grid_ > 0) {
    std::vector<std::int32_t> features;
    list_bits(mask, n_words_, features);
    matrix.exact = exact_sums(features, matrix.removed) &&
                   (origin == nullptr || origin->unit() <= grid_ * grid_);
  }
}

// The second of a pair from the first.
void GramPlanner::derive(const GramMatrix& first, GramMatrix& second) const {
  second.gram.resize(table_.ld * table_.ld);
  second.moved = first.moved;
  second.changed = first.changed;
  second.floor = first.floor + 2 * static_cast<double>(pair_->n_selected()) * pair_->unit();
  second.exact = false;
  if (first.exact) {
    list_bits(pair_->either().data(), n_words_, second.added);
    list_bits(pair_->both().data(), n_words_, second.removed);
    second.exact =
        exact_sums(second.added, second.removed) && pair_->unit() <= grid_ * grid_;
  }
  pair_->subtract(first.gram.data(), second.gram.data());
}

// The lower triangle and the bounds. Error of a squared distance: gram_error of the changed
// features, the unit of the state, the roundings of float32; each as a share of a squared sum of
// norms, so that one root a sample holds them all (Cauchy-Schwarz).
void GramPlanner::finish(const PairSum* pair, GramMatrix& matrix) const {
  const std::size_t n = table_.n_samples, ld = table_.ld;
  mirror(matrix.gram.data(), ld);
  matrix.squares.resize(n);
  matrix.bounds.resize(n);
  const double share = gram_error(matrix.changed);
  const double slack = 1 + static_cast<double>(matrix.changed + 16) * 0x1p-22;
  for (std::size_t j = 0; j < n; ++j) {
    matrix.squares[j] = static_cast<double>(matrix.gram[j * ld + j]);
    const double moved = share * static_cast<double>(matrix.moved[j]) * slack;
    double rounded = std::max(0.0, matrix.squares[j]) + moved;
    if (pair != nullptr) rounded += pair->square(j);
    matrix.bounds[j] = matrix.exact ? 0 : moved + float_share * rounded + matrix.floor;
  }
}

void GramPlanner::measure(const std::vector<std::int32_t>& features, GramMatrix& matrix) const {
  const std::size_t n = table_.n_samples;
  matrix.squares.assign(n, 0.0);
  for (const std::int32_t f : features) {
    const float* row = table_.row(static_cast<std::size_t>(f));
    for (std::size_t j = 0; j < n; ++j) {
      matrix.squares[j] += static_cast<double>(row[j]) * row[j];
    }
  }
  const double share = gram_error(features.size()) + float_share;
  matrix.exact = exact_sums(features, {});
  matrix.bounds.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    matrix.bounds[j] =
        matrix.exact
            ? 0
            : share * matrix.squares[j] + static_cast<double>(features.size() + 1) * underflow;
  }
}

// Whether all sums of products over these features are exact in float32.
bool GramPlanner::exact_sums(const std::vector<std::int32_t>& features,
                             const std::vector<std::int32_t>& others) const {
  if (grid_ == 0) return false;
  double sum = 0;
  for (const auto* list : {&features, &others}) {
    for (const std::int32_t f : *list) {
      const double most = table_.max_abs[static_cast<std::size_t>(f)];
      sum += most * most;
    }
  }
  return sum < 0x1p22 * grid_ * grid_;
}

}  // namespace bitsieve
