// A table of data as Python hands it over: the one place where its arrays are checked.
#pragma once

#include <utility>

#include "bitsieve/core/table.hpp"
#include "rooms.hpp"

namespace bitsieve {

// Sizes that fit the kernels' 32-bit places.
inline constexpr std::size_t size_limit = std::size_t{1} << 31;

// Keeps the arrays that the table points into. They must not be changed from outside; but a number
// changed nevertheless can only change scores.
class PyTable : public Table {
 public:
  // The view and the source point into the arrays, and were checked.
  PyTable(Array<float> features, const TableView& view, Values x, const Source& source,
          const Numbers& max_abs, bool exact);

  std::size_t n_samples() const { return view().n_samples; }
  std::size_t n_features() const { return view().n_features; }

 private:
  Array<float> features_;
  Values x_;
};

}  // namespace bitsieve
