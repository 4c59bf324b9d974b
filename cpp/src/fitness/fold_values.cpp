#include "bitsieve/fitness/fold_values.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace bitsieve {
namespace fold_values {

constexpr double farthest = 1e39;  // beyond float32

// Doubles in their order, as whole numbers.
constexpr std::uint64_t sign = std::uint64_t{1} << 63;

std::uint64_t rank_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
double of_rank(std::uint64_t rank) {
  return std::bit_cast<double>((rank & sign) != 0 ? rank & ~sign : ~rank);
}

// Of a range from 0 to 1 center and scale are the least value and the width: what scikit-learn
// makes its own two numbers of.
ScalerOptions without_range(ScalerOptions options) {
  if (options.kind == ScalerOptions::Kind::min_max) {
    options.low = 0;
    options.high = 1;
  }
  return options;
}

}  // namespace fold_values

FoldValues::FoldValues(const Table& table, const ScalerOptions& options)
    : options_(options), scaler_(table, fold_values::without_range(options)) {}

void FoldValues::measure(const std::int32_t* features, std::size_t m, const Splits& splits,
                         double* first, double* second, int n_threads) const {
  scaler_.measure(features, m, splits, first, second, n_threads);
  if (!is_range()) return;
  for (std::size_t k = 0; k < m * splits.n_splits; ++k) {
    const double least = first[k];
    first[k] = (options_.high - options_.low) / second[k];
    second[k] = options_.low - least * first[k];
  }
}

double FoldValues::cutoff(double first, double second, double most) const {
  using namespace fold_values;
  const auto is_below = [&](std::uint64_t rank) {
    return of(of_rank(rank), first, second) <= most;
  };
  std::uint64_t low = rank_of(-farthest), high = rank_of(farthest);
  if (is_below(high)) return std::numeric_limits<double>::infinity();
  if (!is_below(low)) return -std::numeric_limits<double>::infinity();
  const double guess = is_range() ? (most - second) / first : most * second + first;
  const std::uint64_t start = std::clamp(rank_of(guess), low, high);
  // The cutoff is mostly a neighbor of the guess; from there in steps that double, then by halves.
  const bool ascends = is_below(start);
  (ascends ? low : high) = start;
  for (std::uint64_t step = 1; step < high - low && step < sign; step *= 2) {
    const std::uint64_t next = ascends ? low + step : high - step;
    const bool is_low = is_below(next);
    (is_low ? low : high) = next;
    if (is_low != ascends) break;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return of_rank(low);
}

}  // namespace bitsieve
