#include "bitsieve/filters/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {

template <typename T>
void measure_ranges(const SampleRows<T>& samples, int n_threads, FeatureScale* scale) {
  constexpr std::size_t block = 2048;
  const ReliefKernels& kernel = *kernels().relief;
  scale->low.resize(samples.p);
  scale->range.resize(samples.p);
  parallel_for((samples.p + block - 1) / block, n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * block;
    const std::size_t count = std::min(block, samples.p - begin);
    std::vector<T> low(samples.data + begin, samples.data + begin + count), high(low);
    for (std::size_t i = 1; i < samples.n; ++i) {
      if constexpr (std::is_same_v<T, float>) {
        kernel.widen_float(samples.row(i) + begin, count, low.data(), high.data());
      } else {
        kernel.widen_double(samples.row(i) + begin, count, low.data(), high.data());
      }
    }
    for (std::size_t f = 0; f < count; ++f) {
      scale->low[begin + f] = static_cast<double>(low[f]);
      double range = static_cast<double>(high[f]) - static_cast<double>(low[f]);
      if (!std::isfinite(range)) {
        throw std::invalid_argument("column " + std::to_string(begin + f) +
                                    " spans more than float64 can hold; divide it by a number");
      }
      // So narrow that its reciprocal would overflow: as good as constant.
      if (range < 1e-290) range = 0.0;
      scale->range[begin + f] = range;
    }
  });
}

template void measure_ranges<float>(const SampleRows<float>&, int, FeatureScale*);
template void measure_ranges<double>(const SampleRows<double>&, int, FeatureScale*);

}  // namespace bitsieve
