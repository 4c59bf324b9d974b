#include "bitsieve/filters/entropy.hpp"

#include <cmath>

namespace bitsieve {

EntropyTable::EntropyTable(std::size_t n, Correction correction, double prior)
    : n_(n), correction_(correction), prior_(correction == Correction::dirichlet ? prior : 0.0) {
  const double most = static_cast<double>(n) + prior_;
  int exponent = 1;
  std::frexp(std::fmax(most * std::log(most), 1.0), &exponent);
  scale_ = std::ldexp(1.0, 46 - exponent);
  unit_ = 1.0 / (scale_ * most);
  total_ = entry(most);
  if (correction_ == Correction::dirichlet) return;
  table_.resize(n + 1);
  for (std::size_t k = 0; k <= n; ++k) table_[k] = entry(static_cast<double>(k));
}

std::int64_t EntropyTable::entry(double count) const {
  if (count <= 0) return 0;
  return std::llrint(count * std::log(count) * scale_);
}

std::int64_t EntropyTable::sum(const std::uint32_t* counts, std::size_t size,
                               std::size_t cells) const {
  std::int64_t total = 0;
  if (correction_ == Correction::dirichlet) {
    const double share = prior_ / static_cast<double>(cells);
    std::size_t occupied = 0;
    for (std::size_t k = 0; k < size; ++k) {
      if (counts[k] == 0) continue;
      ++occupied;
      total += entry(static_cast<double>(counts[k]) + share);
    }
    // Empty cells are alike, and there may be very many: one rounding for all of them.
    const double empty = static_cast<double>(cells - occupied) * share;
    return total + std::llrint(empty * std::log(share) * scale_);
  }
  std::int64_t occupied = 0;
  for (std::size_t k = 0; k < size; ++k) {
    total += table_[counts[k]];
    occupied += counts[k] != 0;
  }
  if (correction_ == Correction::miller_madow) {
    total -= std::llrint(static_cast<double>(occupied - 1) * 0.5 * scale_);
  }
  return total;
}

}  // namespace bitsieve
