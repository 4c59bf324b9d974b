// What a thread of a ridge regression owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/algebra.hpp"
#include "bitsieve/fitness/ridge.hpp"
#include "bitsieve/fitness/ridge_scaled.hpp"
#include "bitsieve/fitness/scaled_gram.hpp"

namespace bitsieve {

namespace ridge_detail {

// A matrix whose inflation is above this is too near singular for nine digits of an answer.
constexpr double most_inflation = 1e6;

// scikit-learn's LinearRegression cuts singular values below 1e-6 of the greatest off. Squares of
// them whose ratio may reach a tenth of that are left to it.
constexpr double most_spread = 1e11;

// Below this share of the penalty the predictions are no longer a difference of what is to be
// predicted and what is left of it, which would lose their digits.
constexpr double least_share = 1e-3;

inline double* grow(AlignedVector<double>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

// sum_i weights[i] * (A^-1)_ii for A = U'U; weights may be null. `work` is [n][ld].
double trace_of_inverse(const double* u, const double* inverse_diagonal, std::size_t n,
                        std::size_t ld, const double* weights, double* work);

// rows[i][f] = factors[i] * columns[f][samples[i]] for i < m; samples null: all, in order.
void transpose(const double* columns, std::size_t ld, std::size_t k, const std::int32_t* samples,
               std::size_t m, const double* factors, double* rows, std::size_t ld_rows);

}  // namespace ridge_detail

struct RidgeFitness::Own : MaskFitness::Worker {
  explicit Own(const Table& table) : scaled(table) {}

  RidgePlan plan;
  SolverMatrix matrix;
  SolverShift shift;
  MaskMoments moments;
  std::vector<double> answers;  // of moments, of a split
  std::vector<std::int32_t> features;
  double trace = 0;  // of the kernel matrix, or of the products of the features
  double total = 0;  // of the weights

  AlignedVector<double> targets;  // [n][ld_targets], less `middle`
  double middle = 0;
  AlignedVector<double> predicted;  // [n_tests of all splits][ld_targets]

  AlignedVector<double> a, work, inverse, inverse_diagonal, products;
  AlignedVector<double> columns, rows;             // of a mask's features: [k][ld], [n][ld_k]
  AlignedVector<double> block, right, coefficients;  // of a split
  AlignedVector<double> block_diagonal, weights, means;
  Border border;

  // Of features that are scaled in each split.
  FoldScales::Own scales;
  ScaledGram scaled;
  ScaledRidge side_by_side;
};

}  // namespace bitsieve
