#include "bitsieve/causal/log_table.hpp"

#include <cmath>

#include "bitsieve/core/rng.hpp"

namespace bitsieve {
namespace {

// Logarithms are in units of 2^-58: those of numbers below 2^44 fit.
constexpr int log_shift = 58;
constexpr std::uint64_t log_of_two = 199786072581291495u;  // log(2) 2^58

// log(1 + 1 / k) = 2 (z + z^3 / 3 + z^5 / 5 + ...) with z = 1 / (2 k + 1), each term to 2^-63.
std::uint64_t log_step(std::uint64_t k) {
  std::uint64_t low;
  const std::uint64_t z = (std::uint64_t{1} << 63) / (2 * k + 1) * 2;  // in 2^-64
  const std::uint64_t square = multiply_high(z, z, low);
  std::uint64_t power = z, sum = 0;
  for (std::uint64_t odd = 1; power != 0; odd += 2) {
    sum += power / odd;
    power = multiply_high(power, square, low);
  }
  return ((sum >> (63 - log_shift - 1)) + 1) >> 1;  // twice the sum, rounded
}

}  // namespace

LogTable::LogTable(std::size_t n) : table_(n + 1, 0) {
  std::vector<std::uint64_t> logs(n + 1, 0);
  for (std::size_t k = 2; k <= n; ++k) {
    logs[k] = k % 2 == 0 ? logs[k / 2] + log_of_two : logs[k - 1] + log_step(k - 1);
  }
  const double most = static_cast<double>(n) * std::log(static_cast<double>(n) + 2.0);
  int shift = log_shift;
  while (std::ldexp(most, shift) >= 0x1p60) --shift;
  unit_ = std::ldexp(1.0, -shift);
  for (std::size_t k = 2; k <= n; ++k) {
    std::uint64_t low;
    const std::uint64_t high = multiply_high(k, logs[k], low);
    const int cut = log_shift - shift;
    if (cut == 0) {
      table_[k] = static_cast<std::int64_t>(low);
      continue;
    }
    const std::uint64_t value = (high << (64 - cut)) | (low >> cut);
    table_[k] = static_cast<std::int64_t>(value + ((low >> (cut - 1)) & 1));
  }
}

}  // namespace bitsieve
