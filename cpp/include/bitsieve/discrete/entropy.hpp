// Entropies of counts in fixed point.
//
// With f(k) = k log k, a variable V of n samples has n H(V) = f(n) - sum over its levels f(count).
// Here f is a table of int64 in units of 2^-shift nats: sums are exact, so neither the order of
// samples, levels and features nor threads or instruction sets change a bit, symmetry and the chain
// rule hold exactly, and what is equal is equal. f(n) < 2^46 units: 2^17 of them can be added, and
// an entry's rounding, 2^-shift / 2, is below 10^-13 nats of an entropy for each cell of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitsieve {

enum class Correction {
  none,          // counts as they are (maximum likelihood)
  miller_madow,  // H + (occupied cells - 1) / (2 n)
  dirichlet,     // a prior of `prior` samples, spread evenly over all cells of the table
};

class EntropyTable {
 public:
  EntropyTable(std::size_t n, Correction correction = Correction::none, double prior = 1.0);

  // What a table of counts takes from the total: sum f(count), for `size` counts with zeros among
  // them, of a table with `cells` cells in all (size, or more if empty ones were left out).
  std::int64_t sum(const std::uint32_t* counts, std::size_t size, std::size_t cells) const;

  // The same for a table without cells: a variable that is always the same.
  std::int64_t total() const { return total_; }

  // f(0 .. n) where sums of it are all there is to it, else nullptr.
  const std::int64_t* plain() const {
    return correction_ == Correction::none ? table_.data() : nullptr;
  }

  // Sums are in units of this many nats of entropy.
  double unit() const { return unit_; }
  std::size_t n() const { return n_; }
  Correction correction() const { return correction_; }

 private:
  std::int64_t entry(double count) const;

  std::size_t n_;
  Correction correction_;
  double prior_;
  double scale_;  // units a nat: 2^shift
  double unit_;
  std::int64_t total_;
  std::vector<std::int64_t> table_;
};

}  // namespace bitsieve
