#include "bitsieve/fitness/additive_fitness.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "additive_worker.hpp"

namespace bitsieve {

SumLayout::SumLayout(const Splits& splits, std::size_t n_place_sums_, std::size_t n_split_sums_)
    : n_place_sums(n_place_sums_), n_split_sums(n_split_sums_), begin(splits.n_splits + 1, 0) {
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    const auto n_tests = static_cast<std::size_t>(splits.test_begin[s + 1] - splits.test_begin[s]);
    begin[s + 1] = begin[s] + n_place_sums * n_tests + n_split_sums;
  }
}

AdditiveFitness::AdditiveFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source)
    : MaskFitness(std::move(table), std::move(target), std::move(source)) {
  require_classes();
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
void AdditiveFitness::measure_flips(const State&, const TargetSplits&,
                                    const std::vector<std::int32_t>&, const FeatureBlock&,
                                    const bool*, double*, Scratch&) const {}
bool AdditiveFitness::declines(const State&, const TargetSplits&,
                               const std::vector<std::int32_t>&, const double*) const {
  return false;
}

void AdditiveFitness::values(const double* costs, double* out) const {
  const std::size_t n_classes = target().n_classes;
  const double least = *std::min_element(costs, costs + n_classes);
  double total = 0;
  for (std::size_t c = 0; c < n_classes; ++c) total += std::exp(least - costs[c]);
  const double norm = std::log(total);
  for (std::size_t c = 0; c < n_classes; ++c) out[c] = std::exp((least - costs[c]) - norm);
}

// ---- exact sums -----------------------------------------------------------------------------

std::unique_ptr<MaskFitness::Worker> AdditiveFitness::make_worker() const {
  return std::make_unique<Adder>();
}

const AdditiveFitness::State& AdditiveFitness::state_of(const TargetSplits& at,
                                                        Adder& adder) const {
  if (adder.state == nullptr || adder.state_seed != at.seed) {
    adder.state.reset();
    adder.state = new_state(at);
    adder.state_seed = at.seed;
  }
  return *adder.state;
}

std::unique_ptr<AdditiveFitness::State> AdditiveFitness::new_state(const TargetSplits& at) const {
  std::unique_ptr<State> state = make_state(at);
  const Sums exact = sums(*state, false);
  state->exact = SumLayout(at.splits, target().n_classes + exact.n_extra, exact.n_split);
  return state;
}

void AdditiveFitness::for_each_block(
    const std::int32_t* features, std::size_t n_features, std::size_t first, std::size_t last,
    Scratch& scratch, FunctionRef<const FeatureBlock&, std::size_t, std::size_t> body) const {
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const double* rows = table().doubles(1);
  scratch.resize(n * lanes);
  FeatureBlock block;
  block.values = scratch.data();
  for (std::size_t k = 0; k < n_features; k += lanes) {
    block.n = std::min(lanes, n_features - k);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      block.features[lane] = features[k + std::min(lane, block.n - 1)];
      const double* row = rows + static_cast<std::size_t>(block.features[lane]) * ld;
      for (std::size_t i = 0; i < n; ++i) scratch[i * lanes + lane] = row[i];
    }
    body(block, first, last);
  }
}

// Each lane adds for itself, then the lanes are added in a fixed order: a feature's lane is its rank
// in the mask, so that the bits are the mask's own.
void AdditiveFitness::add_exactly(const State& state, const TargetSplits& at,
                                  const std::vector<std::int32_t>& features, const double* params,
                                  std::size_t first, std::size_t last, Adder& adder,
                                  double* sums) const {
  const SumLayout& layout = state.exact;
  const std::size_t begin = layout.begin[first], n_columns = layout.begin[last] - begin;
  adder.totals.assign(n_columns * lanes, 0.0);
  adder.terms.resize(n_columns * lanes);
  for_each_block(features.data(), features.size(), first, last, adder.block,
                 [&](const FeatureBlock& block, std::size_t from, std::size_t to) {
    terms(state, at, block, params, false, from, to, adder.terms.data(), adder.scratch_numbers);
    double* total = adder.totals.data() + (layout.begin[from] - begin) * lanes;
    const std::size_t count = layout.begin[to] - layout.begin[from];
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t lane = 0; lane < block.n; ++lane) {
        total[k * lanes + lane] += adder.terms[k * lanes + lane];
      }
    }
  });
  for (std::size_t k = 0; k < n_columns; ++k) {
    double* lane = adder.totals.data() + k * lanes;
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    sums[k] = lane[0];
  }
}

void AdditiveFitness::costs_of(const State& state, const TargetSplits& at, std::size_t split,
                               const double* params, const double* sums, Adder& adder) const {
  const SumLayout& layout = state.exact;
  const std::size_t n_classes = target().n_classes, n_split = layout.n_split_sums;
  const std::size_t n_extra = layout.n_place_sums - n_classes;
  const auto n_tests =
      static_cast<std::size_t>(at.splits.test_begin[split + 1] - at.splits.test_begin[split]);
  adder.offsets.resize(n_classes);
  const double* split_sums = sums + layout.n_place_sums * n_tests;
  adder.split_sums.resize(n_split * lanes);
  for (std::size_t k = 0; k < n_split; ++k) {
    std::fill_n(adder.split_sums.data() + k * lanes, lanes, split_sums[k]);
  }
  adder.lane_params.resize(n_params() * lanes);
  for (std::size_t k = 0; k < n_params(); ++k) {
    std::fill_n(adder.lane_params.data() + k * lanes, lanes, params[split * n_params() + k]);
  }
  offsets(state, at, split, {adder.split_sums.data(), adder.split_sums.data(), 0},
          adder.lane_params.data(), nullptr, adder.cleared());
  adder.costs.resize(n_tests * n_classes);
  for (std::size_t k = 0; k < n_tests; ++k) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      double cost = sums[c * n_tests + k] + adder.offsets.offset(c)[0];
      if (n_extra > 0) {
        const std::size_t extra = n_classes + (n_extra == 1 ? 0 : c);
        cost += adder.offsets.factor(c)[0] * sums[extra * n_tests + k];
      }
      adder.costs[k * n_classes + c] = cost;
    }
  }
}

void AdditiveFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at, int,
                              Worker& worker, const Answer& answer) {
  Adder& adder = static_cast<Adder&>(worker);
  const State& state = state_of(at, adder);
  const std::size_t n_classes = target().n_classes;
  list_bits(masks + index * n_words(), n_words(), adder.features);
  adder.params.assign(at.splits.n_splits * n_params(), 0.0);
  measure(state, at, adder.features, adder.params.data(), adder.scratch_numbers);
  if (declines(state, at, adder.features, adder.params.data())) {
    *answer.declined = true;
    return;
  }
  adder.sums.resize(state.exact.n_columns());
  add_exactly(state, at, adder.features, adder.params.data(), 0, at.splits.n_splits, adder,
              adder.sums.data());
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    costs_of(state, at, s, adder.params.data(), adder.sums.data() + state.exact.begin[s], adder);
    for (std::int64_t k = at.splits.test_begin[s]; k < at.splits.test_begin[s + 1]; ++k) {
      const auto t = static_cast<std::size_t>(k);
      const double* costs = adder.costs.data() +
                            static_cast<std::size_t>(k - at.splits.test_begin[s]) * n_classes;
      if (answer.classes != nullptr) {
        answer.classes[t] =
            static_cast<std::int32_t>(std::min_element(costs, costs + n_classes) - costs);
      }
      if (answer.values != nullptr) values(costs, answer.values + t * n_values());
    }
  }
}

}  // namespace bitsieve
