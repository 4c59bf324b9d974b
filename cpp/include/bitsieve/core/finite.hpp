// Whether an array holds numbers only.
#pragma once

#include <cstddef>

namespace bitsieve {

// False if a value is NaN or infinite. Limit: reading the array once.
template <typename T>
bool all_finite(const T* values, std::size_t count, int n_threads);

}  // namespace bitsieve
