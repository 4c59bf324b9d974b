// Sums over the features of a mask, of numbers a test sample.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct AdditiveKernels {};

}  // namespace bitsieve
