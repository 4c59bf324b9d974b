#include "bitsieve/fitness/gram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t tile = 32;             // columns of a task; the kernels work in 16s
constexpr std::size_t streaming_tile = 512;  // columns that stay in cache beside a block of rows
constexpr std::size_t fixed_block = 32;      // features converted to double at a time

// A power of two such that no product reaches 2^50 units and no sum of squares reaches 2^60.
double choose_unit(const TableView& table) {
  double sum = 0, most = 0;
  for (std::size_t f = 0; f < table.n_features; ++f) {
    const double square = table.max_abs[f] * table.max_abs[f];
    sum += square;
    most = std::max(most, square);
  }
  if (!(most > 0)) return 1.0;
  const int product_exponent = std::ilogb(most) + 1 - 50;
  const int sum_exponent = std::ilogb(sum) + 1 - 60;
  return std::ldexp(1.0, std::max(product_exponent, sum_exponent));
}

// The rows of the next block, while this one is computed: a mask skips rows at random, and no
// hardware prefetcher follows that. A fifth of the time where the table is not in a near cache.
void prefetch_rows(const TableView& table, const std::int32_t* begin, const std::int32_t* end) {
  if (table.ld > 1024) return;  // long rows are followed well enough
  end = begin + std::min<std::ptrdiff_t>(end - begin, gram_block);
  for (const std::int32_t* f = begin; f < end; ++f) {
    const float* row = table.row(static_cast<std::size_t>(*f));
    for (std::size_t i = 0; i < table.ld; i += 16) prefetch(row + i);
  }
}

}  // namespace

std::size_t gram_blocks(std::size_t m) {
  const double blocks = static_cast<double>(m) / static_cast<double>(gram_block);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(blocks)));
}

double gram_error(std::size_t m) {
  if (m == 0) return 0;
  // Sums of gram_block products, of gram_blocks(m) such sums, and of the partial matrices; the
  // added and the removed features may each end in a short one.
  const std::size_t blocks = gram_blocks(m);
  const std::size_t partials = (m + gram_block * blocks - 1) / (gram_block * blocks);
  const double terms = static_cast<double>(std::min(m, gram_block) + blocks + partials + 6);
  return 1.01 * terms * 0x1p-24;
}

void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, const GramRegion& region, float* gram,
                float* partial, float* squares) {
  if (squares != nullptr) std::fill(squares, squares + table.ld, 0.0f);
  const Kernels& kernel = kernels();
  const std::size_t ld = table.ld;
  const std::size_t total = added.size() + removed.size();
  const std::size_t step = gram_block * gram_blocks(total);
  const std::size_t width = region.upper ? tile : streaming_tile;
  const bool single = total <= step || (added.empty() && removed.size() <= step);
  bool fresh = true;
  const auto row = [&](std::size_t i) { return (i - region.i_begin) * ld; };

  const auto products = [&](const std::int32_t* block, std::size_t m, float sign, float* out,
                            bool first) {
    for (std::size_t j = region.j_begin; j < region.j_end; j += width) {
      const std::size_t end = std::min(j + width, region.j_end);
      const std::size_t above = region.upper ? std::min(j + 16, region.i_end) : region.i_end;
      kernel.gram_float(table.values, ld, block, m, region.i_begin, above, j, end, out + j, ld,
                        sign, first);
      if (region.upper && end > j + 16) {
        kernel.gram_float(table.values, ld, block, m, j + 16, end, j + 16, end,
                          out + row(j + 16) + j + 16, ld, sign, first);
      }
    }
  };
  const auto fold = [&] {
    for (std::size_t i = region.i_begin; i < region.i_end; ++i) {
      const std::size_t from = region.upper ? std::max(region.j_begin, i / 16 * 16) : region.j_begin;
      float* out = gram + row(i);
      const float* in = partial + row(i);
      if (fresh) {
        for (std::size_t j = from; j < region.j_end; ++j) out[j] = in[j];
      } else {
        for (std::size_t j = from; j < region.j_end; ++j) out[j] += in[j];
      }
    }
    fresh = false;
  };

  for (const auto* features : {&added, &removed}) {
    const float sign = features == &added ? 1.0f : -1.0f;
    for (std::size_t begin = 0; begin < features->size(); begin += step) {
      const std::size_t end = std::min(begin + step, features->size());
      check_interrupt();
      for (std::size_t b = begin; b < end; b += gram_block) {
        const std::size_t m = std::min(gram_block, end - b);
        if (squares != nullptr) {
          kernel.add_squares(table.values, ld, features->data() + b, m, squares);
        }
        prefetch_rows(table, features->data() + b + m, features->data() + features->size());
        products(features->data() + b, m, sign, single ? gram : partial,
                 single ? fresh : b == begin);
        if (single) fresh = false;
      }
      if (!single) fold();
    }
  }
  if (fresh) {
    for (std::size_t i = region.i_begin; i < region.i_end; ++i) {
      std::fill(gram + row(i) + region.j_begin, gram + row(i) + region.j_end, 0.0f);
    }
  }
}

void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, int n_threads, float* gram,
                float* partial, float* squares) {
  const std::size_t ld = table.ld;
  // With features added only, the diagonal is their sum of squares, to the same error.
  float* both = removed.empty() ? nullptr : squares;
  const bool worth = ld * ld * (added.size() + removed.size()) > 2000000;
  if (n_threads == 1 || !worth) {
    float_gram(table, added, removed, {0, ld, 0, ld, true}, gram, partial, both);
  } else {
    // Strips of columns, the last and dearest first; the sums are the same whoever makes them.
    const std::size_t n_strips = (ld + tile - 1) / tile;
    parallel_for(n_strips, n_threads, [&](std::size_t task) {
      const std::size_t j = (n_strips - 1 - task) * tile, end = std::min(j + tile, ld);
      float_gram(table, added, removed, {0, end, j, end, true}, gram, partial,
                 task + 1 == n_strips ? both : nullptr);
    });
  }
  if (both == nullptr) {
    for (std::size_t i = 0; i < ld; ++i) squares[i] = gram[i * (ld + 1)];
  }
}

FixedGram::FixedGram(const TableView& table)
    : table_(table),
      unit_(choose_unit(table)),
      magic_(1.5 * 0x1p52 * unit_),
      gram_(table.ld * table.ld, 0),
      rows_(fixed_block * table.ld) {}

void FixedGram::clear() { std::fill(gram_.begin(), gram_.end(), std::int64_t{0}); }

void FixedGram::add(const std::vector<std::int32_t>& features, int sign, int n_threads) {
  const Kernels& kernel = kernels();
  const std::size_t ld = table_.ld;
  const std::size_t n_tasks = (ld + tile - 1) / tile;
  for (std::size_t begin = 0; begin < features.size(); begin += fixed_block) {
    const std::size_t m = std::min(fixed_block, features.size() - begin);
    for (std::size_t f = 0; f < m; ++f) {
      const float* source = table_.row(static_cast<std::size_t>(features[begin + f]));
      double* row = rows_.data() + f * ld;
      for (std::size_t i = 0; i < ld; ++i) row[i] = static_cast<double>(source[i]);
    }
    const auto task = [&](std::size_t t) {
      const std::size_t j = t * tile, end = std::min(j + tile, ld);
      std::int64_t* gram = gram_.data();
      kernel.gram_fixed(rows_.data(), ld, m, 0, j + 16, j, end, gram + j, ld, magic_, sign);
      if (end > j + 16) {
        kernel.gram_fixed(rows_.data(), ld, m, j + 16, end, j + 16, end,
                          gram + (j + 16) * (ld + 1), ld, magic_, sign);
      }
    };
    // Waking threads costs some microseconds; a block must be worth it.
    const bool worth = ld * ld * m > 1000000;
    parallel_for(n_tasks, worth ? n_threads : 1, task);
  }
}

GramState::GramState(const TableView& table)
    : gram_(table), mask_(words_for(table.n_features), 0) {}

void GramState::clear() {
  std::fill(mask_.begin(), mask_.end(), Word{0});
  gram_.clear();
  n_selected_ = 0;
}

void GramState::move_to(const Word* mask, int n_threads) {
  std::vector<std::int32_t> added, removed;
  list_difference(mask_.data(), mask, mask_.size(), added, removed);
  const std::size_t target = n_selected_ + added.size() - removed.size();
  if (target < added.size() + removed.size()) {
    // Nearer to the empty mask than to this one.
    clear();
    list_bits(mask, mask_.size(), added);
    removed.clear();
  }
  try {
    gram_.add(added, +1, n_threads);
    gram_.add(removed, -1, n_threads);
  } catch (...) {
    clear();  // interrupted half-way: back to a state that is known
    throw;
  }
  std::copy(mask, mask + mask_.size(), mask_.begin());
  n_selected_ = target;
}

void GramState::add_to(float* gram) const {
  const std::size_t ld = gram_.ld();
  for (std::size_t i = 0; i < ld; ++i) {
    const std::int64_t* row = gram_.row(i);
    for (std::size_t j = i; j < ld; ++j) {
      gram[i * ld + j] += static_cast<float>(static_cast<double>(row[j]) * gram_.unit());
    }
  }
}

PairSum::PairSum(const TableView& table)
    : sum_(table),
      either_(words_for(table.n_features), 0),
      both_(either_) {}

std::size_t PairSum::distance(const Word* either, const Word* both) const {
  return hamming(either_.data(), either, either_.size()) +
         hamming(both_.data(), both, both_.size());
}

void PairSum::move_to(const Word* either, const Word* both, int n_threads) {
  std::vector<std::int32_t> added, removed;
  try {
    for (const auto& [from, to] : {std::pair{&either_, either}, std::pair{&both_, both}}) {
      list_difference(from->data(), to, from->size(), added, removed);
      sum_.add(added, +1, n_threads);
      sum_.add(removed, -1, n_threads);
      std::copy(to, to + from->size(), from->begin());
    }
  } catch (...) {
    sum_.clear();
    std::fill(either_.begin(), either_.end(), Word{0});
    std::fill(both_.begin(), both_.end(), Word{0});
    throw;
  }
  n_selected_ = count_bits(either, either_.size()) + count_bits(both, both_.size());
}

void PairSum::subtract(const float* gram, float* other) const {
  const std::size_t ld = sum_.ld();
  for (std::size_t i = 0; i < ld; ++i) {
    const std::int64_t* sum = sum_.row(i);
    for (std::size_t j = i; j < ld; ++j) {
      other[i * ld + j] =
          static_cast<float>(static_cast<double>(sum[j]) * sum_.unit()) - gram[i * ld + j];
    }
  }
}

void mirror(float* gram, std::size_t ld) {
  for (std::size_t i0 = 0; i0 < ld; i0 += 16) {
    for (std::size_t j0 = i0; j0 < ld; j0 += 16) {
      for (std::size_t i = i0; i < i0 + 16; ++i) {
        for (std::size_t j = std::max(j0, i + 1); j < j0 + 16; ++j) {
          gram[j * ld + i] = gram[i * ld + j];
        }
      }
    }
  }
}

}  // namespace bitsieve
