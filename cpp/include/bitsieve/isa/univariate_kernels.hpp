// One pass over a table for scores that look at one feature at a time. Contract as in kernels.hpp: plain
// pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct UnivariateKernels {
  const char* room;
};

}  // namespace bitsieve
