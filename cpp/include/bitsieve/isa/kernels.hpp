// The hot inner loops, compiled once per instruction set and called through one table.
//
// Contract of every kernel: plain pointers and sizes, no allocation, no threads, no exceptions.
// Rows are 64-byte aligned, `ld` is a multiple of 16, and elements past n are zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/isa/additive_kernels.hpp"
#include "bitsieve/isa/algebra_kernels.hpp"
#include "bitsieve/isa/information_kernels.hpp"
#include "bitsieve/isa/neighbor_kernels.hpp"
#include "bitsieve/isa/pair_kernels.hpp"
#include "bitsieve/isa/relief_kernels.hpp"
#include "bitsieve/isa/row_kernels.hpp"
#include "bitsieve/isa/scaled_kernels.hpp"
#include "bitsieve/isa/search_kernels.hpp"
#include "bitsieve/isa/solver_kernels.hpp"
#include "bitsieve/isa/svm_kernels.hpp"
#include "bitsieve/isa/univariate_kernels.hpp"

namespace bitsieve {

// One test sample of the one-flip kernel: who may be its neighbor, classes apart.
struct FlipTest {
  std::int32_t sample;
  std::int32_t row;      // where its distances are
  std::int32_t counter;  // of hits: split * n_classes + its class
  std::int32_t same_begin, same_end;    // into FlipTests::candidates: training samples of its class
  std::int32_t other_begin, other_end;  // and of the other classes
};

struct FlipTests {
  const FlipTest* tests;
  std::size_t n_tests;
  const std::int32_t* candidates;
  std::size_t n_counters;
  const std::int32_t* class_begin;  // [n_splits][n_classes + 1] into candidates
  std::size_t n_classes;
};

inline constexpr std::size_t flip_lanes = 16;    // features a call of flips_nearest
inline constexpr std::size_t flip_classes = 16;  // most classes of flips_class
inline constexpr std::size_t least_block = 256;  // values a minimum of lower_bounds

struct Kernels {
  const char* name;

  // Whether a multiply-add in float64 is rounded once, by a unit of the processor.
  bool has_fma;

  // Tables in headers of their own.
  const ReliefKernels* relief;
  const InformationKernels* information;
  const UnivariateKernels* univariate;
  const SvmKernels* svm;
  const AdditiveKernels* additive;
  const AlgebraKernels* algebra;
  const NeighborKernels* neighbor;
  const ScaledKernels* scaled;
  const SolverKernels* solver;
  const RowKernels* rows;
  const SearchKernels* search;
  const PairKernels* pairs;

  // A rectangle of a Gram matrix over m chosen features of a feature-major table:
  //   gram[(i - i_begin) * ldc + j - j_begin] += sign * sum_f table[f * ld + i] * table[f * ld + j]
  // for i in [i_begin, i_end), j in [j_begin, j_end), all multiples of 16; `fresh` sets instead of
  // adding, so that nobody need clear the matrix first.
  // Cost: a multiply-add a (pair, feature); limit 2 vectors of them a cycle (32 on AVX-512).
  // Rounding: |error| <= (m + 1) * 2^-24 * sum |products|, and one rounding of the sum with gram.
  void (*gram_float)(const float* table, std::size_t ld, const std::int32_t* features,
                     std::size_t m, std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                     std::size_t j_end, float* gram, std::size_t ldc, float sign, bool fresh);

  // squares[i] += sum_f table[f * ld + i]^2 for i < ld. Reads every line that gram_float will.
  void (*add_squares)(const float* table, std::size_t ld, const std::int32_t* features,
                      std::size_t m, float* squares);

  // The Gram rectangle in fixed point, from rows[f * ld + i] that hold float32 values: each
  // product is rounded once to a multiple of the unit that `magic` (1.5 * 2^52 units) pins, then
  // added exactly. Products must stay below 2^50 units. As products of float32 values are exact in
  // float64, the bits are the same with and without an FMA unit.
  // Cost: multiply-add and integer add a (pair, feature); limit one vector of pairs a cycle.
  void (*gram_fixed)(const double* rows, std::size_t ld, std::size_t m, std::size_t i_begin,
                     std::size_t i_end, std::size_t j_begin, std::size_t j_end, std::int64_t* gram,
                     std::size_t ldc, double magic, int sign);

  // Lower bounds of the squared distances of one sample, less what is common to its row:
  //   lower[j] = squares[j] - 2 * gram_row[j] - factor * roots[j]   for j < ld,
  // and the least of each least_block of them. Limit: memory.
  void (*lower_bounds)(const float* gram_row, const float* squares, const float* roots,
                       float factor, std::size_t ld, float* lower, float* block_least);

  // The least of n values (a multiple of 16), and the lowest index of a value among them.
  // Limit: one pass over L1 each.
  float (*least)(const float* values, std::size_t n);
  std::size_t (*index_of)(const float* values, std::size_t n, float value);

  // One-flip neighbors under 1-NN, flip_lanes features at a time.
  //   values[j * 16 + lane]  feature values, sample-major
  //   base[row * ld + j]     squared distances under the base mask, of the tests' rows
  //   sign[lane]             +1 the feature joins the mask, -1 it leaves
  //   margin[i], spread[lane]  the error bound of a distance of sample i is
  //                            margin[i] + 2^-21 * (|value| + spread)^2 + 2^-22 * distance
  // or, where all lanes join and that is less, as good as
  //   margin[i] + 2^-21 * (|value| + spread) * sqrt(distance + margin[i]) + 2^-22 * distance.
  // correct[counter * 16 + lane] counts test samples whose nearest neighbor is surely of their
  // class; unsure[test] has a bit for each lane where the bound does not decide.
  // Cost: 3 vector operations a (pair, 16 features) where all lanes join or all leave, else 4;
  // limit 1.5 and 2 cycles each on AVX-512: chains of minima hide their latency of 4.
  // flips_class counts which class is surely the nearest one's:
  // counts[(counter * n_classes + class) * 16 + lane]. Some operations more a (test, class).
  void (*flips_nearest)(const float* values, const float* base, std::size_t ld, const float* sign,
                        const float* margin, const float* spread, const FlipTests& tests,
                        std::int32_t* correct, std::uint16_t* unsure);
  void (*flips_class)(const float* values, const float* base, std::size_t ld, const float* sign,
                      const float* margin, const float* spread, const FlipTests& tests,
                      std::int32_t* counts, std::uint16_t* unsure);
};

extern const Kernels kernels_baseline;
#if defined(BITSIEVE_X86)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

}  // namespace bitsieve
