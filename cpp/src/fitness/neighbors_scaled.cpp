#include "bitsieve/fitness/neighbors_scaled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/gram.hpp"
#include "bitsieve/fitness/gram_planner.hpp"

namespace bitsieve {
namespace scaled_products {

constexpr std::size_t columns = 1024;           // of a block that stays near beside its features
constexpr std::size_t part_floats = 1u << 19;   // products of a part
// Weights and products stay within these, so that nothing overflows and what underflows is less
// than `lost` a feature (times 1 + the norms' squares).
constexpr double least_weight = 0x1p-60, most_weight = 0x1p60, most_product = 0x1p100;
constexpr double most_square = 1e30;
constexpr double lost = 0x1p-60;

std::size_t padded(std::size_t count) {
  return (count + rectangle_rows - 1) / rectangle_rows * rectangle_rows;
}

}  // namespace scaled_products

float scaled_weight(double inverse, double most) {
  using namespace scaled_products;
  const bool fine = inverse >= least_weight && inverse <= most_weight &&
                    most * inverse * inverse <= most_product;
  return fine ? static_cast<float>(inverse) : std::numeric_limits<float>::quiet_NaN();
}

std::vector<ScaledPart> scaled_parts(const Splits& splits, std::size_t ld) {
  const std::size_t most =
      std::max<std::size_t>(scaled_products::part_floats / ld / rectangle_rows, 4) * rectangle_rows;
  std::vector<ScaledPart> out;
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    const std::size_t end = static_cast<std::size_t>(splits.test_begin[s + 1]);
    for (std::size_t t = static_cast<std::size_t>(splits.test_begin[s]); t < end; t += most) {
      out.push_back({s, t, std::min(most, end - t)});
    }
  }
  return out;
}

std::size_t ScaledProducts::size_of(const ScaledPart& part, std::size_t ld) {
  return scaled_products::padded(part.count) * ld;
}

void ScaledProducts::make(const std::vector<std::int32_t>& features, const ScaleView& scales,
                          const Splits& splits, const ScaledPart* parts, std::size_t n_parts) {
  const std::size_t n = table_.n_samples, ld = table_.ld, m = features.size();
  const NeighborKernels& kernel = *kernels().neighbor;
  begin_.clear();
  rows_.clear();
  rows_begin_.assign(1, 0);
  std::size_t total = 0;
  for (std::size_t p = 0; p < n_parts; ++p) {
    begin_.push_back(total);
    total += size_of(parts[p], ld);
    const std::int32_t* samples = splits.test_samples.data() + parts[p].first;
    rows_.insert(rows_.end(), samples, samples + parts[p].count);
    // What fills up is the last sample again.
    rows_.resize(rows_begin_.back() + scaled_products::padded(parts[p].count), rows_.back());
    rows_begin_.push_back(rows_.size());
  }
  const std::size_t width = std::min(ld, scaled_products::columns);
  products_.resize(total);
  partial_.resize(total);
  scaled_.resize(gram_block * width);
  weights_.resize(gram_block);
  sums_.assign(n_parts * ld, 0.0f);
  squares_.assign(n_parts * ld, 0.0);
  const std::size_t step = gram_block * gram_blocks(m);
  const bool single = m <= step;
  if (m == 0) std::fill(products_.begin(), products_.end(), 0.0f);
  for (std::size_t begin = 0; begin < m; begin += step) {
    const std::size_t end = std::min(begin + step, m);
    check_interrupt();
    for (std::size_t b = begin; b < end; b += gram_block) {
      const std::size_t count = std::min(gram_block, end - b);
      const std::int32_t* block = features.data() + b;
      for (std::size_t p = 0; p < n_parts; ++p) {
        const double* inverse = scales.inverse_of(parts[p].split);
        for (std::size_t k = 0; k < count; ++k) {
          weights_[k] = scaled_weight(inverse[scales.place[b + k]],
                                                table_.max_abs[static_cast<std::size_t>(block[k])]);
        }
        float* out = (single ? products_ : partial_).data() + begin_[p];
        for (std::size_t j = 0; j < ld; j += width) {
          const std::size_t w = std::min(width, ld - j);
          kernel.scale_rows(table_.values + j, ld, block, count, weights_.data(), w,
                            scaled_.data(), sums_.data() + p * ld + j);
          kernel.rectangle(table_.values, ld, block, count, rows_.data() + rows_begin_[p],
                           rows_begin_[p + 1] - rows_begin_[p], scaled_.data(), w, out + j, ld,
                           b == begin);
        }
      }
    }
    for (std::size_t k = 0; k < sums_.size(); ++k) squares_[k] += static_cast<double>(sums_[k]);
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    if (single) continue;
    if (begin == 0) {
      std::copy(partial_.begin(), partial_.begin() + static_cast<std::ptrdiff_t>(total),
                products_.begin());
    } else {
      for (std::size_t k = 0; k < total; ++k) products_[k] += partial_[k];
    }
  }
  // A weight and the values scaled by it are rounded three times a product more than float_gram's,
  // as are those of the squares.
  const double share = (gram_error(m) + 6 * 0x1p-24 + float_share) * (1 + 0x1p-10);
  const double floor = static_cast<double>(m + 1) * scaled_products::lost;
  bounds_.resize(squares_.size());
  finite_.assign(n_parts, 1);
  for (std::size_t p = 0; p < n_parts; ++p) {
    for (std::size_t j = 0; j < n; ++j) {
      const double square = squares_[p * ld + j];
      if (!(square < scaled_products::most_square)) finite_[p] = 0;
      bounds_[p * ld + j] = share * square + floor;
    }
  }
}

}  // namespace bitsieve
