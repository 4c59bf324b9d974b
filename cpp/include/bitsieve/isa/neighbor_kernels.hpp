// Nearest neighbors of one-flip masks, beyond the nearest one.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct NeighborKernels {};

}  // namespace bitsieve
