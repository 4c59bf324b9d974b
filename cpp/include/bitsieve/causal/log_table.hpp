// k log k in fixed point, made of whole numbers alone.
//
// Sums are exact: neither the order of samples, levels, variables and strata nor threads, compilers
// or instruction sets change a bit of a statistic. A sum of up to 4 f(n) fits into an int64, and an
// entry is right to its unit: 2^-44 of n = 5,000, 2^-36 of a million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitsieve {

class LogTable {
 public:
  explicit LogTable(std::size_t n);

  const std::int64_t* data() const { return table_.data(); }  // of 0 .. n; 0 of 0 and 1
  std::int64_t operator[](std::size_t k) const { return table_[k]; }
  double unit() const { return unit_; }

 private:
  double unit_;
  std::vector<std::int64_t> table_;
};

}  // namespace bitsieve
