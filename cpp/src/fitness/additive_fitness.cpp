#include "bitsieve/fitness/additive_fitness.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t prefetched_samples = 256;  // of the features of the next block

}  // namespace

SumLayout::SumLayout(const Splits& splits, std::size_t n_place_sums_, std::size_t n_split_sums_)
    : n_place_sums(n_place_sums_), n_split_sums(n_split_sums_), begin(splits.n_splits + 1, 0) {
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    begin[s + 1] = begin[s] + n_place_sums * tests_of(splits, s) + n_split_sums;
  }
}

AdditiveFitness::AdditiveFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source)
    : MaskFitness(std::move(table), std::move(target), std::move(source)) {
  require_classes();
  if (this->target().n_classes >= static_cast<std::size_t>(no_class)) {
    throw std::invalid_argument("there are too many classes");
  }
}

AdditiveFitness::~AdditiveFitness() = default;

// ---- what a model need not say --------------------------------------------------------------

std::unique_ptr<AdditiveFitness::State> AdditiveFitness::make_state(const TargetSplits&) const {
  return std::make_unique<State>();
}
void AdditiveFitness::survey(State&, const TargetSplits&, int) const {}
void AdditiveFitness::reference_params(const State&, double*) const {}
void AdditiveFitness::measure(const State&, const TargetSplits&, const std::vector<std::int32_t>&,
                              double*, Scratch&) const {}
void AdditiveFitness::measure_base(const State& state, const TargetSplits& at,
                                   const std::vector<std::int32_t>& features, double* params,
                                   Scratch& scratch) const {
  measure(state, at, features, params, scratch);
}
void AdditiveFitness::measure_flips(const State&, const TargetSplits&,
                                    const std::vector<std::int32_t>&, const FeatureBlock&,
                                    const bool*, double*, Scratch&) const {}
bool AdditiveFitness::declines(const State&, const TargetSplits&,
                               const std::vector<std::int32_t>&, const double*) const {
  return false;
}
bool AdditiveFitness::may_decline_near(const State&, const TargetSplits&,
                                       const std::vector<std::int32_t>&, std::int32_t,
                                       const double*) const {
  return may_decline();
}
void AdditiveFitness::begin_block(const State&, const FeatureBlock&) const {}
bool AdditiveFitness::is_near(const State&, const double* kept, const double* own,
                              std::size_t n_splits) const {
  return std::equal(kept, kept + n_splits * n_params(), own);
}

void AdditiveFitness::values(const double* costs, double* out) const {
  const std::size_t n_classes = target().n_classes;
  const double least = *std::min_element(costs, costs + n_classes);
  double total = 0;
  for (std::size_t c = 0; c < n_classes; ++c) total += std::exp(least - costs[c]);
  const double norm = std::log(total);
  for (std::size_t c = 0; c < n_classes; ++c) out[c] = std::exp((least - costs[c]) - norm);
}

// ---- states ---------------------------------------------------------------------------------

std::unique_ptr<MaskFitness::Worker> AdditiveFitness::make_worker() const {
  return std::make_unique<Adder>();
}

std::unique_ptr<AdditiveFitness::State> AdditiveFitness::new_state(const TargetSplits& at) const {
  std::unique_ptr<State> state = make_state(at);
  const Sums exact = sums(*state, false);
  state->exact = SumLayout(at.splits, target().n_classes + exact.n_extra, exact.n_split);
  state->seed = at.seed;
  return state;
}

const AdditiveFitness::State& AdditiveFitness::shared_state(const TargetSplits& at,
                                                            bool is_surveyed, int n_threads) {
  if (shared_ == nullptr || shared_->seed != at.seed) shared_ = new_state(at);
  if (is_surveyed && !shared_->is_surveyed) {
    survey(*shared_, at, n_threads);
    const Sums reference = sums(*shared_, true);
    shared_->reference =
        SumLayout(at.splits, target().n_classes + reference.n_extra, reference.n_split + 1);
    shared_->is_surveyed = true;
  }
  return *shared_;
}

const AdditiveFitness::State& AdditiveFitness::state_of(const TargetSplits& at,
                                                        Adder& adder) const {
  if (shared_ != nullptr && shared_->seed == at.seed) return *shared_;
  if (adder.state == nullptr || adder.state->seed != at.seed) adder.state = new_state(at);
  return *adder.state;
}

void AdditiveFitness::forget_states() {
  leave_behind(shared_);
  leave_behind(chosen_);
}

MaskFitness::Counters AdditiveFitness::count() const {
  return {{"tabled_masks", n_tabled_}, {"near_masks", n_near_}, {"open_splits", n_open_}};
}

// ---- exact sums -----------------------------------------------------------------------------

void AdditiveFitness::gather(const std::int32_t* features, std::size_t n, FeatureBlock& block,
                             double* values) const {
  const std::size_t n_samples = table().view().n_samples, ld = table().view().ld;
  const double* rows = table().doubles(1);
  block.n = n;
  const double* row[lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    block.features[lane] = features[std::min(lane, n - 1)];
    row[lane] = rows + static_cast<std::size_t>(block.features[lane]) * ld;
  }
  for (std::size_t i = 0; i < n_samples; ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) values[i * lanes + lane] = row[lane][i];
  }
  block.values = values;
}

void AdditiveFitness::prefetch_rows(const std::int32_t* features, std::size_t n) const {
  const double* rows = table().doubles(1);
  const std::size_t count = std::min(table().view().n_samples, prefetched_samples);
  for (std::size_t k = 0; k < n; ++k) {
    const double* row = rows + static_cast<std::size_t>(features[k]) * table().view().ld;
    for (std::size_t i = 0; i < count; i += cache_line / sizeof(double)) prefetch(row + i);
  }
}

void AdditiveFitness::for_each_block(const State& state, const std::int32_t* features,
                                     std::size_t n_features, Scratch& scratch,
                                     FunctionRef<const FeatureBlock&> body) const {
  const std::size_t n = table().view().n_samples;
  scratch.resize(n * lanes + block_size(state));
  FeatureBlock block;
  block.kept = scratch.data() + n * lanes;
  for (std::size_t k = 0; k < n_features; k += lanes) {
    check_interrupt();
    gather(features + k, std::min(lanes, n_features - k), block, scratch.data());
    begin_block(state, block);
    const std::size_t next = std::min(k + lanes, n_features);
    prefetch_rows(features + next, std::min(lanes, n_features - next));
    body(block);
  }
}

void AdditiveFitness::add_sums(const State& state, const TargetSplits& at,
                               const std::vector<std::int32_t>& features, const double* params,
                               const std::vector<std::size_t>& splits, SumScratch& scratch,
                               double* sums) const {
  const SumLayout& layout = state.exact;
  const auto width = [&](std::size_t s) { return layout.begin[s + 1] - layout.begin[s]; };
  std::size_t n_columns = 0, widest = 0;
  for (const std::size_t s : splits) {
    n_columns += width(s);
    widest = std::max(widest, width(s));
  }
  std::fill(sums, sums + n_columns, 0.0);
  scratch.terms.resize(widest * lanes);
  for_each_block(state, features.data(), features.size(), scratch.block,
                 [&](const FeatureBlock& block) {
    double* to = sums;
    for (const std::size_t s : splits) {
      terms(state, at, block, params + s * n_params(), false, s, scratch.terms.data(),
            scratch.numbers);
      kernels().additive->add_lanes(scratch.terms.data(), width(s), block.n, to);
      to += width(s);
    }
  });
}

void AdditiveFitness::offsets_of(const State& state, const TargetSplits& at, std::size_t split,
                                 const SplitSums& sums, const double* params,
                                 const double* reference, Adder& adder) const {
  const std::size_t n_classes = target().n_classes;
  const Offsets out = adder.cleared(n_classes);
  offsets(state, at, split, sums, params, reference, out);
  for (std::size_t k = 0; k < n_classes * lanes; ++k) {
    // Rounding of what stands beside the sums, and numbers that float32 does not hold.
    const double size = std::abs(out.offset[k]);
    if (size < 1e300) out.slack[k] += 0x1p-45 * size;
    out.slack[k] += 1e-30;
  }
}

LaneCosts AdditiveFitness::lane_costs(const SumLayout& layout, const TargetSplits& at,
                                      std::size_t split, const double* sums,
                                      const double* magnitudes, double share,
                                      Adder& adder) const {
  const std::size_t n_classes = target().n_classes;
  const Offsets offsets = adder.offsets(n_classes);
  for (std::size_t k = 0; k < n_classes * lanes; ++k) offsets.relative[k] += share;
  return {sums,           magnitudes,     tests_of(at.splits, split),      n_classes,
          layout.n_place_sums - n_classes, offsets.offset, offsets.factor,
          offsets.relative, offsets.slack, share};
}

void AdditiveFitness::choose(const SumLayout& layout, const TargetSplits& at, std::size_t split,
                             const double* sums, const double* magnitudes, double share,
                             Adder& adder, std::int32_t* classes) const {
  kernels().additive->choose(lane_costs(layout, at, split, sums, magnitudes, share, adder), classes);
}

void AdditiveFitness::costs_of(const State& state, const TargetSplits& at, std::size_t split,
                               const double* params, const double* sums, Adder& adder) const {
  const SumLayout& layout = state.exact;
  const std::size_t n_classes = target().n_classes, n_tests = tests_of(at.splits, split);
  const std::size_t n_extra = layout.n_place_sums - n_classes, n_split = layout.n_split_sums;
  const double* split_sums = sums + layout.n_place_sums * n_tests;
  adder.lane_params.resize((n_params() + n_split) * lanes);
  double* lane_sums = adder.lane_params.data() + n_params() * lanes;
  for (std::size_t k = 0; k < n_params(); ++k) {
    std::fill_n(adder.lane_params.data() + k * lanes, lanes, params[split * n_params() + k]);
  }
  for (std::size_t k = 0; k < n_split; ++k) {
    std::fill_n(lane_sums + k * lanes, lanes, split_sums[k]);
  }
  offsets_of(state, at, split, {lane_sums, lane_sums, 0, false}, adder.lane_params.data(), nullptr,
             adder);
  const Offsets offsets = adder.offsets(n_classes);
  adder.costs.resize(n_tests * n_classes);
  for (std::size_t k = 0; k < n_tests; ++k) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      double cost = sums[c * n_tests + k] + offsets.offset[c * lanes];
      if (n_extra > 0) {
        const std::size_t extra = n_classes + (n_extra == 1 ? 0 : c);
        cost += offsets.factor[c * lanes] * sums[extra * n_tests + k];
      }
      adder.costs[k * n_classes + c] = cost;
    }
  }
}

std::int32_t AdditiveFitness::cheapest(const double* costs) const {
  return static_cast<std::int32_t>(std::min_element(costs, costs + target().n_classes) - costs);
}

void AdditiveFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at, int,
                              Worker& worker, const Answer& answer) {
  Adder& adder = static_cast<Adder&>(worker);
  const State& state = state_of(at, adder);
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  const Word* mask = masks + index * n_words();
  const std::size_t n_tests_all = at.splits.test_samples.size();
  const bool is_tabled = chosen_ != nullptr && chosen_->seed == at.seed &&
                         answer.values == nullptr && mask >= chosen_->masks &&
                         mask < chosen_->masks + chosen_->n_masks * n_words();
  const auto is_open = [&](std::size_t first, std::size_t last) {
    std::int32_t* end = answer.classes + last;
    return std::find(answer.classes + first, end, no_class) != end;
  };
  if (is_tabled) {
    const std::size_t row = static_cast<std::size_t>(mask - chosen_->masks) / n_words();
    if (chosen_->declined[row] != 0) {
      *answer.declined = true;
      return;
    }
    const std::int16_t* chosen = chosen_->classes.data() + row * n_tests_all;
    std::copy(chosen, chosen + n_tests_all, answer.classes);
    if (!is_open(0, n_tests_all)) return;
  }
  list_bits(mask, n_words(), adder.features);
  adder.params.assign(n_splits * n_params(), 0.0);
  measure(state, at, adder.features, adder.params.data(), adder.scratch_numbers);
  if (!is_tabled && declines(state, at, adder.features, adder.params.data())) {
    *answer.declined = true;
    return;
  }
  const bool is_chosen =
      is_tabled ||
      (answer.values == nullptr && choose_near(state, at, mask, adder, answer.classes));
  adder.range(0, n_splits);
  if (is_chosen) {
    adder.splits.clear();
    for (std::size_t s = 0; s < n_splits; ++s) {
      const auto first = static_cast<std::size_t>(at.splits.test_begin[s]);
      if (is_open(first, first + tests_of(at.splits, s))) adder.splits.push_back(s);
    }
    n_open_ += adder.splits.size();
  }
  if (adder.splits.empty()) return;
  adder.sums.resize(state.exact.n_columns());
  add_sums(state, at, adder.features, adder.params.data(), adder.splits, adder.scratch_sums,
           adder.sums.data());
  if (!is_chosen) keep(at, mask, adder);
  const double* sums = adder.sums.data();
  for (const std::size_t s : adder.splits) {
    const auto first = static_cast<std::size_t>(at.splits.test_begin[s]);
    costs_of(state, at, s, adder.params.data(), sums, adder);
    sums += state.exact.begin[s + 1] - state.exact.begin[s];
    for (std::size_t k = 0; k < tests_of(at.splits, s); ++k) {
      const double* costs = adder.costs.data() + k * n_classes;
      if (answer.classes != nullptr) answer.classes[first + k] = cheapest(costs);
      if (answer.values != nullptr) values(costs, answer.values + (first + k) * n_values());
    }
  }
}

}  // namespace bitsieve
