#include "bitsieve/core/finite.hpp"

#include <algorithm>
#include <atomic>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {

template <typename T>
bool all_finite(const T* values, std::size_t count, int n_threads) {
  constexpr std::size_t chunk = std::size_t{1} << 17, lanes = 16;
  std::atomic<bool> fine{true};
  parallel_for((count + chunk - 1) / chunk, n_threads, [&](std::size_t c) {
    if (!fine.load(std::memory_order_relaxed)) return;
    const T* from = values + c * chunk;
    const std::size_t n = std::min(chunk, count - c * chunk);
    // Zero times a number is zero; times NaN or infinity it is NaN, and stays so in a sum.
    T sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += from[i + lane] * T{0};
    }
    for (; i < n; ++i) sums[0] += from[i] * T{0};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!(sums[lane] == T{0})) fine.store(false, std::memory_order_relaxed);
    }
  });
  return fine.load();
}

template bool all_finite<float>(const float*, std::size_t, int);
template bool all_finite<double>(const double*, std::size_t, int);

}  // namespace bitsieve
