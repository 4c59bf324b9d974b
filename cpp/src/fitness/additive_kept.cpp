// A mask by itself that is near the last one: what flipped is added to the sums of that, or taken off.
#include <algorithm>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

// Features that may have changed since sums were made from nothing, in sizes of the mask: what is
// taken off stays in the bound of the error.
constexpr std::size_t most_changes = 4;

}  // namespace

void AdditiveFitness::keep(const TargetSplits& at, const Word* mask, Adder& adder) const {
  Adder::Kept& kept = adder.kept;
  kept.is_whole = false;
  kept.mask.assign(mask, mask + n_words());
  kept.params = adder.params;
  kept.sums = adder.sums;
  kept.magnitudes = adder.sums;
  kept.seed = at.seed;
  kept.n_changed = 0;
  kept.is_whole = true;
}

bool AdditiveFitness::choose_near(const State& state, const TargetSplits& at, const Word* mask,
                                  Adder& adder, std::int32_t* classes) {
  Adder::Kept& kept = adder.kept;
  const std::size_t n_splits = at.splits.n_splits;
  if (!kept.is_whole || kept.seed != at.seed || kept.params.size() != adder.params.size() ||
      kept.sums.size() != state.exact.n_columns() ||
      !is_near(state, kept.params.data(), adder.params.data(), n_splits)) {
    return false;
  }
  std::size_t n_changed = 0;
  for (std::size_t w = 0; w < n_words(); ++w) {
    n_changed += static_cast<std::size_t>(std::popcount(mask[w] ^ kept.mask[w]));
  }
  const std::size_t size = adder.features.size();
  if (2 * n_changed > size || kept.n_changed + n_changed > most_changes * size) return false;
  adder.joins.clear();
  adder.leaves.clear();
  for (std::size_t w = 0; w < n_words(); ++w) {
    for_each_bit(mask[w] & ~kept.mask[w], w, [&](std::size_t f) {
      adder.joins.push_back(static_cast<std::int32_t>(f));
    });
    for_each_bit(kept.mask[w] & ~mask[w], w, [&](std::size_t f) {
      adder.leaves.push_back(static_cast<std::int32_t>(f));
    });
  }
  kept.is_whole = false;  // where this is interrupted
  adder.sums.resize(kept.sums.size());
  for (const auto* flips : {&adder.joins, &adder.leaves}) {
    if (flips->empty()) continue;
    const double sign = flips == &adder.joins ? 1 : -1;
    add_sums(state, at, *flips, kept.params.data(), adder.range(0, n_splits), adder.scratch_sums,
             adder.sums.data());
    for (std::size_t k = 0; k < kept.sums.size(); ++k) {
      kept.sums[k] += sign * adder.sums[k];
      kept.magnitudes[k] += adder.sums[k];
    }
  }
  kept.mask.assign(mask, mask + n_words());
  kept.n_changed += n_changed;
  kept.is_whole = true;
  ++n_near_;
  for (std::size_t s = 0; s < n_splits; ++s) choose_kept(state, at, s, adder, classes);
  return true;
}

// Classes of a split from kept sums: the same mask in every lane.
void AdditiveFitness::choose_kept(const State& state, const TargetSplits& at, std::size_t s,
                                  Adder& adder, std::int32_t* classes) const {
  const SumLayout& layout = state.exact;
  const std::size_t n_tests = tests_of(at.splits, s), begin = layout.begin[s];
  const std::size_t n_columns = layout.begin[s + 1] - begin;
  adder.lane_sums.resize(n_columns * lanes);
  adder.magnitudes.resize(n_columns * lanes);
  for (std::size_t k = 0; k < n_columns; ++k) {
    std::fill_n(adder.lane_sums.data() + k * lanes, lanes, adder.kept.sums[begin + k]);
    std::fill_n(adder.magnitudes.data() + k * lanes, lanes, adder.kept.magnitudes[begin + k]);
  }
  adder.lane_params.resize(n_params() * lanes);
  for (std::size_t k = 0; k < n_params(); ++k) {
    std::fill_n(adder.lane_params.data() + k * lanes, lanes, adder.params[s * n_params() + k]);
  }
  const std::size_t of_split = layout.n_place_sums * n_tests * lanes;
  offsets_of(state, at, s,
             {adder.lane_sums.data() + of_split, adder.magnitudes.data() + of_split, exact_share,
              false},
             adder.lane_params.data(), adder.kept.params.data() + s * n_params(), adder);
  adder.classes.resize(n_tests * lanes);
  choose(layout, at, s, adder.lane_sums.data(), adder.magnitudes.data(), exact_share, adder,
         adder.classes.data());
  const auto first = static_cast<std::size_t>(at.splits.test_begin[s]);
  for (std::size_t k = 0; k < n_tests; ++k) classes[first + k] = adder.classes[k * lanes];
}

}  // namespace bitsieve
