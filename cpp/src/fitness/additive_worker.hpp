// What a thread that adds keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"

namespace bitsieve {

// Memory of AdditiveFitness::Offsets.
class OffsetLanes {
 public:
  void resize(std::size_t n_classes) {
    n_classes_ = n_classes;
    numbers_.resize(4 * n_classes * additive_lanes);
  }
  double* offset(std::size_t c) { return numbers_.data() + c * additive_lanes; }
  double* factor(std::size_t c) { return offset(n_classes_ + c); }
  double* relative(std::size_t c) { return offset(2 * n_classes_ + c); }
  double* slack(std::size_t c) { return offset(3 * n_classes_ + c); }
  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0); }

 private:
  std::size_t n_classes_ = 0;
  AlignedVector<double> numbers_;
};

struct AdditiveFitness::Adder : MaskFitness::Worker {
  std::unique_ptr<State> state;  // of the last splits that were this mask's own
  std::uint64_t state_seed = 0;

  std::vector<std::int32_t> features;
  std::vector<double> params, sums, costs;
  Scratch block, terms, totals, scratch_numbers;  // values of a block, its terms, their sums
  Scratch split_sums, lane_params;
  OffsetLanes offsets;

  Offsets cleared() {
    offsets.clear();
    return {offsets.offset(0), offsets.factor(0), offsets.relative(0), offsets.slack(0)};
  }
};

}  // namespace bitsieve
