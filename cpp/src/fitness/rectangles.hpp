// The upper triangle of a matrix in pieces for the Gram kernels, by several threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {

// body(i_begin, i_end, j_begin, j_end) for rectangles that cover the upper triangle of an ld x ld
// matrix in tiles of 16. m, the rows that are summed, says whether threads are worth waking. What is
// summed elementwise has the same bits whoever does it.
template <typename Body>
void for_each_rectangle(std::size_t ld, std::size_t m, int n_threads, Body&& body) {
  constexpr std::size_t width = 32, worth = 2000000;
  const std::size_t n_tasks = (ld + width - 1) / width;
  parallel_for(n_tasks, ld * ld * m > worth ? n_threads : 1, [&](std::size_t t) {
    const std::size_t j = t * width, end = std::min(j + width, ld);
    body(std::size_t{0}, j + 16, j, end);
    if (end > j + 16) body(j + 16, end, j + 16, end);
  });
}

}  // namespace bitsieve
