// The cells of a set of variables: which samples share all their levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/causal/discrete_test.hpp"

namespace bitsieve {

// Cells that occur, by stratum (a combination of levels of what is given), in it by pair (levels of
// x and y). Planes where the cells are few, codes when somebody asks for them.
class Cells {
 public:
  enum class Role { x, y, given };

  // All samples in one cell.
  void reset(DiscreteTest& test);
  // The cells of `less`, which must stay where it is, and one more variable.
  void extend(DiscreteTest& test, Cells& less, std::size_t feature, Role role,
              std::vector<std::uint32_t>& counts);

  std::size_t size() const { return margins.size(); }

  // Whether counts of all combinations with a feature's levels fit into the memory of a worker.
  bool countable(DiscreteTest& test, std::size_t feature) const;
  // counts[level * size() + cell] for the levels of a feature; `counts` gets that size at least.
  void count(DiscreteTest& test, std::size_t feature, std::vector<std::uint32_t>& counts);

  // The cell of each sample.
  const std::uint32_t* codes(DiscreteTest& test);

  std::vector<std::uint32_t> margins;      // samples of each cell
  std::vector<std::uint32_t> x, y, stratum;  // levels and stratum of each cell

 private:
  void make_planes(DiscreteTest& test);

  std::vector<std::uint64_t> planes_;  // of each cell; empty: codes alone
  std::vector<std::uint32_t> codes_;   // empty: not made yet
  Cells* less_ = nullptr;
  std::size_t feature_ = 0;
  std::vector<std::uint32_t> place_;  // of level * less.size() + cell of less
  std::vector<std::uint32_t> from_;   // the same of each cell
};

}  // namespace bitsieve
