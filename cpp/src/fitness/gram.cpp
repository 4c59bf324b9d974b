#include "bitsieve/fitness/gram.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t tile = 32;        // columns of a task; the kernels work in 16s
constexpr std::size_t fixed_block = 32; // features converted to double at a time

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

}  // namespace

double gram_error(std::size_t m) {
  if (m == 0) return 0;
  const double terms = static_cast<double>(std::min(m, gram_block)) +
                       static_cast<double>((m + gram_block - 1) / gram_block) + 4;
  return 1.01 * terms * 0x1p-24;
}

void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, float* gram, float* squares) {
  const Kernels& kernel = kernels();
  const std::size_t ld = table.ld;
  if (squares != nullptr) std::fill(squares, squares + ld, 0.0f);
  bool fresh = true;
  for (const auto* features : {&added, &removed}) {
    const float sign = features == &added ? 1.0f : -1.0f;
    for (std::size_t begin = 0; begin < features->size(); begin += gram_block) {
      const std::int32_t* block = features->data() + begin;
      const std::size_t m = std::min(gram_block, features->size() - begin);
      if (squares != nullptr) kernel.add_squares(table.values, ld, block, m, squares);
      for (std::size_t j = 0; j < ld; j += tile) {
        const std::size_t end = std::min(j + tile, ld);
        kernel.gram_float(table.values, ld, block, m, 0, j + 16, j, end, gram + j, ld, sign, fresh);
        if (end > j + 16) {
          kernel.gram_float(table.values, ld, block, m, j + 16, end, j + 16, end,
                            gram + (j + 16) * (ld + 1), ld, sign, fresh);
        }
      }
      fresh = false;
    }
  }
  if (fresh) std::fill(gram, gram + ld * ld, 0.0f);
}

GramState::GramState(const TableView& table)
    : table_(table),
      unit_(choose_unit(table)),
      magic_(1.5 * 0x1p52 * unit_),
      mask_(words_for(table.n_features), 0),
      gram_(table.ld * table.ld, 0),
      rows_(fixed_block * table.ld) {}

void GramState::clear() {
  std::fill(mask_.begin(), mask_.end(), Word{0});
  std::fill(gram_.begin(), gram_.end(), std::int64_t{0});
  n_selected_ = 0;
}

void GramState::add(const std::vector<std::int32_t>& features, int sign, int n_threads) {
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
    const bool worth = ld * ld * m > 400000;
    parallel_for(n_tasks, worth ? n_threads : 1, task);
  }
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
    add(added, +1, n_threads);
    add(removed, -1, n_threads);
  } catch (...) {
    clear();  // interrupted half-way: back to a state that is known
    throw;
  }
  std::copy(mask, mask + mask_.size(), mask_.begin());
  n_selected_ = target;
}

void GramState::add_to(float* gram) const {
  const std::size_t ld = table_.ld;
  for (std::size_t i = 0; i < ld; ++i) {
    for (std::size_t j = i / 16 * 16; j < ld; ++j) {
      gram[i * ld + j] += static_cast<float>(static_cast<double>(gram_[i * ld + j]) * unit_);
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
