// Sums, sums of squares and products with a target.
#include <algorithm>
#include <vector>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/univariate.hpp"

namespace bitsieve {
namespace {

// Features a chunk: its sums fill a quarter of the first cache.
constexpr std::size_t block = 512;

std::size_t n_blocks(std::size_t n_features) { return (n_features + block - 1) / block; }

template <typename T>
const MomentKernels<T>& moment_kernels() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return kernels().univariate->single;
  } else {
    return kernels().univariate->twofold;
  }
}

}  // namespace

template <typename T>
void class_moments(SampleRows<T> x, const std::int32_t* codes, std::size_t n_classes, int n_threads,
                   double* mean, double* square) {
  std::vector<std::vector<std::int32_t>> members(n_classes);
  for (std::size_t i = 0; i < x.n; ++i) {
    members[static_cast<std::size_t>(codes[i])].push_back(static_cast<std::int32_t>(i));
  }
  const auto& kernel = moment_kernels<T>();
  const std::size_t p = x.p;
  parallel_for(n_blocks(p), n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * block, width = std::min(block, p - begin);
    double sum[block], squares[block];
    const T* first = x.data + begin;
    for (std::size_t c = 0; c < n_classes; ++c) {
      double* means = mean + c * p + begin;
      double* spread = square + c * p + begin;
      const std::size_t m = members[c].size();
      if (m == 0) {
        std::fill(means, means + width, 0.0);
        std::fill(spread, spread + width, 0.0);
        continue;
      }
      kernel.moments(first, p, members[c].data(), m, width, sum, squares);
      const T* shift = first + static_cast<std::size_t>(members[c][0]) * p;
      const double count = static_cast<double>(m);
      for (std::size_t f = 0; f < width; ++f) {
        const double inner = sum[f] / count;
        const double rest = squares[f] - sum[f] * inner;
        means[f] = (static_cast<double>(shift[f]) - static_cast<double>(first[f])) + inner;
        spread[f] = rest < 0 ? 0.0 : rest;
      }
    }
  });
}

template <typename T>
void target_moments(SampleRows<T> x, const double* y, int n_threads, double* square, double* cross) {
  const auto& kernel = moment_kernels<T>();
  const std::size_t p = x.p;
  double total = 0.0;  // what rounding leaves of zero
  for (std::size_t i = 0; i < x.n; ++i) total += y[i];
  parallel_for(n_blocks(p), n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * block, width = std::min(block, p - begin);
    double sum[block], squares[block], products[block];
    kernel.comoments(x.data + begin, p, x.n, y, width, sum, squares, products);
    for (std::size_t f = 0; f < width; ++f) {
      const double inner = sum[f] / static_cast<double>(x.n);
      const double rest = squares[f] - sum[f] * inner;
      square[begin + f] = rest < 0 ? 0.0 : rest;
      cross[begin + f] = products[f] - total * inner;
    }
  });
}

template <typename T>
void target_products(SampleRows<T> x, const double* y, int n_threads, double* cross) {
  const auto& kernel = moment_kernels<T>();
  const std::size_t p = x.p;
  parallel_for(n_blocks(p), n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * block, width = std::min(block, p - begin);
    kernel.weighted(x.data + begin, p, x.n, y, width, cross + begin);
  });
}

template void class_moments(SampleRows<float>, const std::int32_t*, std::size_t, int, double*,
                            double*);
template void class_moments(SampleRows<double>, const std::int32_t*, std::size_t, int, double*,
                            double*);
template void target_moments(SampleRows<float>, const double*, int, double*, double*);
template void target_moments(SampleRows<double>, const double*, int, double*, double*);
template void target_products(SampleRows<float>, const double*, int, double*);
template void target_products(SampleRows<double>, const double*, int, double*);

}  // namespace bitsieve
