// Products and distances of features that are scaled anew for each training part.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct ScaledKernels {};

}  // namespace bitsieve
