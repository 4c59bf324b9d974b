// The integers of the matrices of many masks at once, by tables of 4 features (solver_kernels.hpp):
// for masks that have little in common, the dearest case. A sum of integers is the same however it
// is grouped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/fitness/centered_columns.hpp"

namespace bitsieve {

class SolverTables {
 public:
  // Masks whose sums fit the memory that is kept for them (128 MiB).
  static std::size_t most_masks(std::size_t n_samples);

  // What n_masks masks cost that hold n_features features together, in features that are added to
  // one matrix by themselves.
  static double cost(std::size_t n_features, std::size_t n_masks);

  // All masks, by up to n_threads threads.
  void make(const CenteredColumns& columns, const Word* masks, std::size_t n_masks, int n_threads);

  // units[i * ld + j] of one mask, for j >= i below n_samples; others hold anything.
  void copy(std::size_t mask, std::size_t ld, std::int64_t* units) const;

 private:
  struct Tile {
    std::int32_t i, j;
  };

  void find_places(const Word* masks, std::size_t n_words);

  void pack(const CenteredColumns& columns, std::size_t begin, std::size_t m, int n_threads);

  std::size_t n_masks_ = 0, capacity_ = 0;
  std::vector<Tile> tiles_;
  std::vector<std::int32_t> features_;  // of any mask
  AlignedVector<std::uint16_t> places_;  // [block of groups][mask][solver_groups]
  AlignedVector<double> packed_;
  AlignedBuffer<std::int64_t> sums_;     // [tile][mask][solver_pairs]
};

}  // namespace bitsieve
