// Gram matrices of features that are scaled anew for each training part: one a split, in float64.
//
// The matrix of a split has all samples in the order of the table, as the matrix without a scaler
// has, so that a model reads either by the same code. (Of the pairs none of which trains, a fifth of
// a fifth in five folds, nothing is wanted; they are made all the same.) Its bits are a function of
// mask and split alone, on every instruction set: features ascend, in blocks of scaled_block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/fold_scales.hpp"

namespace bitsieve {

inline constexpr std::size_t scaled_block = 64;  // features a tile sums before it is added to gram

// gram[ld][ld]: elements i, j < n are set, both triangles, and sums[i] over the features where wanted
// (ld of them). `rows` is scratch of the caller's. An inverse that is not finite, or values that
// overflow, give a matrix that is not finite.
// Cost: n^2 / 2 multiply-adds a feature; limit two vectors of them a cycle.
void scaled_gram(const Table& table, const std::vector<std::int32_t>& features,
                 const ScaleView& scales, std::size_t split, int n_threads,
                 AlignedVector<double>& rows, double* gram, double* sums = nullptr);

}  // namespace bitsieve
