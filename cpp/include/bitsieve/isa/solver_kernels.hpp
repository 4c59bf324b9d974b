// Gram matrices in fixed point over float64 values, and in float64.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

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
};

}  // namespace bitsieve
