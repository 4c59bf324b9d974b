// What the bindings of the information filters share: arrays, checks, and the form of a selection.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bitsieve/filters/selection.hpp"
#include "rooms.hpp"

namespace bitsieve {

// A table by columns: where each begins, and the samples of its entries.
inline void check_columns(const Lists& begin, const Codes& rows, std::size_t p, std::size_t n) {
  bool fine = begin.data()[0] == 0 && begin.data()[p] == static_cast<std::int64_t>(rows.size());
  for (std::size_t f = 0; f < p; ++f) fine = fine && begin.data()[f] <= begin.data()[f + 1];
  require(fine, "begin must ascend from 0 to the length of rows");
  for (pybind11::ssize_t k = 0; k < rows.size(); ++k) {
    require(rows.data()[k] >= 0 && static_cast<std::size_t>(rows.data()[k]) < n,
            "rows must lie in [0, n_samples)");
  }
}

// (order, scores, pairs computed)
inline pybind11::tuple as_tuple(const Selection& selection) {
  return pybind11::make_tuple(
      Lists(static_cast<pybind11::ssize_t>(selection.order.size()), selection.order.data()),
      Numbers(static_cast<pybind11::ssize_t>(selection.scores.size()), selection.scores.data()),
      selection.n_terms);
}

}  // namespace bitsieve
