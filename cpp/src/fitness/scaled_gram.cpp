#include "bitsieve/fitness/scaled_gram.hpp"

#include <algorithm>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t scaled_strip = 16;           // columns of a task
constexpr std::size_t worth_threads = 1 << 21;     // multiply-adds of a matrix
constexpr std::size_t doubles_a_line = cache_line / sizeof(double);

void fetch_rows(const double* values, std::size_t ld, const std::int32_t* begin,
                const std::int32_t* end) {
  for (; begin < end; ++begin) {
    const double* row = values + static_cast<std::size_t>(*begin) * ld;
    for (std::size_t j = 0; j < ld; j += doubles_a_line) prefetch(row + j);
  }
}

// Columns [j_begin, j_end) of the upper triangle; sums where all columns are made at once.
void make_strip(const double* values, std::size_t ld, const std::vector<std::int32_t>& features,
                const ScaleView& scales, std::size_t split, std::size_t j_begin, std::size_t j_end,
                double* rows, double* gram, double* sums) {
  const ScaledKernels& kernel = *kernels().scaled;
  const std::size_t m = features.size();
  for (std::size_t begin = 0; begin < m; begin += scaled_block) {
    const std::size_t count = std::min(scaled_block, m - begin);
    const std::size_t next = std::min(begin + count + scaled_block, m);
    kernel.scale(values, ld, features.data() + begin, count, scales.origin_of(split),
                 scales.inverse_of(split), scales.place + begin, rows, sums);
    fetch_rows(values, ld, features.data() + begin + count, features.data() + next);
    kernel.triangle(rows, ld, count, j_begin, j_end, gram, begin == 0);
  }
}

}  // namespace

void scaled_gram(const Table& table, const std::vector<std::int32_t>& features,
                 const ScaleView& scales, std::size_t split, int n_threads,
                 AlignedVector<double>& rows, double* gram, double* sums) {
  const std::size_t n = table.view().n_samples, ld = table.view().ld;
  const double* values = table.doubles(n_threads);
  if (sums != nullptr) std::fill(sums, sums + ld, 0.0);
  if (n_threads == 1 || n * n / 2 * features.size() < worth_threads) {
    rows.resize(scaled_block * ld);
    make_strip(values, ld, features, scales, split, 0, ld, rows.data(), gram, sums);
  } else {
    // Every strip scales for itself: 1 / 8 of the work where there are few columns, less with more.
    const std::size_t n_strips = ld / scaled_strip;
    parallel_for(n_strips, n_threads, [&](std::size_t task) {
      const std::size_t j = (n_strips - 1 - task) * scaled_strip;  // the dearest first
      AlignedVector<double> own(scaled_block * ld);
      make_strip(values, ld, features, scales, split, j, j + scaled_strip, own.data(), gram,
                 task == 0 ? sums : nullptr);
    });
  }
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) gram[i * ld + j] = gram[j * ld + i];
  }
  check_interrupt();
}

}  // namespace bitsieve
