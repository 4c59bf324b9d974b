// Gram matrices in fixed point over float64 values, and in float64.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct SolverKernels {};

}  // namespace bitsieve
