// What the one-flip neighbors of a mask share in a linear discriminant analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lda_worker.hpp"

namespace bitsieve {

namespace lda_detail {

constexpr std::size_t lanes = 16;  // features side by side
constexpr double rounding_steps = 64;  // roundings of size 1 behind each of n + k additions

using Lanes = double[lanes];

inline double* grow(AlignedVector<double>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

}  // namespace lda_detail

// Of a split, in the basis Q of the eigenvectors of the base mask's scatter A = Q L Q'. Without
// shrinkage features are measured in units of their spread within the classes, so that A has a unit
// diagonal.
struct LdaFitness::FlipSplit {
  std::vector<std::int32_t> present, train, tests;
  std::vector<std::size_t> begin;   // of the classes in train
  std::vector<double> weight;       // of a class's samples
  std::vector<double> prior;        // of the classes
  std::vector<double> log_ratio;    // [n_present - 1] of a prior to the first one

  std::vector<double> values;       // L [k]
  AlignedVector<double> vectors;    // Q' [k][ld]
  AlignedVector<double> rows;       // Z Q [n_train][ld], Z with Z'Z = A
  AlignedVector<double> test_rows;  // [n_tests][ld] of samples less the mean of the first class
  AlignedVector<double> apart;      // [n_present - 1][ld] of class means less that of the first
  std::vector<double> spread;       // [k] diagonal of A, of the user's features
  std::vector<double> scale;        // [k] unit of a feature

  double trace = 0;          // of A
  double reach = 0;          // no sample's square is greater, nor any sample's less a class mean / 4
  double inflations = 0;     // without shrinkage: sum of one over L
  double raw_trace = 0, raw_inverse = 0, least_spread = 0;  // of A and its inverse as the user's are
};

struct LdaFitness::Flips {
  std::vector<std::int32_t> features;  // of the base
  std::vector<std::int32_t> scaled;    // those that a scaler was asked for
  ScaleView view{};
  FoldScales::Own scales;
  std::vector<FlipSplit> splits;
  std::size_t most_train = 0;
  bool by_moments = false;  // a neighbor alone is solved on moments
};

// What a thread of the pass owns.
struct LdaFitness::FlipScratch {
  AlignedVector<double> raw, x, z, beta, inverse, solved, scores;
  AlignedVector<double> change, bound, along;
  std::vector<double> products, between;
  std::vector<std::int32_t> codes, hits, counts;
  ScoreScratch scores_scratch;
};

}  // namespace bitsieve
