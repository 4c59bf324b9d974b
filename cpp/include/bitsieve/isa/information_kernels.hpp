// Counts of the information filters. Contract as in kernels.hpp: plain
// pointers and sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct InformationKernels {
  const char* room;
};

}  // namespace bitsieve
