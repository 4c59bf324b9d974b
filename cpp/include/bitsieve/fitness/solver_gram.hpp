// The float64 Gram matrices that solvers take, one a mask, over the columns less their means over
// all samples.
//
// A solver's answer cannot be checked again in float64 as a comparison can, so the matrix is a
// function of the mask alone, in every bit. It is a sum of integers: each product is rounded once,
// by a fused multiply-add, to a power of two chosen from the table alone, and what follows is
// integer addition, so that it may be made from nothing, from a kept state and the difference, or
// as the other one of a pair. Where that unit is too coarse for a mask (unit * size above 1e-11, or
// unit * sqrt(size) above 1e-13, of the least diagonal element; samples that are all zero do not
// count), the matrix is summed in float64, features in ascending order: a rule of the mask alone,
// too. Roundings are as good as random, so that the root says what their sum is likely to be.
//
// Use: plan() by one thread, then make() for each mask of the batch, from any number of threads.
// Needs an instruction set that fuses multiply-adds (Kernels::has_fma): refuses where there is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/centered_columns.hpp"
#include "bitsieve/fitness/gram_planner.hpp"
#include "bitsieve/fitness/mask_batch.hpp"
#include "bitsieve/fitness/solver_tables.hpp"

namespace bitsieve {

// The shares of the least diagonal element that unit * size and unit * sqrt(size) may reach.
inline constexpr double solver_precision = 1e-11, solver_likely = 1e-13;

// The matrix of one mask. Errors: of a fixed one at most size / 2 units an element; else
// (64 + size / 64 + 2) * 2^-53 * |x_i| * |x_j|.
struct SolverMatrix {
  AlignedVector<double> gram;  // [ld][ld], both triangles; zero past n_samples
  bool fixed = false;          // a sum of integers

  // Scratch.
  AlignedVector<std::int64_t> units;  // [ld][ld], upper triangle in tiles of 16
  AlignedVector<double> rows;
  std::vector<std::int32_t> added, removed;
};

// What leads from centred values to the user's own: the product of the user's rows i and j is
// gram[i * ld + j] + shift[i] + shift[j] + constant. Of the mask alone, features in ascending order.
struct SolverShift {
  std::vector<double> shift;  // [n] sum over the mask of centred value * mean
  std::vector<double> sums;   // [n] sum over the mask of the user's values
  double constant = 0;        // sum over the mask of mean^2

  double raw(double gram, std::size_t i, std::size_t j) const {
    return gram + (shift[i] + shift[j]) + constant;  // the same bits for (j, i)
  }
};

// A mask and the integers of its matrix (or of two masks, their sum).
class SolverState {
 public:
  explicit SolverState(const CenteredColumns& columns);

  void move_to(const Word* mask, int n_threads);  // of one mask
  // Of two: each goes its own way, and the integers are the sum of both.
  void move_to(const Word* first, const Word* second, int n_threads);
  std::size_t distance(const Word* first, const Word* second) const;

  const std::vector<Word>& mask() const { return mask_; }
  const std::vector<Word>& second() const { return second_; }
  const AlignedVector<std::int64_t>& units() const { return units_; }

 private:
  void shift(std::vector<Word>& from, const Word* to, int n_threads);
  void clear();

  const CenteredColumns& columns_;
  AlignedVector<std::int64_t> units_;
  AlignedVector<double> rows_;
  std::vector<Word> mask_, second_;
};

class SolverGram {
 public:
  explicit SolverGram(const Table& table);
  ~SolverGram();

  // Whether there are few enough samples for whole matrices; nothing else is asked where not.
  bool has_matrices() const { return table_.view().n_samples <= matrix_samples; }
  std::size_t n_samples() const { return table_.view().n_samples; }
  std::size_t ld() const { return table_.view().ld; }
  std::size_t n_words() const { return n_words_; }

  // The columns, made when first asked for: by plan(), or before threads ask for them.
  const CenteredColumns& columns(int n_threads);

  // Masks of a batch that may be made from tables: whoever has more had better plan so many at a
  // time.
  std::size_t most_masks() const { return SolverTables::most_masks(n_samples()); }

  // Plan a batch, and move the kept state to where it is wanted. costs[m]: features that mask m
  // will take, for a scheduler.
  void plan(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs);

  // The matrix of mask `index` of the planned batch. `n_threads` above 1 only where no other matrix
  // is being made. Cost from nothing: n^2 / 2 multiply-adds and integer additions a feature.
  void make(const Word* masks, std::size_t index, int n_threads, SolverMatrix& out) const;

  // One mask by itself: the state moves to it, or as make() does where it should not. The bits are
  // those of make(). By one thread.
  void make_one(const Word* mask, int n_threads, SolverMatrix& out);

  // What a matrix is made from: nothing, the state, the other one of its pair; or all of a batch are
  // made when it is planned, from tables; or from nothing in float64, as is likely to be needed.
  enum class Origin : std::uint8_t { empty, state, pair_first, pair_second, tables, doubles };
  Origin origin(std::size_t index) const { return steps_.at(index).origin; }

  // Cost: 2 multiply-adds a (sample, feature).
  void shift_of(const Word* mask, SolverShift& out) const;

  void forget();  // all states and plans, in a forked child: their memory is left behind

  std::uint64_t features_moved() const { return features_moved_; }  // of all plans
  std::uint64_t features_made() const { return features_made_; }
  std::uint64_t features_tabled() const { return tabled_features_; }  // once a batch

 private:
  struct Step {
    Origin origin;
    std::size_t cost;  // features to add or remove
  };

  bool move_near(const Word* base, std::size_t n_neighbors, int n_threads);
  void choose(const MaskBatch& batch, int n_threads);
  void pair_up(const Word* masks, int n_threads);
  SolverState& state();
  void sum_units(const Word* mask, const SolverState* from, int n_threads, SolverMatrix& out) const;
  void convert(SolverMatrix& out) const;
  bool by_tables(const MaskBatch& batch, std::size_t cost, int n_threads);
  // The rule, of the diagonal of the integers: squares[i * stride].
  bool is_fine(const Word* mask, const std::int64_t* squares, std::size_t stride) const;
  bool is_coarse(const Word* mask, SolverMatrix& scratch) const;  // the diagonal made for it
  void sum_doubles(const Word* mask, int n_threads, SolverMatrix& out) const;

  const Table& table_;
  std::size_t n_words_;
  std::unique_ptr<CenteredColumns> columns_;
  std::unique_ptr<SolverState> state_, pair_;
  SolverMatrix first_of_pair_, scratch_;
  SolverTables tables_;
  std::vector<Step> steps_;
  // Whether a mask was found too coarse for integers: then the next batch is asked beforehand.
  mutable std::atomic<bool> seen_coarse_{false};
  // Features that a state would have saved so far, and where it would have stood.
  double median_credit_ = 0, pair_credit_ = 0;
  std::vector<Word> last_median_, last_either_, last_both_;
  std::uint64_t features_moved_ = 0, features_made_ = 0, tabled_features_ = 0;
};

}  // namespace bitsieve
