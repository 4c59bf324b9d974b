#include "bitsieve/filters/columns.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t lanes = tile_lanes;
constexpr std::size_t chunk_size = 64;  // features
constexpr std::size_t rows_ahead = 6;   // to be read soon
// A share of the variance that rounding alone may leave: |r| of 10^-13. F is 0 then, so that
// features that say nothing are alike.
constexpr double negligible = 1e-26;

// Average ranks, 1 for the least; values[i * stride].
void rank_in_place(double* values, std::size_t n, std::size_t stride,
                   std::vector<std::uint32_t>& order) {
  order.resize(n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return values[a * stride] < values[b * stride];
  });
  std::vector<double> ranks(n);
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && values[order[end] * stride] == values[order[begin] * stride]) ++end;
    const double rank = (static_cast<double>(begin) + static_cast<double>(end) + 1.0) / 2.0;
    for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = rank;
    begin = end;
  }
  for (std::size_t i = 0; i < n; ++i) values[i * stride] = ranks[i];
}

// Sums of squares below this may have lost digits to underflow.
constexpr double least_square = 1e-280;

bool all_equal(const double* values, std::size_t n) {
  for (std::size_t i = 1; i < n; ++i) {
    if (values[i * lanes] != values[0]) return false;
  }
  return true;
}

struct Scratch {
  AlignedVector<double> tile, class_means;
  std::vector<std::uint32_t> order;
};

}  // namespace

// fill(first, count, tiles): values of `count` features from `first` on, a tile after the other,
// zero in the lanes that are left over.
template <typename Fill>
void UnitColumns::build(bool ranks, const FTarget& target, int n_threads, const Fill& fill) {
  const std::size_t n_blocks = (p_ + chunk_size - 1) / chunk_size;
  const bool keep = !sparse_;
  if (keep) {
    rounded_ = AlignedBuffer<float>(p_ * ld_);
  }
  ranks_ = ranks;
  mean_.assign(p_, 0.0);
  scale_.assign(p_, 0.0);
  std::vector<double> sizes(target.n_classes, 0.0), numbers;
  for (std::size_t i = 0; target.codes && i < n_; ++i) {
    sizes[static_cast<std::size_t>(target.codes[i])] += 1.0;
  }
  double target_square = 0;
  if (target.numbers) {
    numbers.assign(target.numbers, target.numbers + n_);
    const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) /
                        static_cast<double>(n_);
    for (double& value : numbers) {
      value -= mean;
      target_square += value * value;
    }
  }
  const bool scored = target.codes || target.numbers;
  if (scored) f_values_.assign(p_, 0.0);
  const double n = static_cast<double>(n_), classes = static_cast<double>(target.n_classes);
  const InformationKernels& kernel = *kernels().information;
  std::atomic<bool> finite{true};
  std::vector<Scratch> pool(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& scratch = pool[static_cast<std::size_t>(worker)];
    scratch.tile.resize(n_ * chunk_size);
    scratch.class_means.resize(std::max<std::size_t>(target.n_classes, 1) * lanes);
    const std::size_t stop = std::min(p_, (chunk + 1) * chunk_size);
    fill(chunk * chunk_size, stop - chunk * chunk_size, scratch.tile.data());
    for (std::size_t first = chunk * chunk_size; first < stop; first += lanes) {
      const std::size_t count = std::min(lanes, stop - first);
      double* tile = scratch.tile.data() + (first - chunk * chunk_size) * n_;
      TileMoments moments;
      kernel.tile_moments(tile, n_, target.codes, sizes.data(), target.n_classes,
                          scratch.class_means.data(),
                          target.numbers ? numbers.data() : nullptr, &moments);
      bool fine = true;
      for (std::size_t l = 0; l < count; ++l) {
        fine = fine && std::isfinite(moments.square[l]) &&
               (moments.square[l] > least_square || all_equal(tile + l, n_));
      }
      if (!fine) {
        finite = false;
        continue;
      }
      for (std::size_t l = 0; scored && l < count; ++l) {
        double& f = f_values_[first + l];
        if (!(moments.square[l] > 0)) continue;
        if (target.codes) {
          if (moments.between[l] <= negligible * moments.square[l]) continue;
          f = moments.between[l] / (classes - 1.0) / (moments.within[l] / (n - classes));
        } else if (target_square > 0) {
          const double r = moments.between[l] / std::sqrt(moments.square[l]) /
                           std::sqrt(target_square);
          if (r * r <= negligible) continue;
          const double rest = 1.0 - r * r;
          f = rest > 0 ? r * r / rest * (n - 2.0) : std::numeric_limits<double>::infinity();
        }
      }
      if (ranks) {
        for (std::size_t l = 0; l < count; ++l) rank_in_place(tile + l, n_, lanes, scratch.order);
        kernel.tile_moments(tile, n_, nullptr, nullptr, 0, nullptr, nullptr, &moments);
      }
      for (std::size_t l = 0; l < count; ++l) {
        mean_[first + l] = moments.mean[l];
        scale_[first + l] = moments.square[l] > 0 ? 1.0 / std::sqrt(moments.square[l]) : 0.0;
      }
      if (!keep) continue;
      const double* scales = scale_.data() + first;
      float* out = rounded_.data() + first * ld_;
      for (std::size_t i = 0; i < n_; i += cache_line / sizeof(float)) {
        const std::size_t end = std::min(n_, i + cache_line / sizeof(float));
        for (std::size_t l = 0; l < count; ++l) {
          for (std::size_t k = i; k < end; ++k) {
            out[l * ld_ + k] = static_cast<float>(tile[k * lanes + l] * scales[l]);
          }
        }
      }
      for (std::size_t l = 0; l < count; ++l) std::fill_n(out + l * ld_ + n_, ld_ - n_, 0.0f);
    }
  });
  finite_ = finite;
}

template <typename T>
UnitColumns::UnitColumns(const T* x, std::size_t n, std::size_t p, bool ranks,
                         const FTarget& target, int n_threads)
    : n_(n), p_(p), ld_((n + lanes - 1) / lanes * lanes) {
  if constexpr (std::is_same_v<T, float>) {
    floats_ = x;
  } else {
    doubles_ = x;
  }
  build(ranks, target, n_threads, [&](std::size_t first, std::size_t count, double* tiles) {
    const std::size_t whole = count / lanes * lanes;
    if (whole < count) std::fill_n(tiles + whole * n, n * lanes, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x + i * p + first;
      if (i + rows_ahead < n) {
        for (std::size_t l = 0; l < count; l += cache_line / sizeof(T)) {
          prefetch(row + rows_ahead * p + l);
        }
      }
      for (std::size_t t = 0; t < whole; t += lanes) {
        double* out = tiles + t * n + i * lanes;
        for (std::size_t l = 0; l < lanes; ++l) out[l] = static_cast<double>(row[t + l]);
      }
      for (std::size_t l = whole; l < count; ++l) {
        tiles[whole * n + i * lanes + l - whole] = static_cast<double>(row[l]);
      }
    }
  });
}

template UnitColumns::UnitColumns(const float*, std::size_t, std::size_t, bool, const FTarget&,
                                  int);
template UnitColumns::UnitColumns(const double*, std::size_t, std::size_t, bool, const FTarget&,
                                  int);

UnitColumns::UnitColumns(const SparseColumns& x, std::size_t n, std::size_t p, bool ranks,
                         const FTarget& target, int n_threads)
    : n_(n),
      p_(p),
      ld_((n + lanes - 1) / lanes * lanes),
      sparse_(std::make_unique<SparseColumns>(x)) {
  build(ranks, target, n_threads, [&](std::size_t first, std::size_t count, double* tiles) {
    std::fill_n(tiles, n * chunk_size, 0.0);
    for (std::size_t l = 0; l < count; ++l) {
      double* tile = tiles + l / lanes * lanes * n;
      for (std::int64_t k = x.begin[first + l]; k < x.begin[first + l + 1]; ++k) {
        tile[static_cast<std::size_t>(x.rows[k]) * lanes + l % lanes] = x.values[k];
      }
    }
  });
}

void UnitColumns::exact(std::size_t f, double* out) const {
  std::fill_n(out, ld_, 0.0);
  if (sparse_) {
    for (std::int64_t k = sparse_->begin[f]; k < sparse_->begin[f + 1]; ++k) {
      out[sparse_->rows[k]] = sparse_->values[k];
    }
  } else if (floats_) {
    for (std::size_t i = 0; i < n_; ++i) out[i] = static_cast<double>(floats_[i * p_ + f]);
  } else {
    for (std::size_t i = 0; i < n_; ++i) out[i] = doubles_[i * p_ + f];
  }
  if (ranks_) {
    std::vector<std::uint32_t> order;
    rank_in_place(out, n_, 1, order);
  }
  for (std::size_t i = 0; i < n_; ++i) out[i] = (out[i] - mean_[f]) * scale_[f];
}

}  // namespace bitsieve
