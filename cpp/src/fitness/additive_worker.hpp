// What a thread that adds keeps, and what a batch found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "bitsieve/fitness/additive_fitness.hpp"

namespace bitsieve {

// Terms made from the same values are alike to that; it covers the rounding of float64 sums too.
inline constexpr double exact_share = 0x1p-35;
// What is lost where terms are rounded to float32, tabled in fours (3 additions), added over 16
// groups and 8 tables: 28 roundings, and room for exact_share.
inline constexpr double table_share = 0x1p-19;

struct AdditiveFitness::Adder : MaskFitness::Worker {
  std::unique_ptr<State> state;  // of the last splits that were a mask's own

  std::vector<std::int32_t> features, others, joins, leaves;
  std::vector<double> params, sums, costs;
  std::vector<std::int32_t> classes;
  std::vector<std::size_t> splits;
  SumScratch scratch_sums;
  Scratch block, terms, scratch_numbers, lane_sums, magnitudes, counts, lane_params, offset_numbers;
  AlignedVector<float> tables, pattern_sums;

  // Exact sums of the last mask, at its parameters, or of masks that flips led to from it.
  struct Kept {
    bool is_whole = false;
    std::uint64_t seed = 0;
    std::vector<Word> mask;
    std::vector<double> params, sums, magnitudes;  // all that was added and taken off
    std::size_t n_changed = 0;                     // features since they were made from nothing
  } kept;

  // Splits [first, last).
  const std::vector<std::size_t>& range(std::size_t first, std::size_t last) {
    splits.resize(last - first);
    std::iota(splits.begin(), splits.end(), first);
    return splits;
  }

  // Zeros for the offsets of n_classes.
  Offsets cleared(std::size_t n_classes) {
    offset_numbers.assign(4 * n_classes * additive_lanes, 0.0);
    return offsets(n_classes);
  }
  Offsets offsets(std::size_t n_classes) const {
    double* first = const_cast<double*>(offset_numbers.data());
    const std::size_t width = n_classes * additive_lanes;
    return {first, first + width, first + 2 * width, first + 3 * width};
  }
};

// Classes of the masks of a batch, made before anyone asks.
struct AdditiveFitness::Chosen {
  const Word* masks = nullptr;
  std::size_t n_masks = 0, n_tests = 0;
  std::uint64_t seed = 0;
  std::vector<std::int16_t> classes;   // [n_masks][n_tests], or no_class
  std::vector<std::uint8_t> declined;  // [n_masks]
};

inline std::size_t tests_of(const Splits& splits, std::size_t split) {
  return static_cast<std::size_t>(splits.test_begin[split + 1] - splits.test_begin[split]);
}

}  // namespace bitsieve
