// Dense linear algebra on n x n matrices in float64.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct AlgebraKernels {};

}  // namespace bitsieve
