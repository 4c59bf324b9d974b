// Gram matrices in fixed point over float64 values, and in float64.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// The integer sums of many masks at once. Of 4 neighboring features a mask holds one of 16 sets, and
// the products of each set are summed once for all masks: a mask then takes one addition for 4
// features. A tile of 4 x 8 pairs at a time, so that the tables of solver_groups groups stay in the
// first cache (4 KiB each) while all masks take from them.
inline constexpr std::size_t solver_group = 4;     // features
inline constexpr std::size_t solver_sets = 16;     // of a group
inline constexpr std::size_t solver_groups = 8;    // a call
inline constexpr std::size_t solver_rows = 4;      // of a tile
inline constexpr std::size_t solver_columns = 8;
inline constexpr std::size_t solver_pairs = solver_rows * solver_columns;

struct SolverKernels {
  // A rectangle of a Gram matrix over m rows (features) of float64 values, i and j multiples of 16:
  //   gram[(i - i_begin) * ldc + j - j_begin] += sum_f rows[f * ld + i] * rows[f * ld + j]
  // `fresh` sets instead of adding. Every element is a chain of fused multiply-adds from zero, rows
  // in ascending order, then one addition: the same bits on every instruction set, and however a
  // matrix is cut into rectangles.
  // Cost: a multiply-add a (pair, feature); limit 2 vectors of them a cycle (16 on AVX-512).
  void (*gram)(const double* rows, std::size_t ld, std::size_t m, std::size_t i_begin,
               std::size_t i_end, std::size_t j_begin, std::size_t j_end, double* gram,
               std::size_t ldc, bool fresh);

  // units[i] += sum_f rows[f * ld + i]^2 for i < ld, each rounded once to the unit that `magic` pins:
  // the diagonal that Kernels::gram_fixed would give.
  void (*squares)(const double* rows, std::size_t ld, std::size_t m, double magic,
                  std::int64_t* units);

  // tables[(g * 16 + set) * 32 + r * 8 + c]: sum over the features of the set of the product
  // left[f * 8 + r] * right[f * 8 + c], f = 4 * g + 0 .. 3, each rounded once to the unit that
  // `magic` pins (as Kernels::gram_fixed has it).
  // Cost: 4 multiply-adds, 15 additions and 16 stores of a vector for each vector of a tile.
  void (*tabulate)(const double* left, const double* right, std::size_t n_groups, double magic,
                   std::int64_t* tables);

  // sums[m * 32 + k] += sum_g tables[places[m * solver_groups + g] + k] for k < 32: places[.] is
  // (g * 16 + set) * 32. Limit: two loads of the first cache a cycle.
  void (*add_tables)(const std::int64_t* tables, std::size_t n_groups, const std::uint16_t* places,
                     std::size_t n_masks, std::int64_t* sums);
};

}  // namespace bitsieve
