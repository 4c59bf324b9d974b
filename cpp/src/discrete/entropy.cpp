#include "bitsieve/discrete/entropy.hpp"

#include <array>
#include <cmath>

namespace bitsieve {
namespace {

// Up to so many samples logarithms are sums of those of primes, in whole units. Then equal sums of
// k log k come out equal whatever their terms (4 log 4 and four times 2 log 2), so that ties are
// ties. Among more samples such sums hardly ever meet.
constexpr std::size_t most_exact = 128;

// A unit, near the one given, in which log 2 is a whole number and log 3, 5 and 7 are nearly.
double scale_for_primes(double scale) {
  const double two = std::log(2.0);
  const double most = std::floor(scale * two);
  double best = scale, least = 1.0;
  for (int step = 0; step < 4096; ++step) {
    const double tried = (most - step) / two;
    double worst = 0.0;
    for (double prime : {3.0, 5.0, 7.0}) {
      const double units = std::log(prime) * tried;
      worst = std::fmax(worst, std::fabs(units - std::rint(units)));
    }
    if (worst < least) {
      least = worst;
      best = tried;
    }
  }
  return best;
}

// The unit for numbers below 2^exponent; found once.
double scale_of(int exponent) {
  static const std::array<double, 11> scales = [] {
    std::array<double, 11> found{};
    int bits = 46;
    for (double& scale : found) scale = scale_for_primes(std::ldexp(1.0, bits--));
    return found;
  }();
  return scales.at(static_cast<std::size_t>(exponent));  // 128 log 128 is below 2^10
}

std::int64_t log_by_primes(std::size_t k, double scale) {
  std::int64_t sum = 0;
  for (std::size_t prime = 2; k > 1; ++prime) {
    const std::int64_t units = std::llrint(std::log(static_cast<double>(prime)) * scale);
    for (; k % prime == 0; k /= prime) sum += units;
  }
  return sum;
}

}  // namespace

EntropyTable::EntropyTable(std::size_t n, Correction correction, double prior)
    : n_(n), correction_(correction), prior_(correction == Correction::dirichlet ? prior : 0.0) {
  const double most = static_cast<double>(n) + prior_;
  int exponent = 1;
  std::frexp(std::fmax(most * std::log(most), 1.0), &exponent);
  scale_ = std::ldexp(1.0, 46 - exponent);
  const bool by_primes = n <= most_exact && correction_ != Correction::dirichlet;
  if (by_primes) scale_ = scale_of(exponent);
  unit_ = 1.0 / (scale_ * most);
  total_ = entry(most);
  if (correction_ == Correction::dirichlet) return;
  table_.resize(n + 1);
  for (std::size_t k = 0; k <= n; ++k) {
    table_[k] = by_primes ? static_cast<std::int64_t>(k) * log_by_primes(k, scale_)
                          : entry(static_cast<double>(k));
  }
  total_ = table_[n];
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
    // Empty cells are alike, and there may be very many: one rounding for all of them. A share that
    // is no number any more weighs nothing.
    const double empty = static_cast<double>(cells - occupied) * share;
    return empty > 0 ? total + std::llrint(empty * std::log(share) * scale_) : total;
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
