// The user's table as the filters read it.
#pragma once

#include <cstddef>

namespace bitsieve {

// Samples x features, C order, float32 or float64.
template <typename T>
struct SampleRows {
  const T* data;
  std::size_t n, p;
  const T* row(std::size_t i) const { return data + i * p; }
};

}  // namespace bitsieve
