#include "bitsieve/filters/ranges.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

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

namespace {

// Greatest common divisor of two numbers of float64, which fmod finds without rounding.
double divisor(double a, double b) {
  while (b > 0.0) {
    const double rest = std::fmod(a, b);
    a = b;
    b = rest;
  }
  return a;
}

// Least common multiple, or 0 where it, or a factor, is too large.
std::int64_t multiple(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const std::int64_t part = a / std::gcd(a, b);
  return part > largest_common / b ? 0 : part * b;
}

// a / b for a multiple of b; 0 where that is too large.
std::int64_t ratio(double a, double b) {
  const double steps = a / b;
  return steps <= static_cast<double>(largest_common) ? static_cast<std::int64_t>(steps) : 0;
}

}  // namespace

template <typename T>
void find_common(const SampleRows<T>& samples, int n_threads, FeatureScale* scale) {
  constexpr std::size_t block = 256;
  const std::size_t n_blocks = (samples.p + block - 1) / block;
  double unit = scale->largest_weight;  // of the weights
  for (std::size_t f = 0; f < samples.p; ++f) {
    if (scale->weight(f) > 0.0) unit = divisor(unit, scale->weight(f));
  }
  const std::int64_t largest = ratio(scale->largest_weight, unit);
  scale->common = 0;
  if (largest == 0) return;
  std::vector<std::int64_t> found(n_blocks, 1);  // a block's least common multiple
  std::atomic<bool> none{false};
  parallel_for(n_blocks, n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * block, end = std::min(samples.p, begin + block);
    const auto fail = [&] { none.store(true, std::memory_order_relaxed); };
    std::vector<double> steps(end - begin);  // greatest common divisor of a feature's differences
    for (std::size_t f = begin; f < end; ++f) steps[f - begin] = scale->range[f];
    for (std::size_t i = 0; i < samples.n && !none.load(std::memory_order_relaxed); ++i) {
      const T* row = samples.row(i);
      for (std::size_t f = begin; f < end; ++f) {
        if (scale->range[f] <= 0.0 || scale->is_nominal(f) || scale->weight(f) == 0.0) continue;
        double& step = steps[f - begin];
        const double x = static_cast<double>(row[f]), low = scale->low[f];
        const double off = x - low;
        const double back = off - x;
        if ((x - (off - back)) - (low + back) != 0.0) return fail();  // it was rounded
        if (step == 1.0 && off == std::floor(off)) continue;  // whole numbers
        step = divisor(step, off);
        if (scale->range[f] > step * static_cast<double>(largest_common)) return fail();
      }
    }
    for (std::size_t f = begin; f < end; ++f) {
      if (scale->range[f] <= 0.0 || scale->weight(f) == 0.0) continue;
      // Two, as a level of a nominal feature is marked by half of the grid.
      std::int64_t steps_of = 2;
      if (!scale->is_nominal(f)) steps_of = ratio(scale->range[f], steps[f - begin]);
      if (steps_of == 0 || steps_of > largest_common / largest) return fail();
      const std::int64_t whole = steps_of * largest;
      found[chunk] = multiple(found[chunk], whole / std::gcd(whole, ratio(scale->weight(f), unit)));
      if (found[chunk] == 0) return fail();
    }
  });
  if (none) return;
  scale->common = 1;
  for (const std::int64_t one : found) scale->common = multiple(scale->common, one);
}

template void find_common<float>(const SampleRows<float>&, int, FeatureScale*);
template void find_common<double>(const SampleRows<double>&, int, FeatureScale*);

template void measure_ranges<float>(const SampleRows<float>&, int, FeatureScale*);
template void measure_ranges<double>(const SampleRows<double>&, int, FeatureScale*);

}  // namespace bitsieve
