// Contingency tables of the features of a table and a variable, and sums of k log k over them.
//
// Three ways to count, whichever reads least: planes (AND and popcount), the entries of a feature
// that keeps these alone, and sample by sample. Counts are whole numbers: all give the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/discrete/entropy.hpp"
#include "bitsieve/discrete/table.hpp"

namespace bitsieve {

// The tables themselves. One a thread, for its scratch memory.
class Contingency {
 public:
  explicit Contingency(const DiscreteTable& table);

  // out[a * v.levels + b] for the levels of feature f and of v that occur; `out` holds
  // table.levels(f) * v.levels zeros.
  void counts(std::size_t f, const Variable& v, std::uint32_t* out);

  // Whether planes read less than samples do.
  bool by_planes(std::size_t f, const Variable& v) const;
  // counts() of a feature by entries.
  void count_entries(std::size_t f, const Variable& v, std::uint32_t* out) const;
  // The levels of the samples, of any feature; kept until another one is asked for.
  const std::uint8_t* codes(std::size_t f);

 private:
  const DiscreteTable& table_;
  std::size_t decoded_;  // the feature whose codes are at hand
  std::vector<std::uint8_t> codes_;
};

// Sums over them. One a thread.
class Counter {
 public:
  Counter(const DiscreteTable& table, const EntropyTable& entropy);

  // The sum of the joint table of feature f and v, as EntropyTable::sum gives it.
  std::int64_t joint(std::size_t f, const Variable& v);

  // The feature's own.
  std::int64_t single(std::size_t f);

 private:
  const DiscreteTable& table_;
  const EntropyTable& entropy_;
  Contingency cells_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace bitsieve
