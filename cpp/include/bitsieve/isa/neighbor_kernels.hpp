// Nearest neighbors beyond what the Gram kernels serve: distances whose scale differs from split to
// split, and more than one neighbor of one-flip masks.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t rectangle_rows = 8;  // rows of a rectangle come in multiples of it

inline constexpr std::size_t vote_neighbors = 5;  // most neighbors of flips_votes

struct FlipTest;
struct FlipTests;

// A sample by its distance from another under the base mask, and its class, below 16.
struct VoteCandidate {
  float distance;
  std::int32_t sample;
  std::uint32_t code;
};

// Tests of one-flip masks whose several nearest neighbors vote.
struct FlipVotes {
  const FlipTest* tests;
  std::size_t n_tests;
  const VoteCandidate* candidates;  // [rows][n_candidates], ascending distances
  std::size_t n_candidates;
  const std::uint64_t* training;  // [n_samples][n_words] splits that train on a sample
  std::size_t n_words;
  std::size_t first_split;  // that of counter 0
  std::size_t n_counters, n_classes, n_neighbors;
  bool hits_only;
};

// flip_lanes features, each a mask of its own.
struct SingleFeatures {
  const double* values;           // [n_samples][16] the user's
  const double* rows;             // [16][ld] the same, feature by feature; ld is a multiple of 64
  std::size_t ld;
  const double* factors;          // [16] of the differences, or null
  const std::int32_t* classes;    // [n_samples]
  const std::uint64_t* training;  // [n_splits][ld / 64] samples that a split of a counter trains on
};

struct NeighborKernels {
  // Some columns of chosen rows of a feature-major table, weighted twice over: with
  // x = table[features[k] * ld + j] and w = weights[k]
  //   scaled[k * width + j] = (x * w) * w,   squares[j] += sum_k (x * w)^2
  // for k < m and j < width, a multiple of 16.
  // Cost: four operations a value. Limit: the store.
  void (*scale_rows)(const float* table, std::size_t ld, const std::int32_t* features,
                     std::size_t m, const float* weights, std::size_t width, float* scaled,
                     float* squares);

  // Products of some samples with all columns:
  //   out[i * ldo + j] = sum_k table[features[k] * ld + rows[i]] * scaled[k * width + j]
  // for i < n_rows, a multiple of rectangle_rows, and j < width, a multiple of 16; added to what is
  // there unless `fresh`.
  // Cost: a multiply-add a (pair, feature); limit 2 vectors of them a cycle (32 on AVX-512).
  // Rounding: |error| <= (m + 1) * 2^-24 * sum |products|, and one rounding of the sum with out.
  void (*rectangle)(const float* table, std::size_t ld, const std::int32_t* features,
                    std::size_t m, const std::int32_t* rows, std::size_t n_rows,
                    const float* scaled, std::size_t width, float* out, std::size_t ldo,
                    bool fresh);

  // One-flip neighbors whose nearest 2 to vote_neighbors vote, flip_lanes features at a time: as
  // flips_nearest and flips_class of kernels.hpp, by FlipVotes::hits_only, with their values, signs,
  // margins (at least 2^-98 each) and spreads; a tied vote goes to the lowest class. A class is
  // carried in the last 4 bits of a distance. Undecided is what its bound, 2^-17 of the distance and
  // more, leaves open between the last neighbor and the next.
  // Cost: 2 n_neighbors + 9 vector operations a (pair, 16 features), of pairs that are not farther
  // under the base mask than the neighbors found before; n_classes * n_neighbors * 4 a test.
  void (*flips_votes)(const float* values, const float* sign, const float* margin,
                      const float* spread, const FlipVotes& votes, std::int32_t* counts,
                      std::uint16_t* unsure);

  // The same masks, whose nearest 1 to vote_neighbors are named instead: for neighbor s of test t
  //   places[(t * n_neighbors + s) * flip_lanes + lane]
  // is its place among votes.candidates, nearest first. Unsure: which they are is left open, or one
  // stands at place 255 or later; unordered: their order. Places are carried in the last 8 bits of a
  // distance, so that 2^-13 of it is left open. Counters are splits where n_classes is 1; codes,
  // n_counters and hits_only are not read.
  // Cost: as flips_votes a pair; n_neighbors * 4 a test.
  void (*flips_places)(const float* values, const float* sign, const float* margin,
                       const float* spread, const FlipVotes& votes, float* places,
                       std::uint16_t* unsure, std::uint16_t* unordered);

  // The sum over k < m of ((a[k] - b[k]) * factors[k])^2, without factors where they are null: eight
  // partial sums by k modulo 8, added pairwise, each operation rounded (ExactDistance). Zeros at the
  // end of both rows change no bit: a multiple of 8 is soonest done.
  // Cost: a vector of eight at a time. Limit: the latency of an addition.
  double (*squared_distance)(const double* a, const double* b, const double* factors,
                             std::size_t m);

  // Masks of a single feature under 1-NN, flip_lanes of them at a time, decided in float64 as
  // ExactDistance does, ties to the lowest sample: nothing is left open.
  // With hits_only counts[counter * 16 + lane] as flips_nearest, else
  // counts[(counter * n_classes + class) * 16 + lane] as flips_class. FlipTest::row and
  // FlipTests::class_begin are not read.
  // Cost: 3 vector operations (a factor: 4) a (pair, 8 features of AVX-512), the same a (test,
  // 8 samples) up to the first of the nearest where classes tie; limit 3 cycles a (pair, 16 features).
  void (*single_features)(const SingleFeatures& of, const FlipTests& tests, bool hits_only,
                          std::int32_t* counts);

  // The rows of 16 features, sample-major: out[j * 16 + lane] = rows[lane][j] for j < ld, a multiple
  // of 16. Cost: four shuffles a vector. Limit: memory.
  void (*side_by_side)(const float* const* rows, std::size_t ld, float* out);
};

}  // namespace bitsieve
