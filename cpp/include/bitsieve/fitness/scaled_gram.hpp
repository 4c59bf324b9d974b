// Gram matrices of features that are scaled anew for each training part: one a split, in float64.
//
// The matrix of a split has all samples in the order of the table, as the matrix without a scaler
// has, so that a model reads either by the same code. (Of pairs of which neither trains nothing is
// wanted; in five folds they are a twenty-fifth, and made all the same.) Its bits are a function of
// mask and split alone, on every instruction set: features ascend, in blocks of scaled_block.
//
// Splits are made a few at a time: what is read of the table then serves them all, and their
// matrices stay in L2. Needs an instruction set that fuses multiply-adds (Kernels::has_fma).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/fold_scales.hpp"

namespace bitsieve {

inline constexpr std::size_t scaled_block = 64;  // features a tile sums before it is added to gram

// The matrices of one mask after the other; each thread of an evaluation owns one.
class ScaledGram {
 public:
  explicit ScaledGram(const Table& table) : table_(table) {}

  // The next mask: its features, ascending, and their scales, which both have to stay. `n_threads`
  // above 1 only where no other matrix is being made.
  void begin(const std::vector<std::int32_t>& features, const ScaleView& scales,
             std::size_t n_splits, int n_threads);

  // [ld][ld], elements i, j < n, both triangles; good until another split is asked for. Ask in
  // ascending order. An inverse that is not finite or values that overflow make it not finite.
  // Cost: n^2 / 2 multiply-adds a feature; limit two vectors of them a cycle.
  const double* of(std::size_t split);

  // [n] of the split last asked for: z summed over the features.
  const double* sums() const { return sums_.data() + (split_ - first_) * ld(); }

  std::size_t ld() const { return table_.view().ld; }

 private:
  void make(std::size_t first);

  const Table& table_;
  const std::vector<std::int32_t>* features_ = nullptr;
  ScaleView scales_{};
  std::size_t n_splits_ = 0, first_ = 0, count_ = 0, split_ = 0;
  int n_threads_ = 1;
  AlignedVector<double> grams_, sums_, rows_;
};

}  // namespace bitsieve
