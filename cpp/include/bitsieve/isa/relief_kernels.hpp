// Distances and weights of the Relief family. Contract as in kernels.hpp: plain
// pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct ReliefKernels {
  const char* room;
};

}  // namespace bitsieve
