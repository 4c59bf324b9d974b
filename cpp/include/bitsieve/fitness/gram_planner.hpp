// The Gram matrices of a batch of masks, each made the cheapest way.
//
// A matrix comes from nothing or from a kept state and the difference; which of them is a plan, made
// once a batch. What comes out carries its error bound, which depends on the plan; whoever decides
// by a matrix must leave to float64 what the bound leaves open, so that no answer depends on it.
//
// Use: plan() by one thread, then make() for each mask of the batch, from any number of threads.
// (Whole neighborhoods in one pass may read the state, after move_near, instead.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/gram.hpp"
#include "bitsieve/fitness/mask_batch.hpp"

namespace bitsieve {

// Largest n for which n x n matrices are kept; beyond it, rows are made block by block.
inline constexpr std::size_t matrix_samples = 1536;

// Rounding of float32 distances and of the centred values themselves, as a share of
// (|x_i| + |x_j|)^2: the values are rounded once (2.1 units in the last place of 2^-24), and the
// sum of three terms takes five more roundings.
inline constexpr double float_share = 0x1p-21;

// What a product may lose where it underflows. Gradual underflow would lose 2^-150 only, but any
// library built with -ffast-math sets the thread to flush to zero, which loses up to 2^-126.
inline constexpr double underflow = 0x1p-120;

// A Gram matrix of one mask in float32 and what is known of its error: the squared distance of i and
// j, squares[i] + squares[j] - 2 * gram[i * ld + j], is wrong by (sqrt(bounds[i]) +
// sqrt(bounds[j]))^2 at most, by nothing where all bounds are zero. That includes the rounding of
// the user's values to float32 and of such a sum.
struct GramMatrix {
  AlignedVector<float> gram;           // [ld][ld], both triangles; or some rows
  std::vector<double> squares, bounds;  // [n_samples]
  bool exact = false;                  // all bounds are zero

  // Scratch, and what the bound is made of.
  AlignedVector<float> partial;
  AlignedVector<float> moved;  // [ld] sum of squares over the features that were added or removed
  std::vector<std::int32_t> added, removed;
  std::size_t changed = 0;  // how many those are
  double floor = 0;         // error of a squared distance that no norm scales
};

class GramPlanner {
 public:
  explicit GramPlanner(const Table& table);
  ~GramPlanner();

  // Whether whole matrices are made; only rows() and measure() serve where not.
  bool has_matrices() const { return table_.n_samples <= matrix_samples; }

  // Plan a batch, and move the kept states to where they are wanted. costs[m]: features that mask m
  // will take, for a scheduler.
  void plan(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs);

  // Features that a plan for these masks would have to add, nothing being moved for later batches.
  std::size_t expected(const Word* masks, std::size_t n_masks) const;

  // Move the state to the base of a neighborhood; false where that costs more than the neighbors
  // from nothing.
  bool move_near(const Word* base, std::size_t n_neighbors, int n_threads);

  // The matrix of mask `index` of the planned batch, in `own` or in the planner. `n_threads` above 1
  // only where no other matrix is being made.
  GramMatrix& make(const Word* masks, std::size_t index, int n_threads, GramMatrix& own);

  // What a matrix is made from: nothing, the state, the full mask, or the other one of its pair.
  enum class Origin : std::uint8_t { empty, state, full, pair_first, pair_second };
  Origin origin(std::size_t index) const { return steps_.at(index).origin; }

  // Squares and bounds of the sums over features in one pass from nothing, for whoever makes rows by
  // float_gram.
  void measure(const std::vector<std::int32_t>& features, GramMatrix& matrix) const;

  GramState& state();
  const TableView& table() const { return table_; }
  void forget();  // all states and plans, in a forked child: their memory is left behind

  std::uint64_t float_features() const { return float_features_; }
  std::uint64_t fixed_features() const { return fixed_features_; }

 private:
  struct Step {
    Origin origin;
    std::size_t cost;  // features to add or remove
  };

  void choose(const Word* masks, std::size_t n_masks, int n_threads);
  void pair_up(const Word* masks, int n_threads);
  const GramState* origin_of(Origin origin) const;
  void build(const Word* mask, const GramState* origin, int n_threads, GramMatrix& matrix) const;
  void derive(const GramMatrix& first, GramMatrix& second) const;
  void finish(const PairSum* pair, GramMatrix& matrix) const;
  bool exact_sums(const std::vector<std::int32_t>& features,
                  const std::vector<std::int32_t>& others) const;

  TableView table_;
  double grid_;
  std::size_t n_words_;
  std::unique_ptr<GramState> state_, full_;
  std::unique_ptr<PairSum> pair_;
  GramMatrix first_of_pair_;
  std::vector<Step> steps_;
  // Features that a state would have saved so far, and where it would have stood.
  double full_credit_ = 0, median_credit_ = 0, pair_credit_ = 0;
  std::vector<Word> last_median_, last_either_, last_both_;
  std::uint64_t float_features_ = 0, fixed_features_ = 0;
};

}  // namespace bitsieve
