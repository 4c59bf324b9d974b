// What one thread of an evaluation owns.
#pragma once

#include "bitsieve/fitness/knn.hpp"

namespace bitsieve {

// Rounding of float32 distances and of the hot copy itself, as a share of (|x_i| + |x_j|)^2: the
// values are rounded once (2.1 units in the last place of 2^-24), and the sum of three terms takes
// five more roundings.
inline constexpr double float_share = 0x1p-21;

// A Gram matrix in float32 and what is known of its error.
struct KnnFitness::Matrix {
  AlignedVector<float> gram;     // [ld][ld], upper triangle
  AlignedVector<float> partial;  // scratch
  AlignedVector<float> moved;    // [ld] sum of squares over the features that were added or removed
  std::vector<std::int32_t> added, removed;
  std::size_t changed = 0;  // how many those are
  const PairSum* pair = nullptr;  // what the matrix was subtracted from
  double floor = 0;               // error of a squared distance that no norm scales
  bool exact = false;
};

struct KnnFitness::Worker {
  Worker(const TableView& table, const std::int32_t* codes, const Arbiter& arbiter)
      : order(table.n_samples, table.ld, codes, arbiter),
        squares(table.n_samples),
        bounds(table.n_samples) {}

  NeighbourOrder order;
  Matrix matrix;
  std::vector<double> squares, bounds;
  std::vector<std::int32_t> features, hits, remaining, votes;
  std::vector<Word> pending;
  Splits splits;  // of the last seed
  std::uint64_t splits_seed = 0;
  bool has_splits = false;
};

enum class Origin : std::uint8_t { empty, state, full, pair_first, pair_second };

struct KnnFitness::Task {
  std::size_t mask;
  Origin origin;
  std::size_t cost;  // features to add or remove
};

}  // namespace bitsieve
