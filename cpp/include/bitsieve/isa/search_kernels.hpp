// Passes over the numbers of a search, one a feature. Contract as in kernels.hpp: plain pointers and
// sizes, no allocation, no threads, no exceptions. Numbers are finite, 64 to a word of a mask, and
// 64-byte aligned. Every number is rounded as the formula is written, so that the bits are the same
// on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct SearchKernels {
  // w[f] += step where bit f of delta is 1, else w[f] -= step; then total[f] += w[f].
  // Limit: memory, 32 bytes a feature.
  void (*step)(const std::uint64_t* delta, std::size_t n_words, double step, double* w,
               double* total);

  // Bits of w >= least[0], of w + c Delta >= least[1] and of w - c Delta >= least[2], n_words each.
  // Limit: memory, 8 bytes a feature.
  void (*reach)(const double* w, const std::uint64_t* delta, std::size_t n_words, double c,
                const double* least, std::uint64_t* bits);
};

}  // namespace bitsieve
