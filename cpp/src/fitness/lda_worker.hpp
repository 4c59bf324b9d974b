// What a thread of a linear discriminant analysis owns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/algebra.hpp"
#include "bitsieve/fitness/lda.hpp"

namespace bitsieve {

namespace lda_detail {

// Without shrinkage: condition numbers, and spreads within the classes beside the values, for which
// scikit-learn's answer still has most of its digits.
constexpr double most_covariance_condition = 1e9;
constexpr double least_within_spread = 0x1p-80;  // squared
constexpr double lda_rank_margin = 1e-4;         // of what scikit-learn measures itself

// Eigenvalues of a symmetric matrix of a few classes, by Jacobi rotations, in its diagonal.
void diagonalize_classes(std::vector<double>& a, std::size_t n);

// Class means and their mean lie in a space of fewer directions than classes, or than features: the
// first of the sorted lengths that need not be zero.
inline std::size_t first_length(std::size_t n_present, std::size_t k) {
  return n_present - std::min(n_present - 1, k);
}

}  // namespace lda_detail

struct LdaFitness::Own : MaskFitness::Worker {
  std::vector<std::int32_t> features;
  SolverMatrix matrix;
  std::unique_ptr<ScaledGram> scaled;
  FoldScales::Own scales;

  // Of a split: classes that it trains on, and its training samples class by class.
  std::vector<std::int32_t> present;
  std::vector<std::int32_t> train, tests;
  std::vector<std::size_t> begin;           // [n_present + 1] of train
  std::vector<double> prior, log_prior;     // [n_present]
  std::vector<double> weight;               // [n_present] root of the weight of a sample's square
  std::vector<double> scores;               // [n_tests][n_present]

  // On the samples.
  std::vector<double> class_means;          // [n_present][n_train + n_tests] of a row over a class
  std::vector<double> centre;               // [n_train + n_tests] of a row over the classes
  std::vector<double> products;             // [n_present][n_present] of the class means
  std::vector<double> mean_products;        // [n_present] with the mean of the class means
  AlignedVector<double> tests_by_train;     // [n_tests][n_train]

  // On the features.
  std::vector<double> amplitude;            // [k] largest value
  AlignedVector<double> values;             // [n_samples][ld]
  AlignedVector<double> means, mean, rows;  // [n_present][ld], [ld], [n_train][ld]
  AlignedVector<double> inverse, work;

  AlignedVector<double> system, diagonal, right, solved;
  std::vector<double> between, offsets;

  // On moments.
  MaskMoments moments;
  std::vector<double> factors, squares, line, coefficients, origins;
};

}  // namespace bitsieve
