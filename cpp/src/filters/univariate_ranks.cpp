// Pairs and ranks: one feature's samples against one another.
#include <algorithm>
#include <cmath>
#include <bit>
#include <numeric>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/univariate.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t block = 256;  // features a chunk: rows of a kilobyte
constexpr std::size_t most_wide = 64;  // features a chunk of the ranks

// The network costs n (log2 n)^2 / 4 exchanges of 8 features each; from here on sorting one feature
// after another is cheaper.
constexpr std::size_t network_limit = 4096;

// A float32 value is exact in a float64 with 29 bits to spare: they hold the sample's number, so
// that one sort of plain numbers carries it along. Zero has no spare bits; the smallest float32 is
// 2^-149, so 2^-200 stands for it.
constexpr std::uint64_t number_mask = (std::uint64_t{1} << 29) - 1;

double packed(float value, std::size_t number) {
  const double wide = value == 0 ? 0x1p-200 : static_cast<double>(value);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(wide) | number);
}

// One feature's sorted samples, every `stride` values, and what is asked about their ranks.
struct Walk {
  const std::int32_t* codes;
  std::size_t n_classes;
  const double* y;  // or null
  std::size_t n_samples;

  // value(k) and number(k): of the k-th smallest. twice[c] gathers doubled ranks.
  template <typename Value, typename Number>
  void operator()(Value&& value, Number&& number, std::int64_t* twice, double* ties,
                  double* cross) const {
    std::fill(twice, twice + n_classes, 0);
    double tied = 0.0, product = 0.0;
    for (std::size_t begin = 0; begin < n_samples;) {
      const auto here = value(begin);
      std::size_t end = begin + 1;
      while (end < n_samples && value(end) == here) ++end;
      const std::int64_t rank = static_cast<std::int64_t>(begin + end + 1);  // doubled
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t i = number(k);
        twice[codes[i]] += rank;
        if (y != nullptr) product += y[i] * static_cast<double>(rank);
      }
      const double t = static_cast<double>(end - begin);
      tied += t * (t * t - 1);
      begin = end;
    }
    *ties = tied;
    if (y != nullptr) *cross = product / 2;
  }
};

struct Scratch {
  AlignedVector<double> keys, carried;
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> twice;
};

}  // namespace

template <typename T>
void pair_wins(Columns<T> x, const std::int32_t* codes, int n_threads, double* wins) {
  const auto& kernel = [] () -> const MomentKernels<T>& {
    if constexpr (sizeof(T) == sizeof(float)) return kernels().univariate->single;
    else return kernels().univariate->twofold;
  }();
  const std::size_t n = x.n_samples, p = x.n_features;
  std::vector<std::size_t> order;  // the samples of code 1, then the others
  for (std::size_t i = 0; i < n; ++i) {
    if (codes[i] == 1) order.push_back(i);
  }
  const std::size_t n_high = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (codes[i] != 1) order.push_back(i);
  }
  // Rows are read a kilobyte at a time into tiles of pair_lanes features; a tile stays in cache.
  constexpr std::size_t tiles = block / pair_lanes;
  std::vector<AlignedVector<T>> buffers(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker((p + block - 1) / block, n_threads, [&](std::size_t chunk, int worker) {
    auto& buffer = buffers[static_cast<std::size_t>(worker)];
    buffer.resize(n * block);
    const std::size_t begin = chunk * block, width = std::min(block, p - begin);
    T poison[block] = {};  // zero, or NaN where a value is not finite
    for (std::size_t k = 0; k < n; ++k) {
      const T* row = x.values + order[k] * p + begin;
      for (std::size_t f = 0; f < width; ++f) poison[f] += row[f] * T{0};
      if (k + 4 < n) {
        const T* next = x.values + order[k + 4] * p + begin;
        for (std::size_t f = 0; f < width; f += cache_line / sizeof(T)) prefetch(next + f);
      }
      for (std::size_t t = 0; t < tiles && t * pair_lanes < width; ++t) {
        T* to = buffer.data() + (t * n + k) * pair_lanes;
        const std::size_t m = std::min(pair_lanes, width - t * pair_lanes);
        std::copy(row + t * pair_lanes, row + t * pair_lanes + m, to);
        std::fill(to + m, to + pair_lanes, T{0});
      }
    }
    for (std::size_t t = 0; t < tiles && t * pair_lanes < width; ++t) {
      const T* tile = buffer.data() + t * n * pair_lanes;
      std::uint32_t twice[pair_lanes];
      kernel.pairs(tile, n_high, tile + n_high * pair_lanes, n - n_high, twice);
      const std::size_t m = std::min(pair_lanes, width - t * pair_lanes);
      for (std::size_t lane = 0; lane < m; ++lane) {
        const std::size_t f = t * pair_lanes + lane;
        wins[begin + f] = static_cast<double>(twice[lane]) / 2 + static_cast<double>(poison[f]);
      }
    }
  });
}

template <typename T>
void rank_sums(Columns<T> x, const std::int32_t* codes, std::size_t n_classes, const double* y,
               int n_threads, double* sums, double* ties, double* cross) {
  const auto& kernel = *kernels().univariate;
  const std::size_t n = x.n_samples, p = x.n_features;
  const Walk walk{codes, n_classes, y, n};
  const bool network = n <= network_limit;
  constexpr bool single = sizeof(T) == sizeof(float);
  // As many features a chunk as fill the second cache; all of a sample's neighbours share a line.
  const std::size_t wide = std::max<std::size_t>(
      sort_lanes, std::min<std::size_t>(most_wide, 65536 / n / sort_lanes * sort_lanes));
  std::vector<Scratch> all(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker((p + wide - 1) / wide, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& scratch = all[static_cast<std::size_t>(worker)];
    scratch.twice.resize(n_classes);
    scratch.keys.resize(n * wide);
    const std::size_t begin = chunk * wide, width = std::min(wide, p - begin);
    const std::size_t groups = (width + sort_lanes - 1) / sort_lanes;
    T poison[most_wide] = {};
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x.values + i * p + begin;
      if (i + 8 < n) {
        const T* next = x.values + (i + 8) * p + begin;
        for (std::size_t f = 0; f < width; f += cache_line / sizeof(T)) prefetch(next + f);
      }
      for (std::size_t f = 0; f < width; ++f) poison[f] += row[f] * T{0};
    }
    const auto finish = [&](std::size_t f, auto&& value, auto&& number) {
      double unused = 0;
      walk(value, number, scratch.twice.data(), ties + f, cross == nullptr ? &unused : cross + f);
      for (std::size_t c = 0; c < n_classes; ++c) {
        sums[c * p + f] =
            static_cast<double>(scratch.twice[c]) / 2 + static_cast<double>(poison[f - begin]);
      }
    };
    if (network) {
      for (std::size_t i = 0; i < n; ++i) {
        const T* row = x.values + i * p + begin;
        for (std::size_t g = 0; g < groups; ++g) {
          double* to = scratch.keys.data() + (g * n + i) * sort_lanes;
          for (std::size_t lane = 0; lane < sort_lanes; ++lane) {
            const std::size_t f = std::min(g * sort_lanes + lane, width - 1);
            if constexpr (single) {
              to[lane] = packed(row[f], i);
            } else {
              to[lane] = row[f];
            }
          }
        }
      }
      if constexpr (!single) scratch.carried.resize(n * sort_lanes);
      for (std::size_t g = 0; g < groups; ++g) {
        double* keys = scratch.keys.data() + g * n * sort_lanes;
        if constexpr (single) {
          kernel.sort(keys, n);
        } else {
          for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t lane = 0; lane < sort_lanes; ++lane) {
              scratch.carried[i * sort_lanes + lane] = static_cast<double>(i);
            }
          }
          kernel.sort_with(keys, scratch.carried.data(), n);
        }
        for (std::size_t lane = 0; lane < sort_lanes && g * sort_lanes + lane < width; ++lane) {
          const double* key = keys + lane;
          if constexpr (single) {
            finish(
                begin + g * sort_lanes + lane,
                [key](std::size_t k) {
                  return std::bit_cast<std::uint64_t>(key[k * sort_lanes]) & ~number_mask;
                },
                [key](std::size_t k) {
                  return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(key[k * sort_lanes]) &
                                                  number_mask);
                });
          } else {
            const double* number = scratch.carried.data() + lane;
            finish(
                begin + g * sort_lanes + lane, [key](std::size_t k) { return key[k * sort_lanes]; },
                [number](std::size_t k) {
                  return static_cast<std::size_t>(number[k * sort_lanes]);
                });
          }
        }
      }
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x.values + i * p + begin;
      for (std::size_t f = 0; f < width; ++f) {
        scratch.keys[f * n + i] = std::isfinite(row[f]) ? static_cast<double>(row[f]) : 0.0;
      }
    }
    scratch.order.resize(n);
    for (std::size_t f = 0; f < width; ++f) {
      const double* key = scratch.keys.data() + f * n;
      std::iota(scratch.order.begin(), scratch.order.end(), 0);
      const std::int32_t* order = scratch.order.data();
      std::sort(scratch.order.begin(), scratch.order.end(), [key](std::int32_t i, std::int32_t j) {
        return key[i] < key[j] || (key[i] == key[j] && i < j);
      });
      finish(
          begin + f, [&](std::size_t k) { return key[order[k]]; },
          [&](std::size_t k) { return static_cast<std::size_t>(order[k]); });
    }
  });
}

template void pair_wins(Columns<float>, const std::int32_t*, int, double*);
template void pair_wins(Columns<double>, const std::int32_t*, int, double*);
template void rank_sums(Columns<float>, const std::int32_t*, std::size_t, const double*, int,
                        double*, double*, double*);
template void rank_sums(Columns<double>, const std::int32_t*, std::size_t, const double*, int,
                        double*, double*, double*);

}  // namespace bitsieve
