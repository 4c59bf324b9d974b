#include "bitsieve/search/top_n.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "bitsieve/search/compare.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t n_buckets = 1024;

std::pair<double, double> extremes(const double* values, std::size_t p) {
  constexpr std::size_t n_lanes = 8;  // side by side, for the vectoriser
  std::array<double, n_lanes> low, high;
  low.fill(values[0]);
  high.fill(values[0]);
  std::size_t f = 0;
  for (; f + n_lanes <= p; f += n_lanes) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
      const double value = values[f + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  }
  for (; f < p; ++f) {
    low[0] = std::min(low[0], values[f]);
    high[0] = std::max(high[0], values[f]);
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

}  // namespace

void TopN::select(const double* values, std::size_t p, std::size_t n, Word* mask) {
  const std::size_t n_words = words_for(p);
  if (n == 0) {
    std::fill(mask, mask + n_words, Word{0});
    return;
  }

  const auto [low, high] = extremes(values, p);
  double threshold = low;
  if (high > low) {
    double scale = static_cast<double>(n_buckets - 1) / (high - low);
    if (!std::isfinite(scale)) scale = 0.0;  // a range too small to divide: one bucket for all
    buckets_.resize(p);
    counts_.assign(n_buckets, 0);
    for (std::size_t f = 0; f < p; ++f) {
      buckets_[f] = static_cast<std::int32_t>((values[f] - low) * scale);
    }
    for (std::size_t f = 0; f < p; ++f) ++counts_[static_cast<std::size_t>(buckets_[f])];
    std::size_t above = 0;
    std::size_t bucket = n_buckets - 1;
    while (above + counts_[bucket] < n) above += counts_[bucket--];
    candidates_.clear();
    for (std::size_t f = 0; f < p; ++f) {
      if (buckets_[f] == static_cast<std::int32_t>(bucket)) candidates_.push_back(values[f]);
    }
    const auto nth = candidates_.begin() + static_cast<std::ptrdiff_t>(n - above - 1);
    std::nth_element(candidates_.begin(), nth, candidates_.end(), std::greater<>());
    threshold = *nth;
  }

  for (std::size_t w = 0; w < n_words; ++w) mask[w] = at_least_64(values + 64 * w, threshold);
  mask[n_words - 1] &= tail_mask(p);
  // Of the values that equal the threshold the last ones go.
  std::size_t excess = count_bits(mask, n_words) - n;
  for (std::size_t f = p; excess > 0 && f-- > 0;) {
    if (values[f] == threshold) {
      flip_bit(mask, f);
      --excess;
    }
  }
}

}  // namespace bitsieve
