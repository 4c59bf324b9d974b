#include "bitsieve/fitness/scaled_gram.hpp"

#include <algorithm>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t scaled_strip = 16;               // columns of a task
constexpr std::size_t grouped_splits = 5;              // of which one thread makes the matrices
constexpr std::size_t grouped_numbers = 1 << 17;       // of all of them: 1 MB
constexpr std::size_t scaled_worth_threads = 1 << 21;  // multiply-adds

// Some splits of a mask: their matrices, one behind the other, and sums of values.
struct ScaledPart {
  const double* values;
  std::size_t ld;
  const std::vector<std::int32_t>& features;
  const ScaleView& scales;
  std::size_t first, count;
};

// Columns [j_begin, j_end) of the upper triangles; sums may be null.
void make_scaled(const ScaledPart& part, std::size_t j_begin, std::size_t j_end, double* rows,
                 double* grams, double* sums) {
  const ScaledKernels& kernel = *kernels().scaled;
  const std::size_t m = part.features.size(), ld = part.ld;
  for (std::size_t begin = 0; begin < m; begin += scaled_block) {
    const std::size_t block = std::min(scaled_block, m - begin);
    for (std::size_t k = 0; k < part.count; ++k) {
      const std::size_t split = part.first + k;
      kernel.scale(part.values, ld, part.features.data() + begin, block,
                   part.scales.origin_of(split), part.scales.inverse_of(split),
                   part.scales.place + begin, rows, sums == nullptr ? nullptr : sums + k * ld);
      kernel.triangle(rows, ld, block, j_begin, j_end, grams + k * ld * ld, begin == 0);
    }
    check_interrupt();
  }
}

}  // namespace

void ScaledGram::begin(const std::vector<std::int32_t>& features, const ScaleView& scales,
                       std::size_t n_splits, int n_threads) {
  features_ = &features;
  scales_ = scales;
  n_splits_ = n_splits;
  n_threads_ = n_threads;
  first_ = count_ = 0;
}

const double* ScaledGram::of(std::size_t split) {
  if (split < first_ || split >= first_ + count_) make(split);
  split_ = split;
  return grams_.data() + (split - first_) * ld() * ld();
}

void ScaledGram::make(std::size_t first) {
  const std::size_t n = table_.view().n_samples, square = ld() * ld();
  const std::size_t threads = static_cast<std::size_t>(n_threads_);
  // As many as stay in L2, and one a thread where they are small.
  const std::size_t most = std::clamp<std::size_t>(grouped_numbers / square, 1, grouped_splits);
  first_ = first;
  count_ = std::min(most > 1 ? most * threads : 1, n_splits_ - first);
  grams_.resize(count_ * square);
  sums_.assign(count_ * ld(), 0.0);
  const double* values = table_.doubles(n_threads_);
  const bool alone = threads == 1 || n * n / 2 * features_->size() < scaled_worth_threads;
  if (alone || count_ > 1) {
    const std::size_t n_tasks = (count_ + most - 1) / most;
    rows_.resize((alone ? 1 : n_tasks) * scaled_block * ld());
    parallel_for(n_tasks, alone ? 1 : n_threads_, [&](std::size_t task) {
      const std::size_t begin = task * most, count = std::min(most, count_ - begin);
      make_scaled({values, ld(), *features_, scales_, first + begin, count}, 0, ld(),
                  rows_.data() + (alone ? 0 : task * scaled_block * ld()),
                  grams_.data() + begin * square, sums_.data() + begin * ld());
    });
  } else {
    // Every strip of columns scales for itself: little beside its products where there are many.
    const std::size_t n_strips = ld() / scaled_strip;
    parallel_for(n_strips, n_threads_, [&](std::size_t task) {
      const std::size_t j = (n_strips - 1 - task) * scaled_strip;  // the dearest first
      AlignedVector<double> rows(scaled_block * ld());
      make_scaled({values, ld(), *features_, scales_, first, 1}, j, j + scaled_strip, rows.data(),
                  grams_.data(), task == 0 ? sums_.data() : nullptr);
    });
  }
  for (std::size_t k = 0; k < count_; ++k) {
    double* gram = grams_.data() + k * square;
    for (std::size_t i = 1; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) gram[i * ld() + j] = gram[j * ld() + i];
    }
  }
}

}  // namespace bitsieve
