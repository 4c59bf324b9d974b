// One discrete variable by its planes and codes: a target, a feature, or several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/isa/information_kernels.hpp"

namespace bitsieve {

// One variable beside which all features are counted: a target, a chosen feature, or several at
// once. Its levels are those that occur, in the order of their codes.
struct Variable {
  std::vector<std::uint32_t> codes;    // of each sample, in [0, levels)
  std::vector<std::uint32_t> margins;  // samples a level
  std::vector<std::uint32_t> values;   // the code that each level had
  std::vector<std::uint64_t> planes;   // (levels - 1) x words; empty where levels are many
  std::size_t levels = 0;
  std::size_t cells = 0;  // of all combinations, those that do not occur among them

  PlaneView view() const { return {planes.data(), margins.data(), levels}; }
};

// From n codes below `bound`; cells counts the levels that occur unless it is given.
Variable make_variable(const std::uint32_t* codes, std::size_t n, std::size_t bound,
                       std::size_t cells = 0);
// Both at once.
Variable combine(const Variable& a, const Variable& b, std::size_t n);

}  // namespace bitsieve
